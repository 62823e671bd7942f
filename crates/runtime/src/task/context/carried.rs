//! The values that a run carries: a request id, a connection, whatever should be at hand where a
//! handler does its work.

use std::any::Any;
use std::sync::Arc;

use super::Context;
use crate::task::values::RunValues;

impl Context {
    /// The value of this type that the run carries: what was [set](Context::set_value) in the run,
    /// else what the task was [given](crate::TaskBuilder::value).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use wheel_runtime::{Context, Scheduler, TaskState};
    ///
    /// struct RequestId(u64);
    ///
    /// fn charge(run: &Context) -> Result<(), String> {
    ///     let request = run.value::<RequestId>().ok_or("no request")?;
    ///     println!("charging for request {}", request.0);
    ///     Ok(())
    /// }
    ///
    /// let scheduler = Scheduler::builder().build()?;
    /// let task = scheduler.task("charge").after(Duration::ZERO).value(RequestId(17));
    /// assert_eq!(task.run(charge)?.wait(), TaskState::Succeeded);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn value<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        let of_run = self.values.get().and_then(RunValues::get);
        of_run.or_else(|| self.terms.as_ref()?.values.get())
    }

    /// From now on the run carries this value, instead of the one of the same type that it had. All
    /// of its contexts see it, also those of later attempts, and children. For interceptors that add
    /// what handlers need, and for handlers that keep something for the next attempt.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use wheel_runtime::{Context, Retry, Scheduler, TaskState};
    ///
    /// struct Copied(u32);
    ///
    /// /// Goes on where the attempt before has failed.
    /// fn copy(run: &Context) -> Result<(), &'static str> {
    ///     let start = run.value::<Copied>().map_or(0, |copied| copied.0);
    ///     for file in start..5 {
    ///         if file == 3 && run.attempt() == 1 {
    ///             return Err("the connection broke");
    ///         }
    ///         run.set_value(Copied(file + 1));
    ///     }
    ///     Ok(())
    /// }
    ///
    /// let scheduler = Scheduler::builder().build()?;
    /// let retry = Retry::fixed(Duration::from_millis(1));
    /// let task = scheduler.task("copy").after(Duration::ZERO).retry(retry).run(copy)?;
    /// assert_eq!(task.wait(), TaskState::Succeeded);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set_value<T: Any + Send + Sync>(&self, value: T) {
        self.shared_values().set(value);
    }

    /// Those of the run, for a context that is to see what is set in this one.
    pub(super) fn shared_values(&self) -> &RunValues {
        self.values.get_or_init(RunValues::default)
    }
}
