//! When a task runs: what the user asks for, and the pure arithmetic that says what is due next.
//!
//! ```text
//!  Schedule (asked for) --plan(now, wall)--> Plan (anchored) --occur(armed, now, wall)--> what to run,
//!           '--occurrences--> what it would be                                           what is next
//! ```
//!
//! Ground rules: nothing here reads a clock or can fail once planned; every number works, and what
//! does not fit is never due.

mod cron;
mod error;
mod plan;
mod upcoming;
mod window;
#[cfg(feature = "serde")]
mod written;

use std::time::{Duration, SystemTime};

use crate::policy::Jitter;

pub use cron::{Cron, CronError, CronField, Occurrences, Zone, ZoneError};
pub use error::ScheduleError;
pub(crate) use plan::{Due, Plan};
pub use upcoming::Upcoming;
pub(crate) use window::Window;

/// When a task is due: once, or again and again.
///
/// `after`, `every` and `every_after` follow the monotonic clock: a step of the wall clock does not
/// move them, and time for which the machine was suspended does not count, unless by
/// [`ClockSource::Boottime`](crate::ClockSource::Boottime). `at`, `cron`, and `every` that is
/// [`aligned`](Schedule::aligned), follow the wall clock. Durations round up to the tick of the
/// scheduler, instants to a millisecond: nothing is early. `Duration::MAX` means never. Days have 24
/// hours, but for `cron`, which goes by the calendar of a time zone.
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
/// // At :00, :15, :30 and :45.
/// let quarters = Schedule::every(Duration::from_secs(15 * 60)).aligned();
/// # drop((every_minute_from_now, daily, nightly, quarters));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    base: Base,
    start: Start,
    zone: Option<AskedZone>,
    window: Window,
    jitter: Option<Jitter>,
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
    /// At the next multiple of the period that the wall clock shows.
    Aligned,
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

    /// The time zone of `cron`, and of `every` that is [`aligned`](Schedule::aligned): an IANA name
    /// such as `Europe/Berlin`, or a [`Zone`]. An unknown name is refused when the task is added.
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

    /// The grid of `every` follows the wall clock: its points are the instants at which that shows a
    /// multiple of the period. `every` 15 minutes is due at :00, :15, :30 and :45. Beats
    /// [`start_now`](Schedule::start_now) and [`start_at`](Schedule::start_at), or is beaten by
    /// them: the last one counts.
    ///
    /// Without a time zone multiples count from 1970-01-01T00:00:00Z, and any period is possible.
    /// With a [`timezone`](Schedule::timezone) they count from each midnight of its clock, and the
    /// period must divide a day of 24 hours; else the task is refused. When the clocks of the zone
    /// are changed the rule is that of `*/n` of cron, real time: what the clock skips is left out,
    /// what it shows twice is due twice. So a day of 23 hours has 23 points of an hour, and one of 25
    /// hours has 25; of two hours, the day that skips 02:00 has 00:00, then 04:00.
    ///
    /// Steps of the wall clock move it as they move `cron`: one forward over some points makes them
    /// due, and one run stands for them; one back makes it wait.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::{Duration, SystemTime};
    /// use wheel_runtime::Schedule;
    ///
    /// let minutes = |n: u64| Duration::from_secs(n * 60);
    /// let quarters = Schedule::every(minutes(15)).aligned();
    /// // 2000-01-01T00:07:00Z
    /// let new_year = SystemTime::UNIX_EPOCH + Duration::from_secs(946_684_800);
    /// let due: Vec<_> = quarters.occurrences(new_year + minutes(7))?.take(2).collect();
    /// assert_eq!(due, [new_year + minutes(15), new_year + minutes(30)]);
    /// // Noon and midnight in Kolkata, five hours and a half ahead.
    /// let noon = Schedule::every(minutes(12 * 60)).aligned().timezone("Asia/Kolkata");
    /// assert_eq!(noon.occurrences(new_year)?.next(), Some(new_year + minutes(6 * 60 + 30)));
    /// # Ok::<(), wheel_runtime::ScheduleError>(())
    /// ```
    #[must_use]
    pub fn aligned(self) -> Schedule {
        self.starting(Start::Aligned)
    }

    /// No occurrence of a schedule that recurs has a nominal instant before `begin`; one at `begin`
    /// itself is fine. The grid or the calendar is what it would be without:
    /// [`start_at`](Schedule::start_at) moves a grid, this only begins it later. `every_after` begins
    /// at `begin` at the earliest.
    ///
    /// See [`not_after`](Schedule::not_after) for the rest.
    #[must_use]
    pub fn not_before(mut self, begin: SystemTime) -> Schedule {
        self.window.not_before = Some(begin);
        self
    }

    /// No occurrence of a schedule that recurs has a nominal instant after `end`; one at `end` itself
    /// is fine. Once none is left the task ends, with the state of its last run. A run that is late,
    /// is [tried again](crate::Retry) or is spread by its [jitter](Schedule::jitter) may start after
    /// `end`.
    ///
    /// What follows the monotonic clock is held against the wall clock as that stands when the next
    /// occurrence is armed, which is when the one before it is due, or has ended: a step of the wall
    /// clock does not call off what is armed already.
    ///
    /// Refused when the task is added: a window that ends before it begins, one that has no
    /// occurrence from now on, and any for `after` and `at`.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::{Duration, SystemTime};
    /// use wheel_runtime::Schedule;
    ///
    /// let new_year = SystemTime::UNIX_EPOCH + Duration::from_secs(946_684_800);
    /// let hour = Duration::from_secs(3600);
    /// let sale = Schedule::cron("@hourly")
    ///     .not_before(new_year + 24 * hour)
    ///     .not_after(new_year + 48 * hour);
    /// assert_eq!(sale.occurrences(new_year)?.count(), 25);
    /// let error = sale.occurrences(new_year + 48 * hour).unwrap_err().to_string();
    /// assert!(error.starts_with("not_before, not_after: nothing is due any more from 2000-01-02"));
    /// # Ok::<(), wheel_runtime::ScheduleError>(())
    /// ```
    #[must_use]
    pub fn not_after(mut self, end: SystemTime) -> Schedule {
        self.window.not_after = Some(end);
        self
    }

    /// Spreads occurrences, so that many tasks are not due at one instant: see [`Jitter`]. For
    /// every kind of schedule. A length of more than 365 days is refused when the task is added.
    #[must_use]
    pub fn jitter(mut self, jitter: Jitter) -> Schedule {
        self.jitter = Some(jitter);
        self
    }

    /// What was asked for apart from the schedule beats what that says.
    pub(crate) fn with(mut self, window: Window, jitter: Option<Jitter>) -> Schedule {
        self.window = window.or(self.window);
        self.jitter = jitter.or(self.jitter);
        self
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
            window: Window::default(),
            jitter: None,
        }
    }
}
