//! On the driver thread: an occurrence is due, and becomes a run that waits for a worker.
//!
//! ```text
//!  due --> occur: what the misfire policy makes of it, the next one armed
//!            |      --> admit (overlap policy): a run is queued --> WaitingRun --> Job --> executor
//!            |                              \-> left out, or kept in the backlog (backlog.rs)
//!             \-- the task's lock is taken: the driver goes on with others and comes back
//! ```
//!
//! The next occurrence is armed here and not at the end of the run: so the grid stays, however long
//! runs take.

use std::sync::Arc;

use wheel_sync::MutexGuard;

use super::state::{End, Refused};
use super::waiting::{Calendar, Occasion, Origin, WaitingRun};
use super::{CancelToken, Epoch, Errand, Life, SkipReason, StopReason, Task};
use crate::clock::Moment;
use crate::policy::{Misfire, Overlap};
use crate::schedule::Due;
use crate::scheduler::{EventKind, Fire, Tidings, Told};

/// What the driver's look at a task came to.
pub(crate) enum Looked {
    /// A run waits for a worker now.
    Run(WaitingRun),
    /// Several do.
    Runs(Vec<WaitingRun>),
    /// Something else is to be done where runs are.
    Errand(Errand),
    /// There is nothing to run.
    Nothing,
    /// Somebody holds the lock of the task: look again soon.
    Busy(Arc<Task>),
    /// It has nothing to come, but somebody has a lock that its end takes: end it soon.
    Over(Arc<Task>),
}

impl Task {
    /// What was armed under `epoch` is due. Never blocks.
    pub(crate) fn occur(self: Arc<Task>, epoch: Epoch, due: Moment, now: Moment) -> Looked {
        let Some(mut life) = self.life.try_lock() else {
            return Looked::Busy(self);
        };
        if life.epoch != epoch {
            // Cancelled, ended or given another schedule while the driver had it in its hands.
            return Looked::Nothing;
        }
        let before = life.state.name();
        let armed = life.armed.take().map(|armed| armed.due);
        let looked = self.take_occurrence(&mut life, armed, due, now);
        if !self.has_more(&life) {
            return self.end_unseen(life);
        }
        let parting = life.take_parting();
        self.over_with(life, before);
        if !parting.is_empty() {
            self.send_errand(self.elsewhere(0, move || drop(parting)));
        }
        looked
    }

    /// As it was when `Looked::Over` was said of it, unless somebody has found something for it to
    /// do. Never blocks.
    pub(crate) fn end_if_over(self: Arc<Task>) -> Looked {
        match self.life.try_lock() {
            Some(life) if self.has_more(&life) => Looked::Nothing,
            Some(life) => self.end_unseen(life),
            None => Looked::Over(Arc::clone(&self)),
        }
    }

    /// What is armed is due. The next occurrence is armed, if it is known already.
    fn take_occurrence(
        self: &Arc<Task>,
        life: &mut Life,
        armed: Option<Due>,
        due: Moment,
        now: Moment,
    ) -> Looked {
        let late_from = match armed {
            // Unless it was past already when it was armed: then it came without waiting for its
            // tick.
            Some(Due::Monotonic(_)) => self.core.tick_start(due).min(now),
            Some(Due::Wall(_)) | None => due,
        };
        let armed = armed.unwrap_or(Due::Monotonic(due));
        let occasion = |nominal, earliest, missed| Occasion {
            due,
            late_from,
            calendar: Calendar {
                nominal,
                due: earliest,
            },
            missed,
            origin: Origin::Schedule,
        };
        let clock = self.core.engine.clock();
        let mut looked = Looked::Nothing;
        let next = match self.settings.misfire {
            Misfire::FireOnce => {
                let found = life.plan.occur(armed, now, || clock.wall());
                let occasion = occasion(found.nominal, found.due, found.missed);
                if let Some(run) = self.admit(life, occasion) {
                    looked = Looked::Run(run);
                }
                found.next
            }
            Misfire::Skip => {
                let found = life.plan.found_due(armed, now, clock.wall(), 1);
                let latest = found.found[0];
                if latest.late > self.core.misfire_threshold {
                    self.skip(life, found.dropped + 1, SkipReason::Misfire);
                } else {
                    let mut occasion = occasion(latest.nominal, latest.due, found.dropped);
                    // Also when a worker is free, what counts is how late the latest is.
                    occasion.late_from = now.before(latest.late);
                    if let Some(run) = self.admit(life, occasion) {
                        looked = Looked::Run(run);
                    }
                }
                found.next
            }
            Misfire::FireAll { max } => {
                let max = usize::from(max);
                let found = life.plan.found_due(armed, now, clock.wall(), max);
                life.tally_missed(found.dropped);
                self.counts().missed(found.dropped);
                let each = found.found.into_iter();
                looked = self.admit_all(
                    life,
                    each.map(|found| occasion(found.nominal, found.due, 0)),
                );
                found.next
            }
        };
        self.arm_following(life, next, now);
        looked
    }

    /// What follows an occurrence is armed, if it is known before the run is over.
    fn arm_following(self: &Arc<Task>, life: &mut Life, next: Option<Due>, now: Moment) {
        let is_unseen = life.state.runs() == 0 && life.backlog_len() == 0;
        let next = match next {
            // There will be no end of a run to count from.
            None if is_unseen => {
                let wall = self.core.engine.clock().wall();
                life.plan.next_from(None, now, wall)
            }
            next => next.filter(|_| !self.has_enough(life)),
        };
        if let Some(next) = next {
            // A closed engine is being shut down, which ends this task as well.
            let _ = self.arm_next(life, next);
        }
    }

    /// A run for `occasion` waits for a worker now, if the overlap policy lets it.
    pub(super) fn admit(
        self: &Arc<Task>,
        life: &mut Life,
        occasion: Occasion,
    ) -> Option<WaitingRun> {
        match self.queue(life, occasion) {
            Err(Refused::Busy) => {}
            admitted => return admitted.ok(),
        }
        match self.settings.overlap {
            Overlap::Skip | Overlap::Allow { .. } => {
                self.skip(life, occasion.missed + 1, SkipReason::Overlap);
            }
            Overlap::QueueOne => life.backlog().merge(occasion),
            Overlap::QueueAll { max } => {
                if life.backlog_len() < usize::from(max) {
                    life.backlog().push(occasion);
                } else {
                    self.skip(life, occasion.missed + 1, SkipReason::Overlap);
                }
            }
            Overlap::CancelRunning => {
                let begun = life.begun_tickets();
                let (tokens, queued) = life.state.give_way(&begun);
                self.tell(tokens, StopReason::GaveWay);
                // Their jobs are void, and few: one for each run that has begun.
                (0..queued).for_each(|_| self.end_activity_on_driver());
                self.abandon_lost_trials(life);
                let older = life.backlog().replace(occasion);
                self.skip(life, older, SkipReason::Overlap);
                // Those of a time that was missed come before it. If one that is going has to return
                // first, or one waits for a worker, none goes now.
                return self.release(life).pop();
            }
        }
        None
    }

    /// Runs are told to stop by the driver, which must not wait for those who look.
    pub(super) fn tell(self: &Arc<Task>, tokens: Vec<CancelToken>, reason: StopReason) {
        let engine = &self.core.engine;
        for token in tokens {
            let task = Arc::clone(self);
            let what = Tidings::Stop(token, reason);
            let told = Told::new(task, what);
            // A closed engine is being shut down, which sets every token when its time has come.
            let _ = engine.at_moment(engine.clock().now(), Fire::Tell(told));
        }
    }

    /// Those that were missed: what finds no room follows what is queued.
    fn admit_all(
        self: &Arc<Task>,
        life: &mut Life,
        occasions: impl Iterator<Item = Occasion>,
    ) -> Looked {
        let mut runs = Vec::new();
        for occasion in occasions {
            if runs.is_empty() {
                runs.extend(self.admit(life, occasion));
            } else if !self.has_enough(life) {
                match self.queue(life, occasion) {
                    Ok(run) => runs.push(run),
                    Err(_) => life.backlog().push(occasion),
                }
            }
        }
        match runs.len() {
            0 => Looked::Nothing,
            1 => Looked::Run(runs.remove(0)),
            _ => Looked::Runs(runs),
        }
    }

    /// A run for `occasion` waits for a worker now.
    pub(super) fn queue(
        self: &Arc<Task>,
        life: &mut Life,
        occasion: Occasion,
    ) -> Result<WaitingRun, Refused> {
        let ticket = life.state.queue(self.settings.overlap.room())?;
        self.core.activity.begin();
        Ok(WaitingRun::new(self, ticket, occasion))
    }

    /// So many occurrences have no run.
    pub(super) fn skip(&self, life: &mut Life, occurrences: u64, why: SkipReason) {
        if occurrences > 0 {
            life.tally.skipped += occurrences;
            life.tally.last_skip = Some(why);
            self.counts().skipped(occurrences, why);
            self.note(life, || EventKind::Skipped { occurrences, why });
        }
    }

    /// On the driver: the task has nothing to come, and its last occurrence was left out.
    fn end_unseen(self: &Arc<Task>, mut life: MutexGuard<'_, Life>) -> Looked {
        if self.core.engine.is_closed() {
            // What was not armed would have been. The shutdown ends the task, and names it.
            return Looked::Nothing;
        }
        let Some(way_out) = self.core.try_way_out(self) else {
            return Looked::Over(Arc::clone(self));
        };
        let before = life.state.name();
        if life.state.end(End::Skipped).is_err() {
            return Looked::Nothing;
        }
        let leftovers = self.bury_by(&mut life, way_out);
        self.over_with(life, before);
        // What a handler has captured is not for the driver to drop.
        self.discard_elsewhere(leftovers)
    }

    /// What follows was not armed, because those that were to start seemed to be enough; now one of
    /// them will not.
    pub(super) fn arm_again(self: &Arc<Task>, life: &mut Life) {
        let follows_an_end = !life.plan.has_grid() && life.state.runs() > 0;
        if life.has_next() || follows_an_end || life.plan.is_once() || self.has_enough(life) {
            return;
        }
        let clock = self.core.engine.clock();
        if let Some(next) = life.plan.next_from(None, clock.now(), clock.wall()) {
            // A closed engine is being shut down, which ends this task as well.
            let _ = self.arm_next(life, next);
        }
    }

    /// The executor dropped a run. The task goes on with what is due next; without a next one it
    /// has ended.
    pub(super) fn refuse(self: &Arc<Task>, run: &WaitingRun) {
        if self.core.engine.is_closed() {
            // The scheduler shuts down. That ends the task, and names it in its report.
            return;
        }
        self.leave_out(self.life.lock(), run, SkipReason::Refused);
    }

    /// A run that waits for a worker is left out.
    pub(super) fn leave_out(
        self: &Arc<Task>,
        mut life: MutexGuard<'_, Life>,
        run: &WaitingRun,
        why: SkipReason,
    ) {
        let before = life.state.name();
        match life.state.give_back(run.ticket) {
            Ok(()) => {}
            Err(Refused::Kept) => return self.refuse_attempt(life, run),
            // It was taken back before, and whoever did it has told everyone.
            Err(_) => return,
        }
        self.skip(&mut life, run.occasion.missed + 1, why);
        let follow = self.release(&mut life);
        self.arm_again(&mut life);
        let leftovers = self.end_without_more(&mut life);
        self.over_with(life, before);
        self.hand_over(follow);
        self.core.activity.end();
        leftovers.discard();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Sender, channel};
    use std::sync::{Arc, OnceLock};
    use std::time::Duration;

    use wheel_sync::thread;

    use crate::{ManualClock, Misfire, Scheduler, TaskHandle, TaskState};

    const HANG: Duration = Duration::from_secs(20);

    /// Says when it is dropped whether the lock of its task was free then.
    struct Looks(Arc<OnceLock<TaskHandle>>, Sender<bool>);

    impl Drop for Looks {
        fn drop(&mut self) {
            let is_free = self
                .0
                .get()
                .is_none_or(|task| task.0.life.try_lock().is_some());
            let _ = self.1.send(is_free);
        }
    }

    #[test]
    fn what_a_closed_engine_refuses_of_a_task_that_ends_is_not_dropped_under_its_lock() {
        let clock = ManualClock::new();
        let scheduler = Scheduler::builder().clock(clock.clone()).workers(1);
        let scheduler = scheduler.build().unwrap();
        let (sent, dropped) = channel();
        let own = Arc::new(OnceLock::new());
        let looks = Looks(Arc::clone(&own), sent);
        let task = scheduler.task("x").after(Duration::from_millis(5));
        let task = task.misfire(Misfire::Skip).run(move |_| {
            let _ = &looks;
        });
        let task = task.unwrap();
        own.set(task.clone()).unwrap();
        task.0.core.engine.stop();
        let (epoch, due) = {
            let life = task.0.life.lock();
            (life.epoch, task.0.core.engine.clock().now())
        };
        // As on the driver, of a pass in whose middle the engine was stopped.
        let late = due.after(Duration::from_secs(3_600));
        let looked = Arc::clone(&task.0).occur(epoch, due, late);
        drop(looked);
        scheduler.shutdown(HANG).unwrap();
        assert_eq!(dropped.recv_timeout(HANG), Ok(true));
    }

    #[test]
    fn whoever_looks_at_the_history_delays_the_end_of_a_task_and_does_not_lose_it() {
        let clock = ManualClock::new();
        let scheduler = Scheduler::builder().clock(clock.clone()).workers(1);
        let scheduler = scheduler.build().unwrap();
        let ms = Duration::from_millis;
        let (sent, ran) = channel();
        let late = scheduler.task("x").after(ms(5)).misfire(Misfire::Skip);
        let late = late.run(|_| ()).unwrap();
        let _other = scheduler.every(ms(6), move |_| sent.send(()).unwrap());
        thread::scope(|scope| {
            let places = late.0.core.ended.hold_places();
            let mover = scope.spawn(|| clock.advance(ms(600_000)));
            ran.recv_timeout(HANG).expect("the driver stands still");
            assert!(!mover.is_finished());
            drop(places);
        });
        assert_eq!(late.wait_timeout(HANG), Some(TaskState::Skipped));
        assert!(scheduler.history().get("x").is_some());
    }

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
