//! What the driver tells others: a run that it should stop, and who waits for runs to end that one
//! has. That takes a lock which waiters hold, so the driver tries it, and comes back (`sink.rs`).

use std::sync::Arc;

use crate::task::{CancelToken, Errand, StopReason, Task};

/// What somebody is to be told, of this task. Who waits for runs to end is told in the end also if
/// nobody looks at this any more, because the engine was stopped: nothing else wakes them.
pub(crate) struct Told {
    pub(super) task: Arc<Task>,
    /// `None` once that is done.
    what: Option<Tidings>,
}

/// What it is.
pub(crate) enum Tidings {
    /// To a run: it should stop.
    Stop(CancelToken, StopReason),
    /// To who waits for runs to end: one has.
    Ended,
}

/// How far it came.
pub(super) enum Telling {
    Done,
    /// Somebody has the lock that waking takes.
    Again,
    /// Futures are among those who are told: an executor wakes them.
    Errand(Errand),
}

impl Told {
    pub(crate) fn new(task: Arc<Task>, what: Tidings) -> Box<Told> {
        let what = Some(what);
        Box::new(Told { task, what })
    }

    /// Never blocks, and calls nothing that is the user's.
    pub(super) fn try_tell(&mut self) -> Telling {
        let is_told = match &self.what {
            Some(Tidings::Stop(token, reason)) => match token.try_stop_all(*reason) {
                None => false,
                Some(to_wake) => {
                    self.what = None;
                    if to_wake.is_empty() {
                        return Telling::Done;
                    }
                    return Telling::Errand(self.task.elsewhere(0, move || to_wake.wake()));
                }
            },
            Some(Tidings::Ended) => self.task.core().activity.try_tell(),
            None => true,
        };
        if !is_told {
            return Telling::Again;
        }
        self.what = None;
        Telling::Done
    }
}

impl Drop for Told {
    fn drop(&mut self) {
        if let Some(Tidings::Ended) = self.what {
            // This may be the driver, whose engine is stopped: it holds up nothing, and who has the
            // lock has it for some instructions.
            self.task.core().activity.tell();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use wheel_sync::thread;

    use super::super::activity::Caller;
    use super::super::sink::Fire;
    use super::*;
    use crate::clock::Patience;
    use crate::executor::Job;
    use crate::{ManualClock, Scheduler};

    const HANG: Duration = Duration::from_secs(20);

    fn scheduler() -> (ManualClock, Scheduler, Arc<Task>) {
        let clock = ManualClock::new();
        let builder = Scheduler::builder().clock(clock.clone()).workers(1);
        let scheduler = builder.build().unwrap();
        let later = scheduler.task("x").after(Duration::from_secs(3_600));
        later.run(|_| ()).unwrap();
        let task = scheduler.core.registry.get("x").unwrap();
        (clock, scheduler, task)
    }

    #[test]
    fn who_waits_for_runs_to_end_is_told_also_if_nobody_has_looked() {
        let (_clock, _scheduler, task) = scheduler();
        let core = task.core();
        core.activity.begin();
        thread::scope(|scope| {
            let (sent, has_waited) = channel();
            let waiter = scope.spawn(move || {
                let nobody = |_| false;
                let patience = Patience::new(HANG);
                let left = core.activity.wait_idle(Caller::Outside, patience, nobody);
                sent.send(left).unwrap();
            });
            core.activity.until_somebody_waits();
            core.activity.end_unheard();
            // The engine was stopped, and what it held is dropped.
            drop(Told::new(Arc::clone(&task), Tidings::Ended));
            assert_eq!(has_waited.recv_timeout(HANG / 2), Ok(0), "nobody wakes it");
            waiter.join().unwrap();
        });
    }

    #[test]
    fn a_mark_does_not_pass_before_somebody_who_could_not_be_woken() {
        let (_clock, scheduler, task) = scheduler();
        let engine = &task.core().engine;
        let token = CancelToken::new();
        let held = token.hold();
        let what = Tidings::Stop(token.clone(), StopReason::TimedOut);
        let told = Fire::Tell(Told::new(Arc::clone(&task), what));
        engine.after(Duration::ZERO, told).map_err(|_| ()).unwrap();
        thread::scope(|scope| {
            let waiter = scope.spawn(|| scheduler.wait_idle_timeout(HANG));
            for _ in 0..100 {
                // The driver goes round.
                let (sent, ran) = channel();
                let job = Job::new(move || sent.send(()).unwrap());
                let errand = Fire::Errand(Box::new(Errand { job, pool: 0 }));
                engine
                    .after(Duration::ZERO, errand)
                    .map_err(|_| ())
                    .unwrap();
                ran.recv_timeout(HANG).unwrap();
            }
            assert!(!waiter.is_finished(), "somebody has not been woken");
            drop(held);
            assert!(waiter.join().unwrap());
        });
    }
}
