//! What a task is labelled with, as its runs, its records and its hooks see it.

use std::collections::BTreeMap;

use super::{Context, Task};
use crate::policy::Labels;

impl Task {
    fn label_set(&self) -> Option<&Labels> {
        self.limits().map(|limits| &limits.labels)
    }

    /// For a record.
    pub(super) fn labels(&self) -> BTreeMap<String, String> {
        self.label_set().map(Labels::to_map).unwrap_or_default()
    }
}

impl Context {
    /// The value of a [label](crate::TaskBuilder::label) of the task; `None` if it has none of this
    /// name. The same in each attempt, in [children](Context::child), and when the run is replayed.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use wheel_runtime::{Context, Scheduler, TaskState};
    ///
    /// fn charge(run: &Context) -> Result<(), String> {
    ///     match run.label("env") {
    ///         Some("canary") => println!("by the new code"),
    ///         _ => println!("by the old code"),
    ///     }
    ///     Ok(())
    /// }
    ///
    /// let scheduler = Scheduler::builder().build()?;
    /// let task = scheduler.task("charge-7").after(Duration::ZERO).label("env", "canary");
    /// assert_eq!(task.run(charge)?.wait(), TaskState::Succeeded);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn label(&self, name: &str) -> Option<&str> {
        self.task.label_set()?.get(name)
    }

    /// All of them, names and values, in order of the names.
    pub fn labels(&self) -> impl Iterator<Item = (&str, &str)> {
        self.task.label_set().into_iter().flat_map(Labels::iter)
    }
}
