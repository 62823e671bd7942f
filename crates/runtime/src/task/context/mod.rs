//! What a handler is told about its run, and passes down to what it starts.
//!
//! Here is what it is told; `time.rs` has until when, and `carried.rs` the values.

mod carried;
mod time;

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use super::attempt::Attempt;
use super::terms::Terms;
use super::values::RunValues;
use super::waiting::{Calendar, Occasion};
use super::{CancelToken, StopReason, Task};
use crate::clock::{Moment, unix_nanos};
use time::Clockwork;

/// What a handler is told about its run. Handlers get it by reference.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use wheel_runtime::{Context, Scheduler, TaskState};
///
/// fn clean_up(run: &Context) -> Result<(), String> {
///     for part in 0..3 {
///         if run.is_cancelled() {
///             return Err(format!("stopped before part {part}"));
///         }
///     }
///     Ok(())
/// }
///
/// let scheduler = Scheduler::builder().build()?;
/// let task = scheduler.task("clean-up").after(Duration::ZERO).run(clean_up)?;
/// assert_eq!(task.wait(), TaskState::Succeeded);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Context {
    pub(super) task: Arc<Task>,
    number: u64,
    attempt: u32,
    last_error: Option<Arc<str>>,
    token: CancelToken,
    late_from: Moment,
    started: Moment,
    calendar: Calendar,
    missed: u64,
    /// Never, if nothing limits it.
    until: Moment,
    terms: Option<Arc<Terms>>,
    /// Set with the first value; the same in all contexts of the run.
    values: OnceLock<RunValues>,
    /// Of a child with a time of its own.
    clockwork: Option<Arc<Clockwork>>,
}

/// What a context is given besides what is known of its attempt.
pub(super) struct Given {
    pub(super) token: CancelToken,
    pub(super) last_error: Option<Arc<str>>,
    pub(super) terms: Option<Arc<Terms>>,
}

impl Context {
    pub(super) fn of_attempt(
        task: &Arc<Task>,
        attempt: &Attempt,
        occasion: &Occasion,
        given: Given,
    ) -> Context {
        let values = attempt.values.clone();
        Context {
            task: Arc::clone(task),
            number: attempt.run,
            attempt: attempt.number,
            last_error: given.last_error,
            token: given.token,
            late_from: occasion.late_from,
            started: attempt.started.0,
            calendar: occasion.calendar,
            missed: occasion.missed,
            until: attempt.limit().at,
            terms: given.terms,
            values: values.map_or_else(OnceLock::new, OnceLock::from),
            clockwork: None,
        }
    }
}

impl Context {
    /// The id of the task: the name that it was given, or a number such as `#17`.
    pub fn id(&self) -> &str {
        self.task.name()
    }

    /// Which run of the task this is, from 1.
    pub fn run(&self) -> u64 {
        self.number
    }

    /// Which attempt of the run this is, from 1. More than 1 only if the task has a
    /// [`Retry`](crate::Retry) policy; an attempt that was snoozed is not counted.
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// What the attempt before this one said as it failed; in the first attempt of a run that is
    /// [replayed](crate::DeadLetters::replay), what it died of.
    pub fn last_error(&self) -> Option<&str> {
        self.last_error.as_deref()
    }

    /// Names what this run is for: the id of the task and the nominal instant, to the nanosecond.
    /// The same in each attempt, and when the run is replayed; so what a run writes elsewhere under
    /// this key is written once.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use wheel_runtime::{Context, InlineExecutor, ManualClock, Scheduler};
    ///
    /// let clock = ManualClock::new();
    /// let scheduler = Scheduler::builder().clock(clock.clone()).executor(InlineExecutor).build()?;
    /// let charge = |run: &Context| println!("charging, key {}", run.idempotency_key());
    /// scheduler.task("charge-1001").after(Duration::from_secs(1)).run(charge)?;
    /// clock.run_for(Duration::from_secs(1)); // Such as charge-1001@1767225601.000000000
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn idempotency_key(&self) -> String {
        let nanos = unix_nanos(self.calendar.nominal);
        let sign = if nanos < 0 { "-" } else { "" };
        let nanos = nanos.unsigned_abs();
        let (seconds, rest) = (nanos / 1_000_000_000, nanos % 1_000_000_000);
        format!("{}@{sign}{seconds}.{rest:09}", self.id())
    }

    /// The instant that the schedule names for this run, the same in each attempt. If the run stands
    /// for several occurrences that were missed, the latest of them. Does not move when the wall clock
    /// does.
    pub fn nominal(&self) -> SystemTime {
        self.calendar.nominal
    }

    /// The instant from which this attempt's lateness counts: [`nominal`](Context::nominal), later by
    /// the [jitter](crate::Jitter) of the task if it has one; or if the run stands for several
    /// occurrences, that of the earliest. From the second attempt on, the instant at which it was due.
    pub fn due(&self) -> SystemTime {
        self.calendar.due
    }

    /// How many occurrences were missed for which this run stands as well; 0 when nothing was held
    /// up.
    pub fn missed(&self) -> u64 {
        self.missed
    }

    /// How late this attempt started: from the tick at which it was due (the earliest, if it stands for
    /// several).
    pub fn lateness(&self) -> Duration {
        self.started.since(self.late_from)
    }

    /// How long ago the tick was at which this attempt was due, right now:
    /// [`lateness`](Context::lateness) and how long the run has been going.
    pub fn since_due(&self) -> Duration {
        self.task.core.engine.clock().now().since(self.late_from)
    }

    /// The token that says that this run should stop.
    pub fn token(&self) -> &CancelToken {
        &self.token
    }

    /// Whether this run should stop: its task was cancelled, its [time](Context::time_left) or the
    /// grace of a shutdown is over, or a newer run is to come instead. One load.
    pub fn is_cancelled(&self) -> bool {
        self.token.is_cancelled()
    }

    /// Why this run should stop; `None` as long as it need not.
    ///
    /// # Examples
    ///
    /// ```
    /// use wheel_runtime::{Context, StopReason};
    ///
    /// fn poll(run: &Context) -> Result<(), String> {
    ///     match run.stop_reason() {
    ///         None => Ok(()),
    ///         Some(StopReason::TimedOut) => Err("it takes too long".to_owned()),
    ///         Some(reason) => Err(format!("stopped: {reason:?}")),
    ///     }
    /// }
    /// # let _ = poll;
    /// ```
    pub fn stop_reason(&self) -> Option<StopReason> {
        self.token.stop_reason()
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("id", &self.id())
            .field("run", &self.number)
            .field("attempt", &self.attempt)
            .field("nominal", &self.nominal())
            .field("missed", &self.missed)
            .field("is_cancelled", &self.is_cancelled())
            .finish_non_exhaustive()
    }
}
