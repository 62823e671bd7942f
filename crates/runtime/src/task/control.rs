//! From any thread: cancel or reschedule a task, or end it because its scheduler shuts down.

use std::fmt;
use std::sync::Arc;

use super::occur::{Looked, WaitingRun};
use super::state::Met;
use super::{Armed, CancelToken, Leftovers, Life, Task, TaskInfo, TaskState, Then};
use crate::clock::Moment;
use crate::schedule::{Due, Schedule, ScheduleError};

/// What a cancel came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[must_use = "a run that is going was only asked to stop"]
pub enum CancelOutcome {
    /// No run was going, and none will start any more, be it queued or not. A run that waited for
    /// another attempt has had its last one.
    Cancelled,
    /// A run is going: its token is set, and no later one will start.
    Running,
    /// There is no such task, or it had ended.
    NotFound,
}

/// Why a task was not given another schedule. It goes on with the one it has.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RescheduleError {
    /// There is no such task, or it has ended or been cancelled. Trying again does not help.
    NotFound,
    /// The schedule is not possible. Trying again does not help.
    Schedule(ScheduleError),
    /// The task waits for others, and the schedule recurs: only a task that runs once can come after
    /// others. Trying again helps once it has run.
    Dependent,
    /// The scheduler is shutting down. Trying again does not help.
    ShuttingDown,
}

/// What shutting down met in a task.
pub(crate) enum Stopped {
    /// It waited for its next occurrence, or for another attempt.
    Pending(TaskInfo),
    /// It waited for a worker.
    Queued(TaskInfo),
    /// It runs, for the last time.
    Running,
    /// It had ended.
    Ended,
}

impl Task {
    /// No run starts from now on.
    pub(crate) fn cancel(self: &Arc<Task>) -> CancelOutcome {
        let mut life = self.life.lock();
        let before = life.state.name();
        match life.state.cancel() {
            Met::Waiting { queued } => {
                let timers = self.take_lost_timers(&mut life);
                let leftovers = self.bury(&mut life);
                self.over_with(life, before);
                self.cancel_timers(timers);
                self.core.note_withdrawn(queued);
                leftovers.discard();
                CancelOutcome::Cancelled
            }
            Met::Running { tokens, queued } => {
                let timers = self.let_runs_end(&mut life);
                self.over_with(life, before);
                self.cancel_timers(timers);
                self.core.note_withdrawn(queued);
                tokens.iter().for_each(CancelToken::cancel);
                CancelOutcome::Running
            }
            Met::Cancelled => CancelOutcome::Running,
            Met::Ended => CancelOutcome::NotFound,
        }
    }

    /// The runs that are going are the last; the id is free from now on. The timers of those that do
    /// not go on are to be cancelled, without the lock.
    pub(super) fn let_runs_end(self: &Arc<Task>, life: &mut Life) -> Vec<Armed> {
        self.disarm(life);
        life.clear_backlog();
        life.forget_pause();
        life.is_leaving = true;
        self.core
            .leaving
            .lock()
            .insert(self.id.serial, Arc::clone(self));
        // After it is there, for whoever looks for it here and then there.
        self.core.registry.remove(self);
        self.take_lost_timers(life)
    }

    /// From now on another schedule holds. Of a task that runs once, a run that waits for a worker
    /// is taken back; of one that recurs, what is due by now still runs.
    pub(crate) fn reschedule(self: &Arc<Task>, schedule: &Schedule) -> Result<(), RescheduleError> {
        let clock = self.core.engine.clock();
        let now = clock.now();
        let planned = schedule.plan(now, clock.wall());
        let (plan, first) = planned.map_err(RescheduleError::Schedule)?;
        let mut life = self.life.lock();
        let before = life.state.name();
        if before.has_ended() || life.state.is_closing() {
            return Err(RescheduleError::NotFound);
        }
        if life.has_upstream() {
            if !plan.is_once() {
                return Err(RescheduleError::Dependent);
            }
            // Nothing of it is armed: it counts from when the conditions hold.
            life.plan = plan;
            life.set_then(Then::of(first, now));
            return Ok(());
        }
        let (mut taken_back, mut due) = (0, Vec::new());
        if life.plan.is_once() {
            taken_back = life.state.take_back();
            life.clear_backlog();
        } else {
            due = self.take_due(&mut life, now);
        }
        self.disarm(&mut life);
        life.plan = plan;
        let armed = if life.state.is_paused() {
            life.rare().suspended = Some(first);
            Ok(())
        } else if self.has_enough(&life) {
            Ok(())
        } else {
            self.arm_first(&mut life, first)
        };
        self.over_with(life, before);
        self.hand_over(due);
        self.core.note_withdrawn(taken_back);
        armed.map_err(|_| RescheduleError::ShuttingDown)
    }

    /// What is armed and due by now, but has not come to the driver yet, is not lost.
    fn take_due(self: &Arc<Task>, life: &mut Life, now: Moment) -> Vec<WaitingRun> {
        let due = match life.armed.map(|armed| armed.due) {
            Some(Due::Monotonic(due)) if due <= now => due,
            Some(Due::Wall(at)) if at <= self.core.engine.clock().wall() => now,
            _ => return Vec::new(),
        };
        let key = life.armed.map(|armed| armed.key);
        let looked = self.take_occurrence(life, due, now);
        if let Some(key) = key {
            // Or the driver has it in its hands, where it is void: another epoch follows.
            drop(self.core.engine.cancel(key));
        }
        match looked {
            Looked::Run(run) => vec![run],
            Looked::Runs(runs) => runs,
            Looked::Nothing | Looked::Busy(_) => Vec::new(),
        }
    }

    /// The scheduler shuts down: no run starts from now on, one that is going is let be.
    pub(crate) fn stop(self: &Arc<Task>) -> (Stopped, Leftovers) {
        let info = self.info();
        let mut life = self.life.lock();
        let met = life.state.name();
        if met == TaskState::Running {
            let queued = life.state.withdraw();
            let timers = self.let_runs_end(&mut life);
            drop(life);
            self.cancel_timers(timers);
            self.core.note_withdrawn(queued);
            return (Stopped::Running, Leftovers::NOTHING);
        }
        let Met::Waiting { queued } = life.state.cancel() else {
            return (Stopped::Ended, Leftovers::NOTHING);
        };
        self.take_lost_timers(&mut life);
        let leftovers = self.bury(&mut life);
        self.over_with(life, met);
        self.core.note_withdrawn(queued);
        let stopped = if met == TaskState::Queued {
            Stopped::Queued(info)
        } else {
            Stopped::Pending(info)
        };
        (stopped, leftovers)
    }

    /// Asks runs that are going to stop; their task ends as cancelled. False if none is going.
    pub(crate) fn interrupt(&self) -> bool {
        let met = self.life.lock().state.cancel();
        if let Met::Running { tokens, .. } = &met {
            tokens.iter().for_each(CancelToken::cancel);
        }
        matches!(met, Met::Running { .. } | Met::Cancelled)
    }
}

impl fmt::Display for RescheduleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RescheduleError::NotFound => f.write_str("there is no such task, or it has ended"),
            RescheduleError::Schedule(error) => error.fmt(f),
            RescheduleError::Dependent => f.write_str(
                "the task waits for others, and only a task that runs once can: use after or at",
            ),
            RescheduleError::ShuttingDown => f.write_str("the scheduler is shutting down"),
        }
    }
}

impl std::error::Error for RescheduleError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            RescheduleError::Schedule(error) => Some(error),
            _ => None,
        }
    }
}
