//! What a task of a kind is asked for: its kind, its variant, its definition.

use std::sync::Arc;

use super::{Context, Life, Task, TaskHandle};
use crate::schedule::Schedule;
use crate::scheduler::{DefinitionError, Made, TaskDefinition};

impl Life {
    fn made(&self) -> Option<&Arc<Made>> {
        self.code.as_ref()?.failing.as_ref()?.made.as_ref()
    }

    /// The task has another schedule from now on.
    pub(super) fn note_schedule(&self, schedule: &Schedule) {
        if let Some(made) = self.made() {
            made.reschedule(schedule);
        }
    }
}

impl Task {
    fn made(&self) -> Option<Arc<Made>> {
        self.life.lock().made().cloned()
    }
}

impl Context {
    /// The kind of the task; `None` if it has a handler of its own.
    pub fn kind(&self) -> Option<String> {
        let made = self.task.made()?;
        Some(made.kind().to_owned())
    }

    /// The [variant](crate::Kind::variant) of its kind that this task has; `None` if that is the
    /// kind's own handler.
    pub fn variant(&self) -> Option<String> {
        let made = self.task.made()?;
        made.variant().map(str::to_owned)
    }
}

impl TaskHandle {
    /// The task as data, as it would be submitted again now: with its present schedule, and from
    /// the beginning. A retry policy that it has from its kind is no part of it.
    ///
    /// # Errors
    ///
    /// [`DefinitionError`]: the task has a handler of its own, or no name, or something that cannot
    /// be written down, or has ended.
    pub fn definition(&self) -> Result<TaskDefinition, DefinitionError> {
        let life = self.0.life.lock();
        let Some(made) = life.made().cloned() else {
            return Err(match life.state.name().has_ended() {
                true => DefinitionError::Ended,
                false => DefinitionError::NoKind,
            });
        };
        drop(life);
        made.definition()
    }
}
