//! A task is described, checked and added: from the builder to the engine.

use std::fmt;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::after_others::{self, conditions};
#[cfg(feature = "serde")]
use super::kinds::{KindError, OfKind};
use super::limits::Limits;
use super::order_asked::OrderAsked;
use super::registry::NotAdded;
use super::submit_error::SubmitError;
use super::when_due::WhenDue;
use super::{Scheduler, time_limits};
#[cfg(feature = "serde")]
use crate::clock::Moment;
use crate::policy::{Draws, Misfire, OnConflict, Overlap, PolicyError, Retry, When};
use crate::schedule::{AskedZone, Cron, CronError, Schedule, Start, Zone, ZoneError, asked_zone};
use crate::task::{
    Code, Context, Failing, First, Handler, IntoOutcome, NotArmed, Settings, Task, TaskHandle,
    Terms, Then, Upstream,
};

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
    pub(super) scheduler: &'s Scheduler,
    pub(super) name: Option<String>,
    pub(super) schedule: Option<Schedule>,
    /// Beats what the schedule says; apart from it, so that the order of the calls does not matter.
    pub(super) start: Option<Start>,
    /// The same.
    pub(super) zone: Option<AskedZone>,
    /// Only if something of it was asked for.
    pub(super) when_due: Option<Box<WhenDue>>,
    pub(super) settings: Settings,
    /// Only if something of it was asked for.
    pub(super) order: Option<Box<OrderAsked>>,
    /// How many are wanted, as it was asked for.
    pub(super) runs: Option<u64>,
    /// Only if something of it was asked for.
    pub(super) failing: Option<Box<Failing>>,
    /// The same.
    pub(super) terms: Option<Box<Terms>>,
    pub(super) counted_as: Option<Box<str>>,
    pub(super) on_conflict: OnConflict,
    pub(super) depends_on: Vec<(String, When)>,
    /// What it has instead of a handler.
    #[cfg(feature = "serde")]
    pub(super) of_kind: Option<Box<OfKind>>,
    /// What the schedule counts from, if not from now.
    #[cfg(feature = "serde")]
    pub(super) counts_from: Option<Box<(Moment, SystemTime)>>,
}

impl<'s> TaskBuilder<'s> {
    pub(super) fn new(scheduler: &'s Scheduler, name: Option<String>) -> TaskBuilder<'s> {
        TaskBuilder {
            scheduler,
            name,
            schedule: None,
            start: None,
            zone: None,
            when_due: None,
            settings: Settings::default(),
            order: None,
            runs: None,
            failing: None,
            terms: None,
            counted_as: None,
            on_conflict: OnConflict::Refuse,
            depends_on: Vec::new(),
            #[cfg(feature = "serde")]
            of_kind: None,
            #[cfg(feature = "serde")]
            counts_from: None,
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

    /// The time zone of `cron`, and of `every` that is [`aligned`](TaskBuilder::aligned):
    /// [`Schedule::timezone`]. Before or behind it; UTC unless told otherwise.
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
        #[cfg(feature = "serde")]
        if self.of_kind.is_some() {
            return Err(KindError::AndHandler.into());
        }
        self.add(Arc::new(move |context: &Context| {
            handler(context).into_outcome()
        }))
    }

    pub(super) fn add(self, handler: Handler) -> Result<TaskHandle, SubmitError> {
        let added = self.check_and_add(Some(handler))?;
        Ok(added.expect("with a handler it is added"))
    }

    /// Whether it would be added, as far as that can be said now.
    #[cfg(feature = "serde")]
    pub(super) fn check(self) -> Result<(), SubmitError> {
        self.check_and_add(None).map(drop)
    }

    /// Without a handler it is only checked.
    fn check_and_add(
        mut self,
        handler: Option<Handler>,
    ) -> Result<Option<TaskHandle>, SubmitError> {
        let core = &self.scheduler.core;
        if core.closing.has_begun() {
            return Err(SubmitError::ShuttingDown);
        }
        let Some(id) = core.registry.id(core.serial(), self.name.as_deref()) else {
            return Err(SubmitError::InvalidId(self.name.unwrap_or_default()));
        };
        let settings = self.checked(id.text())?;
        let schedule = self.take_schedule()?;
        let clock = core.engine.clock();
        let (now, wall) = (clock.now(), clock.wall());
        #[cfg(feature = "serde")]
        let (now, wall) = self.counts_from.take().map_or((now, wall), |from| *from);
        let draws = Draws::of(core.seed, id.text());
        let planned = schedule.plan(now, wall, draws);
        let (plan, first) = planned.map_err(SubmitError::Schedule)?;
        if !self.depends_on.is_empty() && !plan.is_once() {
            return Err(SubmitError::RecurringDependent);
        }
        after_others::not_itself(self.name.as_deref(), &self.depends_on)?;
        let Some(handler) = handler else {
            return Ok(None);
        };
        let parents = core.parents(self.name.as_deref(), &self.depends_on, self.on_conflict)?;
        let first = match parents.is_empty() {
            true => First::Due(first),
            false => First::Upstream(Upstream::new(
                conditions(std::mem::take(&mut self.depends_on), &parents),
                Then::of(first, now),
            )),
        };
        let on_conflict = self.on_conflict;
        let code = self.into_code(handler);
        let task = Task::new(Arc::clone(core), id, settings, plan, code);
        match task.begin(first, || core.registry.add(&task, on_conflict)) {
            Ok((replaced, armed)) => {
                if let Some(old) = replaced {
                    // Whether a run of it was going is of no interest: the new task does not wait
                    // for it.
                    let _ = old.cancel();
                }
                match armed {
                    Ok(()) => {
                        task.register(&parents);
                        Ok(Some(TaskHandle::new(task)))
                    }
                    Err(NotArmed) => Err(SubmitError::ShuttingDown),
                }
            }
            Err(NotAdded::Kept(live)) => Ok(Some(TaskHandle::new(live))),
            Err(NotAdded::Duplicate) => Err(SubmitError::DuplicateId(task.name().to_owned())),
            Err(NotAdded::Full) => Err(SubmitError::Full),
        }
    }

    /// What was asked for besides a schedule, of the task `id`, if it is possible.
    fn checked(&mut self, id: &str) -> Result<Settings, PolicyError> {
        let no_runs = || PolicyError::new("count", "0", "at least 1");
        let runs_max = self
            .runs
            .map(|runs| NonZeroU64::new(runs).ok_or_else(no_runs));
        let runs_max = runs_max.transpose()?;
        let mut settings = self.settings.clone();
        settings.misfire.check()?;
        settings.overlap.check()?;
        if let Some(failing) = self.failing.as_deref() {
            failing.retry.as_ref().map_or(Ok(()), Retry::check)?;
            failing.rules.check()?;
        }
        self.terms.as_deref().map_or(Ok(()), time_limits::check)?;
        let order = self.order.take();
        let core = &self.scheduler.core;
        let mut limits = None;
        if order.is_some() || runs_max.is_some() {
            let order = order.unwrap_or_default();
            let order = order.checked(&core.routes, id, self.kind_name())?;
            limits = Some(Limits { runs_max, ..order });
        }
        self.counted_as
            .as_deref()
            .map_or(Ok(()), |name| PolicyError::check_text("name", name))?;
        settings.limits = match self.kind_name().or(self.counted_as.as_deref()) {
            Some(name) => core.counters.limits_of(name, limits),
            None => limits.map(Arc::new),
        };
        Ok(settings)
    }

    /// The kind of the task, once it is known to be there.
    fn kind_name(&self) -> Option<&str> {
        #[cfg(feature = "serde")]
        return Some(self.failing.as_ref()?.made.as_ref()?.kind());
        #[cfg(not(feature = "serde"))]
        None
    }

    fn take_schedule(&mut self) -> Result<Schedule, SubmitError> {
        let asked = ScheduleAsked {
            schedule: self.schedule.take(),
            start: self.start,
            zone: self.zone.take(),
            when_due: self.when_due.take(),
        };
        asked.whole(&self.depends_on)
    }

    /// What the task `id` is told and does that is a node of a graph; `None` if it was given a
    /// schedule of its own.
    pub(super) fn into_node(
        mut self,
        id: &str,
        handler: Handler,
    ) -> Result<Option<(Settings, Code)>, SubmitError> {
        let has_own = self.schedule.is_some()
            || self.start.is_some()
            || self.zone.is_some()
            || self.when_due.is_some();
        if has_own || self.runs.is_some() || !self.depends_on.is_empty() {
            return Ok(None);
        }
        #[cfg(feature = "serde")]
        if self.of_kind.is_some() {
            return Err(KindError::AndHandler.into());
        }
        let settings = self.checked(id)?;
        Ok(Some((settings, self.into_code(handler))))
    }

    fn into_code(self, handler: Handler) -> Code {
        Code {
            handler,
            failing: self.failing.map(Arc::from),
            terms: self.terms.map(Arc::from),
        }
    }
}

/// What a builder was told about when its task is due.
pub(super) struct ScheduleAsked {
    pub(super) schedule: Option<Schedule>,
    pub(super) start: Option<Start>,
    pub(super) zone: Option<AskedZone>,
    pub(super) when_due: Option<Box<WhenDue>>,
}

impl ScheduleAsked {
    /// The schedule, with all that was asked for apart from it. A task that comes after others needs
    /// none of its own.
    pub(super) fn whole(self, depends_on: &[(String, When)]) -> Result<Schedule, SubmitError> {
        let mut schedule = match self.schedule {
            Some(schedule) => schedule,
            None if depends_on.is_empty() => return Err(SubmitError::NoSchedule),
            None => Schedule::after(Duration::ZERO),
        };
        if let Some(start) = self.start {
            schedule = schedule.starting(start);
        }
        if let Some(zone) = self.zone {
            schedule = schedule.in_zone(zone);
        }
        if let Some(when_due) = self.when_due {
            schedule = schedule.with(when_due.window, when_due.jitter);
        }
        Ok(schedule)
    }
}

impl fmt::Debug for TaskBuilder<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskBuilder")
            .field("name", &self.name)
            .field("schedule", &self.schedule)
            .field("start", &self.start)
            .field("zone", &self.zone)
            .field("when_due", &self.when_due)
            .field("settings", &self.settings)
            .field("order", &self.order)
            .field("runs", &self.runs)
            .field("failing", &self.failing)
            .field("terms", &self.terms)
            .field("on_conflict", &self.on_conflict)
            .field("depends_on", &self.depends_on)
            .finish_non_exhaustive()
    }
}
