//! From any thread: runs outside of the schedule, by hand. One that is new, one that was dead, or
//! those of a time that is past.
//!
//! It goes by way of the driver, like every run: only the driver hands jobs to the executor.

use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use wheel_core::InsertError;

use super::Task;
use super::backlog::BACKLOG_MAX;
use super::state::Refused;
use super::trial::Trial;
use super::waiting::{Occasion, WaitingRun};
use crate::scheduler::{DeadLetter, EventKind, Fire};

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

/// Why a time that is past was not filled in. Nothing has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BackfillError {
    /// There is no such task, or it has ended or been cancelled.
    NotFound,
    /// The task runs once, or goes by the end of its last run.
    NotRecurring,
    /// The end is before the start.
    Backwards,
    /// The end is later than now: those instants are still to come.
    NotPast,
    /// There are more instants than may wait: 100,000, less those that wait already.
    TooMany,
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
        let clock = self.core.engine.clock();
        let (now, wall) = (clock.now(), clock.wall());
        let mut life = self.life.lock();
        if life.is_leaving() {
            return TriggerOutcome::NotFound;
        }
        let before = life.state.name();
        let run = match self.queue(&mut life, Occasion::by_hand(now, wall, wall)) {
            Ok(run) => run,
            Err(Refused::Ended) => return TriggerOutcome::NotFound,
            Err(_) => return TriggerOutcome::Busy,
        };
        if life.plan.is_once() || self.has_enough(&life) {
            // This run is the one that was wanted, brought forward.
            self.drop_next(&mut life);
            life.forget_upstream();
        }
        self.over_with(life, before);
        match self.send(run) {
            Ok(()) => TriggerOutcome::Triggered,
            Err(refused) => {
                drop(refused);
                TriggerOutcome::NotFound
            }
        }
    }

    /// Runs for the instants of the schedule from `from` on, before `to`, one after the other. How
    /// many there are.
    pub(crate) fn backfill(
        self: &Arc<Task>,
        from: SystemTime,
        to: SystemTime,
    ) -> Result<usize, BackfillError> {
        let clock = self.core.engine.clock();
        let (now, wall) = (clock.now(), clock.wall());
        if to < from {
            return Err(BackfillError::Backwards);
        }
        if to > wall {
            return Err(BackfillError::NotPast);
        }
        let mut life = self.life.lock();
        let before = life.state.name();
        if life.is_over() {
            return Err(BackfillError::NotFound);
        }
        let room = BACKLOG_MAX.saturating_sub(life.backlog_len());
        let Some(instants) = life.plan.between(from, to) else {
            return Err(BackfillError::NotRecurring);
        };
        let instants: Vec<SystemTime> = instants.take(room + 1).collect();
        if instants.len() > room {
            return Err(BackfillError::TooMany);
        }
        for &nominal in &instants {
            if self.has_enough(&life) {
                break;
            }
            let occasion = Occasion::by_hand(now, nominal, wall);
            life.backlog().push(occasion);
        }
        if self.has_enough(&life) {
            // These are the runs that were wanted.
            self.drop_next(&mut life);
        }
        let follow = self.release(&mut life);
        self.over_with(life, before);
        self.hand_over(follow);
        Ok(instants.len())
    }

    /// Tries a run of this task again that was dead, from its first attempt.
    pub(crate) fn replay(self: &Arc<Task>, letter: Box<DeadLetter>) -> Result<(), NotReplayed> {
        let (nominal, wall) = (letter.nominal, self.core.engine.clock().wall());
        let now = self.core.engine.clock().now();
        let mut life = self.life.lock();
        if life.is_leaving() {
            return Err(NotReplayed::Ended(letter));
        }
        let before = life.state.name();
        let ticket = match life.state.queue_kept(self.settings.overlap.room()) {
            Ok(ticket) => ticket,
            Err(Refused::Ended) => return Err(NotReplayed::Ended(letter)),
            Err(_) => return Err(NotReplayed::Busy(letter)),
        };
        self.core.activity.begin();
        life.put_trial(ticket, Trial::replayed(letter));
        // An occurrence that is armed is another one, but runs by hand count.
        if self.has_enough(&life) {
            self.drop_next(&mut life);
        }
        self.over_with(life, before);
        // Refused by a closed engine it is in the report of the shutdown, as a run that waits.
        let run = WaitingRun::new(self, ticket, Occasion::by_hand(now, nominal, wall));
        drop(self.send(run));
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
        let before = life.state.name();
        let ticket = life.state.queue_kept(1);
        let ticket = ticket.expect("a task that nobody has seen yet has no run");
        life.put_trial(ticket, Trial::replayed(letter));
        let now = core.engine.clock().now();
        let run = WaitingRun::new(self, ticket, Occasion::by_hand(now, nominal, wall));
        // Under the lock, so that no shutdown names a task that was refused.
        let Err(refused) = self.send(run) else {
            core.activity.begin();
            self.note(&life, || EventKind::Added);
            self.over_with(life, before);
            return Ok(());
        };
        let trial = life.take_trial(ticket);
        let letter = trial.and_then(|trial| trial.letter);
        let _ = life.state.cancel();
        let leftovers = self.bury_refused(&mut life);
        drop(life);
        drop(refused);
        core.note_refused();
        leftovers.discard();
        let letter = letter.expect("it was put there above");
        Err((letter, None))
    }

    /// Gives it to the engine, which refuses it once it is closed. To be dropped without the lock
    /// then: a run that is dropped tells its task.
    fn send(&self, run: WaitingRun) -> Result<(), InsertError<Fire>> {
        let engine = &self.core.engine;
        let now = engine.clock().now();
        engine.at_moment(now, Fire::Run(Box::new(run))).map(drop)
    }
}

impl fmt::Display for BackfillError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BackfillError::NotFound => f.write_str("id: there is no such task, or it has ended"),
            BackfillError::NotRecurring => f.write_str(
                "backfill: the task has no instants of its own: it must go by every or cron",
            ),
            BackfillError::Backwards => f.write_str("to: it is before from: it must be later"),
            BackfillError::NotPast => {
                f.write_str("to: it is still to come: a backfill is of a time that is past")
            }
            BackfillError::TooMany => write!(
                f,
                "from: so many instants do not fit into the backlog of {BACKLOG_MAX}: take a shorter time"
            ),
        }
    }
}

impl std::error::Error for BackfillError {}
