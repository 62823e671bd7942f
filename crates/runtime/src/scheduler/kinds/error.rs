//! What can be wrong with the kind of a task when it is submitted.

use std::fmt;

use super::kind::NAME_MAX;
use crate::scheduler::SubmitError;

/// What is wrong with the kind of a task, or with its payload. Part of a [`SubmitError`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KindError {
    /// [`submit`](crate::TaskBuilder::submit) without a [`kind`](crate::TaskBuilder::kind).
    Missing,
    /// [`run`](crate::TaskBuilder::run) with a [`kind`](crate::TaskBuilder::kind), which has a
    /// handler already.
    AndHandler,
    /// The name of a kind has 1 to 128 bytes and no control characters.
    InvalidName(String),
    /// No kind of this name is registered. Trying again helps once it is.
    Unknown(String),
    /// The payload cannot be written down, or is not what the handler of the kind takes.
    Payload {
        /// The name of the kind.
        kind: String,
        /// What is wrong with it.
        error: String,
    },
    /// A definition was asked for, but the task was given this, a function or a value of Rust, which
    /// cannot be written down.
    NotData(&'static str),
}

impl KindError {
    pub(super) fn payload(kind: &str, error: String) -> SubmitError {
        let kind = kind.to_owned();
        KindError::Payload { kind, error }.into()
    }

    /// Whether the same call may succeed later.
    pub fn may_succeed_later(&self) -> bool {
        matches!(self, KindError::Unknown(_))
    }
}

impl From<KindError> for SubmitError {
    fn from(error: KindError) -> SubmitError {
        SubmitError::Kind(error)
    }
}

impl fmt::Display for KindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KindError::Missing => f.write_str("kind: the task has none: call kind, or run instead"),
            KindError::AndHandler => f.write_str(
                "kind: the task gets a handler as well: call submit instead of run, or no kind",
            ),
            KindError::InvalidName(kind) => write!(
                f,
                "kind: {kind:?} is not possible: 1 to {NAME_MAX} bytes without control characters"
            ),
            KindError::Unknown(kind) => {
                write!(f, "kind: {kind:?} is not registered: register it before")
            }
            KindError::Payload { kind, error } => {
                write!(f, "payload: not what the kind {kind:?} takes: {error}")
            }
            KindError::NotData(name) => write_not_data(name, f),
        }
    }
}

/// That a task has no definition.
pub(super) fn write_not_data(name: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(
        f,
        "{name}: it cannot be written down, so the task has no definition: only data can"
    )
}

impl std::error::Error for KindError {}
