//! What few tasks have, in a box of its own: failures, a time limit, a backlog, a pause, others that
//! come before or after. A task that never needs it pays for a pointer.

use super::backlog::Backlog;
use super::over_time::Watch;
use super::trial::Trial;
use super::upstream::{Dependents, Upstream};
use super::values::RunValues;
use super::{Life, Ticket};
use crate::schedule::Due;

#[derive(Debug, Default)]
pub(super) struct Rare {
    pub(super) retried: u64,
    pub(super) dead: u64,
    /// Attempts.
    pub(super) timed_out: u64,
    /// Runs that are not over with their first attempt, by the tickets of their present ones.
    pub(super) trials: Vec<(Ticket, Trial)>,
    /// Attempts whose time is limited, while they are going.
    pub(super) watched: Vec<Watch>,
    pub(super) backlog: Backlog,
    /// The task is no longer in the registry, although a run is going: it is in `Core::leaving`.
    pub(super) is_leaving: bool,
    /// What would be armed if the task were not paused.
    pub(super) suspended: Option<Due>,
    /// What the task waits for before it is due.
    pub(super) upstream: Option<Box<Upstream>>,
    /// Of runs that an occurrence took the place of; until the driver has let go of the lock.
    pub(super) parting: Vec<RunValues>,
    /// Who waits for this task.
    pub(super) dependents: Dependents,
}

impl Life {
    pub(super) fn rare(&mut self) -> &mut Rare {
        self.rare.get_or_insert_default()
    }

    pub(super) fn take_parting(&mut self) -> Vec<RunValues> {
        let rare = self.rare.as_mut();
        rare.map(|rare| std::mem::take(&mut rare.parting))
            .unwrap_or_default()
    }

    pub(super) fn is_leaving(&self) -> bool {
        self.rare.as_ref().is_some_and(|rare| rare.is_leaving)
    }

    /// Whether no further run is to come, be it that one is going still.
    pub(super) fn is_over(&self) -> bool {
        self.state.name().has_ended() || self.state.is_closing() || self.is_leaving()
    }

    pub(super) fn suspended(&self) -> Option<Due> {
        self.rare.as_ref()?.suspended
    }
}
