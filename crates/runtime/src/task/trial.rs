//! A run that is not over with its first attempt: what it keeps from one attempt to the next.
//!
//! ```text
//!  conclude.rs: the attempt failed, or was snoozed --> Trial, a timer in the engine
//!  driver:      the instant has come               --> WaitingRun --> executor
//!  run.rs:      the next attempt
//! ```
//!
//! Few runs need one, so it is boxed, and a task that never fails has none.

use std::sync::Arc;
use std::time::SystemTime;

use super::occur::Looked;
use super::state::Ticket;
use super::terms::Limit;
use super::values::RunValues;
use super::waiting::{Calendar, Occasion, Origin, WaitingRun};
use super::{Armed, Life, Task};
use crate::clock::Moment;
use crate::schedule::Due;
use crate::scheduler::DeadLetter;

/// A run between its first attempt and its end; or one that was dead and is replayed.
#[derive(Debug)]
pub(super) struct Trial {
    /// Its number and when its first attempt started; `None` if it has not.
    pub(super) begun: Option<Begun>,
    /// Attempts that have failed; what was snoozed does not count.
    pub(super) failed: u32,
    pub(super) nominal: SystemTime,
    pub(super) missed: u64,
    /// When the run must be over; counted anew when it is replayed.
    pub(super) deadline: Limit,
    pub(super) last_error: Option<Arc<str>>,
    /// What it carries, if anything was added.
    pub(super) values: Option<RunValues>,
    /// What it waits for, while it is retrying.
    pub(super) timer: Option<Armed>,
    /// How it has been dead before.
    pub(super) letter: Option<Box<DeadLetter>>,
}

/// What runs that do not go on leave behind.
#[derive(Debug, Default)]
#[must_use = "the user's values are in it"]
pub(super) struct Lost {
    /// To be cancelled.
    pub(super) timers: Vec<Armed>,
    /// To be dropped without the lock, and not on the driver.
    values: Vec<RunValues>,
}

impl Lost {
    pub(super) fn is_nothing(&self) -> bool {
        self.timers.is_empty() && self.values.is_empty()
    }
}

/// When a run began.
#[derive(Clone, Copy, Debug)]
pub(super) struct Begun {
    /// Of the task, from 1.
    pub(super) run: u64,
    /// Moved on by the time for which the run was snoozed.
    pub(super) since: Moment,
    pub(super) wall: SystemTime,
}

impl Trial {
    /// A run that was dead, to be tried from the start.
    pub(super) fn replayed(letter: Box<DeadLetter>) -> Trial {
        Trial {
            begun: None,
            failed: 0,
            nominal: letter.nominal,
            missed: 0,
            deadline: Limit::NONE,
            last_error: Some(letter.last.error.as_str().into()),
            values: None,
            timer: None,
            letter: Some(letter),
        }
    }
}

impl Life {
    pub(super) fn trial(&self, ticket: Ticket) -> Option<&Trial> {
        let trials = &self.rare.as_ref()?.trials;
        let found = trials.iter().find(|(of, _)| *of == ticket);
        found.map(|(_, trial)| trial)
    }

    pub(super) fn trial_mut(&mut self, ticket: Ticket) -> Option<&mut Trial> {
        let trials = &mut self.rare.as_mut()?.trials;
        let found = trials.iter_mut().find(|(of, _)| *of == ticket);
        found.map(|(_, trial)| trial)
    }

    pub(super) fn take_trial(&mut self, ticket: Ticket) -> Option<Trial> {
        let trials = &mut self.rare.as_mut()?.trials;
        let place = trials.iter().position(|(of, _)| *of == ticket)?;
        Some(trials.swap_remove(place).1)
    }

    pub(super) fn put_trial(&mut self, ticket: Ticket, trial: Trial) {
        self.rare().trials.push((ticket, trial));
    }

    /// The runs that have begun.
    pub(super) fn begun_tickets(&self) -> Vec<Ticket> {
        let rare = self.rare.iter();
        let trials = rare.flat_map(|rare| rare.trials.iter());
        let begun = trials.filter(|(_, trial)| trial.begun.is_some());
        begun.map(|(ticket, _)| *ticket).collect()
    }

    /// All of them, in no order.
    pub(super) fn trials(&self) -> impl Iterator<Item = &Trial> {
        let rare = self.rare.iter();
        rare.flat_map(|rare| rare.trials.iter().map(|(_, trial)| trial))
    }
}

impl Task {
    /// Runs that no longer wait have no next attempt. Those that had begun are counted as
    /// abandoned. The timers are to be cancelled, without the lock unless on the driver.
    pub(super) fn take_lost(&self, life: &mut Life) -> Lost {
        let mut lost = Lost::default();
        let Some(rare) = &mut life.rare else {
            return lost;
        };
        let mut abandoned = Vec::new();
        rare.trials.retain_mut(|(ticket, trial)| {
            let is_kept = life.state.has(*ticket);
            if !is_kept {
                if let Some(begun) = trial.begun {
                    self.counts().run_abandoned();
                    abandoned.push((begun.run, trial.failed.max(1)));
                }
                lost.timers.extend(trial.timer.take());
                lost.values.extend(trial.values.take());
            }
            is_kept
        });
        for run in abandoned {
            self.note_abandoned(life, run);
        }
        lost
    }

    /// Not under the lock, and not on the driver.
    pub(super) fn let_go(&self, lost: Lost) {
        self.cancel_timers(lost.timers);
        drop(lost.values);
    }

    /// Takes timers out of the engine. Not under the lock, unless on the driver: that may wait for
    /// it with the timer in its hands.
    pub(super) fn cancel_timers(&self, timers: Vec<Armed>) {
        for timer in timers {
            // What comes back holds this very task, which the caller holds as well.
            drop(self.core.engine.cancel(timer.key));
        }
    }

    /// As `take_lost`, on the driver, which drops the values when it has let go of the lock.
    pub(super) fn abandon_lost_trials(&self, life: &mut Life) {
        let Lost { timers, values } = self.take_lost(life);
        self.cancel_timers(timers);
        if !values.is_empty() {
            life.rare().parting.extend(values);
        }
    }

    /// The instant of the attempt of `ticket` has come, which was `due`. Never blocks.
    pub(crate) fn try_again(self: Arc<Task>, ticket: Ticket, due: Moment, now: Moment) -> Looked {
        let Some(mut life) = self.life.try_lock() else {
            return Looked::Busy(self);
        };
        let before = life.state.name();
        if life.state.queue_again(ticket).is_err() {
            // Cancelled while the driver had it in its hands.
            return Looked::Nothing;
        }
        let calendar_due = life.plan.calendar(Due::Monotonic(due));
        let trial = life.trial_mut(ticket);
        let trial = trial.expect("a run that waits for another attempt has its trial");
        trial.timer = None;
        let occasion = Occasion {
            due,
            late_from: self.core.tick_start(due).min(now),
            calendar: Calendar {
                nominal: trial.nominal,
                due: calendar_due,
            },
            missed: trial.missed,
            origin: Origin::Schedule,
        };
        self.core.activity.begin();
        self.over_with(life, before);
        Looked::Run(WaitingRun::new(&self, ticket, occasion))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use wheel_sync::thread;

    use crate::{Context, InlineExecutor, ManualClock, Retry, Scheduler, TaskState};

    #[test]
    fn whoever_holds_the_lock_of_a_task_delays_its_next_attempt_and_does_not_lose_it() {
        const HANG: Duration = Duration::from_secs(20);
        let clock = ManualClock::new();
        let scheduler = Scheduler::builder().clock(clock.clone()).workers(1);
        let scheduler = scheduler.build().unwrap();
        let ms = Duration::from_millis;
        let fails_once = |run: &Context| match run.attempt() {
            1 => Err("no paper"),
            _ => Ok(()),
        };
        let held = scheduler.task("x").after(ms(1)).retry(Retry::fixed(ms(5)));
        let held = held.run(fails_once).unwrap();
        let other = scheduler.after(ms(7), |_| ()).unwrap();
        clock.advance(ms(1));
        assert!(scheduler.wait_idle_timeout(HANG));
        thread::scope(|scope| {
            let life = held.0.life.lock();
            // Returns when everything due has been handed over, the held one included.
            let mover = scope.spawn(|| clock.advance(ms(10)));
            assert_eq!(other.wait_timeout(HANG), Some(TaskState::Succeeded));
            assert!(!mover.is_finished());
            drop(life);
        });
        assert_eq!(held.wait_timeout(HANG), Some(TaskState::Succeeded));
    }

    #[test] // MG-01
    fn a_cancel_takes_the_timer_of_the_next_attempt_out_of_the_engine() {
        let clock = ManualClock::new();
        let builder = Scheduler::builder().clock(clock.clone());
        let scheduler = builder.executor(InlineExecutor).build().unwrap();
        let hour = Duration::from_secs(3600);
        let task = scheduler
            .task("x")
            .every(hour)
            .retry(Retry::fixed(hour * 24));
        let task = task.run(|_| Err("no paper")).unwrap();
        clock.run_for(hour);
        assert_eq!(task.info().state, TaskState::Retrying);
        // The next occurrence, and the next attempt.
        assert_eq!(task.0.core.engine.len(), 2);
        let _ = task.cancel();
        assert_eq!(task.0.core.engine.len(), 0);
        assert!(task.0.life.lock().trials().count() == 0);
    }
}
