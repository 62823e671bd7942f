//! Tasks without a name, in one call.

use std::time::{Duration, SystemTime};

use super::{Scheduler, SubmitError};
use crate::schedule::{Cron, CronError};
use crate::task::{Context, IntoOutcome, TaskHandle};

#[cfg(doc)]
use crate::schedule::Schedule;

impl Scheduler {
    /// Runs `handler` once, `delay` from now: [`Schedule::after`].
    ///
    /// The delay is rounded up to the tick, and nothing runs early or inside this call. What is
    /// late because the machine or the workers were busy runs as soon as a worker is free. The id
    /// of the task is a number. Does not block.
    ///
    /// # Errors
    ///
    /// [`SubmitError`]: the limit of tasks is reached, or the scheduler is shutting down.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use wheel_runtime::{ManualClock, Scheduler, TaskState};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let clock = ManualClock::new();
    /// let scheduler = Scheduler::builder().clock(clock.clone()).build()?;
    /// let reminder = scheduler.after(Duration::from_secs(3600), |_| println!("an hour later"))?;
    /// clock.advance(Duration::from_secs(3600));
    /// assert_eq!(reminder.wait(), TaskState::Succeeded);
    /// # Ok(())
    /// # }
    /// ```
    pub fn after<F, O>(&self, delay: Duration, handler: F) -> Result<TaskHandle, SubmitError>
    where
        F: Fn(&Context) -> O + Send + Sync + 'static,
        O: IntoOutcome,
    {
        self.unnamed().after(delay).run(handler)
    }

    /// Runs `handler` once, when the wall clock reads `at`, rounded up to a millisecond:
    /// [`Schedule::at`]. Otherwise as [`after`](Scheduler::after).
    ///
    /// # Errors
    ///
    /// As [`after`](Scheduler::after).
    pub fn at<F, O>(&self, at: SystemTime, handler: F) -> Result<TaskHandle, SubmitError>
    where
        F: Fn(&Context) -> O + Send + Sync + 'static,
        O: IntoOutcome,
    {
        self.unnamed().at(at).run(handler)
    }

    /// Runs `handler` again and again, on a grid of `period`: [`Schedule::every`]. Otherwise as
    /// [`after`](Scheduler::after).
    ///
    /// # Errors
    ///
    /// As [`after`](Scheduler::after), or the period is zero.
    pub fn every<F, O>(&self, period: Duration, handler: F) -> Result<TaskHandle, SubmitError>
    where
        F: Fn(&Context) -> O + Send + Sync + 'static,
        O: IntoOutcome,
    {
        self.unnamed().every(period).run(handler)
    }

    /// Runs `handler` again and again, `pause` from the end of one run to the next:
    /// [`Schedule::every_after`]. Otherwise as [`after`](Scheduler::after).
    ///
    /// # Errors
    ///
    /// As [`after`](Scheduler::after), or the pause is zero.
    pub fn every_after<F, O>(&self, pause: Duration, handler: F) -> Result<TaskHandle, SubmitError>
    where
        F: Fn(&Context) -> O + Send + Sync + 'static,
        O: IntoOutcome,
    {
        self.unnamed().every_after(pause).run(handler)
    }

    /// Runs `handler` again and again, when the clock on the wall in UTC shows what `expression` says:
    /// [`Schedule::cron`]. Otherwise as [`after`](Scheduler::after). For another time zone, describe
    /// a task: [`TaskBuilder::timezone`](crate::TaskBuilder::timezone).
    ///
    /// # Errors
    ///
    /// As [`after`](Scheduler::after), or the expression is wrong or never fires.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use wheel_runtime::{InlineExecutor, ManualClock, Scheduler};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let clock = ManualClock::new();
    /// let scheduler = Scheduler::builder().clock(clock.clone()).executor(InlineExecutor).build()?;
    /// let nightly = scheduler.cron("0 2 * * *", |_| println!("two in the morning"))?;
    /// clock.run_for(Duration::from_secs(7 * 24 * 60 * 60));
    /// assert_eq!(nightly.info().runs, 7);
    /// # Ok(())
    /// # }
    /// ```
    pub fn cron<C, F, O>(&self, expression: C, handler: F) -> Result<TaskHandle, SubmitError>
    where
        C: TryInto<Cron>,
        C::Error: Into<CronError>,
        F: Fn(&Context) -> O + Send + Sync + 'static,
        O: IntoOutcome,
    {
        self.unnamed().cron(expression).run(handler)
    }
}
