//! Which tasks a listing is about.

use crate::task::{TaskInfo, TaskState};

/// Which tasks [`Scheduler::tasks`](crate::Scheduler::tasks) lists: all of them, until it is
/// narrowed down.
///
/// # Examples
///
/// ```
/// use wheel_runtime::{TaskFilter, TaskState};
///
/// let running_orders = TaskFilter::all().id_prefix("order-").state(TaskState::Running);
/// # drop(running_orders);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskFilter {
    state: Option<TaskState>,
    prefix: String,
}

impl TaskFilter {
    /// All live tasks.
    pub fn all() -> TaskFilter {
        TaskFilter::default()
    }

    /// Only those in this state.
    #[must_use]
    pub fn state(mut self, state: TaskState) -> TaskFilter {
        self.state = Some(state);
        self
    }

    /// Only those whose id begins so.
    #[must_use]
    pub fn id_prefix(mut self, prefix: impl Into<String>) -> TaskFilter {
        self.prefix = prefix.into();
        self
    }

    pub(super) fn admits(&self, task: &TaskInfo) -> bool {
        self.state.is_none_or(|state| state == task.state) && task.id.starts_with(&self.prefix)
    }
}
