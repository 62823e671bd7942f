//! The states of a task and of its runs, and every step between them. No other file changes a state.
//!
//! ```text
//!  a task:   active <----> paused          a run:            queue
//!              |             |                  give_back  ----> queued --------- start
//!              | cancel      | cancel           <-----------       ^                |
//!              v             v                       queue_again   |                v
//!           closing, while a run is going            retrying -----+ <-- retry -- running
//!              |                                        | cancel                    | finish
//!              v                                        v                           v
//!           ended (succeeded, failed, timed out,                                  over
//!                  dead, cancelled, skipped)
//! ```
//! A run whose time is over goes from running to settling (`time_out`), and on like a running one.
//!
//! A task is seen in one state: ended, or what its busiest run does (running before queued before
//! retrying), else paused or scheduled. It has one run at a time as a rule, more only where its
//! overlap policy allows that. A cancel ends what waits at once, and what runs when it finishes. A
//! step that is not possible is answered with a [`Refused`] and changes nothing, so an illegal one
//! cannot be written.
//!
//! Each attempt of a run has a ticket of its own, from the moment it waits, be it for a worker or for
//! its instant. A job, a timer or a result that comes with an older one is refused: its attempt was
//! cancelled, or taken back, or is over.
//!
//! A run that has begun, and waits for a worker again, is kept: it is not given back, and if the
//! executor refuses it that is the end of an attempt (`retry`, `finish`). So is one that was dead
//! and is replayed (`queue_kept`). `docs/TASK_STATES.md` has every step in every state; a test
//! holds the two together.

mod name;
mod runs;

use super::CancelToken;
pub use name::TaskState;
use runs::{Kept, Run, Runs};

/// Names one attempt of a run of a task. Of four thousand million attempts of a task, the first one
/// has left the hands of everybody.
pub(crate) type Ticket = u32;

/// The state of one task.
#[derive(Debug)]
pub(super) struct State {
    standing: Standing,
    runs: Runs,
    tickets: Ticket,
}

/// Where the task itself stands, whatever its runs do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    Active,
    /// Nothing is due before it is resumed.
    Paused,
    /// Cancelled: no run starts any more, and it ends with the runs that are going.
    Closing,
    Ended(End),
}

/// How a task ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Succeeded,
    Failed,
    TimedOut,
    Dead,
    Cancelled,
    Skipped,
}

/// What comes after a run, and after those that are going beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Something is due later.
    MoreToCome,
    Nothing(End),
}

/// The step is not possible from the present state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// As many runs wait or are going as may.
    Busy,
    /// The run that waits is kept.
    Kept,
    /// The task was cancelled, or the run was told to stop.
    Cancelled,
    /// The ticket is not that of a present attempt.
    OldTicket,
    /// The task is paused already, or is not.
    SamePause,
    /// The task has ended.
    Ended,
}

/// What a cancel met.
#[derive(Debug)]
pub(super) enum Met {
    /// No run is going; the task has ended now. So many runs waited for a worker and will not start.
    Waiting { queued: usize },
    /// Runs are going: the tokens to set. The task ends when they return; so many others waited for
    /// a worker and will not start.
    Running {
        tokens: Vec<CancelToken>,
        queued: usize,
    },
    /// An earlier cancel, whose runs are still going.
    Cancelled,
    /// The task had ended.
    Ended,
}

impl State {
    pub(super) fn new() -> State {
        State {
            standing: Standing::Active,
            runs: Runs::default(),
            tickets: 0,
        }
    }

    pub(super) fn name(&self) -> TaskState {
        match self.standing {
            Standing::Ended(End::Succeeded) => TaskState::Succeeded,
            Standing::Ended(End::Failed) => TaskState::Failed,
            Standing::Ended(End::TimedOut) => TaskState::TimedOut,
            Standing::Ended(End::Dead) => TaskState::Dead,
            Standing::Ended(End::Cancelled) => TaskState::Cancelled,
            Standing::Ended(End::Skipped) => TaskState::Skipped,
            standing => match self.runs.busiest() {
                Some(state) => state,
                None if standing == Standing::Paused => TaskState::Paused,
                None => TaskState::Scheduled,
            },
        }
    }

    pub(super) fn is_paused(&self) -> bool {
        self.standing == Standing::Paused
    }

    /// Whether it was cancelled, and has not ended because a run is going.
    pub(super) fn is_closing(&self) -> bool {
        self.standing == Standing::Closing
    }

    /// Runs that wait or are going.
    pub(super) fn runs(&self) -> usize {
        self.runs.len()
    }

    /// Of those, the ones that wait for a worker and have not begun, but for those that are kept.
    pub(super) fn fresh(&self) -> usize {
        let runs = self.runs.as_slice().iter();
        runs.filter(|run| run.is_fresh()).count()
    }

    /// Whether the run of `ticket` waits for a worker, and has not begun.
    pub(super) fn is_fresh(&self, ticket: Ticket) -> bool {
        self.runs.get(ticket).is_some_and(Run::is_fresh)
    }

    /// Whether an attempt has this ticket.
    pub(super) fn has(&self, ticket: Ticket) -> bool {
        self.runs.get(ticket).is_some()
    }

    /// A run that is due waits for a worker from now on, under the ticket returned. There may be
    /// `room` of them at once, those that are going included.
    pub(super) fn queue(&mut self, room: usize) -> Result<Ticket, Refused> {
        self.queue_as(Kept::No, room)
    }

    /// A run that nobody may take back waits for a worker from now on, under the ticket returned.
    pub(super) fn queue_kept(&mut self, room: usize) -> Result<Ticket, Refused> {
        self.queue_as(Kept::Yes, room)
    }

    fn queue_as(&mut self, kept: Kept, room: usize) -> Result<Ticket, Refused> {
        self.check_live()?;
        if self.is_closing() {
            return Err(Refused::Cancelled);
        }
        if self.runs.len() >= room {
            return Err(Refused::Busy);
        }
        let ticket = self.new_ticket();
        self.runs.add(Run::Queued { ticket, kept });
        Ok(ticket)
    }

    /// The attempt of `ticket` starts. The token is how it will be told to stop.
    pub(super) fn start(&mut self, ticket: Ticket) -> Result<CancelToken, Refused> {
        match self.run(ticket)? {
            run @ Run::Queued { .. } => {
                let token = CancelToken::new();
                *run = Run::Running {
                    ticket,
                    token: token.clone(),
                    is_told: false,
                };
                Ok(token)
            }
            _ => Err(Refused::OldTicket),
        }
    }

    /// The run of `ticket` will not start.
    pub(super) fn give_back(&mut self, ticket: Ticket) -> Result<(), Refused> {
        match self.run(ticket)? {
            run if run.is_fresh() => {
                self.runs.remove(ticket);
                Ok(())
            }
            Run::Queued { .. } => Err(Refused::Kept),
            _ => Err(Refused::OldTicket),
        }
    }

    /// No run that waits for a worker will start, but for those that are kept. Returns how many.
    pub(super) fn take_back(&mut self) -> usize {
        self.runs.remove_if(Run::is_fresh)
    }

    /// The time of the attempt of `ticket` is over, though its handler has not returned. What comes
    /// of that goes on under the ticket returned; the token is to be set.
    pub(super) fn time_out(&mut self, ticket: Ticket) -> Result<(Ticket, CancelToken), Refused> {
        self.check_live()?;
        let Some(Run::Running { token, is_told, .. }) = self.runs.get(ticket) else {
            return Err(Refused::OldTicket);
        };
        let (token, is_told, old) = (token.clone(), *is_told, ticket);
        let ticket = self.new_ticket();
        self.runs.remove(old);
        self.runs.add(Run::Settling { ticket, is_told });
        Ok((ticket, token))
    }

    /// The attempt of `ticket` is over, and another one will follow: it waits for its instant,
    /// under the ticket returned.
    pub(super) fn retry(&mut self, ticket: Ticket) -> Result<Ticket, Refused> {
        self.check_over(ticket)?;
        if self.is_told(ticket) {
            return Err(Refused::Cancelled);
        }
        let next = self.new_ticket();
        self.runs.remove(ticket);
        self.runs.add(Run::Retrying { ticket: next });
        Ok(next)
    }

    /// The instant of the attempt of `ticket` has come: it waits for a worker.
    pub(super) fn queue_again(&mut self, ticket: Ticket) -> Result<(), Refused> {
        match self.run(ticket)? {
            run @ Run::Retrying { .. } => {
                let kept = Kept::Yes;
                *run = Run::Queued { ticket, kept };
                Ok(())
            }
            _ => Err(Refused::OldTicket),
        }
    }

    /// The attempt of `ticket` is over, and with it the run. The end, if the task has one now: not
    /// as long as another run waits or is going.
    pub(super) fn finish(&mut self, ticket: Ticket, next: Next) -> Result<Option<End>, Refused> {
        self.check_over(ticket)?;
        self.runs.remove(ticket);
        if self.runs.len() > 0 {
            return Ok(None);
        }
        let end = match next {
            _ if self.is_closing() => Some(End::Cancelled),
            Next::MoreToCome => None,
            Next::Nothing(end) => Some(end),
        };
        if let Some(end) = end {
            self.standing = Standing::Ended(end);
        }
        Ok(end)
    }

    /// Whether a present attempt is that of `ticket` and can be over: it runs, or has run out of
    /// time, or waits for a worker that refuses it.
    pub(super) fn check_over(&self, ticket: Ticket) -> Result<(), Refused> {
        self.check_live()?;
        match self.runs.get(ticket) {
            Some(run) if run.is_going() || run.is_queued() && !run.is_fresh() => Ok(()),
            _ => Err(Refused::OldTicket),
        }
    }

    /// A task without a run will not have one.
    pub(super) fn end(&mut self, end: End) -> Result<(), Refused> {
        self.check_live()?;
        if self.runs.len() > 0 {
            return Err(Refused::Busy);
        }
        self.standing = Standing::Ended(end);
        Ok(())
    }

    /// No run starts from now on.
    pub(super) fn cancel(&mut self) -> Met {
        if let Standing::Ended(_) = self.standing {
            return Met::Ended;
        }
        let was_closing = self.is_closing();
        let queued = self.withdraw();
        if self.runs.len() == 0 {
            self.standing = Standing::Ended(End::Cancelled);
            return Met::Waiting { queued };
        }
        self.standing = Standing::Closing;
        let tokens = self.runs.tell_all();
        if was_closing && tokens.is_empty() {
            return Met::Cancelled;
        }
        Met::Running { tokens, queued }
    }

    /// What waits, for a worker or for another attempt, will not start; what is going goes on.
    /// Returns how many waited for a worker.
    pub(super) fn withdraw(&mut self) -> usize {
        let queued = self.runs.remove_if(Run::is_queued);
        self.runs.remove_if(|run| !run.is_going());
        queued
    }

    /// The run of `ticket`, which is about to be over, wants to be the last: what is going beside it
    /// goes on, and is not tried again; what waits will not start. Returns how many waited for a
    /// worker.
    pub(super) fn close(&mut self, ticket: Ticket) -> usize {
        self.standing = Standing::Closing;
        let is_other = |run: &Run| run.ticket() != ticket;
        let queued = self.runs.remove_if(|run| run.is_queued() && is_other(run));
        self.runs.remove_if(|run| !run.is_going() && is_other(run));
        queued
    }

    /// Every run that has begun gives way to a newer one: what waits for another attempt does not go
    /// on, be it that a worker could take it already; what is going is told to stop. The tokens, to be
    /// set, and how many waited for a worker.
    pub(super) fn give_way(&mut self, begun: &[Ticket]) -> (Vec<CancelToken>, usize) {
        let has_begun = |run: &Run| run.is_queued() && begun.contains(&run.ticket());
        let queued = self.runs.remove_if(has_begun);
        self.runs
            .remove_if(|run| matches!(run, Run::Retrying { .. }));
        (self.runs.tell_all(), queued)
    }

    /// Nothing is due from now on, until it is resumed.
    pub(super) fn pause(&mut self) -> Result<(), Refused> {
        self.turn(Standing::Active, Standing::Paused)
    }

    pub(super) fn resume(&mut self) -> Result<(), Refused> {
        self.turn(Standing::Paused, Standing::Active)
    }

    fn turn(&mut self, from: Standing, to: Standing) -> Result<(), Refused> {
        self.check_live()?;
        if self.is_closing() {
            return Err(Refused::Cancelled);
        }
        if self.standing != from {
            return Err(Refused::SamePause);
        }
        self.standing = to;
        Ok(())
    }

    /// Whether the run of `ticket` waits for a worker.
    pub(super) fn awaits(&self, ticket: Ticket) -> bool {
        self.runs.get(ticket).is_some_and(Run::is_queued)
    }

    /// Whether the handler of the attempt of `ticket` is called, or about to be.
    pub(super) fn is_running(&self, ticket: Ticket) -> bool {
        matches!(self.runs.get(ticket), Some(Run::Running { .. }))
    }

    /// Whether the run of `ticket` was told to stop, by itself or with its task.
    pub(super) fn is_told(&self, ticket: Ticket) -> bool {
        let is_told = matches!(
            self.runs.get(ticket),
            Some(Run::Running { is_told: true, .. } | Run::Settling { is_told: true, .. })
        );
        is_told || self.is_closing()
    }

    fn run(&mut self, ticket: Ticket) -> Result<&mut Run, Refused> {
        self.check_live()?;
        self.runs.get_mut(ticket).ok_or(Refused::OldTicket)
    }

    fn check_live(&self) -> Result<(), Refused> {
        match self.standing {
            Standing::Ended(_) => Err(Refused::Ended),
            _ => Ok(()),
        }
    }

    fn new_ticket(&mut self) -> Ticket {
        self.tickets = self.tickets.wrapping_add(1);
        self.tickets
    }
}

#[cfg(test)]
mod tests;
