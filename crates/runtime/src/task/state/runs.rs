//! The runs of one task that wait or are going. Mostly there is one, which takes no room of its own.

use super::{TaskState, Ticket};
use crate::task::CancelToken;

/// In no order.
#[derive(Debug, Default)]
pub(super) enum Runs {
    #[default]
    None,
    One(Run),
    /// Two at least.
    #[expect(
        clippy::box_collection,
        reason = "a vector is three words, in each task"
    )]
    Many(Box<Vec<Run>>),
}

// There may be millions of tasks.
#[cfg(all(target_pointer_width = "64", not(wheel_model)))]
const _: () = assert!(size_of::<Runs>() <= 16);

/// A run, with the ticket of its present attempt.
#[derive(Debug)]
pub(super) enum Run {
    Queued {
        ticket: Ticket,
        kept: Kept,
    },
    Running {
        ticket: Ticket,
        token: CancelToken,
        /// To stop: it gives way to a newer one.
        is_told: bool,
    },
    /// Its attempt is over, because its time was; what comes of that is being found out.
    Settling {
        ticket: Ticket,
        is_told: bool,
    },
    Retrying {
        ticket: Ticket,
    },
}

/// Whether a run that waits for a worker may be taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kept {
    No,
    /// It has begun, or is replayed.
    Yes,
}

impl Run {
    pub(super) fn ticket(&self) -> Ticket {
        match *self {
            Run::Queued { ticket, .. }
            | Run::Running { ticket, .. }
            | Run::Settling { ticket, .. }
            | Run::Retrying { ticket } => ticket,
        }
    }

    fn state(&self) -> TaskState {
        match self {
            Run::Running { .. } | Run::Settling { .. } => TaskState::Running,
            Run::Queued { .. } => TaskState::Queued,
            Run::Retrying { .. } => TaskState::Retrying,
        }
    }

    pub(super) fn is_queued(&self) -> bool {
        matches!(self, Run::Queued { .. })
    }

    /// Whether it waits for a worker and may be taken back.
    pub(super) fn is_fresh(&self) -> bool {
        let kept = Kept::No;
        matches!(self, Run::Queued { kept: found, .. } if *found == kept)
    }

    /// Whether its attempt has started, and what comes of it is not known yet.
    pub(super) fn is_going(&self) -> bool {
        matches!(self, Run::Running { .. } | Run::Settling { .. })
    }
}

impl Runs {
    pub(super) fn as_slice(&self) -> &[Run] {
        match self {
            Runs::None => &[],
            Runs::One(run) => std::slice::from_ref(run),
            Runs::Many(runs) => runs,
        }
    }

    fn as_mut_slice(&mut self) -> &mut [Run] {
        match self {
            Runs::None => &mut [],
            Runs::One(run) => std::slice::from_mut(run),
            Runs::Many(runs) => runs,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.as_slice().len()
    }

    pub(super) fn get(&self, ticket: Ticket) -> Option<&Run> {
        self.as_slice().iter().find(|run| run.ticket() == ticket)
    }

    pub(super) fn get_mut(&mut self, ticket: Ticket) -> Option<&mut Run> {
        let mut runs = self.as_mut_slice().iter_mut();
        runs.find(|run| run.ticket() == ticket)
    }

    pub(super) fn add(&mut self, run: Run) {
        *self = match std::mem::take(self) {
            Runs::None => Runs::One(run),
            Runs::One(first) => Runs::Many(Box::new(vec![first, run])),
            Runs::Many(mut runs) => {
                runs.push(run);
                Runs::Many(runs)
            }
        };
    }

    pub(super) fn remove(&mut self, ticket: Ticket) {
        self.remove_if(|run| run.ticket() == ticket);
    }

    /// Returns how many were removed.
    pub(super) fn remove_if(&mut self, is_meant: impl Fn(&Run) -> bool) -> usize {
        let before = self.len();
        match self {
            Runs::None => {}
            Runs::One(run) => {
                if is_meant(run) {
                    *self = Runs::None;
                }
            }
            Runs::Many(runs) => {
                runs.retain(|run| !is_meant(run));
                match (runs.len(), runs.pop()) {
                    (_, None) => *self = Runs::None,
                    (1, Some(last)) => *self = Runs::One(last),
                    (_, Some(last)) => runs.push(last),
                }
            }
        }
        before - self.len()
    }

    /// Tells those that are going to stop, unless they have been told. The tokens are to be set.
    pub(super) fn tell_all(&mut self) -> Vec<CancelToken> {
        let runs = self.as_mut_slice().iter_mut();
        let told = runs.filter_map(|run| match run {
            Run::Running { token, is_told, .. } if !*is_told => {
                *is_told = true;
                Some(token.clone())
            }
            Run::Settling { is_told, .. } => {
                *is_told = true;
                None
            }
            _ => None,
        });
        told.collect()
    }

    /// The state of the run that is furthest.
    pub(super) fn busiest(&self) -> Option<TaskState> {
        match self {
            Runs::None => None,
            Runs::One(run) => Some(run.state()),
            Runs::Many(runs) => {
                let states = [TaskState::Running, TaskState::Queued, TaskState::Retrying];
                let is_any = |state: &TaskState| runs.iter().any(|run| run.state() == *state);
                states.into_iter().find(is_any)
            }
        }
    }
}
