//! The picture of a scheduler's engine.

use super::Scheduler;
use crate::driver::{EngineSnapshot, SnapshotError};

impl Scheduler {
    /// What the engine of this scheduler holds, and where: how many timers each slot of its wheel has,
    /// how many wait in the intake and in the overflow. For people and their dashboards.
    ///
    /// A task that waits for its next occurrence or attempt is one timer. Others stand for limits,
    /// for what the driver is to hand on, and for timeouts until they are over or void, so the sum may be
    /// more than there are tasks. Tasks that follow the calendar are counted in
    /// [`wall`](EngineSnapshot::wall).
    ///
    /// The driver takes it in its next pass, for which it is woken, in some microseconds, whatever is
    /// pending; nobody is stopped. Waits for that pass, a second at most. Allocates some 10 KB.
    ///
    /// # Errors
    ///
    /// [`SnapshotError`]: the scheduler was shut down, this is the driver thread (where handlers of an
    /// [`InlineExecutor`](crate::InlineExecutor) run), or the driver is held up.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use wheel_runtime::{ManualClock, Scheduler};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let clock = ManualClock::new();
    /// let scheduler = Scheduler::builder().clock(clock.clone()).build()?;
    /// scheduler.task("unpaid").after(Duration::from_secs(30 * 60)).run(|_| ())?;
    /// scheduler.task("backup").cron("0 2 * * *").run(|_| ())?;
    ///
    /// // The driver takes over what was added.
    /// clock.advance(Duration::ZERO);
    /// let snapshot = scheduler.snapshot()?;
    /// assert_eq!((snapshot.wheel.live, snapshot.wall), (1, 1));
    /// let minutes = &snapshot.wheel.levels[2];
    /// assert_eq!((minutes.name, minutes.this_turn[30]), ("min", 1));
    /// # Ok(())
    /// # }
    /// ```
    pub fn snapshot(&self) -> Result<EngineSnapshot, SnapshotError> {
        self.core.engine.snapshot()
    }
}
