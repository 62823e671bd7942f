//! On the driver: the time of an attempt is over, and its handler has not returned.
//!
//! ```text
//!  start (run.rs) --> Watch, a timer in the engine
//!      | handler returns in time: the timer is cancelled, and that was that
//!  timer: state settling, the handler has an old ticket, its token is set, it is listed as hung
//!      |-- nothing of the user's has a say:  judged and written down at once, here
//!      \-- else: a job for the executor, which does that
//!  handler returns after all: its result is refused, it is no longer listed (came_back)
//! ```
//!
//! So a time limit holds also where every worker is stuck. Which of the two comes first, the timer
//! or the return, makes no difference to what is written: a handler that returns when its time is
//! over by the clock is over time, whoever finds out.
//!
//! The driver only tries locks: if one of those that it needs is taken, it comes back.

use std::sync::Arc;

use wheel_sync::MutexGuard;

use super::after::After;
use super::attempt::{Attempt, Ended};
use super::conclude::Ending;
use super::failing::Verdict;
use super::occur::Looked;
use super::settlement::Settlement;
use super::state::Ticket;
use super::terms::Terms;
use super::token::Woken;
use super::{Armed, CancelToken, Life, StopReason, Task, TaskState};
use crate::clock::Moment;
use crate::executor::Pool;
use crate::schedule::Due;
use crate::scheduler::{EventKind, Fire, Hanging, OwnRun, Permit, WayOut};

/// An attempt whose time is limited, while it is going.
#[derive(Debug)]
pub(super) struct Watch {
    attempt: Attempt,
    /// `None` if the engine was closed.
    pub(super) timer: Option<Armed>,
    /// To whose workers its thread belongs, if the scheduler knows. A future has none.
    pool: Option<Arc<Pool>>,
    /// Kept here and not on the worker, whose handler may hang.
    #[expect(dead_code, reason = "dropping it is its use")]
    permit: Option<Permit>,
}

impl Life {
    fn watch_of(&self, ticket: Ticket) -> Option<&Watch> {
        let watched = &self.rare.as_ref()?.watched;
        watched.iter().find(|watch| watch.attempt.ticket == ticket)
    }

    pub(super) fn take_watch(&mut self, ticket: Ticket) -> Option<Watch> {
        let watched = &mut self.rare.as_mut()?.watched;
        let place = watched
            .iter()
            .position(|watch| watch.attempt.ticket == ticket)?;
        Some(watched.swap_remove(place))
    }
}

impl Task {
    /// The attempt starts, and somebody looks at its time.
    pub(super) fn watch(
        self: &Arc<Task>,
        life: &mut Life,
        attempt: &Attempt,
        permit: Option<Permit>,
    ) {
        let (task, ticket) = (Arc::clone(self), attempt.ticket);
        let engine = &self.core.engine;
        let due = attempt.limit().at;
        // A closed engine is being shut down: the grace is the limit then.
        let armed = engine.at_moment(due, Fire::Timeout { task, ticket });
        let due = Due::Monotonic(due);
        let timer = armed.ok().map(|key| Armed { key, due });
        let attempt = attempt.clone();
        let terms = life.code.as_ref().and_then(|code| code.terms.as_deref());
        let is_away = terms.is_some_and(Terms::is_away);
        let pool = self.core.pool_here().filter(|_| !is_away);
        let watch = Watch {
            attempt,
            timer,
            pool,
            permit,
        };
        life.rare().watched.push(watch);
    }

    /// The time of the attempt of `ticket` is over. Never blocks.
    pub(crate) fn run_out(self: Arc<Task>, ticket: Ticket, now: Moment) -> Looked {
        match self.life.try_lock() {
            None => Looked::Busy(Arc::clone(&self)),
            // The scheduler shuts down: the grace is the limit.
            Some(_) if self.core.engine.is_closed() => Looked::Nothing,
            Some(life) => self.end_over_time(life, ticket, now),
        }
    }

    fn end_over_time(
        self: &Arc<Task>,
        mut life: MutexGuard<'_, Life>,
        ticket: Ticket,
        now: Moment,
    ) -> Looked {
        let is_going = life.state.is_running(ticket);
        let Some(watch) = life.watch_of(ticket).filter(|_| is_going) else {
            // It returned while the driver had this in its hands.
            return Looked::Nothing;
        };
        let mut attempt = watch.attempt.clone();
        let of = attempt.limit().of;
        let code = life.code.as_ref().expect("a live task has its code");
        let failing = code.failing.clone();
        let is_quiet = failing.as_ref().is_none_or(|failing| failing.is_quiet());
        let verdict =
            is_quiet.then(|| self.judge(&attempt, failing.as_deref(), Ended::OverTime(of), now));
        let locks = self.try_locks(verdict.as_ref());
        let Some((way_out, hung)) = locks else {
            // Before the lock, while these are not the last ones of what is the user's.
            drop((failing, attempt));
            drop(life);
            return Looked::Busy(Arc::clone(self));
        };
        let own_run = match &verdict {
            Some(_) => OwnRun::Over,
            None => OwnRun::Settling,
        };
        let hung = (hung, own_run);
        let awaited = self.part_from_handler(&mut life, &mut attempt, hung, now);
        let Some(verdict) = verdict else {
            drop(failing);
            drop(life);
            return Looked::Errand(Settlement::errand(self, attempt, now, awaited));
        };
        let carried = attempt.values.take();
        let ending = Ending {
            attempt: &attempt,
            failing: failing.as_ref(),
            verdict: &verdict,
            at: now,
        };
        let mut after = After::of_run(carried);
        after.awaited = awaited;
        self.conclude(life, &ending, &mut after, way_out);
        self.follow_up_on_driver(attempt, verdict, after)
    }

    /// What the end of an attempt takes, beside the lock of the task. `None` if somebody has one of
    /// them.
    fn try_locks(
        &self,
        verdict: Option<&Verdict>,
    ) -> Option<(WayOut<'_>, MutexGuard<'_, Vec<Hanging>>)> {
        let core = &self.core;
        let mut way_out = WayOut::default();
        if let Some(verdict) = verdict {
            way_out = core.try_way_out(self)?;
            if matches!(verdict, Verdict::Failed { dead: Some(_), .. }) {
                way_out.dead = Some(core.dead.try_enter()?);
            }
        }
        Some((way_out, core.hung.try_list()?))
    }

    /// On the driver: the handler is told, is listed as one that hangs, and has no say any more. Its
    /// token, if futures wait for that which are to be woken.
    fn part_from_handler(
        self: &Arc<Task>,
        life: &mut Life,
        attempt: &mut Attempt,
        (mut hung, own_run): (MutexGuard<'_, Vec<Hanging>>, OwnRun),
        now: Moment,
    ) -> Option<CancelToken> {
        let ticket = attempt.ticket;
        // What the run carries is in the caller's copy as well: nothing of the user's ends here.
        let watch = life.take_watch(ticket);
        let pool = watch.and_then(|watch| watch.pool);
        let token = self.mark_over_time(life, attempt, now);
        let token = token.expect("the attempt is a present one that runs");
        hung.push(Hanging {
            task: Arc::clone(self),
            ticket,
            run: attempt.run,
            attempt: attempt.number,
            started: attempt.started.1,
            since: attempt.limit().at,
            own_run,
            lent_by: pool.filter(|pool| pool.lend_substitute()),
        });
        let (run, number) = (attempt.run, attempt.number);
        // Before the handler can be found to be back.
        self.note(life, || EventKind::Hung {
            run,
            attempt: number,
        });
        drop(hung);
        match token.try_stop(StopReason::TimedOut) {
            Woken::All => None,
            Woken::Threads => Some(token),
            Woken::Nobody => {
                self.tell(vec![token], StopReason::TimedOut);
                None
            }
        }
    }

    /// From now on the handler of the attempt has an old ticket, and the attempt a new one. The token
    /// is to be set; `None` if no handler was called.
    pub(super) fn mark_over_time(
        &self,
        life: &mut Life,
        attempt: &mut Attempt,
        at: Moment,
    ) -> Option<CancelToken> {
        life.rare().timed_out += 1;
        self.counts().attempt_timed_out();
        life.record_end(attempt, Some(TaskState::TimedOut), at);
        let (ticket, token) = life.state.time_out(attempt.ticket).ok()?;
        if let Some(trial) = life.take_trial(attempt.ticket) {
            life.put_trial(ticket, trial);
        }
        attempt.ticket = ticket;
        Some(token)
    }

    /// The handler of an attempt that is over has returned. What it says is of no interest.
    pub(super) fn came_back(&self, attempt: &Attempt) {
        if !attempt.has_limit() {
            return;
        }
        let core = &self.core;
        if let Some(hanging) = core.hung.take(self, attempt.ticket) {
            self.note_unordered(|| EventKind::CameBack {
                run: attempt.run,
                attempt: attempt.number,
            });
            if let Some(pool) = &hanging.lent_by {
                pool.return_substitute();
            }
            core.activity.tell();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use wheel_sync::thread;

    use super::Looked;
    use crate::{Context, InlineExecutor, ManualClock, Retry, Scheduler, TaskState};

    const HANG: Duration = Duration::from_secs(20);

    #[test] // MG-01
    fn the_end_of_an_attempt_takes_its_timer_and_those_of_children_out_of_the_engine() {
        let clock = ManualClock::new();
        let builder = Scheduler::builder().clock(clock.clone());
        let scheduler = builder.executor(InlineExecutor).build().unwrap();
        let hour = Duration::from_secs(3600);
        let task = scheduler.task("x").after(Duration::ZERO).timeout(hour);
        let handler = move |run: &Context| {
            let child = run.child(hour / 2);
            let below = child.child(Duration::MAX);
            assert_eq!(run.task.core.engine.len(), 2);
            drop(child);
            // The one below lives by the same timer.
            assert_eq!(run.task.core.engine.len(), 2);
            drop(below);
            assert_eq!(run.task.core.engine.len(), 1);
        };
        let task = task.retry(Retry::fixed(hour)).run(handler).unwrap();
        clock.run_for(Duration::ZERO);
        assert_eq!(task.wait(), TaskState::Succeeded);
        assert_eq!(task.0.core.engine.len(), 0);
        let life = task.0.life.lock();
        assert!(
            life.rare
                .as_ref()
                .is_none_or(|rare| rare.watched.is_empty())
        );
        drop(life);
        scheduler.shutdown(HANG).unwrap();
    }

    #[test]
    fn whoever_holds_a_lock_delays_a_timeout_and_does_not_lose_it() {
        let ms = Duration::from_millis;
        for held in 0..6 {
            let clock = ManualClock::new();
            let builder = Scheduler::builder().clock(clock.clone()).workers(2);
            let scheduler = builder.history(1).build().unwrap();
            let retry = Retry::fixed(ms(1)).max_attempts(1);
            let task = scheduler.task("x").after(ms(0)).timeout(ms(5)).retry(retry);
            let (sent, started) = channel();
            let handler = move |run: &Context| {
                sent.send(()).unwrap();
                assert!(run.token().wait_timeout(HANG));
            };
            let task = task.run(handler).unwrap();
            let (sent, ran) = channel();
            // One that recurs, and so needs none of the locks.
            let other = scheduler.every(ms(7), move |_| sent.send(()).unwrap());
            clock.advance(ms(0));
            started.recv_timeout(HANG).unwrap();
            thread::scope(|scope| {
                let core = &task.0.core;
                let life = (held == 0).then(|| task.0.life.lock());
                let hung = (held == 1).then(|| core.hung.try_list().unwrap());
                let dead = (held == 2).then(|| core.dead.enter());
                let latest = (held == 3).then(|| core.ended.hold_places());
                let shard = (held == 4).then(|| core.registry.try_enter(&task.0).unwrap());
                let ring = (held == 5).then(|| core.ended.hold_ring());
                // Returns when everything due has been handed over, the timeout included.
                let mover = scope.spawn(|| clock.advance(ms(10)));
                ran.recv_timeout(HANG).expect("the driver waits for a lock");
                if held == 5 {
                    // What the ring has no room for now stays in its place.
                    assert_eq!(task.wait_timeout(HANG), Some(TaskState::Dead));
                } else {
                    assert!(!mover.is_finished(), "lock {held}");
                }
                drop((life, hung, dead, latest, shard, ring));
            });
            assert_eq!(task.wait_timeout(HANG), Some(TaskState::Dead));
            let _ = other.unwrap().cancel();
            assert!(scheduler.wait_idle_timeout(HANG));
            assert_eq!(scheduler.history().len(), 1);
        }
    }

    #[test]
    fn a_timeout_in_the_middle_of_a_shutdown_leaves_a_run_that_is_named_as_interrupted() {
        let clock = ManualClock::new();
        let builder = Scheduler::builder().clock(clock.clone()).workers(1);
        let scheduler = builder.build().unwrap();
        let ms = Duration::from_millis;
        let task = scheduler.task("x").after(ms(0)).timeout(ms(5));
        let (sent, started) = channel();
        let handler = move |run: &Context| {
            sent.send(()).unwrap();
            assert!(run.token().wait_timeout(HANG));
        };
        let task = task.retry(Retry::fixed(ms(1))).run(handler).unwrap();
        clock.advance(ms(0));
        started.recv_timeout(HANG).unwrap();
        let task = &task.0;
        task.core.engine.stop();
        // The driver has looked at the engine before.
        let life = task.life.lock();
        let attempt = life.rare.as_ref().unwrap().watched[0].attempt.clone();
        match task.end_over_time(life, attempt.ticket, attempt.limit().at) {
            Looked::Errand(errand) => errand.job.run(),
            _ => panic!("nobody is told"),
        };
        let report = scheduler.shutdown(HANG).unwrap();
        let named: Vec<_> = report.interrupted.iter().map(|task| &*task.id).collect();
        assert_eq!(named, ["x"]);
        assert_eq!(report.interrupted[0].attempt, 2);
    }
}
