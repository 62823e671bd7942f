//! What a user keeps of a task.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::{CancelOutcome, Task, TaskInfo, TaskState, is_inside_run_of_task};
use crate::clock::Patience;

/// One task. Dropping the handle does not cancel it; a clone is the same task.
///
/// It goes on answering after the task has ended, also when the id is used again: that is another
/// task. What it lacks ([`reschedule`](crate::Scheduler::reschedule),
/// [`trigger`](crate::Scheduler::trigger)) the scheduler does by its [`id`](TaskHandle::id).
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use wheel_runtime::{CancelOutcome, Scheduler, TaskState};
///
/// let scheduler = Scheduler::builder().build()?;
/// let order = scheduler.task("order-1001").after(Duration::from_secs(1800)).run(|_| ())?;
/// assert_eq!(order.info().state, TaskState::Scheduled);
/// assert_eq!(order.wait_timeout(Duration::from_millis(1)), None);
/// assert_eq!(order.cancel(), CancelOutcome::Cancelled);
/// assert_eq!(order.wait(), TaskState::Cancelled);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct TaskHandle(pub(super) Arc<Task>);

impl TaskHandle {
    pub(crate) fn new(task: Arc<Task>) -> TaskHandle {
        TaskHandle(task)
    }

    pub(crate) fn task(&self) -> &Arc<Task> {
        &self.0
    }

    /// The name that the task was given, or a number such as `#17`.
    pub fn id(&self) -> &str {
        self.0.name()
    }

    /// No run starts from now on; one that is going is asked to stop through its token. Does not
    /// wait for it.
    pub fn cancel(&self) -> CancelOutcome {
        self.0.cancel()
    }

    /// How the task stands now.
    pub fn info(&self) -> TaskInfo {
        self.0.info()
    }

    /// Waits until the task has ended and returns how. A recurring task ends when it is cancelled,
    /// when it has run as often as was wanted, or with its scheduler.
    ///
    /// What the handler wrote is visible afterwards. Called from the handler of this very task, it
    /// does not wait but returns the present state.
    pub fn wait(&self) -> TaskState {
        loop {
            if let Some(state) = self.wait_timeout(Duration::MAX) {
                return state;
            }
        }
    }

    /// As [`wait`](TaskHandle::wait), for `limit` of real time at most; `None` if the task has not
    /// ended by then.
    pub fn wait_timeout(&self, limit: Duration) -> Option<TaskState> {
        let mut life = self.0.life.lock();
        if is_inside_run_of_task(&self.0) {
            return Some(life.state.name());
        }
        let patience = Patience::new(limit);
        while !life.state.name().has_ended() {
            let left = patience.left()?;
            life.waiters += 1;
            life = self.0.ended.wait_timeout(life, left);
            life.waiters -= 1;
        }
        Some(life.state.name())
    }
}

impl fmt::Debug for TaskHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskHandle")
            .field("id", &self.id())
            .field("state", &self.0.state())
            .finish_non_exhaustive()
    }
}
