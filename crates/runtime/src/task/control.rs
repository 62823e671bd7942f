//! From any thread: cancel or reschedule a task, or end it because its scheduler shuts down.

use std::fmt;
use std::sync::Arc;

use super::state::Met;
use super::{Leftovers, Task, TaskInfo, TaskState};
use crate::schedule::{Schedule, ScheduleError};

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
            Met::Waiting => {
                let timer = life.trial_mut().and_then(|trial| trial.timer.take());
                let leftovers = self.bury(&mut life);
                drop(life);
                if let Some(timer) = timer {
                    // Without the lock, for which the driver may be waiting with it. What comes back
                    // holds this very task, which the caller holds as well.
                    drop(self.core.engine.cancel(timer.key));
                }
                self.core.note_withdrawn(before);
                leftovers.discard();
                CancelOutcome::Cancelled
            }
            Met::Running(token) => {
                self.let_run_end(&mut life);
                drop(life);
                token.cancel();
                CancelOutcome::Running
            }
            Met::Cancelled => CancelOutcome::Running,
            Met::Ended => CancelOutcome::NotFound,
        }
    }

    /// The run that is going is the last; the id is free from now on.
    fn let_run_end(self: &Arc<Task>, life: &mut super::Life) {
        self.disarm(life);
        self.core.registry.remove(self);
        life.is_leaving = true;
        let mut leaving = self.core.leaving.lock();
        leaving.insert(self.id.serial, Arc::clone(self));
    }

    /// From now on another schedule holds. A run that waits for a worker is taken back; one that has
    /// begun goes on.
    pub(crate) fn reschedule(self: &Arc<Task>, schedule: &Schedule) -> Result<(), RescheduleError> {
        let clock = self.core.engine.clock();
        let planned = schedule.plan(clock.now(), clock.wall());
        let (plan, first) = planned.map_err(RescheduleError::Schedule)?;
        let mut life = self.life.lock();
        if life.state.name().has_ended() || life.state.is_cancelled_run() {
            return Err(RescheduleError::NotFound);
        }
        self.disarm(&mut life);
        let taken_back = life.state.give_back(None).is_ok();
        life.plan = plan;
        #[cfg(feature = "serde")]
        life.note_schedule(schedule);
        let armed = if self.is_spent(life.tally.runs) {
            Ok(())
        } else {
            self.arm_first(&mut life, first)
        };
        drop(life);
        if taken_back {
            self.core.note_taken_back();
        }
        armed.map_err(|_| RescheduleError::ShuttingDown)
    }

    /// The scheduler shuts down: no run starts from now on, one that is going is let be.
    pub(crate) fn stop(self: &Arc<Task>) -> (Stopped, Leftovers) {
        let info = self.info();
        let mut life = self.life.lock();
        let met = life.state.name();
        if met == TaskState::Running {
            self.let_run_end(&mut life);
            return (Stopped::Running, Leftovers::NOTHING);
        }
        let Met::Waiting = life.state.cancel() else {
            return (Stopped::Ended, Leftovers::NOTHING);
        };
        let leftovers = self.bury(&mut life);
        drop(life);
        self.core.note_withdrawn(met);
        let stopped = if met == TaskState::Queued {
            Stopped::Queued(info)
        } else {
            Stopped::Pending(info)
        };
        (stopped, leftovers)
    }

    /// Asks a run that is going to stop; its task ends as cancelled. False if none is going.
    pub(crate) fn interrupt(&self) -> bool {
        let met = self.life.lock().state.cancel();
        let is_going = matches!(met, Met::Running(_) | Met::Cancelled);
        if let Met::Running(token) = met {
            token.cancel();
        }
        is_going
    }
}

impl fmt::Display for RescheduleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RescheduleError::NotFound => f.write_str("there is no such task, or it has ended"),
            RescheduleError::Schedule(error) => error.fmt(f),
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
