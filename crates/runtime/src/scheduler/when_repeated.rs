//! What a task is told to do when its runs fail again and again.

use super::submit::TaskBuilder;
use crate::policy::Reaction;

impl<'s> TaskBuilder<'s> {
    /// Once `failures` runs in a row have failed for good, from 1, does what `reaction` says, for
    /// that run and for each further one until one succeeds. Runs that are tried again count when
    /// they are given up, runs that were cancelled do not. May be called several times; all of them
    /// hold.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use wheel_runtime::{InlineExecutor, ManualClock, Reaction, Scheduler, TaskState};
    ///
    /// let clock = ManualClock::new();
    /// let scheduler = Scheduler::builder().clock(clock.clone()).executor(InlineExecutor).build()?;
    /// let minute = Duration::from_secs(60);
    /// let sync = scheduler.task("sync").every(minute);
    /// let sync = sync.on_repeated_failure(3, Reaction::event(|failure| {
    ///     eprintln!("{}: {} times in a row, {}", failure.task, failure.in_a_row, failure.error);
    /// }));
    /// let sync = sync.on_repeated_failure(10, Reaction::archive()).run(|_| Err("not reachable"))?;
    /// clock.run_for(minute * 60);
    /// assert_eq!((sync.wait(), sync.info().runs), (TaskState::Cancelled, 10));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn on_repeated_failure(mut self, failures: u32, reaction: Reaction) -> TaskBuilder<'s> {
        self.failing().rules.add(failures, reaction);
        self
    }
}
