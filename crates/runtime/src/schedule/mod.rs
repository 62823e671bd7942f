//! When a task runs: what the user asks for, and the pure arithmetic that says what is due next.
//!
//! ```text
//!  Schedule (asked for) --plan(now, wall)--> Plan (anchored) --occur(due, now)--> what to run,
//!                                                                                what is next
//! ```
//!
//! Ground rules: nothing here reads a clock, keeps state or can fail once planned; every number
//! works, and what does not fit is never due.

mod plan;

use std::fmt;
use std::time::{Duration, SystemTime};

pub(crate) use plan::{Due, Plan};

/// When a task is due: once, or again and again.
///
/// `after`, `every` and `every_after` follow the monotonic clock: a step of the wall clock does not
/// move them, and time for which the machine was suspended does not count, unless by
/// [`ClockSource::Boottime`](crate::ClockSource::Boottime). `at` follows the wall clock. Durations
/// round up to the tick of the scheduler, instants to a millisecond: nothing is early.
/// `Duration::MAX` means never.
///
/// There is no calendar: days are 24 hours. A task that must keep to the wall clock through its
/// steps uses `at` and [`Scheduler::reschedule`](crate::Scheduler::reschedule) from run to run.
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
/// # drop((every_minute_from_now, daily));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    base: Base,
    start: Start,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Base {
    After(Duration),
    At(SystemTime),
    Every(Duration),
    EveryAfter(Duration),
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
        }
    }
}

impl fmt::Display for ScheduleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ScheduleError::ZeroPeriod => "a period of zero is not possible: it must be longer",
            ScheduleError::StartNotPossible => {
                "this schedule has no such start: start_now goes with every and every_after, start_at with every"
            }
        })
    }
}

impl std::error::Error for ScheduleError {}
