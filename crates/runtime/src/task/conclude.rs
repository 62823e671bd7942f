//! On a worker: an attempt has ended. What came of it is written down, and what follows is armed.
//!
//! ```text
//!  judge (failing.rs) --> again --> put_off: a timer for the next attempt, state retrying
//!                     \-> over  --> end_run: counts, the dead letter, the next occurrence or the end
//! ```
//!
//! The order matters: first what follows is armed and the id is free, then waiters are told, then
//! hooks are called, and only then the run no longer counts as going. So whoever waited for it finds
//! everything done.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use wheel_sync::MutexGuard;

use super::failing::{Again, Failing, Failure, Verdict};
use super::occur::WaitingRun;
use super::run::{enter, leave};
use super::state::{End, Next, Ticket};
use super::trial::{Begun, Trial};
use super::upstream::News;
use super::{Armed, Leftovers, Life, Outcome, Task, TaskState};
use crate::clock::Moment;
use crate::panics::discard;
use crate::schedule::Due;
use crate::scheduler::{DeadLetter, Death, Fire, Letter, Replay};

/// An attempt, while its handler is called and until its end is written down.
pub(super) struct Attempt {
    pub(super) ticket: Ticket,
    /// Of the task, from 1.
    pub(super) run: u64,
    /// Of the run, from 1.
    pub(super) number: u32,
    /// From when on `max_elapsed` counts.
    pub(super) since: Moment,
    pub(super) nominal: SystemTime,
    pub(super) missed: u64,
    /// When it started, by both clocks.
    pub(super) started: Begun,
    /// When the first attempt of the run started.
    pub(super) first_start: SystemTime,
}

impl Life {
    /// The next attempt of a run begins `now`, and whether it is the first one.
    pub(super) fn begin_attempt(
        &mut self,
        ticket: Ticket,
        nominal: SystemTime,
        missed: u64,
        now: Begun,
    ) -> (Attempt, bool) {
        let trial = self.trial_mut(ticket);
        let is_first = trial.as_ref().is_none_or(|trial| trial.begun.is_none());
        let (begun, number) = trial.map_or((now, 1), |trial| {
            let begun = *trial.begun.get_or_insert(now);
            (begun, trial.failed.saturating_add(1))
        });
        self.tally.runs += u64::from(is_first);
        let attempt = Attempt {
            ticket,
            run: self.tally.runs,
            number,
            since: begun.since,
            nominal,
            missed,
            started: now,
            first_start: begun.wall,
        };
        (attempt, is_first)
    }
}

/// What is left to do without the lock.
#[derive(Default)]
struct After {
    leftovers: Option<Leftovers>,
    /// Those that waited for this run.
    news: Option<News>,
    /// Runs that waited for this one to end.
    follow: Vec<WaitingRun>,
    /// To be cancelled.
    timers: Vec<Armed>,
    /// Where the run stands now; `None` if nobody is told.
    result: Option<TaskState>,
    /// For the hook.
    letter: Option<DeadLetter>,
    /// What had to make room for it: the user's code, to be dropped.
    evicted: Vec<Replay>,
    next_in: Option<Duration>,
    is_interrupted: bool,
}

impl Task {
    /// The handler has returned, or the executor has refused another attempt.
    pub(super) fn finish(
        self: &Arc<Task>,
        attempt: &Attempt,
        failing: Option<&Arc<Failing>>,
        outcome: Outcome,
    ) {
        // One reading for all: what a delay counts from, and what the time limit is held against.
        let ended = self.core.engine.clock().now();
        let verdict = self.judge(attempt, failing.map(|failing| &**failing), outcome, ended);
        let mut life = self.life.lock();
        if life.state.check_over(attempt.ticket).is_err() {
            // The attempt is not the present one: its result is of no interest to anybody.
            return;
        }
        let (before, was_leaving) = (life.state.name(), life.is_leaving);
        if let Some(error) = verdict.error() {
            life.tally.last_error = Some(Arc::clone(error));
        }
        let mut after = After::default();
        let end = match &verdict {
            Verdict::Again(again) if !life.state.is_told(attempt.ticket) => {
                self.put_off(&mut life, attempt, again, &mut after)
            }
            over => self.end_run(&mut life, attempt, failing, over, &mut after),
        };
        life.record_end(attempt, after.result, ended);
        match end {
            Some(_) => {
                let mut leftovers = self.bury(&mut life);
                after.news = leftovers.take_news();
                after.leftovers = Some(leftovers);
            }
            None => {
                let over = after.result.filter(|result| result.has_ended());
                after.news = over.and_then(|how| life.take_dependents(how));
                after.follow = self.release(&mut life);
            }
        }
        let is_gone = was_leaving && life.state.runs() == 0;
        self.over_with(life, before);
        self.hand_over(std::mem::take(&mut after.follow));
        self.cancel_timers(std::mem::take(&mut after.timers));
        after.news.take().into_iter().for_each(News::tell);
        // Before it is out of sight of a shutdown that looks for runs to name.
        if after.is_interrupted {
            let mut info = self.info();
            info.state = TaskState::Retrying;
            let failed = u32::from(verdict.error().is_some());
            info.attempt = attempt.number.saturating_add(failed);
            self.core.interrupted.lock().push(info);
        }
        if is_gone {
            self.core.leaving.lock().remove(&self.id.serial);
        }
        if let Some(failing) = failing {
            self.call_hooks(attempt, failing, &verdict, &after);
        }
        after.leftovers.unwrap_or(Leftovers::NOTHING).discard();
        after.evicted.into_iter().for_each(Replay::discard);
        self.core.activity.end();
    }

    /// The run goes on with another attempt. The end, if the engine is closed.
    fn put_off(
        self: &Arc<Task>,
        life: &mut Life,
        attempt: &Attempt,
        again: &Again,
        after: &mut After,
    ) -> Option<End> {
        let next = life.state.retry(attempt.ticket);
        let ticket = next.expect("the attempt is the present one and was not cancelled");
        let engine = &self.core.engine;
        let (delay, due) = (again.delay, again.due);
        let task = Arc::clone(self);
        let armed = engine.at_tick_of(due, Fire::Retry { task, ticket });
        let Ok(key) = armed else {
            // What was refused holds this very task, which the caller holds as well. The scheduler
            // shuts down, and the run is not over: its report says so.
            life.take_trial(attempt.ticket);
            self.core.counters.run_abandoned();
            after.is_interrupted = true;
            after.result = Some(TaskState::Cancelled);
            self.core.note_withdrawn(life.state.withdraw());
            return life.state.end(End::Cancelled).ok().map(|()| End::Cancelled);
        };
        let trial = life.take_trial(attempt.ticket);
        let mut trial = trial.unwrap_or(Trial {
            begun: None,
            failed: 0,
            nominal: attempt.nominal,
            missed: attempt.missed,
            last_error: None,
            timer: None,
            letter: None,
        });
        let mut since = attempt.since;
        match &again.error {
            Some(error) => {
                trial.failed = attempt.number;
                trial.last_error = Some(Arc::clone(error));
                life.rare().retried += 1;
                self.core.counters.run_retried();
            }
            None => {
                since = since.after(delay);
                self.core.counters.run_snoozed();
            }
        }
        let wall = attempt.first_start;
        trial.begun = Some(Begun { since, wall });
        let due = Due::Monotonic(due);
        trial.timer = Some(Armed { key, due });
        life.put_trial(ticket, trial);
        after.next_in = Some(delay);
        after.result = Some(TaskState::Retrying);
        None
    }

    /// The run is over. The end, if the task has one now.
    fn end_run(
        self: &Arc<Task>,
        life: &mut Life,
        attempt: &Attempt,
        failing: Option<&Arc<Failing>>,
        verdict: &Verdict,
        after: &mut After,
    ) -> Option<End> {
        let counters = &self.core.counters;
        let was_cancelled = life.state.is_told(attempt.ticket);
        let trial = life.take_trial(attempt.ticket);
        let result = match verdict {
            Verdict::Succeeded | Verdict::Stop => {
                life.tally.succeeded += 1;
                counters.run_succeeded();
                End::Succeeded
            }
            // Snoozed, and cancelled at the same time.
            Verdict::Again(Again { error: None, .. }) => {
                counters.run_abandoned();
                End::Cancelled
            }
            Verdict::Again(_) | Verdict::Failed { .. } => {
                life.tally.failed += 1;
                counters.run_failed();
                End::Failed
            }
        };
        let result = match (verdict, failing) {
            (
                Verdict::Failed {
                    error,
                    dead: Some(why),
                },
                Some(failing),
            ) if !was_cancelled => {
                life.rare().dead += 1;
                counters.run_dead();
                let death = Death {
                    error: error.to_string(),
                    gave_up: *why,
                    attempts: attempt.number,
                    first_start: attempt.first_start,
                    at: self.core.engine.clock().wall(),
                };
                let before = trial.and_then(|trial| trial.letter);
                let letter = self.letter(life, attempt, death, before);
                after.letter = failing.on_dead.is_some().then(|| (*letter.shown).clone());
                after.evicted = self.core.dead.push(letter);
                End::Dead
            }
            _ => result,
        };
        after.result = Some(match result {
            End::Succeeded => TaskState::Succeeded,
            _ if was_cancelled => TaskState::Cancelled,
            End::Dead => TaskState::Dead,
            _ => TaskState::Failed,
        });
        let is_stopped = matches!(verdict, Verdict::Stop);
        if is_stopped {
            // Others may go on beside it.
            after.timers = self.let_runs_end(life);
            self.core
                .note_withdrawn(life.state.withdraw_others(attempt.ticket));
        }
        let next = if is_stopped {
            Next::Nothing(End::Cancelled)
        } else if life.armed.is_some() || life.suspended().is_some() || life.backlog_len() > 0 {
            Next::MoreToCome
        } else if life.plan.is_once() || self.has_enough(life) {
            Next::Nothing(result)
        } else {
            let now = self.core.engine.clock().now();
            let is_closing = life.state.is_closing() || life.is_leaving;
            let due = life.plan.after_end(now).filter(|_| !is_closing);
            match due.map(|due| self.arm_or_suspend(life, due)) {
                Some(Ok(())) => Next::MoreToCome,
                // The engine is closed: no more runs, although more were wanted.
                Some(Err(_)) | None => Next::Nothing(End::Cancelled),
            }
        };
        let end = life.state.finish(attempt.ticket, next);
        end.expect("the attempt is a present one")
    }

    /// What is kept of a run that is dead now, for the first time or after a replay.
    fn letter(
        &self,
        life: &Life,
        attempt: &Attempt,
        death: Death,
        before: Option<Box<DeadLetter>>,
    ) -> Letter {
        let shown = match before {
            Some(before) => Box::new(before.dead_again(death)),
            None => Box::new(DeadLetter {
                id: self.core.dead.new_id(),
                task: self.name().to_owned(),
                run: attempt.run,
                nominal: attempt.nominal,
                last: death,
                earlier: Vec::new(),
                replays: 0,
            }),
        };
        let code = life.code.clone();
        let replay = code.map(|code| Replay {
            serial: self.id.serial,
            settings: self.settings,
            code,
        });
        Letter { shown, replay }
    }

    /// On the driver thread or another one: the executor has dropped a run that is kept.
    pub(super) fn refuse_attempt(self: &Arc<Task>, mut life: MutexGuard<'_, Life>, ticket: Ticket) {
        let clock = self.core.engine.clock();
        let (since, wall) = (clock.now(), clock.wall());
        let failing = life.code.as_ref().and_then(|code| code.failing.clone());
        let trial = life.trial(ticket);
        let trial = trial.expect("a run that is kept has its trial");
        let (nominal, missed) = (trial.nominal, trial.missed);
        let (attempt, is_first) =
            life.begin_attempt(ticket, nominal, missed, Begun { since, wall });
        drop(life);
        if is_first {
            self.core.counters.run_started(0);
        }
        let refused = Outcome::Failure("the executor refused the attempt".to_owned());
        // A hook that waits for its own task must not keep the thread, as on a worker.
        let outside = enter(self);
        self.finish(&attempt, failing.as_ref(), refused);
        discard(failing);
        leave(outside);
    }

    fn call_hooks(&self, attempt: &Attempt, failing: &Failing, verdict: &Verdict, after: &After) {
        if let (Some(hook), Some(error)) = (&failing.on_failure, verdict.error()) {
            let failure = Failure {
                task: self.name().to_owned(),
                run: attempt.run,
                attempt: attempt.number,
                error: error.to_string(),
                next_in: after.next_in,
            };
            self.call_hook("on_failure", || hook(&failure));
        }
        if let (Some(hook), Some(letter)) = (&failing.on_dead, &after.letter) {
            self.call_hook("on_dead", || hook(letter));
        }
    }
}

impl Verdict {
    fn error(&self) -> Option<&Arc<str>> {
        match self {
            Verdict::Succeeded | Verdict::Stop => None,
            Verdict::Again(again) => again.error.as_ref(),
            Verdict::Failed { error, .. } => Some(error),
        }
    }
}
