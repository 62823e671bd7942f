//! What a handler is told about its run.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::occur::Calendar;
use super::{CancelToken, Task};
use crate::clock::Moment;

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

    /// The instant that the schedule names for this run. If the run stands for several occurrences
    /// that were missed, the latest of them. Does not move when the wall clock does.
    pub fn nominal(&self) -> SystemTime {
        self.calendar.nominal
    }

    /// The instant from which this run's lateness counts: [`nominal`](Context::nominal), or if the
    /// run stands for several occurrences, the earliest of them.
    pub fn due(&self) -> SystemTime {
        self.calendar.due
    }

    /// How many occurrences were missed for which this run stands as well; 0 when nothing was held
    /// up.
    pub fn missed(&self) -> u64 {
        self.missed
    }

    /// How late this run started: from the tick at which it was due (the earliest, if it stands for
    /// several).
    pub fn lateness(&self) -> Duration {
        self.started.since(self.late_from)
    }

    /// How long ago the tick was at which this run was due, right now:
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
            .field("nominal", &self.nominal())
            .field("missed", &self.missed)
            .field("is_cancelled", &self.is_cancelled())
            .finish_non_exhaustive()
    }
}
