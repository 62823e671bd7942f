//! Why a task is not added: one case for each thing that may be asked for.

use std::fmt;

use super::after_others::write_cycle;
#[cfg(feature = "serde")]
use super::kinds::KindError;
use crate::policy::PolicyError;
use crate::schedule::ScheduleError;

/// Why a task was not added. The handler is dropped.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SubmitError {
    /// A live task has this id. Trying again helps once that one has ended.
    DuplicateId(String),
    /// An id may not be empty, nor begin with `#`, which is kept for tasks without a name.
    InvalidId(String),
    /// Neither `after`, `at`, `every`, `every_after`, `cron` nor `depends_on` was called.
    NoSchedule,
    /// The task is to come after one of which nothing is known: there is no live task with this id,
    /// and none in the [history](crate::Scheduler::history).
    UnknownDependency(String),
    /// The task would wait for itself: each of these comes after the one before, and the last is the
    /// first.
    DependencyCycle(Vec<String>),
    /// The schedule recurs, and the task is to come after others. A [graph](crate::Scheduler::graph) can
    /// recur as a whole.
    RecurringDependent,
    /// The schedule is not possible.
    Schedule(ScheduleError),
    /// What a policy was told is not possible: a count, a retry, a time limit, a label, a pool and so
    /// on.
    Policy(PolicyError),
    /// Something is wrong with its kind, or with the payload for that.
    #[cfg(feature = "serde")]
    Kind(KindError),
    /// There are as many live tasks as the scheduler may have. Trying again helps once some have
    /// ended.
    Full,
    /// The scheduler is shutting down, or has been shut down.
    ShuttingDown,
}

impl SubmitError {
    /// Whether the same call may succeed later.
    pub fn may_succeed_later(&self) -> bool {
        match self {
            SubmitError::DuplicateId(_) | SubmitError::Full => true,
            #[cfg(feature = "serde")]
            SubmitError::Kind(error) => error.may_succeed_later(),
            _ => false,
        }
    }
}

impl From<PolicyError> for SubmitError {
    fn from(error: PolicyError) -> SubmitError {
        SubmitError::Policy(error)
    }
}

impl fmt::Display for SubmitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SubmitError::DuplicateId(id) => write!(
                f,
                "id: a live task is called {id:?}: take another id, or say what is to happen by on_conflict"
            ),
            SubmitError::InvalidId(id) => write!(
                f,
                "id: {id:?} is not possible: it must not be empty or begin with '#'"
            ),
            SubmitError::NoSchedule => f.write_str(
                "schedule: the task has none: call one of after, at, every, every_after, cron, depends_on",
            ),
            SubmitError::UnknownDependency(id) => write!(
                f,
                "depends_on: there is no live task {id:?}, and none in the history: add that one first"
            ),
            SubmitError::DependencyCycle(ids) => {
                f.write_str("depends_on: the task would wait for itself: ")?;
                write_cycle(f, ids)
            }
            SubmitError::RecurringDependent => f.write_str(
                "depends_on: a task that recurs cannot come after others: let a graph recur, or use after or at",
            ),
            SubmitError::Schedule(error) => error.fmt(f),
            SubmitError::Policy(error) => error.fmt(f),
            #[cfg(feature = "serde")]
            SubmitError::Kind(error) => error.fmt(f),
            SubmitError::Full => {
                f.write_str("max_tasks: there are as many live tasks as it allows: some must end first")
            }
            SubmitError::ShuttingDown => f.write_str("the scheduler is shutting down"),
        }
    }
}

impl std::error::Error for SubmitError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            SubmitError::Schedule(error) => Some(error),
            SubmitError::Policy(error) => Some(error),
            #[cfg(feature = "serde")]
            SubmitError::Kind(error) => Some(error),
            _ => None,
        }
    }
}
