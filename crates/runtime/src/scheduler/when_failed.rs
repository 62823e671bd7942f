//! What a task is told to do when it fails: the part of its builder that is about that.

use std::sync::Arc;

use super::dead_letters::DeadLetter;
use super::submit::TaskBuilder;
use crate::policy::Retry;
use crate::task::{Failing, Failure};

impl<'s> TaskBuilder<'s> {
    /// A run that fails is tried again as this says; without a policy it has one attempt. A run
    /// that is not tried again is kept in the [dead letters](crate::Scheduler::dead_letters), and a
    /// task that has no other one to come ends as [`Dead`](crate::TaskState::Dead).
    ///
    /// While a run waits for its next attempt, a cancel ends the task, a new schedule does not touch
    /// the run, a trigger finds it busy, and a shutdown reports the task as pending.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use wheel_runtime::{Retry, Scheduler, TaskState};
    ///
    /// let scheduler = Scheduler::builder().build()?;
    /// let retry = Retry::fixed(Duration::from_millis(1)).max_attempts(3);
    /// let print = scheduler.task("print").after(Duration::ZERO).retry(retry);
    /// let print = print.run(|run| Err(format!("no paper, attempt {}", run.attempt())))?;
    /// assert_eq!(print.wait(), TaskState::Dead);
    /// assert_eq!(print.info().last_error.as_deref(), Some("no paper, attempt 3"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn retry(mut self, retry: Retry) -> TaskBuilder<'s> {
        self.failing().retry = Some(retry);
        self
    }

    /// Calls `hook` after each attempt that failed, with what is known of it by then. Of several,
    /// the last one counts.
    ///
    /// It is called on the worker, after what it tells of has come about: the next attempt does not
    /// wait for it, [`wait_idle`](crate::Scheduler::wait_idle) does, and
    /// [`TaskHandle::wait`](crate::TaskHandle::wait) may return before. It may do whatever a handler
    /// may. A panic in it is counted in
    /// [`Stats::hooks_panicked`](crate::Stats::hooks_panicked), and changes nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use wheel_runtime::{Retry, Scheduler};
    ///
    /// let scheduler = Scheduler::builder().build()?;
    /// let sync = scheduler.task("sync").every(Duration::from_secs(60));
    /// let sync = sync.retry(Retry::linear(Duration::from_secs(5)).max_attempts(3));
    /// sync.on_failure(|failure| match failure.next_in {
    ///     Some(delay) => eprintln!("{}: {}, again in {delay:?}", failure.task, failure.error),
    ///     None => eprintln!("{}: {}, for good", failure.task, failure.error),
    /// })
    /// .run(|_| Err("not reachable"))?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn on_failure(
        mut self,
        hook: impl Fn(&Failure) + Send + Sync + 'static,
    ) -> TaskBuilder<'s> {
        self.failing().on_failure = Some(Arc::new(hook));
        self
    }

    /// Calls `hook` when a run was given up and has become a dead letter, which needs a
    /// [`retry`](TaskBuilder::retry) policy: to raise an alarm, or to do something else instead.
    /// Otherwise as [`on_failure`](TaskBuilder::on_failure), which is called before it.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::mpsc;
    /// use std::time::Duration;
    /// use wheel_runtime::{Retry, Scheduler};
    ///
    /// let scheduler = Scheduler::builder().build()?;
    /// let (alarm, alarms) = mpsc::channel();
    /// let task = scheduler.task("backup").after(Duration::ZERO);
    /// let task = task.retry(Retry::fixed(Duration::from_millis(1)).max_attempts(2));
    /// let task = task.on_dead(move |letter| {
    ///     let text = format!("{} is dead: {}", letter.task, letter.last.error);
    ///     alarm.send(text).expect("somebody listens");
    /// });
    /// task.run(|_| Err("disk full"))?;
    /// assert_eq!(alarms.recv()?, "backup is dead: disk full");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn on_dead(
        mut self,
        hook: impl Fn(&DeadLetter) + Send + Sync + 'static,
    ) -> TaskBuilder<'s> {
        self.failing().on_dead = Some(Arc::new(hook));
        self
    }

    pub(super) fn failing(&mut self) -> &mut Failing {
        self.failing.get_or_insert_default()
    }
}
