//! The states of a task, and every step between them. No other file changes a state.
//!
//! ```text
//!                 queue                start                 finish, more to come
//!  scheduled -------------> queued -------------> running -------------------------> scheduled
//!    |   ^                  |   |  ^                 |  |
//!    |   +---- give_back ---+   |  | queue_again     |  | retry
//!    |                          |  +-- retrying <----|--+
//!    | cancel, end              |         |          |
//!    |                          | cancel  | cancel   | finish, nothing to come
//!    v                          v         v          v
//!  ended (succeeded, failed, dead, cancelled, skipped)
//! ```
//!
//! A cancel during a run marks the run; it ends as cancelled when it finishes. A step that is not
//! in the picture is answered with a [`Refused`] and changes nothing, so an illegal one cannot be
//! written. Each attempt of a run has a ticket of its own, from the moment it waits, be it for a
//! worker or for its instant. A job, a timer or a result that comes with an older one is refused:
//! its attempt was cancelled, or taken back, or is over.
//!
//! A run that has begun, and waits for a worker again, is kept: it is not given back, and if the
//! executor refuses it that is the end of an attempt (`retry`, `finish`). So is one that was dead
//! and is replayed (`queue_kept`). `docs/TASK_STATES.md` has every step in every state; a test
//! holds the two together.

use super::CancelToken;

/// Where a task stands.
///
/// Some states are kept for what is to come: no task stands there in this version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TaskState {
    /// Waits until it is due.
    Scheduled,
    /// Is due, and waits for a worker.
    Queued,
    /// A worker runs it.
    Running,
    /// Waits for the next attempt of a run: the last one failed, or was snoozed.
    Retrying,
    /// Kept for pausing: is not due before it is resumed.
    Paused,
    /// Ended: the last run succeeded.
    Succeeded,
    /// Ended: the last run failed, and the task has no retry policy.
    Failed,
    /// Kept for deadlines. Ended: the last run was not over in time.
    TimedOut,
    /// Ended: cancelled, or not run because the scheduler was shut down.
    Cancelled,
    /// Ended: the last run failed, and will not be tried again. It is in the dead letters.
    Dead,
    /// Ended: the executor refused its only run.
    Skipped,
}

impl TaskState {
    /// Whether the task will never run again.
    pub fn has_ended(self) -> bool {
        match self {
            TaskState::Scheduled
            | TaskState::Queued
            | TaskState::Running
            | TaskState::Retrying
            | TaskState::Paused => false,
            TaskState::Succeeded
            | TaskState::Failed
            | TaskState::TimedOut
            | TaskState::Cancelled
            | TaskState::Dead
            | TaskState::Skipped => true,
        }
    }
}

/// Names one attempt of a run of a task. Of four thousand million attempts of a task, the first one
/// has left the hands of everybody.
pub(crate) type Ticket = u32;

/// The state of one task.
#[derive(Debug)]
pub(super) struct State {
    phase: Phase,
    tickets: Ticket,
}

#[derive(Debug)]
enum Phase {
    Scheduled,
    Queued {
        ticket: Ticket,
        kept: Kept,
    },
    Running {
        ticket: Ticket,
        token: CancelToken,
        cancelled: bool,
    },
    Retrying(Ticket),
    Ended(End),
}

/// Whether a run that waits for a worker may be taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kept {
    No,
    /// It has begun, or is replayed.
    Yes,
}

/// How a task ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Succeeded,
    Failed,
    Dead,
    Cancelled,
    Skipped,
}

/// What comes after a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Something is due later.
    MoreToCome,
    Nothing(End),
}

/// The step is not possible from the present state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// A run waits or is going.
    Busy,
    /// The run that waits is kept.
    Kept,
    /// The run that is going was told to be the last.
    Cancelled,
    /// The ticket is not that of the present attempt.
    OldTicket,
    /// The task has ended.
    Ended,
}

/// What a cancel met.
#[derive(Debug)]
pub(super) enum Met {
    /// No run, or one that waits and will never go on; the task has ended now.
    Waiting,
    /// A run that is going: the token to set. The task ends when it returns.
    Running(CancelToken),
    /// An earlier cancel, whose run is still going.
    Cancelled,
    /// The task had ended.
    Ended,
}

impl State {
    pub(super) fn new() -> State {
        State {
            phase: Phase::Scheduled,
            tickets: 0,
        }
    }

    pub(super) fn name(&self) -> TaskState {
        match self.phase {
            Phase::Scheduled => TaskState::Scheduled,
            Phase::Queued { .. } => TaskState::Queued,
            Phase::Running { .. } => TaskState::Running,
            Phase::Retrying(_) => TaskState::Retrying,
            Phase::Ended(End::Succeeded) => TaskState::Succeeded,
            Phase::Ended(End::Failed) => TaskState::Failed,
            Phase::Ended(End::Dead) => TaskState::Dead,
            Phase::Ended(End::Cancelled) => TaskState::Cancelled,
            Phase::Ended(End::Skipped) => TaskState::Skipped,
        }
    }

    /// A run that is due waits for a worker from now on, under the ticket returned.
    pub(super) fn queue(&mut self) -> Result<Ticket, Refused> {
        self.queue_as(Kept::No)
    }

    /// A run that nobody may take back waits for a worker from now on, under the ticket returned.
    pub(super) fn queue_kept(&mut self) -> Result<Ticket, Refused> {
        self.queue_as(Kept::Yes)
    }

    fn queue_as(&mut self, kept: Kept) -> Result<Ticket, Refused> {
        match self.phase {
            Phase::Scheduled => {
                let ticket = self.new_ticket();
                self.phase = Phase::Queued { ticket, kept };
                Ok(ticket)
            }
            Phase::Queued { .. } | Phase::Running { .. } | Phase::Retrying(_) => Err(Refused::Busy),
            Phase::Ended(_) => Err(Refused::Ended),
        }
    }

    /// The attempt of `ticket` starts. The token is how it will be told to stop.
    pub(super) fn start(&mut self, ticket: Ticket) -> Result<CancelToken, Refused> {
        match self.phase {
            Phase::Queued { ticket: waits, .. } if waits == ticket => {
                let token = CancelToken::new();
                self.phase = Phase::Running {
                    ticket,
                    token: token.clone(),
                    cancelled: false,
                };
                Ok(token)
            }
            Phase::Ended(_) => Err(Refused::Ended),
            _ => Err(Refused::OldTicket),
        }
    }

    /// The run of `ticket`, or any that waits, will not start; the task waits for its next
    /// occurrence.
    pub(super) fn give_back(&mut self, ticket: Option<Ticket>) -> Result<(), Refused> {
        match self.phase {
            Phase::Queued {
                ticket: waits,
                kept,
            } if ticket.is_none_or(|ticket| ticket == waits) => match kept {
                Kept::No => {
                    self.phase = Phase::Scheduled;
                    Ok(())
                }
                Kept::Yes => Err(Refused::Kept),
            },
            Phase::Ended(_) => Err(Refused::Ended),
            _ => Err(Refused::OldTicket),
        }
    }

    /// The attempt of `ticket` is over, and another one will follow: it waits for its instant,
    /// under the ticket returned.
    pub(super) fn retry(&mut self, ticket: Ticket) -> Result<Ticket, Refused> {
        self.check_over(ticket)?;
        if self.is_cancelled_run() {
            return Err(Refused::Cancelled);
        }
        let next = self.new_ticket();
        self.phase = Phase::Retrying(next);
        Ok(next)
    }

    /// The instant of the attempt of `ticket` has come: it waits for a worker.
    pub(super) fn queue_again(&mut self, ticket: Ticket) -> Result<(), Refused> {
        match self.phase {
            Phase::Retrying(waits) if waits == ticket => {
                let kept = Kept::Yes;
                self.phase = Phase::Queued { ticket, kept };
                Ok(())
            }
            Phase::Ended(_) => Err(Refused::Ended),
            _ => Err(Refused::OldTicket),
        }
    }

    /// The attempt of `ticket` is over, and with it the run. The end, if the task has one now.
    pub(super) fn finish(&mut self, ticket: Ticket, next: Next) -> Result<Option<End>, Refused> {
        self.check_over(ticket)?;
        let end = match next {
            _ if self.is_cancelled_run() => Some(End::Cancelled),
            Next::MoreToCome => None,
            Next::Nothing(end) => Some(end),
        };
        self.phase = end.map_or(Phase::Scheduled, Phase::Ended);
        Ok(end)
    }

    /// Whether the present attempt is that of `ticket` and can be over: it runs, or waits for a
    /// worker that refuses it.
    pub(super) fn check_over(&self, ticket: Ticket) -> Result<(), Refused> {
        match self.phase {
            Phase::Running {
                ticket: present, ..
            }
            | Phase::Queued {
                ticket: present,
                kept: Kept::Yes,
            } if present == ticket => Ok(()),
            Phase::Ended(_) => Err(Refused::Ended),
            _ => Err(Refused::OldTicket),
        }
    }

    /// A task that waits for its next occurrence will not have one.
    pub(super) fn end(&mut self, end: End) -> Result<(), Refused> {
        match self.phase {
            Phase::Scheduled => {
                self.phase = Phase::Ended(end);
                Ok(())
            }
            Phase::Queued { .. } | Phase::Running { .. } | Phase::Retrying(_) => Err(Refused::Busy),
            Phase::Ended(_) => Err(Refused::Ended),
        }
    }

    /// No run starts from now on.
    pub(super) fn cancel(&mut self) -> Met {
        match &mut self.phase {
            Phase::Scheduled | Phase::Queued { .. } | Phase::Retrying(_) => {
                self.phase = Phase::Ended(End::Cancelled);
                Met::Waiting
            }
            Phase::Running {
                cancelled: true, ..
            } => Met::Cancelled,
            Phase::Running {
                token, cancelled, ..
            } => {
                *cancelled = true;
                Met::Running(token.clone())
            }
            Phase::Ended(_) => Met::Ended,
        }
    }

    /// Whether the run of `ticket` waits for a worker.
    pub(super) fn awaits(&self, ticket: Ticket) -> bool {
        matches!(self.phase, Phase::Queued { ticket: waits, .. } if waits == ticket)
    }

    /// Whether a run is going that was told to be the last.
    pub(super) fn is_cancelled_run(&self) -> bool {
        matches!(
            self.phase,
            Phase::Running {
                cancelled: true,
                ..
            }
        )
    }

    fn new_ticket(&mut self) -> Ticket {
        self.tickets = self.tickets.wrapping_add(1);
        self.tickets
    }
}

#[cfg(test)]
mod tests;
