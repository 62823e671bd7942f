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
//!    "overlap": "skip",
//!    "priority": "high",
//!    "rate_limit": {"per_second": 10.0}
//!  }
//! ```
//!
//! A policy that is data is a field here, with one line in each of the two functions below. Both take
//! the builder and its settings apart completely, so that one that is new is not forgotten.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::de::{Deserialize, Deserializer, Error as _};
use serde::ser::{Serialize, Serializer};
use serde_json::Value;

use super::written;
use crate::Scheduler;
use crate::policy::{
    Concurrency, Labels, Misfire, OnConflict, Overlap, Priority, RateLimit, Retry, When,
};
use crate::schedule::Schedule;
use crate::scheduler::order_asked::OrderAsked;
use crate::scheduler::submit::{ScheduleAsked, TaskBuilder};
use crate::scheduler::submit_error::SubmitError;
use crate::task::{Failing, Settings, Terms};

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
    /// Which tasks it comes after, and how they must have ended.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        serialize_with = "written::write_dependencies",
        deserialize_with = "written::dependencies"
    )]
    pub depends_on: Vec<(String, When)>,
    /// Whether runs that failed are tried again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<Retry>,
    /// How long each attempt may take.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        serialize_with = "written::write_limit",
        deserialize_with = "written::timeout"
    )]
    pub timeout: Option<Duration>,
    /// How long each run may take, from when it is due.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        serialize_with = "written::write_limit",
        deserialize_with = "written::deadline"
    )]
    pub deadline: Option<Duration>,
    /// What becomes of occurrences that were missed.
    #[serde(default, deserialize_with = "written::misfire")]
    pub misfire: Misfire,
    /// What becomes of an occurrence while the last run is going.
    #[serde(default, deserialize_with = "written::overlap")]
    pub overlap: Overlap,
    /// The task ends after so many runs.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "written::count"
    )]
    pub count: Option<u64>,
    /// What happens when a live task has the same id.
    #[serde(default, skip_serializing_if = "written::is_default")]
    pub on_conflict: OnConflict,
    /// Which of what waits for a worker its runs go before.
    #[serde(default, skip_serializing_if = "written::is_default")]
    pub priority: Priority,
    /// What it is labelled with.
    #[serde(
        default,
        skip_serializing_if = "BTreeMap::is_empty",
        deserialize_with = "written::labels"
    )]
    pub labels: BTreeMap<String, String>,
    /// The named pool in which it runs, whatever its labels.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "written::pool"
    )]
    pub pool: Option<String>,
    /// With how many others it goes at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub concurrency_key: Option<Concurrency>,
    /// How often its runs start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_limit: Option<RateLimit>,
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
            depends_on,
            retry,
            timeout,
            deadline,
            misfire,
            overlap,
            count,
            on_conflict,
            priority,
            labels,
            pool,
            concurrency_key,
            rate_limit,
        } = self;
        let mut builder = scheduler.task(id.as_str()).schedule(schedule.clone());
        builder.depends_on.clone_from(depends_on);
        builder = builder.misfire(*misfire).overlap(*overlap);
        builder.runs = *count;
        builder = builder.on_conflict(*on_conflict);
        // What was not asked for costs the task nothing.
        if let Some(retry) = retry {
            builder = builder.retry(retry.clone());
        }
        if let Some(limit) = timeout {
            builder = builder.timeout(*limit);
        }
        if let Some(limit) = deadline {
            builder = builder.deadline(*limit);
        }
        let order = OrderAsked {
            priority: *priority,
            labels: Labels::from_map(labels),
            pool: pool.clone(),
            concurrency: concurrency_key.clone(),
            rate: rate_limit.clone(),
        };
        builder.order = (order != OrderAsked::default()).then(|| Box::new(order));
        builder
    }
}

/// What a builder describes, and what of that is no data, which a definition leaves out.
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
        order,
        terms,
        settings,
        runs,
        failing,
        // The kind is what counts.
        counted_as: _,
        on_conflict,
        depends_on,
        of_kind: _,
        counts_from: _,
    } = builder;
    let Settings {
        misfire,
        overlap,
        limits: _,
    } = settings;
    let asked = ScheduleAsked {
        schedule: schedule.clone(),
        start: *start,
        zone: zone.clone(),
        when_due: when_due.clone(),
    };
    let schedule = asked.whole(depends_on)?;
    let mut not_data = None;
    let (mut timeout, mut deadline) = (None, None);
    if let Some(terms) = terms {
        let Terms {
            timeout: of_attempt,
            deadline: of_run,
            values,
            #[cfg(feature = "async")]
                away: _,
        } = &**terms;
        (timeout, deadline) = (*of_attempt, *of_run);
        not_data = (!values.has_none()).then_some("value");
    }
    let mut retry = None;
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
        not_data = functions.into_iter().flatten().next().or(not_data);
        retry = asked.clone().filter(|retry| retry.function().is_none());
    }
    let nothing = OrderAsked::default();
    let OrderAsked {
        priority,
        labels,
        pool,
        concurrency,
        rate,
    } = order.as_deref().unwrap_or(&nothing);
    let definition = TaskDefinition {
        version: Version,
        id: name.clone().unwrap_or_default(),
        kind,
        payload,
        schedule,
        depends_on: depends_on.clone(),
        retry,
        timeout,
        deadline,
        misfire: *misfire,
        overlap: *overlap,
        count: *runs,
        on_conflict: *on_conflict,
        priority: *priority,
        labels: labels.to_map(),
        pool: pool.clone(),
        concurrency_key: concurrency.clone(),
        rate_limit: rate.clone(),
    };
    Ok((definition, not_data))
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
