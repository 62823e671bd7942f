//! The states of a task, and every step between them. No other file changes a state.
//!
//! ```text
//!                 queue                start                 finish, more to come
//!  scheduled -------------> queued -------------> running -------------------------> scheduled
//!    |   ^                  |   |                    |
//!    |   +---- give_back ---+   | cancel             | finish, nothing to come
//!    | cancel, end              |                    v
//!    +--------------------------+----------------> ended (succeeded, failed, cancelled, skipped)
//! ```
//!
//! A cancel during a run marks the run; it ends as cancelled when it finishes. A step that is not
//! in the picture is answered with a [`Refused`] and changes nothing, so an illegal one cannot be
//! written. Each waiting run has a ticket of its own, and a job that holds an older one is refused:
//! it was cancelled, or its task was given a new schedule.

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
    /// Kept for retries: waits for the next attempt of a run.
    Retrying,
    /// Kept for pausing: is not due before it is resumed.
    Paused,
    /// Ended: the last run succeeded.
    Succeeded,
    /// Ended: the last run failed.
    Failed,
    /// Kept for deadlines. Ended: the last run was not over in time.
    TimedOut,
    /// Ended: cancelled, or not run because the scheduler was shut down.
    Cancelled,
    /// Kept for retries. Ended: the last run ran out of attempts.
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

/// Names one waiting run of a task.
pub(super) type Ticket = u64;

/// The state of one task.
#[derive(Debug)]
pub(super) struct State {
    phase: Phase,
    tickets: Ticket,
}

#[derive(Debug)]
enum Phase {
    Scheduled,
    Queued(Ticket),
    Running {
        ticket: Ticket,
        token: CancelToken,
        cancelled: bool,
    },
    Ended(End),
}

/// How a task ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Succeeded,
    Failed,
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
    /// The ticket is not the one that waits: its run was taken back.
    OldTicket,
    /// The task has ended.
    Ended,
}

/// What a cancel met.
#[derive(Debug)]
pub(super) enum Met {
    /// No run, or one that waits and will never start; the task has ended now.
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
            Phase::Queued(_) => TaskState::Queued,
            Phase::Running { .. } => TaskState::Running,
            Phase::Ended(End::Succeeded) => TaskState::Succeeded,
            Phase::Ended(End::Failed) => TaskState::Failed,
            Phase::Ended(End::Cancelled) => TaskState::Cancelled,
            Phase::Ended(End::Skipped) => TaskState::Skipped,
        }
    }

    /// A run that is due waits for a worker from now on, under the ticket returned.
    pub(super) fn queue(&mut self) -> Result<Ticket, Refused> {
        match self.phase {
            Phase::Scheduled => {
                self.tickets += 1;
                self.phase = Phase::Queued(self.tickets);
                Ok(self.tickets)
            }
            Phase::Queued(_) | Phase::Running { .. } => Err(Refused::Busy),
            Phase::Ended(_) => Err(Refused::Ended),
        }
    }

    /// The run of `ticket` starts. The token is how it will be told to stop.
    pub(super) fn start(&mut self, ticket: Ticket) -> Result<CancelToken, Refused> {
        match self.phase {
            Phase::Queued(waiting) if waiting == ticket => {
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
            Phase::Queued(waiting) if ticket.is_none_or(|ticket| ticket == waiting) => {
                self.phase = Phase::Scheduled;
                Ok(())
            }
            Phase::Ended(_) => Err(Refused::Ended),
            _ => Err(Refused::OldTicket),
        }
    }

    /// The run of `ticket` has returned. The end, if the task has one now.
    pub(super) fn finish(&mut self, ticket: Ticket, next: Next) -> Result<Option<End>, Refused> {
        match self.phase {
            Phase::Running {
                ticket: running,
                cancelled,
                ..
            } if running == ticket => {
                let end = match next {
                    _ if cancelled => Some(End::Cancelled),
                    Next::MoreToCome => None,
                    Next::Nothing(end) => Some(end),
                };
                self.phase = end.map_or(Phase::Scheduled, Phase::Ended);
                Ok(end)
            }
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
            Phase::Queued(_) | Phase::Running { .. } => Err(Refused::Busy),
            Phase::Ended(_) => Err(Refused::Ended),
        }
    }

    /// No run starts from now on.
    pub(super) fn cancel(&mut self) -> Met {
        match &mut self.phase {
            Phase::Scheduled | Phase::Queued(_) => {
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
        matches!(self.phase, Phase::Queued(waiting) if waiting == ticket)
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
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queued() -> (State, Ticket) {
        let mut state = State::new();
        let ticket = state.queue().unwrap();
        (state, ticket)
    }

    fn running() -> (State, Ticket) {
        let (mut state, ticket) = queued();
        state.start(ticket).unwrap();
        (state, ticket)
    }

    fn ended() -> State {
        let mut state = State::new();
        state.end(End::Skipped).unwrap();
        state
    }

    #[test]
    fn a_task_goes_round_and_ends() {
        let (mut state, ticket) = running();
        assert_eq!(state.finish(ticket, Next::MoreToCome), Ok(None));
        assert_eq!(state.name(), TaskState::Scheduled);
        let ticket = state.queue().unwrap();
        state.start(ticket).unwrap();
        let end = state.finish(ticket, Next::Nothing(End::Succeeded));
        assert_eq!(end, Ok(Some(End::Succeeded)));
        assert!(state.name().has_ended());
    }

    #[test]
    fn a_second_run_is_refused_while_one_waits_or_goes() {
        assert_eq!(queued().0.queue(), Err(Refused::Busy));
        assert_eq!(running().0.queue(), Err(Refused::Busy));
    }

    #[test]
    fn nothing_moves_a_task_that_has_ended() {
        let mut state = ended();
        assert_eq!(state.queue(), Err(Refused::Ended));
        assert_eq!(state.start(0).unwrap_err(), Refused::Ended);
        assert_eq!(state.give_back(None), Err(Refused::Ended));
        assert_eq!(state.finish(0, Next::MoreToCome), Err(Refused::Ended));
        assert_eq!(state.end(End::Failed), Err(Refused::Ended));
        assert!(matches!(state.cancel(), Met::Ended));
        assert_eq!(state.name(), TaskState::Skipped);
    }

    #[test] // HD-02
    fn an_old_ticket_starts_nothing() {
        let (mut state, old) = queued();
        state.give_back(None).unwrap();
        assert_eq!(state.start(old).unwrap_err(), Refused::OldTicket);
        let new = state.queue().unwrap();
        assert_eq!(state.start(old).unwrap_err(), Refused::OldTicket);
        assert_eq!(state.give_back(Some(old)), Err(Refused::OldTicket));
        state.start(new).unwrap();
        assert_eq!(state.finish(old, Next::MoreToCome), Err(Refused::OldTicket));
    }

    #[test]
    fn a_cancel_before_the_run_ends_the_task_and_during_it_marks_the_run() {
        assert!(matches!(State::new().cancel(), Met::Waiting));
        let (mut state, ticket) = queued();
        assert!(matches!(state.cancel(), Met::Waiting));
        assert_eq!(state.start(ticket).unwrap_err(), Refused::Ended);
        let (mut state, ticket) = running();
        assert!(matches!(state.cancel(), Met::Running(_)));
        assert!(matches!(state.cancel(), Met::Cancelled));
        assert_eq!(state.name(), TaskState::Running);
        let end = state.finish(ticket, Next::MoreToCome);
        assert_eq!(end, Ok(Some(End::Cancelled)));
    }

    #[test]
    fn a_task_with_a_run_cannot_be_ended_from_outside() {
        assert_eq!(queued().0.end(End::Skipped), Err(Refused::Busy));
        assert_eq!(running().0.end(End::Skipped), Err(Refused::Busy));
        let (mut state, _) = running();
        assert_eq!(state.give_back(None), Err(Refused::OldTicket));
    }
}
