//! What a handler is told about its run.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::occur::Calendar;
use super::{CancelToken, Task};
use crate::clock::{Moment, unix_nanos};

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
    pub(super) number: u64,
    pub(super) attempt: u32,
    pub(super) last_error: Option<Arc<str>>,
    pub(super) token: CancelToken,
    pub(super) late_from: Moment,
    pub(super) started: Moment,
    pub(super) calendar: Calendar,
    pub(super) missed: u64,
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

    /// The instant that the schedule names for this run, the same in each attempt. If the run stands for several occurrences
    /// that were missed, the latest of them. Does not move when the wall clock does.
    pub fn nominal(&self) -> SystemTime {
        self.calendar.nominal
    }

    /// The instant from which this attempt's lateness counts: [`nominal`](Context::nominal), later by
    /// the [jitter](crate::Jitter) of the task if it has one; or if the run stands for several
    /// occurrences, that of the earliest. From the second attempt on, the
    /// instant at which it was due.
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

    /// Whether this run should stop: its task was cancelled, or the grace of a shutdown is over.
    /// One load.
    pub fn is_cancelled(&self) -> bool {
        self.token.is_cancelled()
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
