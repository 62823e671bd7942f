//! A task is described, checked and added: from the builder to the engine.

use std::fmt;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::Scheduler;
use super::after_others::{first, write_cycle};
use super::registry::NotAdded;
use crate::policy::{Misfire, Overlap, PolicyError, RetryError, When};
use crate::schedule::{
    AskedZone, Cron, CronError, Schedule, ScheduleError, Start, Zone, ZoneError, asked_zone,
};
use crate::task::{
    Code, Context, Failing, Handler, IntoOutcome, NotArmed, Settings, Task, TaskHandle,
};

/// What happens when the id of a new task belongs to a live one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OnConflict {
    /// The new task is refused.
    #[default]
    Refuse,
    /// The live one is cancelled, and the new one has its id. A run of the old one that is going is
    /// asked to stop, and the new one does not wait for it.
    Replace,
    /// The live one stays, and its handle is returned; the new handler is dropped.
    Keep,
}

/// Why a task was not added. The handler is dropped.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SubmitError {
    /// A live task has this id. Trying again helps once that one has ended.
    DuplicateId(String),
    /// An id may not be empty, nor begin with `#`, which is kept for tasks without a name.
    InvalidId(String),
    /// Neither `after`, `at`, `every`, `every_after`, `cron` nor `depends_on` was called.
    NoSchedule,
    /// The task is to come after one of which nothing is known: there is no live task with this id,
    /// and none in the [history](Scheduler::history).
    UnknownDependency(String),
    /// The task would wait for itself: each of these comes after the one before, and the last is the
    /// first.
    DependencyCycle(Vec<String>),
    /// The schedule recurs, and the task is to come after others. A [graph](Scheduler::graph) can
    /// recur as a whole.
    RecurringDependent,
    /// The schedule is not possible.
    Schedule(ScheduleError),
    /// A task that runs no times.
    ZeroCount,
    /// A number of the misfire or the overlap policy is not possible.
    Policy(PolicyError),
    /// The retry policy is not possible.
    Retry(RetryError),
    /// There are as many live tasks as the scheduler may have. Trying again helps once some have
    /// ended.
    Full,
    /// The scheduler is shutting down, or has been shut down.
    ShuttingDown,
}

/// Describes a task. Nothing happens before [`run`](TaskBuilder::run), and the order of the other
/// calls does not matter; of several schedules the last one counts.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use wheel_runtime::{OnConflict, Scheduler};
///
/// let scheduler = Scheduler::builder().build()?;
/// let task = scheduler
///     .task("poll")
///     .every(Duration::from_secs(30))
///     .start_now()
///     .count(100)
///     .on_conflict(OnConflict::Replace)
///     .run(|run| println!("{}, run {}", run.id(), run.run()))?;
/// assert_eq!(task.id(), "poll");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "a task is added by its `run`"]
pub struct TaskBuilder<'s> {
    scheduler: &'s Scheduler,
    name: Option<String>,
    pub(super) schedule: Option<Schedule>,
    /// Beats what the schedule says; apart from it, so that the order of the calls does not matter.
    pub(super) start: Option<Start>,
    /// The same.
    pub(super) zone: Option<AskedZone>,
    settings: Settings,
    /// How many are wanted, as it was asked for.
    pub(super) runs: Option<u64>,
    /// Only if something of it was asked for.
    pub(super) failing: Option<Box<Failing>>,
    on_conflict: OnConflict,
    pub(super) depends_on: Vec<(String, When)>,
}

impl<'s> TaskBuilder<'s> {
    pub(super) fn new(scheduler: &'s Scheduler, name: Option<String>) -> TaskBuilder<'s> {
        TaskBuilder {
            scheduler,
            name,
            schedule: None,
            start: None,
            zone: None,
            settings: Settings::default(),
            runs: None,
            failing: None,
            on_conflict: OnConflict::Refuse,
            depends_on: Vec::new(),
        }
    }

    /// When the task is due. Of several, the last one counts.
    pub fn schedule(mut self, schedule: Schedule) -> TaskBuilder<'s> {
        self.schedule = Some(schedule);
        self
    }

    /// Once, `delay` from now: [`Schedule::after`].
    pub fn after(self, delay: Duration) -> TaskBuilder<'s> {
        self.schedule(Schedule::after(delay))
    }

    /// Once, when the wall clock reads `at`: [`Schedule::at`].
    pub fn at(self, at: SystemTime) -> TaskBuilder<'s> {
        self.schedule(Schedule::at(at))
    }

    /// Again and again, on a grid of `period`: [`Schedule::every`].
    pub fn every(self, period: Duration) -> TaskBuilder<'s> {
        self.schedule(Schedule::every(period))
    }

    /// Again and again, `pause` from the end of one run to the next: [`Schedule::every_after`].
    pub fn every_after(self, pause: Duration) -> TaskBuilder<'s> {
        self.schedule(Schedule::every_after(pause))
    }

    /// Again and again, when the wall clock shows what the expression says: [`Schedule::cron`]. What
    /// is wrong with it is told by [`run`](TaskBuilder::run).
    ///
    /// # Examples
    ///
    /// ```
    /// use wheel_runtime::Scheduler;
    ///
    /// let scheduler = Scheduler::builder().build()?;
    /// let backup = scheduler.task("backup").cron("30 2 * * *").timezone("Asia/Shanghai");
    /// assert!(backup.run(|_| println!("backing up"))?.info().next_due.is_some());
    /// let error = scheduler.task("report").cron("0 24 * * *").run(|_| ()).unwrap_err();
    /// assert_eq!(error.to_string(), "cron: hour: `24` is out of range (0 to 23)");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn cron<C>(self, expression: C) -> TaskBuilder<'s>
    where
        C: TryInto<Cron>,
        C::Error: Into<CronError>,
    {
        self.schedule(Schedule::cron(expression))
    }

    /// The time zone of `cron`: [`Schedule::timezone`]. Before or behind it; UTC unless told
    /// otherwise.
    pub fn timezone<Z>(mut self, zone: Z) -> TaskBuilder<'s>
    where
        Z: TryInto<Zone>,
        Z::Error: Into<ZoneError>,
    {
        self.zone = Some(asked_zone(zone));
        self
    }

    /// The first run is due at once: [`Schedule::start_now`]. For `every` and `every_after`, before
    /// or behind them.
    pub fn start_now(mut self) -> TaskBuilder<'s> {
        self.start = Some(Start::Now);
        self
    }

    /// The grid contains `start`: [`Schedule::start_at`]. For `every`, before or behind it.
    pub fn start_at(mut self, start: SystemTime) -> TaskBuilder<'s> {
        self.start = Some(Start::At(start));
        self
    }

    /// The task ends after `runs` runs, from 1; without end unless told otherwise. Occurrences that
    /// were skipped do not count, runs by hand do.
    pub fn count(mut self, runs: u64) -> TaskBuilder<'s> {
        self.runs = Some(runs);
        self
    }

    /// What becomes of occurrences that were missed; [`Misfire::FireOnce`] unless told otherwise.
    pub fn misfire(mut self, misfire: Misfire) -> TaskBuilder<'s> {
        self.settings.misfire = misfire;
        self
    }

    /// What becomes of an occurrence while the last run is going; [`Overlap::Skip`] unless told
    /// otherwise.
    pub fn overlap(mut self, overlap: Overlap) -> TaskBuilder<'s> {
        self.settings.overlap = overlap;
        self
    }

    /// What happens when a live task has the same id; [`OnConflict::Refuse`] unless told otherwise.
    pub fn on_conflict(mut self, on_conflict: OnConflict) -> TaskBuilder<'s> {
        self.on_conflict = on_conflict;
        self
    }

    /// Adds the task. `handler` runs on a worker, never inside this call, and never early.
    ///
    /// What this thread wrote before is visible to the handler. The handler is dropped when the
    /// task has ended.
    ///
    /// It may return nothing, a `Result<(), E>` or an [`Outcome`](crate::Outcome); an error, or a
    /// panic, is a failed run, and a task that recurs goes on with the next one. A handler may run
    /// again and is therefore `Fn`: what a run needs for itself is cloned there, or taken out of a
    /// `Mutex<Option<T>>`.
    ///
    /// # Errors
    ///
    /// [`SubmitError`] says what would be right and whether trying again helps.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use wheel_runtime::{Scheduler, TaskState};
    ///
    /// let scheduler = Scheduler::builder().build()?;
    /// let print = scheduler.task("print").after(Duration::ZERO).run(|_| Err("no paper"))?;
    /// assert_eq!(print.wait(), TaskState::Failed);
    /// assert_eq!(print.info().last_error.as_deref(), Some("no paper"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn run<F, O>(self, handler: F) -> Result<TaskHandle, SubmitError>
    where
        F: Fn(&Context) -> O + Send + Sync + 'static,
        O: IntoOutcome,
    {
        self.add(Arc::new(move |context: &Context| {
            handler(context).into_outcome()
        }))
    }

    /// What was asked for besides a schedule, if it is possible.
    pub(super) fn checked(&self, failing: Option<&Failing>) -> Result<Settings, SubmitError> {
        let runs_max = self
            .runs
            .map(|runs| NonZeroU64::new(runs).ok_or(SubmitError::ZeroCount));
        let settings = Settings {
            runs_max: runs_max.transpose()?,
            ..self.settings
        };
        settings.misfire.check().map_err(SubmitError::Policy)?;
        settings.overlap.check().map_err(SubmitError::Policy)?;
        if let Some(retry) = failing.and_then(|failing| failing.retry.as_ref()) {
            retry.check().map_err(SubmitError::Retry)?;
        }
        Ok(settings)
    }

    fn add(self, handler: Handler) -> Result<TaskHandle, SubmitError> {
        let core = &self.scheduler.core;
        if core.closing.has_begun() {
            return Err(SubmitError::ShuttingDown);
        }
        let settings = self.checked(self.failing.as_deref())?;
        let schedule = match self.schedule {
            Some(schedule) => schedule,
            None if self.depends_on.is_empty() => return Err(SubmitError::NoSchedule),
            None => Schedule::after(Duration::ZERO),
        };
        let schedule = match self.start {
            Some(start) => schedule.starting(start),
            None => schedule,
        };
        let schedule = match self.zone {
            Some(zone) => schedule.in_zone(zone),
            None => schedule,
        };
        let clock = core.engine.clock();
        let now = clock.now();
        let (plan, due) = (schedule.plan(now, clock.wall())).map_err(SubmitError::Schedule)?;
        if !self.depends_on.is_empty() && !plan.is_once() {
            return Err(SubmitError::RecurringDependent);
        }
        let parents = core.parents(self.name.as_deref(), &self.depends_on, self.on_conflict)?;
        let first = first(due, now, self.depends_on, &parents);
        let serial = core.serial();
        let Some(id) = core.registry.id(serial, self.name.as_deref()) else {
            return Err(SubmitError::InvalidId(self.name.unwrap_or_default()));
        };
        let failing = self.failing.map(Arc::from);
        let code = Code { handler, failing };
        let task = Task::new(Arc::clone(core), id, settings, plan, code);
        match task.begin(first, || core.registry.add(&task, self.on_conflict)) {
            Ok((replaced, armed)) => {
                if let Some(old) = replaced {
                    // Whether a run of it was going is of no interest: the new task does not wait
                    // for it.
                    let _ = old.cancel();
                }
                match armed {
                    Ok(()) => {
                        task.register(&parents);
                        Ok(TaskHandle::new(task))
                    }
                    Err(NotArmed) => Err(SubmitError::ShuttingDown),
                }
            }
            Err(NotAdded::Kept(live)) => Ok(TaskHandle::new(live)),
            Err(NotAdded::Duplicate) => Err(SubmitError::DuplicateId(task.name().to_owned())),
            Err(NotAdded::Full) => Err(SubmitError::Full),
        }
    }
}

impl SubmitError {
    /// Whether the same call may succeed later.
    pub fn may_succeed_later(&self) -> bool {
        matches!(self, SubmitError::DuplicateId(_) | SubmitError::Full)
    }
}

impl fmt::Display for SubmitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SubmitError::DuplicateId(id) => write!(f, "a live task has the id {id:?} already"),
            SubmitError::InvalidId(id) => write!(
                f,
                "{id:?} is not possible as an id: it must not be empty or begin with '#'"
            ),
            SubmitError::NoSchedule => f.write_str(
                "the task has no schedule: call one of after, at, every, every_after, cron, depends_on",
            ),
            SubmitError::UnknownDependency(id) => write!(
                f,
                "depends_on: there is no live task {id:?}, and none in the history: add that one first"
            ),
            SubmitError::DependencyCycle(ids) => {
                f.write_str("depends_on: the task would wait for itself: ")?;
                write_cycle(f, ids)
            }
            SubmitError::RecurringDependent => f.write_str(
                "depends_on: a task that recurs cannot come after others: let a graph recur, or use after or at",
            ),
            SubmitError::Schedule(error) => error.fmt(f),
            SubmitError::Policy(error) => error.fmt(f),
            SubmitError::Retry(error) => error.fmt(f),
            SubmitError::ZeroCount => f.write_str("a count of 0 runs is not possible: at least 1"),
            SubmitError::Full => {
                f.write_str("there are as many live tasks as max_tasks allows; some must end first")
            }
            SubmitError::ShuttingDown => f.write_str("the scheduler is shutting down"),
        }
    }
}

impl std::error::Error for SubmitError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            SubmitError::Schedule(error) => Some(error),
            SubmitError::Policy(error) => Some(error),
            SubmitError::Retry(error) => Some(error),
            _ => None,
        }
    }
}

impl fmt::Debug for TaskBuilder<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskBuilder")
            .field("name", &self.name)
            .field("schedule", &self.schedule)
            .field("start", &self.start)
            .field("zone", &self.zone)
            .field("settings", &self.settings)
            .field("runs", &self.runs)
            .field("failing", &self.failing)
            .field("on_conflict", &self.on_conflict)
            .field("depends_on", &self.depends_on)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ManualClock, TriggerOutcome};
    use wheel_sync::thread;

    /// Adds a task that is due after a second and has `change` called on another thread as soon as
    /// its id is taken.
    fn changed_while_added(change: impl FnOnce(&Scheduler) + Send) -> (Scheduler, Arc<Task>) {
        let builder = Scheduler::builder().clock(ManualClock::new());
        let scheduler = builder.workers(1).build().unwrap();
        let core = &scheduler.core;
        let schedule = Schedule::after(Duration::from_secs(1));
        let clock = core.engine.clock();
        let (plan, first) = schedule.plan(clock.now(), clock.wall()).unwrap();
        let handler: Handler = Arc::new(|_: &Context| ().into_outcome());
        let id = core.registry.id(core.serial(), Some("x")).unwrap();
        let settings = Settings::default();
        let task = Task::new(Arc::clone(core), id, settings, plan, handler.into());
        thread::scope(|scope| {
            let added = task.begin(first, || {
                let added = core.registry.add(&task, OnConflict::Refuse);
                let changes = scope.spawn(|| change(&scheduler));
                // It finds the task, and may do nothing to it before it is armed.
                for _ in 0..1_000 {
                    thread::yield_now();
                }
                assert!(!changes.is_finished());
                added
            });
            assert!(added.is_ok_and(|(_, armed)| armed.is_ok()));
        });
        (scheduler, task)
    }

    #[test]
    fn a_single_run_that_is_triggered_while_its_task_is_added_is_the_only_one() {
        let (scheduler, task) = changed_while_added(|scheduler| {
            assert_eq!(scheduler.trigger("x"), TriggerOutcome::Triggered);
        });
        scheduler.wait_idle();
        assert_eq!((task.info().runs, task.info().next_in), (1, None));
        assert!(task.info().state.has_ended());
    }

    #[test]
    fn a_schedule_that_comes_while_its_task_is_added_is_the_one_that_holds() {
        let later = Duration::from_secs(7);
        let (_scheduler, task) = changed_while_added(|scheduler| {
            scheduler.reschedule("x", Schedule::after(later)).unwrap();
        });
        assert_eq!(task.info().next_in, Some(later));
    }
}
