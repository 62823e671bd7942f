//! Tasks that have ended, as long as there is room: then they are forgotten.
//!
//! ```text
//!  bury (task/mod.rs): a task has ended --> push --> latest of this thread --few at a time--> ring
//!                                                        \------- list, get, depends_on ------/
//!                                          beyond the bound: the oldest of the ring is let go
//! ```
//!
//! A task is pushed before its id is free, so whoever looks among the live ones first and here
//! afterwards does not miss it. Each thread has a place of its own for the few that ended there
//! last, or workers would wait for each other at the end of each task.
//!
//! Ground rules: locks are held for a look at some hundred tasks at most, that of the ring under that
//! of a place, and nothing is dropped under them. The driver only tries them (`way_out.rs`). They are taken under the lock of a task, never the other way
//! round. A task refers to the core, and so to this: that ring is cut when the last handle of the
//! scheduler goes. What an ended task keeps is its record; what was the user's is gone.

use std::collections::{VecDeque, vec_deque};
use std::fmt;
use std::sync::Arc;

use wheel_sync::atomic::Ordering;
use wheel_sync::counting::AtomicU64;
use wheel_sync::{CachePadded, Mutex, MutexGuard, thread};

use super::{Core, Scheduler};
use crate::task::{Id, Task, TaskInfo};

/// For as many threads as end tasks at the same time.
const PLACES: usize = 8;

/// How many tasks wait in a place at most.
const LATEST_MAX: usize = 32;

/// Where they are.
pub(crate) struct Ended {
    places: Box<[CachePadded<Mutex<Latest>>]>,
    ring: Mutex<Ring>,
    next_number: CachePadded<AtomicU64>,
    tasks_max: usize,
    /// So many go from a place to the ring at once. All places together hold a tenth of the bound.
    latest_max: usize,
}

/// Those that ended last on some threads.
#[derive(Default)]
struct Latest {
    tasks: Vec<One>,
    is_closed: bool,
}

/// Those before them. Sorted but for those that ended on several threads at about the same time.
#[derive(Default)]
struct Ring {
    tasks: VecDeque<One>,
    /// How many have left it at the front.
    gone: u64,
}

/// The place of the calling thread: a task may be added without waiting.
pub(crate) struct EndedDoor<'e> {
    ended: &'e Ended,
    latest: MutexGuard<'e, Latest>,
}

#[derive(Clone)]
struct One {
    /// In the order in which they ended.
    number: u64,
    task: Arc<Task>,
}

/// The tasks of a scheduler that have ended: [`Scheduler::history`](crate::Scheduler::history).
#[derive(Clone, Copy)]
pub struct History<'s> {
    core: &'s Core,
}

impl Ended {
    pub(super) fn new(tasks_max: usize) -> Ended {
        Ended {
            places: (0..PLACES).map(|_| CachePadded::default()).collect(),
            ring: Mutex::default(),
            next_number: CachePadded::default(),
            tasks_max,
            latest_max: (tasks_max / (10 * PLACES)).clamp(1, LATEST_MAX),
        }
    }

    /// A task has ended. The oldest ones make room.
    pub(crate) fn push(&self, task: &Arc<Task>) {
        if self.tasks_max > 0 {
            self.add(self.place().lock(), task, |ring| Some(ring.lock()));
        }
    }

    /// For the driver, which waits for nobody: `None` if somebody looks at the place.
    pub(super) fn try_enter(&self) -> Option<EndedDoor<'_>> {
        let latest = self.place().try_lock()?;
        Some(EndedDoor {
            ended: self,
            latest,
        })
    }

    fn place(&self) -> &Mutex<Latest> {
        &self.places[thread::slot().unwrap_or(0) % PLACES]
    }

    /// What has gathered in the place goes to the ring if `enter` gets in there, else with the next
    /// one.
    fn add<'e>(
        &'e self,
        mut latest: MutexGuard<'_, Latest>,
        task: &Arc<Task>,
        enter: impl FnOnce(&'e Mutex<Ring>) -> Option<MutexGuard<'e, Ring>>,
    ) {
        if latest.is_closed {
            return;
        }
        let task = Arc::clone(task);
        // Relaxed: it need only be different each time, and grow. [O71]
        let number = self.next_number.fetch_add(1, Ordering::Relaxed);
        latest.tasks.push(One { number, task });
        let mut forgotten = Vec::new();
        let is_full = latest.tasks.len() >= self.latest_max;
        // Under the lock of the place, so that who looks there first and into the ring afterwards
        // misses none.
        if let Some(mut ring) = is_full.then(|| enter(&self.ring)).flatten() {
            ring.tasks.extend(latest.tasks.drain(..));
            let over = ring.tasks.len().saturating_sub(self.tasks_max);
            forgotten.extend(ring.tasks.drain(..over));
            ring.gone += over as u64;
        }
        drop(latest);
        // Not under a lock: these may be the last references.
        drop(forgotten);
    }

    /// Those of the last ones that `is_it` picks, the one that ended first in front.
    fn find(&self, is_it: impl Fn(&Task) -> bool) -> Vec<Arc<Task>> {
        // Relaxed: what a later number stands for may be there already or not. [O71]
        let next = self.next_number.load(Ordering::Relaxed);
        let first = next.saturating_sub(self.tasks_max as u64);
        let picks = |one: &&One| one.number >= first && is_it(&one.task);
        let mut found: Vec<One> = Vec::new();
        for place in &*self.places {
            found.extend(place.lock().tasks.iter().filter(picks).cloned());
        }
        self.walk_ring(|slice| found.extend(slice.filter(picks).cloned()));
        found.sort_by_key(|one| one.number);
        // One that went from its place to the ring meanwhile has been met twice.
        found.dedup_by_key(|one| one.number);
        found.into_iter().map(|one| one.task).collect()
    }

    /// Shows what is in the ring, so many at a time: who ends a task waits for no more than that.
    fn walk_ring(&self, mut show: impl FnMut(vec_deque::Iter<'_, One>)) {
        const SLICE: u64 = 256;
        // By how many were in the ring before it.
        let (mut next, mut end) = (0, None);
        loop {
            let ring = self.ring.lock();
            let (first, len) = (ring.gone, ring.tasks.len() as u64);
            // What comes later has ended after this look began, or was met in its place.
            let end = *end.get_or_insert(first + len);
            let from = next.max(first);
            if from >= end {
                return;
            }
            next = end.min(from + SLICE);
            show(
                ring.tasks
                    .range((from - first) as usize..(next - first) as usize),
            );
        }
    }

    /// The task of this id that ended last.
    pub(super) fn get(&self, id: Id<'_>, hash: u64) -> Option<Arc<Task>> {
        let found = self.find(|task| task.id.hash == hash && task.id.id() == id);
        // Each was added when those before it had ended.
        found.into_iter().max_by_key(|task| task.id.serial)
    }

    fn all(&self) -> Vec<Arc<Task>> {
        self.find(|_| true)
    }

    /// All are let go, and so is each one that comes.
    pub(super) fn close(&self) {
        for place in &*self.places {
            let mut latest = place.lock();
            latest.is_closed = true;
            let tasks = std::mem::take(&mut latest.tasks);
            drop(latest);
            drop(tasks);
        }
        let mut ring = self.ring.lock();
        let tasks = std::mem::take(&mut ring.tasks);
        ring.gone += tasks.len() as u64;
        drop(ring);
        drop(tasks);
    }

    /// Keeps everybody out of all places.
    #[cfg(test)]
    pub(crate) fn hold_places(&self) -> impl Sized + '_ {
        let guards: Vec<_> = self.places.iter().map(|place| place.lock()).collect();
        guards
    }

    /// Keeps everybody out of the ring.
    #[cfg(test)]
    pub(crate) fn hold_ring(&self) -> impl Sized + '_ {
        self.ring.lock()
    }
}

impl EndedDoor<'_> {
    /// A task has ended, on the driver.
    pub(crate) fn push(self, task: &Arc<Task>) {
        let EndedDoor { ended, latest } = self;
        if ended.tasks_max > 0 {
            ended.add(latest, task, Mutex::try_lock);
        }
    }
}

impl Scheduler {
    /// The tasks that have ended, each as it stands for ever: to look at, and for those that are
    /// [to come after them](crate::TaskBuilder::depends_on). The last
    /// [1,000](crate::SchedulerBuilder::history) are kept, also after a shutdown, until the last
    /// handle of the scheduler goes. What a task has captured is dropped when it ends; what is kept
    /// is some hundred bytes.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use wheel_runtime::{InlineExecutor, ManualClock, Scheduler, TaskState};
    ///
    /// let clock = ManualClock::new();
    /// let scheduler = Scheduler::builder().clock(clock.clone()).executor(InlineExecutor).build()?;
    /// scheduler.task("print").after(Duration::from_secs(1)).run(|_| Err("no paper"))?;
    /// clock.run_for(Duration::from_secs(1));
    /// assert!(scheduler.get("print").is_none(), "it is no longer live");
    /// let print = scheduler.history().get("print").expect("it has ended");
    /// assert_eq!((print.state, print.last_error.as_deref()), (TaskState::Failed, Some("no paper")));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn history(&self) -> History<'_> {
        History { core: &self.core }
    }
}

impl History<'_> {
    /// All of them, the one that ended first in front.
    pub fn list(&self) -> Vec<TaskInfo> {
        let tasks = self.core.ended.all();
        tasks.iter().map(|task| task.info()).collect()
    }

    /// The one with this id; if the id was used again, the one that ended last. `None` if there was
    /// none, or it is forgotten. Looks at all that are kept.
    pub fn get(&self, id: &str) -> Option<TaskInfo> {
        self.core.ended_task(id).map(|task| task.info())
    }

    /// How many are kept.
    pub fn len(&self) -> usize {
        self.core.ended.all().len()
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Core {
    pub(super) fn ended_task(&self, id: &str) -> Option<Arc<Task>> {
        let id = Id::read(id);
        self.ended.get(id, self.registry.hash_of(id))
    }
}

impl fmt::Debug for History<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("History").field("len", &self.len()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::ManualClock;

    #[test]
    fn the_ring_is_bounded_and_so_is_what_waits_for_it() {
        const BOUND: usize = 1_000;
        let builder = Scheduler::builder().clock(ManualClock::new());
        let scheduler = builder.workers(1).history(BOUND).build().unwrap();
        let ended = &scheduler.core.ended;
        for _ in 0..5 * BOUND {
            let task = scheduler.after(Duration::from_secs(1), |_| ()).unwrap();
            let _ = task.cancel();
            let in_places: usize = ended.places.iter().map(|p| p.lock().tasks.len()).sum();
            assert!(ended.ring.lock().tasks.len() <= BOUND && in_places <= BOUND / 10);
        }
        assert_eq!(scheduler.history().len(), BOUND);
    }
}
