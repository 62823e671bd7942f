//! Pause, resume and backfill: what is due is held up, or comes late, because somebody wants it so.

use std::time::SystemTime;

use super::Scheduler;
use crate::task::{BackfillError, PauseOutcome, ResumeFrom, ResumeOutcome};

impl Scheduler {
    /// Nothing of the task is due from now on, until it is [resumed](Scheduler::resume). A run that
    /// waits for a worker does not start, one that has begun goes on, also if it waits for another
    /// attempt. [`trigger`](Scheduler::trigger) works all the same, and a new schedule does not
    /// resume it.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use wheel_runtime::{InlineExecutor, ManualClock, ResumeFrom, Scheduler};
    ///
    /// let clock = ManualClock::new();
    /// let scheduler = Scheduler::builder().clock(clock.clone()).executor(InlineExecutor).build()?;
    /// let minute = Duration::from_secs(60);
    /// let task = scheduler.task("sync").every(minute).run(|_| ())?;
    /// scheduler.pause("sync");
    /// clock.run_for(minute * 5 + minute / 2);
    /// assert_eq!((task.info().runs, task.info().next_due), (0, None));
    /// scheduler.resume("sync", ResumeFrom::Now);
    /// assert_eq!(task.info().next_in, Some(minute / 2));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn pause(&self, id: &str) -> PauseOutcome {
        let task = self.core.registry.get(id);
        task.map_or(PauseOutcome::NotFound, |task| task.pause())
    }

    /// A task that was [paused](Scheduler::pause) goes on: with the next occurrence that is still to
    /// come, on the grid that it had, or with those that were missed.
    pub fn resume(&self, id: &str, from: ResumeFrom) -> ResumeOutcome {
        let task = self.core.registry.get(id);
        task.map_or(ResumeOutcome::NotFound, |task| task.resume(from))
    }

    /// Runs a recurring task for each instant of its schedule from `from` on and before `to`, both
    /// past: for a time in which it was not there, or did the wrong thing. The runs go one after the
    /// other, beside the schedule, which does not move; each has the instant as its
    /// [`nominal`](crate::Context::nominal). Returns how many instants there are.
    ///
    /// The schedule is taken as it is now, also for instants before it was made. What a task has
    /// [`count`](crate::TaskBuilder::count)ed out is not run. Occurrences that are due meanwhile fall
    /// under the overlap policy.
    ///
    /// # Errors
    ///
    /// There is no such task, or it does not recur by itself (`every`, `cron`); `to` is before
    /// `from`, or still to come; or there are more than 100,000 instants. Nothing has been run then.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use wheel_runtime::{Context, InlineExecutor, ManualClock, Scheduler};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let clock = ManualClock::new();
    /// let scheduler = Scheduler::builder().clock(clock.clone()).executor(InlineExecutor).build()?;
    /// let import = |run: &Context| println!("the day that ends at {:?}", run.nominal());
    /// let task = scheduler.task("import").cron("0 0 * * *").run(import)?;
    /// let day = Duration::from_secs(24 * 3600);
    /// let until = clock.wall();
    /// assert_eq!(scheduler.backfill("import", until - day * 7, until)?, 7);
    /// scheduler.wait_idle();
    /// assert_eq!(task.info().runs, 7);
    /// # Ok(())
    /// # }
    /// ```
    pub fn backfill(
        &self,
        id: &str,
        from: SystemTime,
        to: SystemTime,
    ) -> Result<usize, BackfillError> {
        let task = self.core.registry.get(id);
        task.ok_or(BackfillError::NotFound)?.backfill(from, to)
    }
}
