//! A task as data: what is kept of it in a store, and what it is made from again.
//!
//! ```text
//!  {
//!    "version": 1,
//!    "id": "mail-1001",
//!    "kind": "send_mail",
//!    "payload": {"to": "a@example.org"},
//!    "schedule": {"cron": "0 9 * * MON-FRI", "timezone": "Europe/Berlin"},
//!    "retry": {"exponential": "1s", "factor": 2.0, "max_attempts": 5},
//!    "misfire": "fire_once",
//!    "overlap": "skip"
//!  }
//! ```
//!
//! A policy that is data is a field here, with one line in each of the two functions below. Both take
//! the builder and its settings apart completely, so that one that is new is not forgotten.

use serde::de::{Deserialize, Deserializer, Error as _};
use serde::ser::{Serialize, Serializer};
use serde_json::Value;

use crate::Scheduler;
use crate::policy::{Misfire, Overlap, Retry};
use crate::schedule::Schedule;
use crate::scheduler::submit::TaskBuilder;
use crate::scheduler::submit_error::SubmitError;
use crate::task::{Failing, Settings};

/// The form that is written, and the only one that is read.
const VERSION: u32 = 1;

/// A task of a kind, as data: made by [`TaskBuilder::definition`](crate::TaskBuilder::definition) or
/// [`TaskHandle::definition`](crate::TaskHandle::definition), submitted by
/// [`Scheduler::submit`](crate::Scheduler::submit), and in between wherever you keep it.
///
/// It is written with serde, for people too: durations as `1h30m`, instants by RFC 3339, cron
/// expressions and zones by name. It has a version; a field or a version that this one does not know
/// is an error when it is read, and so is a schedule, a zone or a policy that is not possible. Read
/// it from JSON, or from another format that describes itself.
///
/// It says what the task was submitted with, and its present schedule; not how far it has come: the
/// durations of its schedule count from when it is submitted, `count` begins anew.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use wheel_runtime::{Context, Scheduler, Submitted, TaskDefinition};
///
/// let scheduler = Scheduler::builder().build()?;
/// scheduler.register("send_mail", |_run: &Context, to: String| println!("to {to}"))?;
/// let task = scheduler.task("mail-1001").kind("send_mail", "a@example.org");
/// let text = serde_json::to_string(&task.every(Duration::from_secs(90)).definition()?)?;
/// assert!(text.contains(r#""schedule":{"every":"1m30s"}"#));
///
/// let read: TaskDefinition = serde_json::from_str(&text)?;
/// let Submitted::Task(task) = scheduler.submit(read)? else { panic!("the kind is there") };
/// assert_eq!(task.id(), "mail-1001");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct TaskDefinition {
    version: Version,
    /// The id of the task.
    pub id: String,
    /// The name of its kind.
    pub kind: String,
    /// What its handler gets.
    pub payload: Value,
    /// When it is due.
    pub schedule: Schedule,
    /// Whether runs that failed are tried again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<Retry>,
    /// What becomes of occurrences that were missed.
    #[serde(default)]
    pub misfire: Misfire,
    /// What becomes of an occurrence while the last run is going.
    #[serde(default)]
    pub overlap: Overlap,
    /// The task ends after so many runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
}

impl TaskDefinition {
    /// The task that is described, without its kind.
    pub(super) fn builder<'s>(&self, scheduler: &'s Scheduler) -> TaskBuilder<'s> {
        let TaskDefinition {
            version: Version,
            id,
            kind: _,
            payload: _,
            schedule,
            retry,
            misfire,
            overlap,
            count,
        } = self;
        let mut builder = scheduler.task(id.as_str()).schedule(schedule.clone());
        if let Some(retry) = retry {
            builder = builder.retry(retry.clone());
        }
        builder = builder.misfire(*misfire);
        builder = builder.overlap(*overlap);
        if let Some(count) = count {
            builder = builder.count(*count);
        }
        builder
    }
}

/// What a builder describes, and what of that is a function, which a definition leaves out.
pub(super) fn definition_of(
    builder: &TaskBuilder<'_>,
    kind: String,
    payload: Value,
) -> Result<(TaskDefinition, Option<&'static str>), SubmitError> {
    let TaskBuilder {
        scheduler: _,
        name,
        schedule,
        start,
        zone,
        when_due,
        order: _,
        terms: _,
        settings,
        runs,
        failing,
        on_conflict: _,
        depends_on: _,
        of_kind: _,
        counts_from: _,
    } = builder;
    let Settings {
        misfire,
        overlap,
        limits: _,
    } = settings;
    let mut schedule = schedule.clone().ok_or(SubmitError::NoSchedule)?;
    if let Some(start) = start {
        schedule = schedule.starting(*start);
    }
    if let Some(zone) = zone {
        schedule = schedule.in_zone(zone.clone());
    }
    let schedule = schedule.with(when_due.window, when_due.jitter);
    let (mut retry, mut function) = (None, None);
    if let Some(failing) = failing {
        let Failing {
            retry: asked,
            on_failure,
            on_dead,
            rules,
            made: _,
        } = &**failing;
        let functions = [
            asked.as_ref().and_then(Retry::function),
            on_failure.as_ref().map(|_| "on_failure"),
            on_dead.as_ref().map(|_| "on_dead"),
            (!rules.is_empty()).then_some("on_repeated_failure"),
        ];
        function = functions.into_iter().flatten().next();
        retry = asked.clone().filter(|retry| retry.function().is_none());
    }
    let definition = TaskDefinition {
        version: Version,
        id: name.clone().unwrap_or_default(),
        kind,
        payload,
        schedule,
        retry,
        misfire: *misfire,
        overlap: *overlap,
        count: *runs,
    };
    Ok((definition, function))
}

/// [`VERSION`], or it is not read.
#[derive(Clone, Copy, Debug)]
struct Version;

impl Serialize for Version {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u32(VERSION)
    }
}

impl<'de> Deserialize<'de> for Version {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let version = u32::deserialize(from)?;
        if version == VERSION {
            Ok(Version)
        } else {
            Err(D::Error::custom(format!(
                "a definition of version {version} is not known, only of {VERSION}"
            )))
        }
    }
}
