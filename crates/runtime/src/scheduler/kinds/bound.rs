//! A task of a kind: its handler, with the payload in it, and what it was made of.

use std::fmt;
use std::sync::Arc;

use wheel_sync::Mutex;

use super::builder::DefinitionError;
use super::counted::Counted;
use super::definition::TaskDefinition;
use super::kind::KindCode;
use super::payload::{Call, Takes};
use crate::policy::{React, Reaction, Rules};
use crate::schedule::Schedule;
use crate::task::{Context, Handler, Outcome};

/// What a task of a kind was made of.
pub(crate) struct Made {
    definition: Arc<TaskDefinition>,
    /// What of it is no data, if something is.
    not_data: Option<&'static str>,
    variant: Option<Arc<str>>,
    /// Those of the kind; it shares the row with the other tasks of it.
    rules: Rules,
    /// Since it was rescheduled.
    schedule: Mutex<Option<Schedule>>,
}

/// A task that is about to be made.
pub(super) struct Draft {
    pub(super) definition: Arc<TaskDefinition>,
    pub(super) not_data: Option<&'static str>,
    /// What decides about the variant.
    pub(super) id: String,
}

impl Draft {
    /// The handler of the task, or what is wrong with its payload. Reads the payload, which is the
    /// user's code.
    pub(super) fn bind(
        self,
        counted: &Arc<Counted>,
        code: &KindCode,
    ) -> Result<(Handler, Made), String> {
        let Draft {
            definition,
            not_data,
            id,
        } = self;
        let (takes, variant) = code.of(&id);
        takes.read(&definition.payload).map(drop)?;
        let mut rules = code.rules.clone();
        for (failures, fallback) in &code.fallbacks {
            let handler = with_payload(fallback, &definition, |context, call| call(context));
            rules.add(*failures, Reaction(React::Fallback(handler)));
        }
        let counted = Arc::clone(counted);
        let attempt = move |context: &Context, call: Call<'_>| counted.attempt(context, call);
        let handler = with_payload(takes, &definition, attempt);
        let made = Made {
            definition,
            not_data,
            variant: variant.cloned(),
            rules,
            schedule: Mutex::new(None),
        };
        Ok((handler, made))
    }
}

/// Reads the payload at each attempt, and calls. One that is no longer read, such as after the meaning
/// of its type has changed, would not be the next time either.
fn with_payload(
    takes: &Arc<dyn Takes>,
    definition: &Arc<TaskDefinition>,
    call: impl Fn(&Context, Call<'_>) -> Outcome + Send + Sync + 'static,
) -> Handler {
    let (takes, definition) = (Arc::clone(takes), Arc::clone(definition));
    Arc::new(move |context| match takes.read(&definition.payload) {
        Ok(read) => call(context, read),
        Err(error) => Outcome::Permanent(format!(
            "payload: not what the kind {:?} takes: {error}",
            definition.kind
        )),
    })
}

impl Made {
    pub(crate) fn rules(&self) -> &Rules {
        &self.rules
    }

    pub(crate) fn kind(&self) -> &str {
        &self.definition.kind
    }

    pub(crate) fn variant(&self) -> Option<&str> {
        self.variant.as_deref()
    }

    /// The task has another schedule from now on.
    pub(crate) fn reschedule(&self, schedule: &Schedule) {
        *self.schedule.lock() = Some(schedule.clone());
    }

    /// What it takes to submit the task again.
    pub(crate) fn definition(&self) -> Result<TaskDefinition, DefinitionError> {
        if let Some(name) = self.not_data {
            return Err(DefinitionError::NotData(name));
        }
        if self.definition.id.is_empty() {
            return Err(DefinitionError::Unnamed);
        }
        let mut definition = (*self.definition).clone();
        if let Some(schedule) = &*self.schedule.lock() {
            definition.schedule = schedule.clone();
        }
        Ok(definition)
    }
}

impl fmt::Debug for Made {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Made")
            .field("definition", &self.definition)
            .field("not_data", &self.not_data)
            .field("variant", &self.variant)
            .finish_non_exhaustive()
    }
}
