//! From any thread: cancel or reschedule a task, or end it because its scheduler shuts down.

use std::fmt;
use std::sync::Arc;

use super::state::Met;
use super::trial::Lost;
use super::{Leftovers, Life, NotArmed, StopReason, Task, TaskInfo, TaskState, Then};
use crate::schedule::{Schedule, ScheduleError};
use crate::scheduler::EventKind;

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

/// What is left to do without the lock when a task has another schedule.
struct Edited {
    /// So many runs that waited for a worker will not start.
    taken_back: usize,
    armed: Result<(), NotArmed>,
}

impl Task {
    /// No run starts from now on.
    pub(crate) fn cancel(self: &Arc<Task>) -> CancelOutcome {
        self.stop_all(StopReason::Cancelled)
    }

    fn stop_all(self: &Arc<Task>, why: StopReason) -> CancelOutcome {
        let mut life = self.life.lock();
        let before = life.state.name();
        match life.state.cancel() {
            Met::Waiting { queued } => {
                let lost = self.take_lost(&mut life);
                let leftovers = self.bury(&mut life);
                self.over_with(life, before);
                self.let_go(lost);
                self.core.note_withdrawn(queued);
                leftovers.discard();
                CancelOutcome::Cancelled
            }
            Met::Running { tokens, queued } => {
                let lost = self.let_runs_end(&mut life);
                self.over_with(life, before);
                self.let_go(lost);
                self.core.note_withdrawn(queued);
                tokens.iter().for_each(|token| token.stop(why));
                CancelOutcome::Running
            }
            Met::Cancelled => CancelOutcome::Running,
            Met::Ended => CancelOutcome::NotFound,
        }
    }

    /// The runs that are going are the last; the id is free from now on. What the others leave is to
    /// be let go without the lock.
    pub(super) fn let_runs_end(self: &Arc<Task>, life: &mut Life) -> Lost {
        self.drop_next(life);
        life.clear_backlog();
        life.rare().is_leaving = true;
        self.core
            .leaving
            .lock()
            .insert(self.id.serial, Arc::clone(self));
        // After it is there, for whoever looks for it here and then there.
        self.core.registry.remove(self);
        self.take_lost(life)
    }

    /// From now on another schedule holds. Of a task that runs once, a run that waits for a worker
    /// is taken back; of one that recurs, what is due by now still runs.
    pub(crate) fn reschedule(self: &Arc<Task>, schedule: &Schedule) -> Result<(), RescheduleError> {
        let mut life = self.life.lock();
        let before = life.state.name();
        let edited = self.edit(&mut life, schedule)?;
        self.note(&life, || EventKind::Rescheduled);
        self.over_with(life, before);
        self.core.note_withdrawn(edited.taken_back);
        edited
            .armed
            .map_err(|NotArmed| RescheduleError::ShuttingDown)
    }

    fn edit(
        self: &Arc<Task>,
        life: &mut Life,
        schedule: &Schedule,
    ) -> Result<Edited, RescheduleError> {
        if life.is_over() {
            return Err(RescheduleError::NotFound);
        }
        let clock = self.core.engine.clock();
        let at = (clock.now(), clock.wall());
        let planned = schedule.plan(at.0, at.1, self.draws());
        let (plan, first) = planned.map_err(RescheduleError::Schedule)?;
        let mut taken_back = 0;
        if life.has_upstream() {
            if !plan.is_once() {
                return Err(RescheduleError::Dependent);
            }
            // Nothing of it is armed: it counts from when the conditions hold.
            life.plan = plan;
            life.set_then(Then::of(first, at.0));
            let armed = Ok(());
            return Ok(Edited { taken_back, armed });
        }
        if life.plan.is_single() {
            taken_back = life.state.take_back();
            life.clear_backlog();
        }
        let armed = life.armed.map(|armed| armed.due).or(life.suspended());
        let (plan, first) = plan.in_place_of(&life.plan, armed, first, at);
        self.disarm(life);
        life.plan = plan;
        #[cfg(feature = "serde")]
        life.note_schedule(schedule);
        let armed = if self.has_enough(life) {
            life.forget_pause();
            Ok(())
        } else {
            self.arm_first(life, first)
        };
        Ok(Edited { taken_back, armed })
    }

    /// The scheduler shuts down: no run starts from now on, one that is going is let be.
    pub(crate) fn stop(self: &Arc<Task>) -> (Stopped, Leftovers) {
        let info = self.info();
        let mut life = self.life.lock();
        let met = life.state.name();
        if met == TaskState::Running {
            let queued = life.state.withdraw();
            let lost = self.let_runs_end(&mut life);
            drop(life);
            self.let_go(lost);
            self.core.note_withdrawn(queued);
            return (Stopped::Running, Leftovers::NOTHING);
        }
        let Met::Waiting { queued } = life.state.cancel() else {
            return (Stopped::Ended, Leftovers::NOTHING);
        };
        let lost = self.take_lost(&mut life);
        let leftovers = self.bury(&mut life);
        self.over_with(life, met);
        self.let_go(lost);
        self.core.note_withdrawn(queued);
        let stopped = if met == TaskState::Queued {
            Stopped::Queued(info)
        } else {
            Stopped::Pending(info)
        };
        (stopped, leftovers)
    }

    /// Asks runs that are going to stop; their task ends as cancelled. False if none is going.
    pub(crate) fn interrupt(self: &Arc<Task>) -> bool {
        self.stop_all(StopReason::ShutDown) == CancelOutcome::Running
    }
}

impl fmt::Display for RescheduleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RescheduleError::NotFound => f.write_str("id: there is no such task, or it has ended"),
            RescheduleError::Schedule(error) => error.fmt(f),
            RescheduleError::Dependent => f.write_str(
                "depends_on: a task that recurs cannot come after others, and this one waits for some: use after or at",
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use wheel_sync::thread;

    use crate::{ManualClock, Schedule, Scheduler};

    #[test]
    fn an_edit_loses_nothing_that_the_driver_has_not_got_to() {
        let clock = ManualClock::new();
        let scheduler = Scheduler::builder().clock(clock.clone()).workers(1);
        let scheduler = scheduler.build().unwrap();
        let ms = Duration::from_millis;
        let due = clock.wall() + ms(5);
        let task = scheduler.task("x").every(ms(5)).run(|_| ()).unwrap();
        thread::scope(|scope| {
            let mut life = task.0.life.lock();
            // The driver finds the lock taken, and will come back.
            let mover = scope.spawn(|| clock.advance(ms(7)));
            while clock.now() < ms(7) {
                thread::yield_now();
            }
            task.0.edit(&mut life, &Schedule::every(ms(50))).unwrap();
            drop(life);
            mover.join().unwrap();
        });
        scheduler.wait_idle();
        assert_eq!(task.info().runs, 1);
        assert_eq!(task.info().last_run.unwrap().nominal, due);
        clock.advance(ms(50));
        scheduler.wait_idle();
        assert_eq!(task.info().runs, 2);
    }
}
