//! On the driver thread: an occurrence is due, and becomes a run that waits for a worker.
//!
//! ```text
//!  due --> occur: state scheduled -> queued, next one armed --> WaitingRun --> Job --> executor
//!             \-- the task's lock is taken: the driver goes on with others and comes back
//! ```
//!
//! The next occurrence is armed here and not at the end of the run: so the grid stays, however long
//! runs take. A run that waits ends in one of two ways: a worker starts it, or it is dropped, and
//! then the task is told.

use std::sync::Arc;
use std::time::SystemTime;

use super::state::{End, Refused, Ticket};
use super::{Epoch, Leftovers, Life, Task};
use crate::clock::Moment;
use crate::driver::Engine;
use crate::executor::{Job, Work};
use crate::policy::{Misfire, Overlap, Priority};
use crate::schedule::Due;
use crate::scheduler::{Fire, Limits, Permit};

/// A run that is due and waits for a worker.
#[must_use = "dropping it refuses the run"]
pub(crate) struct WaitingRun {
    /// `None` once somebody has taken the run on.
    pub(super) task: Option<Arc<Task>>,
    pub(super) ticket: Ticket,
    /// The earliest of the occurrences that it stands for.
    pub(crate) due: Moment,
    /// From when on it is late: the tick at which it was due, for rounding up to that is no
    /// lateness.
    pub(crate) late_from: Moment,
    pub(super) calendar: Calendar,
    pub(crate) missed: u64,
    /// Of its concurrency key, if it has one; kept until the attempt is over.
    pub(crate) permit: Option<Permit>,
}

/// What the calendar says about a run.
#[derive(Clone, Copy)]
pub(super) struct Calendar {
    /// The occurrence that it is for: the latest, if it stands for several.
    pub(super) nominal: SystemTime,
    /// The earliest of them.
    pub(super) due: SystemTime,
}

/// What the driver's look at a task came to.
pub(crate) enum Looked {
    /// A run waits for a worker now.
    Run(WaitingRun),
    /// There is nothing to run.
    Nothing,
    /// Somebody holds the lock of the task: look again soon.
    Busy(Arc<Task>),
}

impl Task {
    /// What was armed under `epoch` is due. Never blocks.
    pub(crate) fn occur(self: Arc<Task>, epoch: Epoch, due: Moment, now: Moment) -> Looked {
        let Some(mut life) = self.life.try_lock() else {
            return Looked::Busy(self);
        };
        let run = self.take_occurrence(&mut life, epoch, due, now);
        drop(life);
        run.map_or(Looked::Nothing, Looked::Run)
    }

    fn take_occurrence(
        self: &Arc<Task>,
        life: &mut Life,
        epoch: Epoch,
        due: Moment,
        now: Moment,
    ) -> Option<WaitingRun> {
        if life.epoch != epoch {
            // Cancelled, ended or given another schedule while the driver had it in its hands.
            return None;
        }
        let armed = life.armed.take().map(|armed| armed.due);
        let late_from = match armed {
            // Unless it was past already when it was armed: then it came without waiting for its
            // tick.
            Some(Due::Monotonic(_)) => self.core.tick_start(due).min(now),
            Some(Due::Wall(_)) | None => due,
        };
        let occurrence = match self.settings.misfire {
            Misfire::FireOnce => match armed {
                Some(Due::Wall(at)) => {
                    let wall = self.core.engine.clock().wall();
                    life.plan.occur_by_wall(at, wall)
                }
                Some(Due::Monotonic(_)) | None => life.plan.occur(due, now),
            },
        };
        let run = match life.state.queue() {
            Ok(ticket) => {
                self.core.note_queued();
                if occurrence.missed > 0 {
                    life.tally.missed += occurrence.missed;
                }
                Some(WaitingRun {
                    task: Some(Arc::clone(self)),
                    ticket,
                    due,
                    late_from,
                    calendar: Calendar {
                        nominal: occurrence.nominal,
                        due: occurrence.due,
                    },
                    missed: occurrence.missed,
                    permit: None,
                })
            }
            Err(Refused::Busy) => match self.settings.overlap {
                Overlap::Skip => {
                    let left_out = occurrence.missed + 1;
                    life.tally.skipped += left_out;
                    self.core.counters.skipped(left_out);
                    None
                }
            },
            Err(_) => return None,
        };
        let is_last = run.is_some() && self.would_be_last(life);
        if let Some(next) = occurrence.next.filter(|_| !is_last) {
            // A closed engine is being shut down, which ends this task as well.
            let _ = self.arm_next(life, next);
        }
        run
    }

    /// The executor dropped a run. The task goes on with what is due next; without a next one it
    /// has ended.
    fn refuse(self: &Arc<Task>, ticket: Ticket) {
        if self.core.engine.is_closed() {
            // The scheduler shuts down. That ends the task, and names it in its report.
            return;
        }
        let mut life = self.life.lock();
        match life.state.give_back(Some(ticket)) {
            Ok(()) => {}
            Err(Refused::Kept) => return self.refuse_attempt(life, ticket),
            // It was taken back before, and whoever did it has told everyone.
            Err(_) => return,
        }
        life.tally.skipped += 1;
        self.core.counters.skipped(1);
        let next = match life.armed {
            Some(_) => None,
            None => {
                let clock = self.core.engine.clock();
                life.plan.resume(clock.now(), clock.wall())
            }
        };
        if let Some(next) = next {
            // A closed engine is being shut down, which ends this task as well.
            let _ = self.arm_next(&mut life, next);
        }
        let goes_on = life.armed.is_some() || next.is_some();
        let leftovers = (!goes_on).then(|| {
            let ended = life.state.end(End::Skipped);
            ended.expect("a task that has just given its run back can end");
            self.bury(&mut life)
        });
        let state = life.state.name();
        drop(life);
        self.core.note_not_queued(state);
        leftovers.unwrap_or(Leftovers::NOTHING).discard();
    }
}

impl WaitingRun {
    /// A run of `task` outside of its schedule, due now.
    pub(super) fn by_hand(
        task: &Arc<Task>,
        ticket: Ticket,
        now: Moment,
        calendar: Calendar,
    ) -> Self {
        WaitingRun {
            task: Some(Arc::clone(task)),
            ticket,
            due: now,
            late_from: now,
            calendar,
            missed: 0,
            permit: None,
        }
    }

    /// What an executor gets, of a run that was `found` due.
    pub(crate) fn into_job(self, found: Moment) -> Job {
        let (due_ns, class) = (self.due.as_nanos(), self.priority());
        let job = Job::due_at(due_ns, self).of_class(class);
        job.found_at(found.as_nanos())
    }

    pub(crate) fn priority(&self) -> Priority {
        self.limits()
            .map_or(Priority::Normal, |limits| limits.priority)
    }

    /// What its task was told about order and limits, if anything.
    pub(crate) fn limits(&self) -> Option<&Arc<Limits>> {
        self.task.as_ref()?.settings.limits.as_ref()
    }

    pub(crate) fn engine(&self) -> Engine<Fire> {
        let task = self.task.as_ref();
        task.expect("a run that waits has its task")
            .core
            .engine
            .clone()
    }

    /// Whether it would still start; `None` while somebody holds the lock of its task.
    pub(crate) fn is_wanted(&self) -> Option<bool> {
        let life = self.task.as_ref()?.life.try_lock()?;
        Some(life.state.awaits(self.ticket))
    }

    /// Drops it without telling its task, which does not want it any more.
    pub(crate) fn forget(mut self) {
        self.task = None;
    }

    /// Takes the task on: from here on dropping the run tells nobody.
    pub(super) fn take_task(&mut self) -> Arc<Task> {
        self.task.take().expect("a run is taken on once")
    }
}

impl Work for WaitingRun {
    fn run(self: Box<Self>) {
        self.start();
    }

    fn is_void(&self) -> bool {
        self.is_wanted() == Some(false)
    }
}

impl Drop for WaitingRun {
    fn drop(&mut self) {
        if let Some(task) = self.task.take() {
            task.refuse(self.ticket);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use wheel_sync::thread;

    use crate::{ManualClock, Scheduler, TaskState};

    const HANG: Duration = Duration::from_secs(20);

    #[test]
    fn whoever_holds_the_lock_of_a_task_delays_that_task_only() {
        let clock = ManualClock::new();
        let scheduler = Scheduler::builder().clock(clock.clone()).workers(1);
        let scheduler = scheduler.build().unwrap();
        let (sent, ran) = channel();
        let ms = Duration::from_millis;
        let held = scheduler.after(ms(5), |_| ()).unwrap();
        let other = scheduler.after(ms(6), move |_| sent.send(()).unwrap());
        thread::scope(|scope| {
            let life = held.0.life.lock();
            // Returns when everything due has been handed over, the held one included.
            let mover = scope.spawn(|| clock.advance(ms(10)));
            ran.recv_timeout(HANG).expect("the driver stands still");
            assert!(!mover.is_finished());
            drop(life);
        });
        assert_eq!(held.wait_timeout(HANG), Some(TaskState::Succeeded));
        assert_eq!(
            other.unwrap().wait_timeout(HANG),
            Some(TaskState::Succeeded)
        );
    }
}
