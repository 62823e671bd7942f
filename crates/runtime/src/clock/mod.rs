//! What time is: the only code of the project that reads it.
//!
//! An engine counts in [`Moment`]s, nanoseconds since the origin of its own clock, and turns them
//! into ticks: a reading rounds down, what is due rounds up, so that nothing can be early. The wall
//! clock is a second reading, which may step and is only ever compared with itself.
//!
//! ```text
//!   now()        the truth: decides what is due                     any thread
//!   now_upper()  cheap, never below the truth: computes dues        any thread
//!   wall()       the calendar: may step forward and back            any thread
//! ```

mod cheap;
mod discipline;
mod jump;
mod manual;
#[cfg(wheel_model)]
pub(crate) mod modelled;
mod patience;
mod system;
#[cfg(test)]
mod unsteady;

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use wheel_core::{Tick, TickLength};

pub use discipline::ClockDiscipline;
pub(crate) use jump::JumpWatch;
use jump::Readings;
pub use jump::{ClockJump, ClockJumpKind};
pub use manual::ManualClock;
pub(crate) use manual::Seat;
pub(crate) use patience::Patience;
use system::SystemReadings;
pub use system::{ClockSource, SystemClock};

/// The shortest tick for which dues are computed from the cheap reading: its error, some tens of
/// microseconds, must stay small beside a tick.
const CHEAP_TICK_NS: u32 = 500_000;

/// Nanoseconds since the origin of a clock. Arithmetic saturates: what does not fit is never.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub(crate) struct Moment(u64);

impl Moment {
    /// The origin of the clock.
    pub(crate) const ZERO: Moment = Moment(0);
    /// Later than any reading: 584 years.
    pub(crate) const NEVER: Moment = Moment(u64::MAX);

    pub(crate) const fn from_nanos(nanos: u64) -> Moment {
        Moment(nanos)
    }

    pub(crate) const fn as_nanos(self) -> u64 {
        self.0
    }

    /// `delay` later.
    pub(crate) fn after(self, delay: Duration) -> Moment {
        let nanos = u64::try_from(delay.as_nanos()).unwrap_or(u64::MAX);
        Moment(self.0.saturating_add(nanos))
    }

    /// `lead` earlier, but not before the origin. `NEVER` stays never.
    pub(crate) fn before(self, lead: Duration) -> Moment {
        if self == Moment::NEVER {
            return self;
        }
        let nanos = u64::try_from(lead.as_nanos()).unwrap_or(u64::MAX);
        Moment(self.0.saturating_sub(nanos))
    }

    /// How long ago `earlier` was; zero if it is still to come.
    pub(crate) const fn since(self, earlier: Moment) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }

    /// The tick that a reading lies in.
    pub(crate) fn tick_floor(self, tick: TickLength) -> Tick {
        Tick::new(self.0 / u64::from(tick.as_nanos()))
    }

    /// The first tick that is not before this moment. `NEVER` stays never.
    pub(crate) fn tick_ceil(self, tick: TickLength) -> Tick {
        if self == Moment::NEVER {
            return Tick::MAX;
        }
        Tick::new(self.0.div_ceil(u64::from(tick.as_nanos())))
    }

    /// When `at` begins; never, if that is beyond what a moment can say.
    pub(crate) fn of_tick(at: Tick, tick: TickLength) -> Moment {
        Moment(at.get().saturating_mul(u64::from(tick.as_nanos())))
    }
}

/// The time that an engine lives by: a [`SystemClock`] or a [`ManualClock`].
///
/// Builders take anything that converts into it. A clone is the same clock with the same origin, so
/// several engines can share one.
///
/// # Examples
///
/// ```
/// use wheel_runtime::{Clock, ManualClock, SystemClock};
///
/// let real: Clock = SystemClock::new().into();
/// let mine: Clock = ManualClock::new().into();
/// # drop((real, mine));
/// ```
#[derive(Clone, Debug)]
pub struct Clock(Kind);

#[derive(Clone, Debug)]
enum Kind {
    System(Arc<SystemReadings>),
    Manual(ManualClock),
}

impl Clock {
    /// The true time. May be read on any thread.
    #[inline]
    pub(crate) fn now(&self) -> Moment {
        match &self.0 {
            Kind::System(system) => system.now(),
            Kind::Manual(manual) => manual.moment(),
        }
    }

    /// Never below the true time and at most some tens of microseconds above it; cheaper where the
    /// machine allows. Good for computing dues, not for deciding that something is due.
    #[inline]
    pub(crate) fn now_upper(&self) -> Moment {
        match &self.0 {
            Kind::System(system) => system.now_upper(),
            Kind::Manual(manual) => manual.moment(),
        }
    }

    /// Cheap and usually within a microsecond of the true time, on either side. For statistics.
    #[inline]
    pub(crate) fn now_about(&self) -> Moment {
        match &self.0 {
            Kind::System(system) => system.now_about(),
            Kind::Manual(manual) => manual.moment(),
        }
    }

    /// The reading to compute dues from: cheap if the error vanishes beside the tick.
    #[inline]
    pub(crate) fn now_for(&self, tick: TickLength) -> Moment {
        if tick.as_nanos() >= CHEAP_TICK_NS {
            self.now_upper()
        } else {
            self.now()
        }
    }

    /// The calendar's time, which may step.
    pub(crate) fn wall(&self) -> SystemTime {
        match &self.0 {
            Kind::System(system) => system.wall(),
            Kind::Manual(manual) => manual.wall(),
        }
    }

    /// How long a driver may sleep by the kernel's monotonic clock while `left` is to pass by this
    /// one. Less than `left` if the two may run apart; it looks again then.
    pub(crate) fn nap(&self, left: Duration) -> Duration {
        match &self.0 {
            Kind::System(system) => system.nap(left),
            Kind::Manual(_) => left,
        }
    }

    /// All clocks, one after the other.
    fn readings(&self) -> Readings {
        match &self.0 {
            Kind::System(system) => system.readings(),
            Kind::Manual(manual) => manual.readings(),
        }
    }

    /// True if time passes while the machine is suspended.
    #[cfg(all(target_os = "linux", not(wheel_model)))]
    pub(crate) fn counts_suspend(&self) -> bool {
        match &self.0 {
            Kind::System(system) => system.counts_suspend(),
            Kind::Manual(_) => false,
        }
    }

    /// The clock that is moved by hand, if this is one.
    pub(crate) fn as_manual(&self) -> Option<&ManualClock> {
        match &self.0 {
            Kind::System(_) => None,
            Kind::Manual(manual) => Some(manual),
        }
    }
}

impl Default for Clock {
    fn default() -> Clock {
        SystemClock::new().into()
    }
}

impl From<SystemClock> for Clock {
    fn from(clock: SystemClock) -> Clock {
        Clock(Kind::System(Arc::new(clock.start())))
    }
}

impl From<ManualClock> for Clock {
    fn from(clock: ManualClock) -> Clock {
        Clock(Kind::Manual(clock))
    }
}

/// Nanoseconds between the Unix epoch and `at`, negative before it.
pub(crate) fn unix_nanos(at: SystemTime) -> i128 {
    match at.duration_since(UNIX_EPOCH) {
        Ok(since) => since.as_nanos() as i128,
        Err(before) => -(before.duration().as_nanos() as i128),
    }
}

/// `nanos` nanoseconds; seconds that do not fit are as many as do.
pub(crate) fn duration_of(nanos: u128) -> Duration {
    let seconds = u64::try_from(nanos / 1_000_000_000).unwrap_or(u64::MAX);
    Duration::new(seconds, (nanos % 1_000_000_000) as u32)
}

/// The wall clock's reading `nanos` after the Unix epoch; the epoch itself if that cannot be said.
fn wall_of(nanos: i128) -> SystemTime {
    checked_wall_of(nanos).unwrap_or(UNIX_EPOCH)
}

/// As `wall_of`; `None` if that cannot be said.
pub(crate) fn checked_wall_of(nanos: i128) -> Option<SystemTime> {
    let length = duration_of(nanos.unsigned_abs());
    if nanos < 0 {
        UNIX_EPOCH.checked_sub(length)
    } else {
        UNIX_EPOCH.checked_add(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: TickLength = TickLength::MILLISECOND;

    #[test]
    fn readings_round_down_and_dues_up() {
        let at = Moment::from_nanos(2_000_001);
        assert_eq!(at.tick_floor(MS), Tick::new(2));
        assert_eq!(at.tick_ceil(MS), Tick::new(3));
        let exact = Moment::from_nanos(2_000_000);
        assert_eq!(exact.tick_floor(MS), exact.tick_ceil(MS));
    }

    #[test]
    fn never_stays_never_through_every_operation() {
        assert_eq!(Moment::ZERO.after(Duration::MAX), Moment::NEVER);
        assert_eq!(Moment::NEVER.after(Duration::from_secs(1)), Moment::NEVER);
        assert_eq!(Moment::NEVER.tick_ceil(MS), Tick::MAX);
        assert_eq!(Moment::of_tick(Tick::MAX, MS), Moment::NEVER);
    }

    #[test]
    fn wall_readings_survive_the_round_trip_on_both_sides_of_the_epoch() {
        for nanos in [
            0,
            1,
            -1,
            1_700_000_000_123_456_789,
            -1_700_000_000_000_000_001,
        ] {
            assert_eq!(unix_nanos(wall_of(nanos)), nanos);
        }
    }
}
