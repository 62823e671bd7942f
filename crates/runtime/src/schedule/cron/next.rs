//! From the calendar to instants: time zones, and the days on which their clocks are changed.
//!
//! ```text
//!  gap    local 01:59:59 -> 03:00:00      02:30 does not exist
//!  fold   local 01:59:59 -> 01:00:00      01:30 comes twice
//! ```
//!
//! An expression of *fixed times* goes through the calendar, date by date; each date and time is one
//! instant: in a gap the end of the gap, in a fold the first pass. That order is kept by the
//! instants, so the next one is the first that is later.
//!
//! An expression that *follows real time* goes through the instants, from one change of the clocks
//! to the next: between two of them local time is even. What a gap leaves out is left out, what a
//! fold repeats comes twice.

use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, TimeZone};
use jiff::{SignedDuration, Timestamp};

use super::calendar::Calendar;

pub(super) const SECOND: SignedDuration = SignedDuration::from_secs(1);
/// More than twice the largest offset from UTC, which is below 26 hours.
const TWO_OFFSETS: SignedDuration = SignedDuration::from_hours(54);

impl Calendar {
    /// The first instant after `after`, always on a whole second. `None`: there is no more of them.
    pub(super) fn next_after(&self, after: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
        let from = whole_second(after)?.checked_add(SECOND).ok()?;
        let last_year = self.last_year(zone.to_datetime(from).year());
        if self.follows_real_time {
            self.next_in_real_time(from, zone, last_year)
        } else {
            self.next_fixed(from, zone, last_year)
        }
    }

    fn next_fixed(&self, from: Timestamp, zone: &TimeZone, last_year: i16) -> Option<Timestamp> {
        // By the offset of the second before: so a gap that ends at `from` is not passed over.
        let before = zone.to_offset(from.checked_sub(SECOND).ok()?);
        let mut local = before.to_datetime(from);
        loop {
            let named = self.first_from(local, last_year)?;
            let at = instant_of(named, zone)?;
            if at >= from {
                return Some(at);
            }
            // `from` is in the second pass of a fold, and the first one was meant. Always on, also
            // if a zone should have changes within a day that this does not think of.
            let behind = named.checked_add(SECOND).ok()?;
            local = end_of_fold(from, zone)?.max(behind);
        }
    }

    fn next_in_real_time(
        &self,
        mut from: Timestamp,
        zone: &TimeZone,
        last_year: i16,
    ) -> Option<Timestamp> {
        loop {
            let offset = zone.to_offset(from);
            let named = self.first_from(offset.to_datetime(from), last_year)?;
            let at = offset.to_timestamp(named).ok();
            let change = next_change(from, zone);
            if let Some(at) = at
                && change.is_none_or(|change| at < change)
            {
                return Some(at);
            }
            // The clocks are changed before. Much later than `from`, local time cannot come back to
            // what was searched from there, nor can it reach `named` long before `at`: what changes
            // between the two does not matter.
            let (change, near) = (change?, at?.checked_sub(TWO_OFFSETS).ok()?);
            let is_far = change > from.checked_add(TWO_OFFSETS).ok()? && change < near;
            from = if is_far { near } else { change };
        }
    }
}

/// The instant of a local date and time.
fn instant_of(local: DateTime, zone: &TimeZone) -> Option<Timestamp> {
    match zone.to_ambiguous_timestamp(local).offset() {
        AmbiguousOffset::Unambiguous { offset } => offset.to_timestamp(local).ok(),
        AmbiguousOffset::Fold { before, .. } => before.to_timestamp(local).ok(),
        AmbiguousOffset::Gap { before, .. } => {
            // By the old offset it lies behind the change, by no more than the gap is long.
            let behind = before.to_timestamp(local).ok()?;
            last_change(behind, zone)
        }
    }
}

/// Local time right behind the second pass of the fold that `at` lies in.
fn end_of_fold(at: Timestamp, zone: &TimeZone) -> Option<DateTime> {
    local_before(last_change(at, zone)?, zone)
}

/// What the clocks would have shown at `change`, had they not been changed.
pub(super) fn local_before(change: Timestamp, zone: &TimeZone) -> Option<DateTime> {
    let before = zone.to_offset(change.checked_sub(SECOND).ok()?);
    Some(before.to_datetime(change))
}

/// The first change of the clocks after `at`.
pub(super) fn next_change(at: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
    zone.following(at).next().map(|change| change.timestamp())
}

/// The last change of the clocks at or before `at`.
pub(super) fn last_change(at: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
    let behind = at.checked_add(SECOND).unwrap_or(at);
    zone.preceding(behind)
        .next()
        .map(|change| change.timestamp())
}

/// The second that `at` lies in.
pub(super) fn whole_second(at: Timestamp) -> Option<Timestamp> {
    let second = at.as_second() - i64::from(at.subsec_nanosecond() < 0);
    Timestamp::from_second(second).ok()
}
