//! A task is given a kind instead of a handler: the part of its builder that is about that.

use std::fmt;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use super::bound::Draft;
use super::definition::{TaskDefinition, definition_of};
use super::error::{KindError, write_not_data};
use super::kind::{is_possible, shown};
use super::payload;
use super::registry::Registered;
use crate::scheduler::submit::TaskBuilder;
use crate::scheduler::submit_error::SubmitError;
use crate::task::TaskHandle;

/// What a builder was told by `kind`.
pub(in crate::scheduler) struct OfKind {
    kind: String,
    /// Or what is wrong with it.
    payload: Result<Value, String>,
}

/// Why there is no definition of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DefinitionError {
    /// It has a handler of its own, and no kind.
    NoKind,
    /// It has no name: its number means nothing elsewhere.
    Unnamed,
    /// It was submitted with this, a function or a value of Rust, which cannot be written down.
    NotData(&'static str),
    /// It has ended.
    Ended,
}

impl<'s> TaskBuilder<'s> {
    /// The task is of this kind, and its handler gets `payload`, which is written down with serde.
    /// For [`submit`](TaskBuilder::submit) or [`definition`](TaskBuilder::definition), instead of a
    /// handler by [`run`](TaskBuilder::run).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use wheel_runtime::{Context, KindError, Scheduler, SubmitError};
    ///
    /// let scheduler = Scheduler::builder().build()?;
    /// scheduler.register("resize", |_run: &Context, (file, width): (String, u32)| {
    ///     println!("{file} is to be {width} wide");
    /// })?;
    /// let resize = |id| scheduler.task(id).after(Duration::from_secs(5));
    /// resize("photo-1").kind("resize", &("1.jpg", 640)).submit()?;
    /// // What the handler could not read is refused at once.
    /// let error = resize("photo-2").kind("resize", &("2.jpg", "large")).submit().unwrap_err();
    /// assert!(matches!(error, SubmitError::Kind(KindError::Payload { .. })));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn kind<P>(mut self, kind: impl Into<String>, payload: &P) -> TaskBuilder<'s>
    where
        P: Serialize + ?Sized,
    {
        self.of_kind = Some(Box::new(OfKind {
            kind: kind.into(),
            payload: payload::written(payload),
        }));
        self
    }

    /// Adds the task, which is of a [`kind`](TaskBuilder::kind). Otherwise as
    /// [`run`](TaskBuilder::run).
    ///
    /// # Errors
    ///
    /// [`SubmitError`]; a kind that is not registered is an error here, because it may be misspelt.
    /// [`Scheduler::submit`](crate::Scheduler::submit) keeps such tasks instead.
    pub fn submit(self) -> Result<TaskHandle, SubmitError> {
        let (builder, definition, not_data) = self.described()?;
        let kind = builder.scheduler.core.kinds.get(&definition.kind);
        let kind = kind.ok_or_else(|| KindError::Unknown(definition.kind.clone()))?;
        builder.add_of_kind(Arc::new(definition), not_data, &kind)
    }

    /// The task as data, to be submitted later or elsewhere. Nothing is added. The kind need not be
    /// registered here.
    ///
    /// # Errors
    ///
    /// [`SubmitError`], as by [`submit`](TaskBuilder::submit), but for tasks that it
    /// [comes after](TaskBuilder::depends_on), which need not be there either. And what is no data
    /// cannot be written down: hooks, [`Retry::custom`](crate::Retry::custom),
    /// [`Retry::retry_if`](crate::Retry::retry_if),
    /// [`on_repeated_failure`](TaskBuilder::on_repeated_failure) and
    /// [`value`](TaskBuilder::value).
    pub fn definition(self) -> Result<TaskDefinition, SubmitError> {
        let (builder, definition, not_data) = self.described()?;
        if let Some(name) = not_data {
            return Err(KindError::NotData(name).into());
        }
        if definition.id.is_empty() {
            return Err(SubmitError::InvalidId(String::new()));
        }
        builder.check()?;
        Ok(definition)
    }

    /// The builder without its kind, the task as data, and what of it is no data.
    fn described(
        mut self,
    ) -> Result<(TaskBuilder<'s>, TaskDefinition, Option<&'static str>), SubmitError> {
        let OfKind { kind, payload } = *self.of_kind.take().ok_or(KindError::Missing)?;
        check_kind(&kind)?;
        let payload = payload.map_err(|error| KindError::payload(&kind, error))?;
        let (definition, not_data) = definition_of(&self, kind, payload)?;
        Ok((self, definition, not_data))
    }

    /// Adds the task with the handler of its kind.
    pub(super) fn add_of_kind(
        mut self,
        definition: Arc<TaskDefinition>,
        not_data: Option<&'static str>,
        kind: &Registered,
    ) -> Result<TaskHandle, SubmitError> {
        let Registered { counted, code } = kind;
        let Some(code) = code else {
            return Err(SubmitError::ShuttingDown);
        };
        let id = match self.name.as_deref() {
            Some(name) => name.to_owned(),
            None => self.scheduler.core.serial().to_string(),
        };
        let draft = Draft {
            definition,
            not_data,
            id,
        };
        let bound = draft.bind(counted, code);
        let (handler, made) = bound.map_err(|error| KindError::payload(counted.name(), error))?;
        let failing = self.failing();
        failing.made = Some(Arc::new(made));
        if failing.retry.is_none() {
            failing.retry.clone_from(&code.retry);
        }
        self.add(handler)
    }
}

pub(super) fn check_kind(kind: &str) -> Result<(), SubmitError> {
    if is_possible(kind) {
        Ok(())
    } else {
        Err(KindError::InvalidName(shown(kind)).into())
    }
}

impl fmt::Display for DefinitionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DefinitionError::NoKind => f.write_str(
                "kind: the task has none, but a handler of its own: submit it with a kind",
            ),
            DefinitionError::Unnamed => f.write_str("id: the task has no name: give it one"),
            DefinitionError::NotData(name) => write_not_data(name, f),
            DefinitionError::Ended => f.write_str("id: the task has ended: ask while it is live"),
        }
    }
}

impl std::error::Error for DefinitionError {}

impl fmt::Debug for OfKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.kind)
    }
}
