//! Handlers that go on although the time of their attempts is over: who they are, and who stands in
//! for their workers.
//!
//! ```text
//!  driver: over time --> list, a substitute for the worker
//!  worker: the handler returns after all --> off the list, the substitute may go
//! ```
//!
//! Ground rules: one lock, held for some instructions, and taken under the lock of a task but never
//! the other way round. The driver only tries it.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use wheel_sync::{Mutex, MutexGuard};

use super::undone::Named;
use super::{Core, Scheduler};
use crate::clock::Moment;
use crate::executor::Pool;
use crate::task::{Excuse, Task, Ticket, is_inside_run_of_task};

/// A handler that goes on although the [time](crate::TaskBuilder::timeout) of its attempt is over,
/// as it stood when it was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HungRun {
    /// The id of the task, which may be used again meanwhile.
    pub task: String,
    /// Which run of the task it is, from 1.
    pub run: u64,
    /// Which attempt of the run, from 1.
    pub attempt: u32,
    /// When that started.
    pub started: SystemTime,
    /// How long ago its time was over.
    pub age: Duration,
    /// Whether another worker stands in for its own.
    pub is_replaced: bool,
}

/// Who they are.
#[derive(Default)]
pub(crate) struct Hung(Mutex<Vec<Hanging>>);

/// What its run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OwnRun {
    /// What comes of the attempt is being found out, and the run counts as going.
    Settling,
    /// It no longer counts, or is about not to.
    Over,
}

/// One of them.
pub(crate) struct Hanging {
    pub(crate) task: Arc<Task>,
    /// The one that the attempt had.
    pub(crate) ticket: Ticket,
    pub(crate) run: u64,
    pub(crate) attempt: u32,
    pub(crate) started: SystemTime,
    /// When its time was over.
    pub(crate) since: Moment,
    pub(crate) own_run: OwnRun,
    /// Where another worker stands in for its own.
    pub(crate) lent_by: Option<Arc<Pool>>,
}

impl Hung {
    /// For the driver: to add to, unless the lock is taken.
    pub(crate) fn try_list(&self) -> Option<MutexGuard<'_, Vec<Hanging>>> {
        self.0.try_lock()
    }

    /// The handler of this attempt has returned. `None` if it was in time.
    pub(crate) fn take(&self, task: &Task, ticket: Ticket) -> Option<Hanging> {
        let mut list = self.0.lock();
        let is_it = |hanging: &Hanging| {
            std::ptr::eq(&raw const *hanging.task, task) && hanging.ticket == ticket
        };
        let place = list.iter().position(is_it)?;
        Some(list.swap_remove(place))
    }

    /// What comes of this attempt, of this run, has been found out.
    pub(crate) fn settle(&self, task: &Task, (run, attempt): (u64, u32)) {
        let mut list = self.0.lock();
        let of_it = list.iter_mut().filter(|hanging| {
            let is_of_task = std::ptr::eq(&raw const *hanging.task, task);
            is_of_task && (hanging.run, hanging.attempt) == (run, attempt)
        });
        of_it.for_each(|hanging| hanging.own_run = OwnRun::Over);
    }

    pub(super) fn len(&self) -> usize {
        self.0.lock().len()
    }

    /// Whether there are none, but for the one in which the caller is.
    pub(super) fn are_back(&self) -> bool {
        self.0
            .lock()
            .iter()
            .all(|hanging| is_inside_run_of_task(&hanging.task))
    }

    /// Whether the excuse is that of one whose run is over: it does not count as going, and so
    /// excuses nothing.
    pub(super) fn voids(&self, excuse: Excuse) -> bool {
        self.0.lock().iter().any(|hanging| {
            hanging.own_run == OwnRun::Over && excuse.is_of(&hanging.task, hanging.ticket)
        })
    }

    /// Their tasks, each once, but for the caller's own.
    pub(super) fn tasks(&self) -> Vec<Named> {
        let list = self.0.lock();
        let mut tasks: Vec<Arc<Task>> = list.iter().map(|of| Arc::clone(&of.task)).collect();
        drop(list);
        tasks.sort_by_key(|task| task.id.serial);
        tasks.dedup_by_key(|task| task.id.serial);
        tasks.retain(|task| !is_inside_run_of_task(task));
        tasks.iter().map(Named::of).collect()
    }
}

impl Scheduler {
    /// The handlers that go on although the time of their attempts is over, the oldest first: they
    /// ignore their tokens, or are just about to return. Each keeps a thread. Nothing waits for
    /// them but a [shutdown](Scheduler::shutdown), within its grace.
    ///
    /// # Examples
    ///
    /// ```
    /// use wheel_runtime::Scheduler;
    ///
    /// let scheduler = Scheduler::builder().build()?;
    /// for hung in scheduler.hung() {
    ///     eprintln!("{}, run {}, hangs for {:?}", hung.task, hung.run, hung.age);
    /// }
    /// # Ok::<(), wheel_runtime::BuildError>(())
    /// ```
    pub fn hung(&self) -> Vec<HungRun> {
        let now = self.core.engine.clock().now();
        let list = self.core.hung.0.lock();
        let shown = list.iter().map(|hanging| HungRun {
            task: hanging.task.name().to_owned(),
            run: hanging.run,
            attempt: hanging.attempt,
            started: hanging.started,
            age: now.since(hanging.since),
            is_replaced: hanging.lent_by.is_some(),
        });
        let mut shown: Vec<HungRun> = shown.collect();
        drop(list);
        shown.sort_by(|a, b| b.age.cmp(&a.age).then_with(|| a.task.cmp(&b.task)));
        shown
    }
}

impl Core {
    /// The pool of which the calling thread is a worker.
    pub(crate) fn pool_here(&self) -> Option<Arc<Pool>> {
        self.pools().find(|pool| pool.is_here()).cloned()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use wheel_sync::atomic::{AtomicBool, Ordering};
    use wheel_sync::thread;

    use super::*;
    use crate::{Context, ManualClock, TaskState};

    const HANG: Duration = Duration::from_secs(20);

    #[test]
    fn a_handler_that_waits_for_idle_beyond_its_time_excuses_no_other_run() {
        let clock = ManualClock::new();
        let scheduler = Scheduler::builder().clock(clock.clone()).workers(3);
        let scheduler = scheduler.build().unwrap();
        let ms = Duration::from_millis;
        let (sent, waited) = channel();
        let inner = scheduler.clone();
        let done = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&done);
        let waits = scheduler.task("waits").after(ms(0)).timeout(ms(5));
        let waits = waits.run(move |_: &Context| {
            let is_idle = inner.wait_idle_timeout(HANG);
            sent.send((is_idle, seen.load(Ordering::Relaxed))).unwrap();
        });
        let (open, opened) = channel::<()>();
        let opened = Mutex::new(opened);
        let goes_on = scheduler.after(ms(0), move |_| {
            let _ = opened.lock().recv_timeout(HANG);
            done.store(true, Ordering::Relaxed);
        });
        clock.advance(ms(0));
        while scheduler.core.activity.excused() == 0 {
            thread::yield_now();
        }
        clock.advance(ms(5));
        assert_eq!(waits.unwrap().wait_timeout(HANG), Some(TaskState::TimedOut));
        assert!(
            !scheduler.wait_idle_timeout(Duration::ZERO),
            "a run is going"
        );
        open.send(()).unwrap();
        assert_eq!(
            goes_on.unwrap().wait_timeout(HANG),
            Some(TaskState::Succeeded)
        );
        assert_eq!(waited.recv_timeout(HANG), Ok((true, true)));
        scheduler.shutdown(HANG).unwrap();
    }
}
