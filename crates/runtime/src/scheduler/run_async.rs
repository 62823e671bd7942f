//! Tasks whose handlers are futures: the end of a builder that is about that.

use std::sync::Arc;

use super::SubmitError;
#[cfg(feature = "serde")]
use super::kinds::KindError;
use super::submit::TaskBuilder;
use crate::task::{Away, Context, IntoOutcome, Outcome, Spawner, TaskHandle};

impl TaskBuilder<'_> {
    /// Adds the task, as [`run`](TaskBuilder::run) does. Its handler makes a future, which runs on a
    /// runtime of yours: `spawner` takes it there, such as `|run| drop(tokio::spawn(run))`, or
    /// `move |run| executor.spawn(run).detach()` with smol.
    ///
    /// A worker calls the handler and the spawner, and is free again: how many of the futures go at
    /// once is not limited by the workers, but by
    /// [`concurrency_key`](TaskBuilder::concurrency_key) and [`overlap`](TaskBuilder::overlap). All
    /// else is as with other handlers, seen from outside: a run goes until its future is done,
    /// panics are failed attempts, it is tried again, waited for and shut down by the same rules.
    /// Hooks, the retry policy and a fallback are called where the future was polled last.
    ///
    /// When the [time](TaskBuilder::timeout) of an attempt is over, its token is set and its future
    /// is dropped, at the point at which it waits then. Other reasons to stop only set the
    /// token, which may be [awaited](crate::CancelToken::cancelled). A future that the runtime drops
    /// is an attempt that failed.
    ///
    /// Interceptors ([`around`](crate::SchedulerBuilder::around)) are not called: they return when
    /// an attempt is over, and would hold a worker for it.
    ///
    /// # Errors
    ///
    /// As [`run`](TaskBuilder::run).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use wheel_runtime::{Context, Scheduler, TaskState, Timers};
    ///
    /// let runtime = tokio::runtime::Builder::new_multi_thread().build()?;
    /// let scheduler = Scheduler::builder().workers(1).build()?;
    /// let timers = Timers::builder().build()?;
    ///
    /// let handler = move |run: Context| {
    ///     let timers = timers.clone();
    ///     async move {
    ///         timers.sleep(Duration::from_millis(1)).await?;
    ///         println!("{}, run {}", run.id(), run.run());
    ///         Ok::<(), wheel_runtime::SleepError>(())
    ///     }
    /// };
    /// let handle = runtime.handle().clone();
    /// let spawner = move |run| drop(handle.spawn(run));
    /// let poll = scheduler.task("poll").after(Duration::ZERO).run_async(handler, spawner)?;
    /// assert_eq!(poll.wait(), TaskState::Succeeded);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn run_async<H, F, S>(mut self, handler: H, spawner: S) -> Result<TaskHandle, SubmitError>
    where
        H: Fn(Context) -> F + Send + Sync + 'static,
        F: Future<Output: IntoOutcome> + Send + 'static,
        S: Spawner,
    {
        #[cfg(feature = "serde")]
        if self.of_kind.is_some() {
            return Err(KindError::AndHandler.into());
        }
        let make = move |context| {
            let future = handler(context);
            let going = async move { future.await.into_outcome() };
            Box::pin(going) as _
        };
        self.terms().away = Some(Away::new(Box::new(make), Box::new(spawner)));
        let never_called = || Outcome::Failure("the handler is a future".to_owned());
        self.add(Arc::new(move |_: &Context| never_called()))
    }
}
