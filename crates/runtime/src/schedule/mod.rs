//! When a task runs: what the user asks for, and the pure arithmetic that says what is due next.
//!
//! ```text
//!  Schedule (asked for) --plan(now, wall)--> Plan (anchored) --occur(due, now)--> what to run,
//!                                                                                what is next
//! ```
//!
//! Ground rules: nothing here reads a clock or can fail once planned; every number works, and what
//! does not fit is never due.

mod cron;
mod plan;
#[cfg(feature = "serde")]
mod written;

use std::fmt;
use std::time::{Duration, SystemTime};

pub use cron::{Cron, CronError, CronField, Occurrences, Zone, ZoneError};
pub(crate) use plan::{Due, Plan};

/// When a task is due: once, or again and again.
///
/// `after`, `every` and `every_after` follow the monotonic clock: a step of the wall clock does not
/// move them, and time for which the machine was suspended does not count, unless by
/// [`ClockSource::Boottime`](crate::ClockSource::Boottime). `at` and `cron` follow the wall clock.
/// Durations round up to the tick of the scheduler, instants to a millisecond: nothing is early.
/// `Duration::MAX` means never. Days have 24 hours, but for `cron`, which goes by the calendar of a
/// time zone.
///
/// # Examples
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use wheel_runtime::Schedule;
///
/// let every_minute_from_now = Schedule::every(Duration::from_secs(60)).start_now();
/// // At 02:00 UTC, every 24 hours from then on.
/// let two_o_clock = SystemTime::UNIX_EPOCH + Duration::from_secs(2 * 3600);
/// let daily = Schedule::every(Duration::from_secs(24 * 3600)).start_at(two_o_clock);
/// // At 02:00 in Berlin, where some days have 23 or 25 hours.
/// let nightly = Schedule::cron("0 2 * * *").timezone("Europe/Berlin");
/// # drop((every_minute_from_now, daily, nightly));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    base: Base,
    start: Start,
    zone: Option<AskedZone>,
}

/// A zone that was asked for, by a name that may be wrong.
pub(crate) type AskedZone = Box<Result<Zone, ZoneError>>;

pub(crate) fn asked_zone<Z>(zone: Z) -> AskedZone
where
    Z: TryInto<Zone>,
    Z::Error: Into<ZoneError>,
{
    Box::new(zone.try_into().map_err(Into::into))
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Base {
    After(Duration),
    At(SystemTime),
    Every(Duration),
    EveryAfter(Duration),
    Cron(Box<Result<Cron, CronError>>),
}

/// When the first of many is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    /// One period after the task was added.
    OnePeriodOn,
    Now,
    At(SystemTime),
}

/// Why a [`Schedule`] is refused. Trying again does not help.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ScheduleError {
    /// A task that recurs with a period of zero.
    ZeroPeriod,
    /// `start_now` or `start_at` for a schedule that has no use for it: `start_now` goes with
    /// `every` and `every_after`, `start_at` with `every`.
    StartNotPossible,
    /// The expression of `cron` is wrong.
    Cron(CronError),
    /// There is no such zone.
    Zone(ZoneError),
    /// `timezone` for a schedule that is not by the calendar.
    ZoneNotPossible,
    /// The expression is right, but names no instant after now: its years are over, or its zone skips
    /// it at each change of the clocks.
    NeverDue(Box<Cron>, Zone),
}

impl Schedule {
    /// Once, `delay` from when the task is added. Zero: as soon as a worker is free, never inside
    /// the call.
    pub fn after(delay: Duration) -> Schedule {
        Schedule::of(Base::After(delay))
    }

    /// Once, when the wall clock reads `at`. In the past: at once. Steps of the wall clock move it.
    pub fn at(at: SystemTime) -> Schedule {
        Schedule::of(Base::At(at))
    }

    /// Again and again, on a grid: the k-th run is due at start + k * `period`, however long runs
    /// take. The first is due one period after the task is added, unless
    /// [`start_now`](Schedule::start_now) or [`start_at`](Schedule::start_at) say otherwise. A
    /// period of zero is refused when the task is added.
    pub fn every(period: Duration) -> Schedule {
        Schedule::of(Base::Every(period))
    }

    /// Again and again, each run due `pause` after the last one has ended. The first is due after
    /// one `pause`, unless [`start_now`](Schedule::start_now) says otherwise. A pause of zero is
    /// refused when the task is added.
    pub fn every_after(pause: Duration) -> Schedule {
        Schedule::of(Base::EveryAfter(pause))
    }

    /// Again and again, when the wall clock of a time zone shows what the expression says: see
    /// [`Cron`]. The zone is UTC, unless [`timezone`](Schedule::timezone) says otherwise. Takes the
    /// text of an expression, or a [`Cron`]; a wrong text is refused when the task is added.
    ///
    /// A step of the wall clock moves it, as it moves `at`: a step forward over some occurrences
    /// makes them due, and one run stands for them; a step back makes it wait, and what has run does
    /// not run again.
    ///
    /// `@every` with a duration is [`every`](Schedule::every), and follows the monotonic clock.
    pub fn cron<C>(expression: C) -> Schedule
    where
        C: TryInto<Cron>,
        C::Error: Into<CronError>,
    {
        Schedule::of(Base::Cron(Box::new(
            expression.try_into().map_err(Into::into),
        )))
    }

    /// The time zone of `cron`: an IANA name such as `Europe/Berlin`, or a [`Zone`]. An unknown name
    /// is refused when the task is added.
    #[must_use]
    pub fn timezone<Z>(self, zone: Z) -> Schedule
    where
        Z: TryInto<Zone>,
        Z::Error: Into<ZoneError>,
    {
        self.in_zone(asked_zone(zone))
    }

    pub(crate) fn in_zone(mut self, zone: AskedZone) -> Schedule {
        self.zone = Some(zone);
        self
    }

    /// The first run is due at once.
    #[must_use]
    pub fn start_now(self) -> Schedule {
        self.starting(Start::Now)
    }

    /// The grid contains `start`. The first run is due at `start` if that is still to come, else at
    /// the first start + k * period that is: an anchor in the past keeps its phase. The wall clock
    /// is read once, when the task is added; from then on the grid is monotonic.
    #[must_use]
    pub fn start_at(self, start: SystemTime) -> Schedule {
        self.starting(Start::At(start))
    }

    pub(crate) fn starting(mut self, start: Start) -> Schedule {
        self.start = start;
        self
    }

    fn of(base: Base) -> Schedule {
        Schedule {
            base,
            start: Start::OnePeriodOn,
            zone: None,
        }
    }
}

impl fmt::Display for ScheduleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ScheduleError::ZeroPeriod => {
                f.write_str("a period of zero is not possible: it must be longer")
            }
            ScheduleError::StartNotPossible => f.write_str(
                "this schedule has no such start: start_now goes with every and every_after, start_at with every",
            ),
            ScheduleError::Cron(error) => write!(f, "cron: {error}"),
            ScheduleError::Zone(error) => write!(f, "timezone: {error}"),
            ScheduleError::ZoneNotPossible => f.write_str(
                "timezone: this schedule is the same in every time zone: timezone goes with cron",
            ),
            ScheduleError::NeverDue(cron, zone) => write!(
                f,
                "cron: `{cron}` names no instant after now in {zone}: give it later years, or a time that the zone does not skip"
            ),
        }
    }
}

impl std::error::Error for ScheduleError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ScheduleError::Cron(error) => Some(error),
            ScheduleError::Zone(error) => Some(error),
            _ => None,
        }
    }
}
