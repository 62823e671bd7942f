//! The points of a schedule: which instants it names, one after the other, by its own clock.
//!
//! ```text
//!  Grid      first    +p     +2p     +3p        monotonic: numbers
//!  Wall        9:00      9:15      9:30         by the wall clock: a calendar, or even points
//!  Once, AfterEnd                               one point; the next is not known before a run ends
//! ```
//!
//! Windows, jitter and what is done about points that were missed stand on this, and know of no
//! clock in particular.

use std::cmp::Ordering;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::aligned::Aligned;
use super::calendar::Calendar;
use crate::clock::{Moment, duration_of, unix_nanos};

/// When something is due, and by which clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Due {
    Monotonic(Moment),
    Wall(SystemTime),
}

/// What both clocks read at one look.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading {
    pub(super) now: Moment,
    pub(super) wall: SystemTime,
    /// What the wall clock would read, had it not been set since the plan was made; what it does
    /// read, if it was. The two readings are not made at one instant, so `wall` alone is off by a
    /// little.
    pub(super) steady_wall: SystemTime,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Rhythm {
    Once(Due),
    Grid { first: Moment, period: Duration },
    AfterEnd { pause: Duration },
    Wall(Arc<Points>),
}

/// Points of the wall clock. The next one always comes after another one, never after what the clock
/// reads: so a step back repeats nothing.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Points {
    Calendar(Calendar),
    Aligned(Aligned),
}

/// Instants of one clock follow each other; those of two cannot be compared.
impl PartialOrd for Due {
    fn partial_cmp(&self, other: &Due) -> Option<Ordering> {
        match (self, other) {
            (Due::Monotonic(one), Due::Monotonic(other)) => one.partial_cmp(other),
            (Due::Wall(one), Due::Wall(other)) => one.partial_cmp(other),
            _ => None,
        }
    }
}

impl Due {
    pub(super) const NEVER: Due = Due::Monotonic(Moment::NEVER);

    /// `delay` later; of the wall clock, this very instant if that one cannot be said.
    pub(super) fn after(self, delay: Duration) -> Due {
        match self {
            Due::Monotonic(moment) => Due::Monotonic(moment.after(delay)),
            Due::Wall(at) => Due::Wall(at.checked_add(delay).unwrap_or(at)),
        }
    }

    /// How much later than `earlier` of the same clock it is.
    pub(super) fn since(self, earlier: Due) -> Duration {
        match (self, earlier) {
            (Due::Monotonic(later), Due::Monotonic(earlier)) => later.since(earlier),
            (Due::Wall(later), Due::Wall(earlier)) => {
                later.duration_since(earlier).unwrap_or_default()
            }
            _ => Duration::ZERO,
        }
    }
}

impl Reading {
    /// By the clock of `due`.
    pub(super) fn by_clock_of(self, due: Due) -> Due {
        match due {
            Due::Monotonic(_) => Due::Monotonic(self.now),
            Due::Wall(_) => Due::Wall(self.wall),
        }
    }

    /// The instant at which the wall clock reads `at`, by the clock of `due`, as both stand now.
    pub(super) fn when_wall_reads(self, at: SystemTime, due: Due) -> Due {
        match (due, at.duration_since(self.steady_wall)) {
            (Due::Wall(_), _) => Due::Wall(at),
            (Due::Monotonic(_), Ok(ahead)) => Due::Monotonic(self.now.after(ahead)),
            (Due::Monotonic(_), Err(behind)) => Due::Monotonic(self.now.before(behind.duration())),
        }
    }

    pub(super) fn has_reached(self, due: Due) -> bool {
        due != Due::NEVER && due <= self.by_clock_of(due)
    }
}

impl Rhythm {
    /// Whether the next point is known before a run of this one has ended.
    pub(super) fn has_grid(&self) -> bool {
        matches!(self, Rhythm::Grid { .. } | Rhythm::Wall(_))
    }

    /// The point after `at`, which is one.
    pub(super) fn after(&self, at: Due) -> Option<Due> {
        match (self, at) {
            (Rhythm::Grid { period, .. }, Due::Monotonic(at)) => {
                Some(Due::Monotonic(at.after(*period)))
            }
            (Rhythm::Wall(points), Due::Wall(at)) => points.next_after(at).map(Due::Wall),
            _ => None,
        }
    }

    /// The first point at or after `from`, which need not be one. `AfterEnd` is free to be due
    /// there.
    pub(super) fn first_from(&self, from: Due) -> Option<Due> {
        match (self, from) {
            (Rhythm::Grid { first, period }, Due::Monotonic(from)) => {
                let into_period = from.since(*first).as_nanos() % period.as_nanos();
                let missing = match into_period {
                    0 => Duration::ZERO,
                    into_period => duration_of(period.as_nanos() - into_period),
                };
                Some(Due::Monotonic(from.max(*first).after(missing)))
            }
            (Rhythm::Wall(points), Due::Wall(from)) => points.first_from(from).map(Due::Wall),
            (Rhythm::AfterEnd { .. }, _) => Some(from),
            _ => None,
        }
    }

    /// The first point after what the clocks read.
    pub(super) fn first_after(&self, reading: Reading) -> Option<Due> {
        match self {
            Rhythm::Grid { .. } => {
                let from = reading.now.after(Duration::from_nanos(1));
                self.first_from(Due::Monotonic(from))
            }
            Rhythm::Wall(points) => points.next_after(reading.wall).map(Due::Wall),
            Rhythm::Once(_) | Rhythm::AfterEnd { .. } => None,
        }
    }

    /// The last point in (`at`, `until`], and how many there are; `at` is one. In time that does not
    /// grow with their number.
    pub(super) fn last_in(&self, at: Due, until: Due) -> Option<(Due, u64)> {
        match (self, at, until) {
            (Rhythm::Grid { period, .. }, Due::Monotonic(at), Due::Monotonic(until)) => {
                let period_ns = period.as_nanos();
                let count = until.since(at).as_nanos() / period_ns;
                // No more than what lies between the two, so it fits.
                let last = at.after(Duration::from_nanos((count * period_ns) as u64));
                (count > 0).then_some((Due::Monotonic(last), count as u64))
            }
            (Rhythm::Wall(points), Due::Wall(at), Due::Wall(until)) => {
                let last = points.last_in(at, until)?;
                Some((Due::Wall(last), points.count_in(at, last)))
            }
            _ => None,
        }
    }

    /// The point number `n` before `last`, a point itself, of those from `at` on; `last` is number 0.
    pub(super) fn nth_before(&self, last: Due, n: u64, at: Due) -> Due {
        match (self, last, at) {
            (_, last, _) if n == 0 => last,
            (Rhythm::Grid { period, .. }, Due::Monotonic(last), Due::Monotonic(at)) => {
                let nanos = u128::from(n).saturating_mul(period.as_nanos());
                Due::Monotonic(last.before(duration_of(nanos)).max(at))
            }
            (Rhythm::Wall(points), Due::Wall(last), Due::Wall(at)) => {
                Due::Wall(points.nth_before(last, n, at))
            }
            _ => at,
        }
    }
}

impl Points {
    pub(super) fn next_after(&self, at: SystemTime) -> Option<SystemTime> {
        match self {
            Points::Calendar(calendar) => calendar.next_after(at),
            Points::Aligned(aligned) => aligned.next_after(at),
        }
    }

    pub(super) fn first_from(&self, from: SystemTime) -> Option<SystemTime> {
        match self {
            Points::Calendar(calendar) => calendar.first_from(from),
            Points::Aligned(aligned) => aligned.first_from(from),
        }
    }

    pub(super) fn last_in(&self, after: SystemTime, until: SystemTime) -> Option<SystemTime> {
        match self {
            Points::Calendar(calendar) => calendar.last_in(after, until),
            Points::Aligned(aligned) => aligned.last_in(after, until),
        }
    }

    pub(super) fn count_in(&self, after: SystemTime, until: SystemTime) -> u64 {
        match self {
            Points::Calendar(calendar) => calendar.count_in(after, until),
            Points::Aligned(aligned) => aligned.count_in(after, until),
        }
    }

    /// It is as far before `last` as is possible without one more point in between. By bisection
    /// within a stretch that is doubled until it has enough: what lies further back costs nothing.
    fn nth_before(&self, last: SystemTime, n: u64, at: SystemTime) -> SystemTime {
        let whole = (unix_nanos(last) - unix_nanos(at)).max(0).unsigned_abs();
        let before = |nanos| last.checked_sub(duration_of(nanos)).unwrap_or(at);
        let has_more = |nanos| self.count_in(before(nanos), last) > n;
        let (mut near, mut far) = (0, 1_000_000_000.min(whole));
        while far < whole && !has_more(far) {
            (near, far) = (far, (far * 2).min(whole));
        }
        if !has_more(far) {
            return at;
        }
        while far - near > 1 {
            let middle = near + (far - near) / 2;
            if has_more(middle) {
                far = middle;
            } else {
                near = middle;
            }
        }
        before(near)
    }
}
