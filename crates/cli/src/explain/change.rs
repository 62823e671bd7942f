//! The next change of the clocks of a zone, and what becomes of an expression there.
//!
//! What is said is what the runtime does: the times that a change skips or repeats are those that the
//! expression names in a zone without changes, and what is due around it is asked of the runtime.

use std::time::SystemTime;

use jiff::tz::{Offset, TimeZone};
use jiff::{SignedDuration, Timestamp};
use wheel_runtime::{Cron, Zone};

use crate::duration;

/// Times that are shown one by one.
const TIMES_MAX: usize = 4;

/// A change of the clocks.
pub(super) struct Change {
    at: Timestamp,
    before: Offset,
    after: Offset,
}

impl Change {
    /// The first one after that instant that moves the hands.
    pub(super) fn after(from: Timestamp, clocks: &TimeZone) -> Option<Change> {
        let changes = clocks.following(from).map(|change| {
            let at = change.timestamp();
            let before = at.checked_sub(SignedDuration::from_secs(1)).unwrap_or(at);
            Change {
                at,
                before: clocks.to_offset(before),
                after: clocks.to_offset(at),
            }
        });
        // Some only change the name of the time.
        changes
            .take(1_000)
            .find(|change| change.before != change.after)
    }

    /// The change in words.
    pub(super) fn describe(&self, clocks: &TimeZone) -> String {
        let new = self.at.to_zoned_datetime(clocks.clone());
        let old = self.at.to_zoned_datetime(TimeZone::fixed(self.before));
        let how = match self.is_forward() {
            true => "is skipped",
            false => "comes twice",
        };
        format!(
            "the clocks change on {}, from {} to {}: {} {how}",
            old.strftime("%a %Y-%m-%d"),
            old.strftime("%H:%M:%S %:z"),
            new.strftime("%H:%M:%S %:z"),
            duration::format(self.moved().unsigned_abs()),
        )
    }

    /// What becomes of the expression.
    pub(super) fn effect(&self, cron: &Cron, zone: &Zone, clocks: &TimeZone) -> String {
        let (from, to) = match self.is_forward() {
            true => (self.before, self.after),
            false => (self.after, self.before),
        };
        let (from, to) = (self.on_the_wall(from), self.on_the_wall(to));
        let mut named = Vec::new();
        let mut more = 0;
        for at in cron.occurrences(before(from), &Zone::UTC) {
            let Some(at) = Timestamp::try_from(at).ok().filter(|at| *at < to) else {
                break;
            };
            if named.len() < TIMES_MAX {
                named.push(time(at));
            } else {
                more += 1;
            }
        }
        let times = match more {
            0 => named.join(", "),
            more => format!("{} and {more} more", named.join(", ")),
        };
        let many = named.len() > 1;
        let at = self.at.to_zoned_datetime(clocks.clone());
        match (self.is_forward(), named.is_empty()) {
            (_, true) => format!("no time of it lies between {} and {}", time(from), time(to)),
            (true, false) => {
                let are = if many { "are" } else { "is" };
                let what = format!("{times} {are} not on the clock that day");
                let is_due = cron.next_after(before(self.at), zone) == instant(self.at);
                let is_named = cron.next_after(before(to), &Zone::UTC) == instant(to);
                let shown = at.strftime("%H:%M:%S %:z");
                match (is_due, is_named) {
                    (true, false) => format!("{what}: due once, right after, at {shown}"),
                    (true, true) => format!("{what}; due at {shown}, as on other days"),
                    (false, _) => format!("{what}: left out, as it follows real time"),
                }
            }
            (false, false) => {
                let come = if many { "come" } else { "comes" };
                let end = self.at.checked_sub(self.moved()).unwrap_or(self.at);
                let again = cron.next_after(before(self.at), zone);
                match again.is_some_and(|again| Some(again) < instant(end)) {
                    true => {
                        format!("{times} {come} twice: due both times, as it follows real time")
                    }
                    false => format!("{times} {come} twice: due once, the first time"),
                }
            }
        }
    }

    fn is_forward(&self) -> bool {
        self.after > self.before
    }

    /// By how much the hands are moved, forward or back.
    fn moved(&self) -> SignedDuration {
        SignedDuration::from_secs((self.after.seconds() - self.before.seconds()).into())
    }

    /// What a clock with this offset shows, as if that were UTC.
    fn on_the_wall(&self, offset: Offset) -> Timestamp {
        let ahead = SignedDuration::from_secs(offset.seconds().into());
        self.at.checked_add(ahead).unwrap_or(self.at)
    }
}

/// A moment before, so that what comes after it may be the instant itself.
fn before(at: Timestamp) -> SystemTime {
    let before = at.checked_sub(SignedDuration::from_nanos(1)).unwrap_or(at);
    instant(before).unwrap_or(SystemTime::UNIX_EPOCH)
}

fn instant(at: Timestamp) -> Option<SystemTime> {
    SystemTime::try_from(at).ok()
}

fn time(at: Timestamp) -> String {
    let at = at.to_zoned_datetime(TimeZone::UTC);
    let form = if at.second() == 0 {
        "%H:%M"
    } else {
        "%H:%M:%S"
    };
    at.strftime(form).to_string()
}
