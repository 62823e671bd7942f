//! What bounds and moves the occurrences of a task: the part of its builder that is about that.

use std::time::SystemTime;

use super::submit::TaskBuilder;
use crate::policy::Jitter;
use crate::schedule::{Start, Window};

/// What a task is told about its occurrences, besides the schedule: beats what that says.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WhenDue {
    pub(super) window: Window,
    pub(super) jitter: Option<Jitter>,
}

impl TaskBuilder<'_> {
    /// The grid of `every` follows the wall clock: [`Schedule::aligned`](crate::Schedule::aligned).
    /// Before or behind it.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use wheel_runtime::Scheduler;
    ///
    /// let scheduler = Scheduler::builder().build()?;
    /// // At :00, :15, :30 and :45.
    /// let report = scheduler.task("report").every(Duration::from_secs(15 * 60)).aligned();
    /// report.run(|run| println!("for {:?}", run.nominal()))?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn aligned(mut self) -> Self {
        self.start = Some(Start::Aligned);
        self
    }

    /// No occurrence has a nominal instant before `begin`:
    /// [`Schedule::not_before`](crate::Schedule::not_before). For what recurs.
    pub fn not_before(mut self, begin: SystemTime) -> Self {
        self.when_due().window.not_before = Some(begin);
        self
    }

    /// No occurrence has a nominal instant after `end`, and once none is left the task ends:
    /// [`Schedule::not_after`](crate::Schedule::not_after). For what recurs.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use wheel_runtime::{InlineExecutor, ManualClock, Scheduler, TaskState};
    ///
    /// let clock = ManualClock::new();
    /// let scheduler = Scheduler::builder().clock(clock.clone()).executor(InlineExecutor).build()?;
    /// let hour = Duration::from_secs(3600);
    /// let sale = scheduler.task("sale").cron("@hourly").not_after(clock.wall() + 24 * hour);
    /// let sale = sale.run(|_| ())?;
    /// clock.run_for(48 * hour);
    /// assert_eq!((sale.info().state, sale.info().runs), (TaskState::Succeeded, 24));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn not_after(mut self, end: SystemTime) -> Self {
        self.when_due().window.not_after = Some(end);
        self
    }

    /// Spreads occurrences, so that many tasks are not due at one instant: see [`Jitter`].
    pub fn jitter(mut self, jitter: Jitter) -> Self {
        self.when_due().jitter = Some(jitter);
        self
    }

    fn when_due(&mut self) -> &mut WhenDue {
        self.when_due.get_or_insert_default()
    }
}
