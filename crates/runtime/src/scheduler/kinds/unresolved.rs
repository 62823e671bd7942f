//! Definitions are submitted; one whose kind is not registered is kept until it is.
//!
//! ```text
//!  submit --> the kind is there -----------------------------> a task
//!         \-> it is not: kept, with the instant --register--> a task, as if since that instant
//!                                                        \--> kept, with the error
//! ```

use std::sync::Arc;
use std::time::SystemTime;

use super::builder::check_kind;
use super::definition::TaskDefinition;
use super::error::KindError;
use super::payload::check_depth;
use crate::Scheduler;
use crate::clock::Moment;
use crate::policy::OnConflict;
use crate::scheduler::SubmitError;
use crate::task::{CancelOutcome, TaskHandle};

/// What has become of a definition.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Submitted {
    /// It is a task.
    Task(TaskHandle),
    /// Its kind is not registered, or that of a task that it comes after: it waits for that.
    Unresolved,
}

/// A definition that is not a task yet: [`Scheduler::unresolved`](crate::Scheduler::unresolved).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnresolvedTask {
    /// The id that the task will have.
    pub id: String,
    /// The kind that it needs.
    pub kind: String,
    /// When it was submitted.
    pub since: SystemTime,
    /// `None` as long as the kind is not registered; else why that was not enough.
    pub error: Option<SubmitError>,
}

/// One of them, with what it takes to make a task of it.
#[derive(Debug)]
pub(super) struct Waiting {
    definition: Arc<TaskDefinition>,
    since: (Moment, SystemTime),
    error: Option<SubmitError>,
}

/// What has become of one that was to be kept.
#[derive(Debug)]
pub(super) enum Keeping {
    Kept,
    /// Meanwhile somebody has registered its kind.
    Registered(Waiting),
    Refused(SubmitError),
}

impl Waiting {
    pub(super) fn id(&self) -> &str {
        &self.definition.id
    }

    pub(super) fn on_conflict(&self) -> OnConflict {
        self.definition.on_conflict
    }

    /// The task that it comes after, if that was all that was missing.
    pub(super) fn dependency(&self) -> Option<&str> {
        match &self.error {
            Some(SubmitError::UnknownDependency(id)) => Some(id),
            _ => None,
        }
    }

    pub(super) fn kind(&self) -> &str {
        &self.definition.kind
    }

    pub(super) fn info(&self) -> UnresolvedTask {
        UnresolvedTask {
            id: self.id().to_owned(),
            kind: self.kind().to_owned(),
            since: self.since.1,
            error: self.error.clone(),
        }
    }
}

impl Scheduler {
    /// Adds the task that `definition` describes. If its kind is not registered (yet, in this program,
    /// any more) it is kept, and becomes a task when the kind is registered: with the schedule as if
    /// it had been a task all the time, so that what was missed falls under its misfire policy. Until
    /// then it is [`unresolved`](Scheduler::unresolved), and [`cancel`](Scheduler::cancel) forgets it.
    ///
    /// # Errors
    ///
    /// [`SubmitError`], as by [`TaskBuilder::submit`](crate::TaskBuilder::submit), but for an unknown
    /// kind, and for tasks that it comes after, as long as those are unresolved themselves. A
    /// definition that can never be a task is refused, whether its kind is registered or not.
    ///
    /// # Examples
    ///
    /// ```
    /// use wheel_runtime::{Context, Scheduler, Submitted};
    ///
    /// let scheduler = Scheduler::builder().build()?;
    /// let stored = r#"{"version": 1, "id": "report", "kind": "render", "payload": "sales",
    ///                  "schedule": {"cron": "0 6 * * MON", "timezone": "Europe/Berlin"}}"#;
    /// let submitted = scheduler.submit(serde_json::from_str(stored)?)?;
    /// assert!(matches!(submitted, Submitted::Unresolved));
    /// assert_eq!(scheduler.unresolved()[0].kind, "render");
    ///
    /// scheduler.register("render", |_run: &Context, report: String| println!("{report}"))?;
    /// assert!(scheduler.get("report").is_some() && scheduler.unresolved().is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn submit(&self, definition: TaskDefinition) -> Result<Submitted, SubmitError> {
        check_kind(&definition.kind)?;
        check_depth(&definition.payload)
            .map_err(|error| KindError::payload(&definition.kind, error))?;
        let core = &self.core;
        let clock = core.engine.clock();
        let waiting = Waiting {
            definition: Arc::new(definition),
            since: (clock.now(), clock.wall()),
            error: None,
        };
        if core.kinds.get(waiting.kind()).is_some() {
            return self.resolve_or_keep(waiting);
        }
        waiting.definition.builder(self).check()?;
        if let Some(live) = core.registry.get(waiting.id()) {
            match waiting.on_conflict() {
                OnConflict::Keep => return Ok(Submitted::Task(TaskHandle::new(live))),
                // Once there is something to replace it by.
                OnConflict::Replace => {}
                OnConflict::Refuse => {
                    return Err(SubmitError::DuplicateId(waiting.id().to_owned()));
                }
            }
        }
        match core.kinds.keep(waiting) {
            Keeping::Kept => Ok(Submitted::Unresolved),
            Keeping::Registered(waiting) => self.resolve_or_keep(waiting),
            Keeping::Refused(error) => Err(error),
        }
    }

    /// Its kind is there. A task that it comes after may wait for its own, and then so does this one.
    fn resolve_or_keep(&self, mut waiting: Waiting) -> Result<Submitted, SubmitError> {
        let error = match self.resolve_one(&waiting) {
            Ok(task) => return Ok(Submitted::Task(task)),
            Err(error) => error,
        };
        let kinds = &self.core.kinds;
        match &error {
            SubmitError::UnknownDependency(id) if kinds.is_unresolved(id) => {}
            _ => return Err(error),
        }
        waiting.error = Some(error);
        match kinds.keep(waiting) {
            Keeping::Refused(error) => Err(error),
            // The other one may have become a task just now, and not met this one.
            _ => {
                self.resolve_each(Vec::new());
                Ok(Submitted::Unresolved)
            }
        }
    }

    /// The definitions that are not tasks yet, in the order in which they came: their kind is not
    /// registered; or it is, and did not take them, which [`UnresolvedTask::error`] says. Also after
    /// the shutdown.
    pub fn unresolved(&self) -> Vec<UnresolvedTask> {
        self.core.kinds.unresolved()
    }

    /// Tries those again whose kind did not take them when it was registered, such as because their
    /// id belonged to another task. Those that come after one that was unresolved follow it by
    /// themselves. Returns how many have become tasks.
    pub fn resolve(&self) -> usize {
        let waiting = self.core.kinds.take_possible();
        self.resolve_each(waiting)
    }

    pub(super) fn resolve_each(&self, waiting: Vec<Waiting>) -> usize {
        let mut resolved = self.try_each(waiting);
        loop {
            // Those that come after one that is a task now, until no more do.
            match self.try_each(self.core.kinds.take_dependents()) {
                0 => return resolved,
                more => resolved += more,
            }
        }
    }

    fn try_each(&self, waiting: Vec<Waiting>) -> usize {
        let mut resolved = 0;
        for mut waiting in waiting {
            match self.resolve_one(&waiting) {
                Ok(_) => resolved += 1,
                Err(error) => {
                    waiting.error = Some(error);
                    self.core.kinds.keep_on(waiting);
                }
            }
        }
        resolved
    }

    fn resolve_one(&self, waiting: &Waiting) -> Result<TaskHandle, SubmitError> {
        let definition = &waiting.definition;
        let kind = self.core.kinds.get(&definition.kind);
        let kind = kind.ok_or_else(|| KindError::Unknown(definition.kind.clone()))?;
        let mut builder = definition.builder(self);
        builder.counts_from = Some(Box::new(waiting.since));
        builder.add_of_kind(Arc::clone(definition), None, &kind)
    }

    /// One that has no task yet is forgotten.
    pub(in crate::scheduler) fn cancel_unresolved(&self, id: &str) -> CancelOutcome {
        match self.core.kinds.forget(id) {
            Some(_) => CancelOutcome::Cancelled,
            None => CancelOutcome::NotFound,
        }
    }
}
