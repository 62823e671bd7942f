//! Which tasks a listing is about.

use std::collections::BTreeMap;

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
    labels: BTreeMap<String, String>,
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

    /// Only those with this [label](crate::TaskBuilder::label); with all of them, if it is called
    /// several times. Of two labels of one name the later one counts.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use wheel_runtime::{Scheduler, TaskFilter};
    ///
    /// let scheduler = Scheduler::builder().build()?;
    /// for (id, env) in [("a", "canary"), ("b", "stable")] {
    ///     let task = scheduler.task(id).after(Duration::from_secs(60)).label("env", env);
    ///     task.run(|_| ())?;
    /// }
    /// let canaries = scheduler.tasks(&TaskFilter::all().label("env", "canary"));
    /// assert_eq!(canaries.len(), 1);
    /// assert_eq!(canaries[0].id, "a");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn label(mut self, name: impl Into<String>, value: impl Into<String>) -> TaskFilter {
        self.labels.insert(name.into(), value.into());
        self
    }

    pub(super) fn admits(&self, task: &TaskInfo) -> bool {
        let has = |(name, value)| task.labels.get(name) == Some(value);
        self.state.is_none_or(|state| state == task.state)
            && task.id.starts_with(&self.prefix)
            && self.labels.iter().all(has)
    }
}
