//! An instant of an engine's own clock.

use std::fmt;
use std::ops::Add;
use std::time::Duration;

use crate::clock::Moment;

/// An instant of the monotonic clock that a [`Timers`](crate::Timers) lives by, be it one that is
/// moved by hand. Means nothing to engines that do not share that clock.
///
/// Adding saturates: what is beyond 584 years from the clock's start is never.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use wheel_runtime::{ManualClock, Timers};
///
/// # fn main() -> Result<(), wheel_runtime::BuildError> {
/// let clock = ManualClock::new();
/// let timers = Timers::builder().clock(clock.clone()).build()?;
/// let start = timers.now();
/// clock.advance(Duration::from_secs(3));
/// assert_eq!(timers.now(), start + Duration::from_secs(3));
/// assert_eq!(timers.now().since(start), Duration::from_secs(3));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(Moment);

impl Instant {
    pub(super) fn of(moment: Moment) -> Instant {
        Instant(moment)
    }

    pub(super) fn moment(self) -> Moment {
        self.0
    }

    /// How long before this one `earlier` was; zero if it was not.
    #[must_use]
    pub fn since(self, earlier: Instant) -> Duration {
        self.0.since(earlier.0)
    }
}

impl Add<Duration> for Instant {
    type Output = Instant;

    fn add(self, delay: Duration) -> Instant {
        Instant(self.0.after(delay))
    }
}

impl fmt::Debug for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Moment::NEVER => f.write_str("never"),
            moment => moment.since(Moment::ZERO).fmt(f),
        }
    }
}
