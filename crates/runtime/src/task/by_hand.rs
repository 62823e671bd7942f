//! From any thread: a run outside of the schedule, by hand. One that is new, or one that was dead.
//!
//! It goes by way of the driver, like every run: only the driver hands jobs to the executor.

use std::sync::Arc;
use std::time::SystemTime;

use wheel_core::InsertError;

use super::Task;
use super::occur::{Calendar, WaitingRun};
use super::state::{Refused, Ticket};
use super::trial::Trial;
use crate::scheduler::{DeadLetter, Fire};

/// What a trigger came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[must_use = "a task whose last run has not ended was not triggered"]
pub enum TriggerOutcome {
    /// A run waits for a worker now.
    Triggered,
    /// A run is waiting or going already; there will be no second one beside it.
    Busy,
    /// There is no such task, or it had ended, or the scheduler is shutting down.
    NotFound,
}

/// Why a dead run was not replayed; it comes back.
pub(crate) enum NotReplayed {
    /// A run of the task is waiting or going.
    Busy(Box<DeadLetter>),
    /// The task has ended: it takes a new one.
    Ended(Box<DeadLetter>),
}

impl Task {
    /// A run at once, outside of the schedule.
    pub(crate) fn trigger(self: &Arc<Task>) -> TriggerOutcome {
        let wall = self.core.engine.clock().wall();
        let mut life = self.life.lock();
        let ticket = match life.state.queue() {
            Ok(ticket) => ticket,
            Err(Refused::Ended) => return TriggerOutcome::NotFound,
            Err(_) => return TriggerOutcome::Busy,
        };
        self.core.note_queued();
        if life.plan.is_once() || self.would_be_last(&life) {
            // This run is the one that was wanted, brought forward.
            self.disarm(&mut life);
        }
        drop(life);
        match self.run_now(ticket, wall, wall) {
            Ok(()) => TriggerOutcome::Triggered,
            Err(refused) => {
                drop(refused);
                TriggerOutcome::NotFound
            }
        }
    }

    /// Tries a run of this task again that was dead, from its first attempt.
    pub(crate) fn replay(self: &Arc<Task>, letter: Box<DeadLetter>) -> Result<(), NotReplayed> {
        let (nominal, wall) = (letter.nominal, self.core.engine.clock().wall());
        let mut life = self.life.lock();
        let ticket = match life.state.queue_kept() {
            Ok(ticket) => ticket,
            Err(Refused::Ended) => return Err(NotReplayed::Ended(letter)),
            Err(_) => return Err(NotReplayed::Busy(letter)),
        };
        self.core.note_queued();
        life.trouble().trial = Some(Trial::replayed(letter));
        // An occurrence that is armed is another one, but runs by hand count.
        if self.would_be_last(&life) {
            self.disarm(&mut life);
        }
        drop(life);
        // Refused by a closed engine it is in the report of the shutdown, as a run that waits.
        drop(self.run_now(ticket, nominal, wall));
        Ok(())
    }

    /// As `replay`, for a task that was made for nothing else, and that `add` adds to the registry.
    pub(crate) fn begin_with_replay<E>(
        self: &Arc<Task>,
        letter: Box<DeadLetter>,
        add: impl FnOnce() -> Result<(), E>,
    ) -> Result<(), (Box<DeadLetter>, Option<E>)> {
        let (nominal, wall) = (letter.nominal, self.core.engine.clock().wall());
        let mut life = self.life.lock();
        if let Err(error) = add() {
            return Err((letter, Some(error)));
        }
        let core = &self.core;
        core.counters.task_added();
        let ticket = life.state.queue_kept();
        let ticket = ticket.expect("a task that nobody has seen yet has no run");
        life.trouble().trial = Some(Trial::replayed(letter));
        // Under the lock, so that no shutdown names a task that was refused.
        let Err(refused) = self.run_now(ticket, nominal, wall) else {
            core.note_queued();
            return Ok(());
        };
        let trial = life.take_trial();
        let letter = trial.and_then(|trial| trial.letter);
        let _ = life.state.cancel();
        let leftovers = self.bury(&mut life);
        drop(life);
        drop(refused);
        core.note_refused();
        leftovers.discard();
        let letter = letter.expect("it was put there above");
        Err((letter, None))
    }

    /// Gives it to the engine, which refuses it once it is closed. To be dropped without the lock
    /// then: a run that is dropped tells its task.
    fn run_now(
        self: &Arc<Task>,
        ticket: Ticket,
        nominal: SystemTime,
        due: SystemTime,
    ) -> Result<(), InsertError<Fire>> {
        let engine = &self.core.engine;
        let now = engine.clock().now();
        let calendar = Calendar { nominal, due };
        let run = WaitingRun::by_hand(self, ticket, now, calendar);
        engine.at_moment(now, Fire::Run(Box::new(run))).map(|_| ())
    }
}
