//! What the states of a task are called.

use std::fmt;

/// Where a task stands. While runs of it wait or are going, it stands where the busiest of them does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TaskState {
    /// Waits until it is due.
    Scheduled,
    /// Is due, and waits for a worker.
    Queued,
    /// A worker runs it.
    Running,
    /// Waits for the next attempt of a run: the last one failed, or was snoozed.
    Retrying,
    /// Is not due before it is [resumed](crate::Scheduler::resume).
    Paused,
    /// Ended: the last run succeeded.
    Succeeded,
    /// Ended: the last run failed, and the task has no retry policy.
    Failed,
    /// Ended: the last run was not over in [time](crate::TaskBuilder::timeout), and the task has no
    /// retry policy.
    TimedOut,
    /// Ended: cancelled, or not run because the scheduler was shut down.
    Cancelled,
    /// Ended: the last run failed, and will not be tried again. It is in the dead letters.
    Dead,
    /// Ended: its only run was left out, because it was too late, the executor refused it, or a task
    /// that it was to come after ended otherwise.
    Skipped,
}

impl TaskState {
    /// Whether the task will never run again.
    pub fn has_ended(self) -> bool {
        match self {
            TaskState::Scheduled
            | TaskState::Queued
            | TaskState::Running
            | TaskState::Retrying
            | TaskState::Paused => false,
            TaskState::Succeeded
            | TaskState::Failed
            | TaskState::TimedOut
            | TaskState::Cancelled
            | TaskState::Dead
            | TaskState::Skipped => true,
        }
    }
}

impl TaskState {
    pub(crate) fn word(self) -> &'static str {
        match self {
            TaskState::Scheduled => "scheduled",
            TaskState::Queued => "queued",
            TaskState::Running => "running",
            TaskState::Retrying => "retrying",
            TaskState::Paused => "paused",
            TaskState::Succeeded => "succeeded",
            TaskState::Failed => "failed",
            TaskState::TimedOut => "timed_out",
            TaskState::Cancelled => "cancelled",
            TaskState::Dead => "dead",
            TaskState::Skipped => "skipped",
        }
    }
}

/// One word, in small letters, as in logs and metrics: `scheduled`, `timed_out`.
impl fmt::Display for TaskState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}
