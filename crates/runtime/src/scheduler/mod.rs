//! The other door: tasks with ids, workers and schedules, on the same engine as the timers.
//!
//! ```text
//!  submit.rs --> registry.rs        when_*.rs, *_asked.rs, time_limits.rs, after_others.rs
//!      |             ^                  what a task may be told, besides its schedule
//!      |             |              graph/      tasks that come after each other, as a whole
//!      |             |              kinds/      handlers by name, and tasks as data
//!      v             |
//!   engine ===> sink.rs (driver thread) ---------------> executor --> task/run.rs (worker)
//!                  \--> gate/: keys, tokens --/    to the pool that pools.rs says
//!
//!  a task ends --> history.rs       a run dies --> dead_letters.rs      hangs --> hung.rs
//!  activity.rs  who waits for runs to end       shutdown.rs  the end, in numbered steps
//! ```
//!
//! Ground rules: user code runs on the executor only, under no lock. A task refers to the core, and
//! the core to live tasks; that ring is cut when a task ends, at the latest when the scheduler
//! does.

mod builder;
mod core;
mod counters;

mod submit;
mod submit_error;
#[cfg(test)]
mod while_added;
mod direct;
mod pausing;
mod when_due;
mod when_failed;
mod when_repeated;
mod order_asked;
mod limits;
mod pools;
mod time_limits;
mod after_others;
mod graph;
mod registry;
mod filter;
mod dead_letters;
mod history;
mod hung;

#[cfg(feature = "serde")]
mod kinds;

mod sink;
mod told;
mod in_turn;
mod gate;
mod mark;
#[cfg(wheel_model)]
pub(crate) mod modelled;

mod activity;
mod closing;
mod shutdown;
mod snapshot;
mod undone;
mod way_out;
mod global;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::clock::Patience;
use crate::error::BuildError;
use crate::executor::Workers;
use crate::observe::Stats;
use crate::schedule::Schedule;
use crate::task::{CancelOutcome, RescheduleError, TaskHandle, TaskInfo, TriggerOutcome};

pub use builder::SchedulerBuilder;
pub(crate) use core::{Around, Core};
pub(crate) use dead_letters::{DeadDoor, Letter, Replay};
pub use dead_letters::{DeadLetter, DeadLetterId, DeadLetters, Death, ReplayError};
pub use filter::TaskFilter;
pub use global::global;
pub use graph::{GraphBuilder, GraphError, GraphHandle, GraphInfo, NodeInfo, WhenNodeFails};
pub use history::History;
pub use hung::HungRun;
pub(crate) use hung::{Hanging, OwnRun};
#[cfg(feature = "serde")]
pub(crate) use kinds::Made;
#[cfg(feature = "serde")]
pub use kinds::{
    DefinitionError, Kind, KindError, KindInfo, RegisterError, Submitted, TaskDefinition,
    UnresolvedTask,
};
pub(crate) use limits::{Limits, Permit};
pub use pools::PoolSpec;
pub(crate) use registry::ShardDoor;
pub use shutdown::{ShutdownReport, ShutdownTimeout};
pub(crate) use sink::Fire;
pub use submit::TaskBuilder;
pub use submit_error::SubmitError;
pub(crate) use told::{Tidings, Told};
pub(crate) use undone::Named;
pub(crate) use way_out::WayOut;

/// Runs tasks when they are due: once or again and again, by name, on workers of its own.
///
/// A clone is the same scheduler. When the last one is dropped it shuts down without waiting: what
/// is going is told to stop, nothing else starts. Handles of tasks do not keep it alive, handlers
/// that hold a clone do.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use wheel_runtime::{CancelOutcome, Scheduler};
///
/// let scheduler = Scheduler::builder().workers(2).build()?;
/// scheduler.task("order-1001").after(Duration::from_secs(1800)).run(|context| {
///     println!("{} was not paid", context.id());
/// })?;
/// // It was paid.
/// assert_eq!(scheduler.cancel("order-1001"), CancelOutcome::Cancelled);
/// scheduler.shutdown(Duration::from_secs(5))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Scheduler {
    core: Arc<Core>,
    /// Counts the handles.
    _last: Arc<ShutsDown>,
}

/// Dropped with the last handle.
struct ShutsDown(Arc<Core>);

impl Drop for ShutsDown {
    fn drop(&mut self) {
        self.0.abandon();
    }
}

impl Scheduler {
    /// Describes a scheduler on the system's monotonic clock with a tick of 1 ms and a worker for
    /// each core.
    pub fn builder() -> SchedulerBuilder {
        SchedulerBuilder::new()
    }

    fn of(core: Arc<Core>) -> Scheduler {
        Scheduler {
            _last: Arc::new(ShutsDown(Arc::clone(&core))),
            core,
        }
    }

    /// Describes a task called `id`, which no other live task may be. Nothing happens before
    /// [`run`](TaskBuilder::run).
    pub fn task(&self, id: impl Into<String>) -> TaskBuilder<'_> {
        TaskBuilder::new(self, Some(id.into()))
    }

    /// Describes a task without a name; its id will be a number such as `#17`.
    pub fn unnamed(&self) -> TaskBuilder<'_> {
        TaskBuilder::new(self, None)
    }

    /// No run of the task starts from now on, be it queued or not. A run that is going is asked to
    /// stop, and the task ends as cancelled when it returns. The id is free at once. Does not wait.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use wheel_runtime::{CancelOutcome, Scheduler};
    ///
    /// let shop = Scheduler::builder().build()?;
    /// shop.task("order-1001").after(Duration::from_secs(1800)).run(|_| println!("not paid"))?;
    /// match shop.cancel("order-1001") {
    ///     CancelOutcome::Cancelled => println!("paid in time"),
    ///     CancelOutcome::Running => println!("it is being closed right now"),
    ///     CancelOutcome::NotFound => println!("there is no such order, or it is closed"),
    ///     other => println!("{other:?}"),
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn cancel(&self, id: &str) -> CancelOutcome {
        match self.core.registry.get(id) {
            Some(task) => task.cancel(),
            #[cfg(feature = "serde")]
            None => self.cancel_unresolved(id),
            #[cfg(not(feature = "serde"))]
            None => CancelOutcome::NotFound,
        }
    }

    /// Gives the task another schedule, which holds at once. Of a task that runs once, a run that
    /// waits for a worker is taken back; of one that recurs, what was due before still runs, so that
    /// no occurrence is lost and none is doubled. A run that has begun goes on, also if it waits for
    /// another attempt. The handler, the id and the counts stay, and a paused task stays paused. May
    /// be called from the task's own handler.
    ///
    /// What is due while a run is still going falls under the overlap policy. So a handler that
    /// gives its own task a new instant must have returned by then, or with
    /// [`Overlap::Skip`](crate::Overlap::Skip) that occurrence is skipped.
    ///
    /// # Errors
    ///
    /// There is no such task, the schedule is not possible, or the scheduler is shutting down. The
    /// old schedule holds then.
    ///
    /// # Examples
    ///
    /// Every night by the wall clock, wherever that is stepped to: each run says when the next one
    /// is due.
    ///
    /// ```
    /// use std::time::Duration;
    /// use wheel_runtime::{Context, InlineExecutor, ManualClock, Schedule, Scheduler};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let clock = ManualClock::new();
    /// let scheduler = Scheduler::builder().clock(clock.clone()).executor(InlineExecutor).build()?;
    /// let day = Duration::from_secs(24 * 60 * 60);
    /// let again = scheduler.clone();
    /// let report = move |run: &Context| {
    ///     println!("the report of {:?}", run.nominal());
    ///     again.reschedule(run.id(), Schedule::at(run.nominal() + day))
    /// };
    /// let task = scheduler.task("report").at(clock.wall() + Duration::from_secs(7200)).run(report)?;
    /// clock.run_for(day * 3);
    /// assert_eq!(task.info().succeeded, 3);
    /// // The handler holds a clone, so that dropping the last handle here would not end the scheduler.
    /// scheduler.shutdown(Duration::ZERO)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn reschedule(&self, id: &str, schedule: Schedule) -> Result<(), RescheduleError> {
        let task = self.core.registry.get(id);
        task.ok_or(RescheduleError::NotFound)?.reschedule(&schedule)
    }

    /// Runs the task at once. A task that runs once is thereby brought forward: it still runs once.
    /// For one that recurs this is a run beside its schedule, which does not move; it counts for
    /// the overlap policy like any other. Does not wait for the run.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use wheel_runtime::{Scheduler, TaskState, TriggerOutcome};
    ///
    /// let scheduler = Scheduler::builder().build()?;
    /// let backup = scheduler.task("backup").after(Duration::from_secs(3600)).run(|_| ())?;
    /// assert_eq!(scheduler.trigger("backup"), TriggerOutcome::Triggered);
    /// assert_eq!(backup.wait(), TaskState::Succeeded);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn trigger(&self, id: &str) -> TriggerOutcome {
        let task = self.core.registry.get(id);
        task.map_or(TriggerOutcome::NotFound, |task| task.trigger())
    }

    /// How the live task `id` stands now. `None` if it has ended: then its handle still answers.
    pub fn get(&self, id: &str) -> Option<TaskInfo> {
        self.core.registry.get(id).map(|task| task.info())
    }

    /// The handle of the live task `id`.
    pub fn handle(&self, id: &str) -> Option<TaskHandle> {
        self.core.registry.get(id).map(TaskHandle::new)
    }

    /// The live tasks that `filter` admits, by id. They are looked at one after the other, not at
    /// one instant.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use wheel_runtime::{Scheduler, TaskFilter};
    ///
    /// let shop = Scheduler::builder().build()?;
    /// for id in ["order-1001", "order-1002", "report"] {
    ///     shop.task(id).after(Duration::from_secs(1800)).run(|_| ())?;
    /// }
    /// let orders = shop.tasks(&TaskFilter::all().id_prefix("order-"));
    /// assert_eq!(orders.len(), 2);
    /// assert_eq!(orders[0].id, "order-1001");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn tasks(&self, filter: &TaskFilter) -> Vec<TaskInfo> {
        let tasks = self.core.registry.all();
        let mut infos: Vec<TaskInfo> = tasks.iter().map(|task| task.info()).collect();
        infos.retain(|info| filter.admits(info));
        infos.sort_by(|a, b| a.id.cmp(&b.id));
        infos
    }

    /// Waits until everything that is due by now has run and no run is waiting or going. On a
    /// [`ManualClock`](crate::ManualClock), call it after moving the clock.
    ///
    /// Never ends while there is always another run. From inside a handler it does not wait for
    /// that handler's own run; on the driver thread, where handlers of an
    /// [`InlineExecutor`](crate::InlineExecutor) run, it does not wait at all. A run that waits for a
    /// token of its rate limit is waited for as well: on a manual clock, which does not bring the
    /// token by itself, go on with [`run_for`](crate::ManualClock::run_for). A
    /// run that waits for a worker is waited for, so a handler that calls this on the last free
    /// worker waits for ever: give it a limit there.
    ///
    /// # Examples
    ///
    /// On a manual clock it is what a test waits for after each step:
    ///
    /// ```
    /// use std::time::Duration;
    /// use wheel_runtime::{ManualClock, Scheduler};
    ///
    /// let clock = ManualClock::new();
    /// let scheduler = Scheduler::builder().clock(clock.clone()).build()?;
    /// let task = scheduler.task("every minute").every(Duration::from_secs(60)).run(|_| ())?;
    /// for _ in 0..10 {
    ///     clock.advance(Duration::from_secs(60));
    ///     scheduler.wait_idle();
    /// }
    /// assert_eq!((task.info().runs, task.info().skipped), (10, 0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn wait_idle(&self) {
        while !self.wait_idle_timeout(Duration::MAX) && !self.core.engine.is_driver_thread() {}
    }

    /// As [`wait_idle`](Scheduler::wait_idle), for `limit` of real time at most. Returns whether it
    /// is idle.
    pub fn wait_idle_timeout(&self, limit: Duration) -> bool {
        self.core.wait_idle(limit)
    }

    /// Waits until no live task is left, for `limit` of real time at most. Returns whether that
    /// came about.
    ///
    /// From inside a handler its own task is live, so the answer is no, after `limit`.
    pub fn wait_empty_timeout(&self, limit: Duration) -> bool {
        let core = &self.core;
        let is_empty = || core.counters.live() == 0;
        core.activity.wait_until(Patience::new(limit), is_empty)
    }

    /// What the scheduler holds and has done until now. May be asked at any time, also after the
    /// shutdown.
    pub fn stats(&self) -> Stats {
        let mut stats = self.core.counters.read();
        (stats.dead_letters, stats.dead_letters_dropped) = self.core.dead.counts();
        for pool in self.core.pools() {
            stats.workers += pool.workers();
            stats.idle_workers += pool.idle_workers();
            stats.displaced += pool.displaced() as u64;
        }
        #[cfg(feature = "serde")]
        {
            stats.unresolved = self.core.kinds.unresolved_count();
        }
        stats.hung = self.core.hung.len();
        self.core.engine.driver_stats().tell(&mut stats);
        stats
    }

    /// How many workers there are to be from now on, in the pool without a name: a number, or a range
    /// within which it grows and shrinks. New threads start in this call. Of those that are too many,
    /// each leaves when its run is over; no run is interrupted. Without effect with an executor of
    /// your own. [`Stats::workers`] tells how many there are.
    ///
    /// # Errors
    ///
    /// A number that is not possible: nothing has changed then. Or the system refuses a thread.
    ///
    /// # Examples
    ///
    /// ```
    /// use wheel_runtime::Scheduler;
    ///
    /// let scheduler = Scheduler::builder().workers(2).build()?;
    /// scheduler.set_workers(4)?; // Rush hour.
    /// assert_eq!(scheduler.stats().workers, 4);
    /// scheduler.set_workers(1..=8)?;
    /// # Ok::<(), wheel_runtime::BuildError>(())
    /// ```
    pub fn set_workers(&self, workers: impl Into<Workers>) -> Result<(), BuildError> {
        match &self.core.pool {
            Some(pool) => pool.set_workers(workers),
            None => Ok(()),
        }
    }

    /// Shuts down: refuses new tasks, ends those that have no run going, lets runs that are going
    /// end within `grace` of real time, then sets the tokens of those that have not. The report
    /// names every task that had something to come, and those whose run was cut; a task whose run
    /// ended within the grace is not in it. With a grace of zero nothing is waited for.
    ///
    /// May be called more than once and from several threads: each call waits for the runs, the
    /// first one gets the pending tasks in its report. From inside a handler it does not wait for
    /// that handler's own run.
    ///
    /// # Errors
    ///
    /// [`ShutdownTimeout`] with the same report, if runs were still going when the grace was over.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use wheel_runtime::Scheduler;
    ///
    /// let shop = Scheduler::builder().build()?;
    /// shop.task("order-1001").after(Duration::from_secs(1800)).run(|_| println!("not paid"))?;
    /// let report = match shop.shutdown(Duration::from_secs(5)) {
    ///     Ok(report) => report,
    ///     Err(timeout) => {
    ///         eprintln!("{timeout}");
    ///         timeout.report
    ///     }
    /// };
    /// for task in report.pending.iter().chain(&report.queued) {
    ///     println!("{} was still to come, in {:?}", task.id, task.next_in);
    /// }
    /// # assert_eq!(report.pending.len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn shutdown(&self, grace: Duration) -> Result<ShutdownReport, ShutdownTimeout> {
        self.core.shutdown(grace)
    }
}

impl fmt::Debug for Scheduler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let core = &self.core;
        f.debug_struct("Scheduler")
            .field("live", &core.counters.live())
            .field("is_shut_down", &core.closing.has_begun())
            .finish_non_exhaustive()
    }
}
