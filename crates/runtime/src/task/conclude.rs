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

use wheel_sync::MutexGuard;

use super::after::After;
use super::attempt::{Attempt, Ended, Start, Time};
use super::failing::{Again, Failing, Verdict};
use super::run::{enter, leave, time};
use super::state::{End, Next};
use super::terms::Limit;
use super::traced;
use super::trial::{Begun, Trial};
use super::waiting::WaitingRun;
use super::{Armed, Life, Outcome, StopReason, Task, TaskState};
use crate::clock::Moment;
use crate::panics::discard;
use crate::schedule::Due;
use crate::scheduler::{DeadDoor, DeadLetter, Death, Fire, Letter, Replay, WayOut};

/// An attempt that has ended, and what is known of that.
pub(super) struct Ending<'a> {
    pub(super) attempt: &'a Attempt,
    pub(super) failing: Option<&'a Arc<Failing>>,
    pub(super) verdict: &'a Verdict,
    pub(super) at: Moment,
}

impl Task {
    /// The handler has returned, or the executor has refused another attempt.
    pub(super) fn finish(
        self: &Arc<Task>,
        attempt: &mut Attempt,
        failing: Option<Arc<Failing>>,
        ended: Ended,
    ) {
        let is_over = self.finish_present(attempt, failing.as_ref(), ended);
        discard(failing);
        if is_over {
            // What the user gave has been dropped by then.
            self.core.activity.end();
        }
    }

    /// False if the attempt is not a present one: its result is of no interest to anybody.
    fn finish_present(
        self: &Arc<Task>,
        attempt: &mut Attempt,
        failing: Option<&Arc<Failing>>,
        ended: Ended,
    ) -> bool {
        // One reading for all: whether it was in time, what a delay counts from, and what the
        // policy's time limit is held against.
        let at = self.core.engine.clock().now();
        let over = attempt.limit().passed(at);
        let ended = over.map_or(ended, Ended::OverTime);
        if attempt.has_limit() && self.life.lock().state.check_over(attempt.ticket).is_err() {
            // Before its policy is asked, which has been.
            self.came_back(attempt);
            return false;
        }
        let verdict = self.judge(attempt, failing.map(|failing| &**failing), ended, at);
        let mut life = self.life.lock();
        if life.state.check_over(attempt.ticket).is_err() {
            drop(life);
            self.came_back(attempt);
            return false;
        }
        // Or the driver would time it out as well.
        let timer = life
            .take_watch(attempt.ticket)
            .and_then(|watch| watch.timer);
        let token = over.and_then(|_| self.mark_over_time(&mut life, attempt, at));
        let carried = attempt.values.take();
        let ending = Ending {
            attempt,
            failing,
            verdict: &verdict,
            at,
        };
        let mut after = After::of_run(carried);
        self.conclude(life, &ending, &mut after, WayOut::default());
        after.lost.timers.extend(timer);
        if let Some(token) = token {
            token.stop(StopReason::TimedOut);
        }
        traced::record(after.result, verdict.error());
        self.follow_up(&ending, &mut after);
        true
    }

    /// What came of the attempt is written down, and what follows is armed. The lock is let go of.
    pub(super) fn conclude(
        self: &Arc<Task>,
        mut life: MutexGuard<'_, Life>,
        ending: &Ending<'_>,
        after: &mut After,
        mut way_out: WayOut<'_>,
    ) {
        let (attempt, verdict) = (ending.attempt, ending.verdict);
        let dead = way_out.dead.take();
        let dead = || dead.unwrap_or_else(|| self.core.dead.enter());
        let before = life.state.name();
        if let Some(error) = verdict.error() {
            life.tally.last_error = Some(Arc::clone(error));
        }
        let end = match verdict {
            Verdict::Again(again) if !life.state.is_told(attempt.ticket) => {
                self.put_off(&mut life, attempt, again, after)
            }
            _ => self.end_run(&mut life, ending, dead, after),
        };
        life.record_end(attempt, after.result, ending.at);
        self.note_end(&life, ending, after);
        self.counts()
            .attempt_took(ending.at.since(attempt.started.0));
        match end {
            Some(_) => {
                let mut leftovers = self.bury_by(&mut life, way_out);
                after.news = leftovers.take_news();
                after.leftovers = Some(leftovers);
            }
            None => {
                drop(way_out);
                let over = after.result.filter(|result| result.has_ended());
                after.news = over.and_then(|how| life.take_dependents(how));
                after.follow = self.release(&mut life);
            }
        }
        after.is_gone = life.is_leaving() && life.state.runs() == 0;
        self.over_with(life, before);
        self.hand_over(std::mem::take(&mut after.follow));
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
            self.counts().run_abandoned();
            after.is_interrupted = true;
            after.result = Some(TaskState::Cancelled);
            after.withdrawn = life.state.withdraw();
            return life.state.end(End::Cancelled).ok().map(|()| End::Cancelled);
        };
        let trial = life.take_trial(attempt.ticket);
        let mut trial = trial.unwrap_or(Trial {
            begun: None,
            failed: 0,
            nominal: attempt.nominal,
            missed: attempt.missed,
            deadline: Limit::NONE,
            last_error: None,
            values: None,
            timer: None,
            letter: None,
        });
        trial.deadline = attempt.deadline();
        trial.values = after.carried.take();
        let mut since = attempt.since;
        match &again.error {
            Some(error) => {
                trial.failed = attempt.number;
                trial.last_error = Some(Arc::clone(error));
                life.rare().retried += 1;
                self.counts().run_retried();
            }
            None => {
                since = since.after(delay);
                self.counts().run_snoozed();
            }
        }
        trial.begun = Some(Begun {
            run: attempt.run,
            since,
            wall: attempt.first_start,
        });
        let due = Due::Monotonic(due);
        trial.timer = Some(Armed { key, due });
        life.put_trial(ticket, trial);
        after.next_in = Some(delay);
        after.result = Some(TaskState::Retrying);
        None
    }

    /// The run is over. The end, if the task has one now.
    fn end_run<'d>(
        self: &Arc<Task>,
        life: &mut Life,
        ending: &Ending<'_>,
        dead: impl FnOnce() -> DeadDoor<'d>,
        after: &mut After,
    ) -> Option<End> {
        let Ending {
            attempt,
            failing,
            verdict,
            ..
        } = *ending;
        let was_cancelled = life.state.is_told(attempt.ticket);
        // What it carries is in `after` as well: nothing of the user's ends here.
        let trial = life.take_trial(attempt.ticket);
        let result = match verdict {
            Verdict::Succeeded | Verdict::Stop => {
                life.tally.succeeded += 1;
                End::Succeeded
            }
            Verdict::Again(Again { error: None, .. }) => End::Cancelled,
            Verdict::Again(_) | Verdict::Failed { .. } => {
                life.tally.failed += 1;
                verdict.how_it_failed()
            }
        };
        let result = match (verdict, failing) {
            (
                Verdict::Failed {
                    error,
                    dead: Some(why),
                    ..
                },
                Some(failing),
            ) if !was_cancelled => {
                life.rare().dead += 1;
                let death = Death {
                    error: error.to_string(),
                    gave_up: *why,
                    attempts: attempt.number,
                    first_start: attempt.first_start,
                    at: self.core.engine.clock().wall(),
                };
                let before = trial.and_then(|trial| trial.letter);
                let mut dead = dead();
                let letter = self.letter(life, attempt, (death, before), &mut dead);
                after.letter = failing.on_dead.is_some().then(|| (*letter.shown).clone());
                after.dead = Some((letter.shown.id, *why));
                after.evicted = dead.push(letter);
                End::Dead
            }
            _ => result,
        };
        let how = match result {
            End::Succeeded => TaskState::Succeeded,
            _ if was_cancelled => TaskState::Cancelled,
            End::Dead => TaskState::Dead,
            End::TimedOut => TaskState::TimedOut,
            _ => TaskState::Failed,
        };
        match verdict {
            // Snoozed, and cancelled at the same time.
            Verdict::Again(Again { error: None, .. }) => self.counts().run_abandoned(),
            _ => self.count_over(how, attempt, ending.at),
        }
        after.result = Some(how);
        let is_stopped = matches!(verdict, Verdict::Stop);
        if is_stopped {
            // Others may be going beside it, and are the last ones.
            after.withdrawn = life.state.close(attempt.ticket);
            after.lost = self.let_runs_end(life);
        }
        let next = if is_stopped {
            Next::Nothing(End::Cancelled)
        } else if life.has_next() || life.backlog_len() > 0 {
            Next::MoreToCome
        } else if life.plan.is_once() || self.has_enough(life) {
            Next::Nothing(result)
        } else if life.state.is_closing() || life.is_leaving() {
            Next::Nothing(End::Cancelled)
        } else {
            let clock = self.core.engine.clock();
            // Of a grid it is not armed where those to come seemed to be enough.
            let due = life.plan.next_from(None, clock.now(), clock.wall());
            match due.map(|due| self.arm_next(life, due)) {
                Some(Ok(())) => Next::MoreToCome,
                // Its window is over.
                None if !was_cancelled => Next::Nothing(result),
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
        (death, before): (Death, Option<Box<DeadLetter>>),
        dead: &mut DeadDoor<'_>,
    ) -> Letter {
        let shown = match before {
            Some(before) => Box::new(before.dead_again(death)),
            None => Box::new(DeadLetter {
                id: dead.new_id(),
                task: self.name().to_owned(),
                labels: self.labels(),
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
            settings: self.settings.clone(),
            code,
        });
        Letter { shown, replay }
    }

    /// On the driver thread or another one: the executor has dropped a run that is kept.
    pub(super) fn refuse_attempt(
        self: &Arc<Task>,
        mut life: MutexGuard<'_, Life>,
        run: &WaitingRun,
    ) {
        let clock = self.core.engine.clock();
        let (now, wall) = (clock.now(), clock.wall());
        let failing = life.code.as_ref().and_then(|code| code.failing.clone());
        let terms = life.code.as_ref().and_then(|code| code.terms.as_deref());
        let ticket = run.ticket;
        let trial = life.trial(ticket);
        let trial = trial.expect("a run that is kept has its trial");
        let start = Start {
            nominal: trial.nominal,
            missed: trial.missed,
            time: terms.map(|terms| {
                let time = time(terms, &life, ticket, (&run.occasion, now));
                let limit = Limit::NONE;
                Box::new(Time { limit, ..time })
            }),
            now: (now, wall),
        };
        let (mut attempt, is_first) = life.begin_attempt(ticket, start);
        self.note_start(&life, &attempt, (&run.occasion, now));
        drop(life);
        if is_first {
            self.counts().run_started(0);
        }
        let refused = Outcome::Failure("the executor refused the attempt".to_owned());
        // A hook that waits for its own task must not keep the thread, as on a worker.
        let outside = enter(self, attempt.ticket);
        self.finish(&mut attempt, failing, Ended::Returned(refused));
        leave(outside);
    }
}

impl Verdict {
    fn how_it_failed(&self) -> End {
        match self {
            Verdict::Failed { is_late: true, .. } => End::TimedOut,
            _ => End::Failed,
        }
    }
}
