//! The built-in executor: threads, fixed in number or as many as are needed, and one ordered queue.
//!
//! ```text
//!  driver: push a batch, wake one worker
//!                |                 worker: take what goes first,
//!                v                         wake the next one if more waits, run it
//!          queue.rs (ordered)  <-- worker
//!                                  worker, asleep (sleepers.rs)
//!                                  more or fewer of them (hire.rs, staff.rs)
//! ```
//!
//! Ground rules: `execute` takes no lock that a worker holds. No lock is held while a job runs or
//! is dropped. A closed pool accepts nothing, runs what it has, and then its threads end.

mod builder;
mod entrance;
mod hire;
mod order;
mod queue;
mod size;
mod sleepers;
mod staff;
mod worker;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use wheel_sync::atomic::Ordering;
use wheel_sync::channel::{Receiver, Sender};
use wheel_sync::counting::AtomicU64;
use wheel_sync::thread::{self, JoinHandle};
use wheel_sync::{Condvar, Mutex};

use super::{Executor, Job};
use crate::clock::Patience;
use crate::error::BuildError;
pub use builder::PoolBuilder;
use entrance::Entrance;
pub(crate) use queue::Queue;
pub use size::Workers;
pub(crate) use sleepers::Sleepers;
use staff::Staff;
use worker::Place;

/// How long a shutdown sleeps at most while somebody hires.
const HIRING_POLL: Duration = Duration::from_millis(10);

/// Threads that run due work, in the order in which it was due: a fixed number, or [as many as are
/// needed](Workers).
///
/// Dropping it closes it without waiting: what has been handed over still runs, then the threads
/// end.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use wheel_runtime::{Executor, Job, Pool};
///
/// let pool = Pool::builder().workers(2).build()?;
/// pool.execute(&mut vec![Job::new(|| println!("due"))]);
/// pool.shutdown(Duration::from_secs(5))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Pool {
    shared: Arc<Shared>,
}

/// What the workers and the handle share.
struct Shared {
    name: String,
    queue: Queue,
    staff: Staff,
    sleepers: Sleepers,
    keep_alive: Duration,
    /// How many substitutes there may be at a time; as many as the most workers if not said.
    lent_max: Option<usize>,
    /// Threads on their way to the floor's list, which the driver may not lock.
    started: Sender<JoinHandle<()>>,
    has_started: Receiver<JoinHandle<()>>,
    entrance: Entrance,
    panics: AtomicU64,
    floor: Mutex<Floor>,
    left: Condvar,
}

/// Who waits, and who is to be waited for.
struct Floor {
    /// Workers whose job waits in `shutdown`: nobody waits for those, or two of them would wait for
    /// each other.
    waiting_inside: u64,
    /// May hold some that have ended.
    threads: Vec<JoinHandle<()>>,
}

/// The grace passed to [`Pool::shutdown`] was over before every worker was done.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PoolStillBusy {
    /// Workers that have not ended yet: they do when their jobs return.
    pub running: usize,
    /// Jobs that were dropped without having run.
    pub dropped: usize,
}

impl Pool {
    /// Starts a description of a pool: as many workers as the machine has cores, named
    /// `wheel-worker-0` and so on.
    pub fn builder() -> PoolBuilder {
        PoolBuilder::new()
    }

    /// How many threads it has now, substitutes included.
    pub fn workers(&self) -> usize {
        self.shared.staff.read().at_work as usize
    }

    /// How many of its threads have nothing to do.
    pub fn idle_workers(&self) -> usize {
        self.shared.sleepers.count()
    }

    /// How many threads it is to have from now on. New ones start in this call. Of those that are
    /// too many, each leaves when its job returns; nothing is interrupted.
    ///
    /// # Errors
    ///
    /// A number that is not possible: nothing has changed then. Or the system refuses a thread: the
    /// pool has fewer than the least, and tries again when work waits. Without effect on a pool that
    /// is shutting down.
    ///
    /// # Examples
    ///
    /// ```
    /// use wheel_runtime::Pool;
    ///
    /// let pool = Pool::builder().workers(2).build()?;
    /// pool.set_workers(4)?;
    /// assert_eq!(pool.workers(), 4);
    /// pool.set_workers(1..=8)?;
    /// # Ok::<(), wheel_runtime::BuildError>(())
    /// ```
    pub fn set_workers(&self, workers: impl Into<Workers>) -> Result<(), BuildError> {
        let workers = workers.into().checked()?;
        let shared = &self.shared;
        if shared.entrance.is_closed() {
            return Ok(());
        }
        shared.make_room(*workers.end());
        shared.staff.want(&workers);
        while shared.staff.read().lacks_some() && shared.staff.hire() {
            shared.start_worker().map_err(BuildError::Thread)?;
        }
        if shared.queue.has_work() {
            shared.keep_one_asleep(shared.staff.read());
        }
        // Of those that are too many, the ones that sleep.
        shared.sleepers.wake_all();
        Ok(())
    }

    /// How many jobs have panicked.
    pub fn panics(&self) -> u64 {
        // Relaxed: a count for people. [O64]
        self.shared.panics.load(Ordering::Relaxed)
    }

    /// How many jobs were dropped because others came to a full queue.
    pub(crate) fn displaced(&self) -> usize {
        self.shared.queue.displaced()
    }

    /// When the job was due that was due first of those that wait; in nanoseconds of the clock of its
    /// engine. Not for the driver thread.
    pub(crate) fn oldest_due_ns(&self) -> Option<u64> {
        self.shared.queue.oldest_due_ns()
    }

    /// One of the jobs handed over has become void. Not for the driver thread.
    pub(crate) fn note_void(&self) {
        self.shared.queue.note_void();
    }

    /// Whether the calling thread is one of its workers.
    pub(crate) fn is_here(&self) -> bool {
        worker::place_in(&self.shared) == Place::AtWork
    }

    /// One of the workers hangs: another thread stands in for it until
    /// [`return_substitute`](Pool::return_substitute). `false` if there are as many as there may be,
    /// or the system refuses a thread. Waits for no lock, so the driver may call it.
    pub(crate) fn lend_substitute(&self) -> bool {
        let shared = &self.shared;
        let most = shared.staff.read().most();
        let max = shared.lent_max.map_or(most, |max| max as u64);
        if shared.entrance.is_closed() || !shared.staff.lend(max) {
            return false;
        }
        let has_started = shared.start_worker().is_ok();
        if !has_started {
            shared.staff.take_back();
        }
        has_started
    }

    /// The worker that hung is back. The first worker that has nothing to do leaves.
    pub(crate) fn return_substitute(&self) {
        self.shared.staff.take_back();
        self.shared.sleepers.wake_one();
    }

    /// Refuses new jobs and waits until all that was handed over has run, for `grace` of real time
    /// at most.
    ///
    /// May be called more than once and from several threads. Called from inside a job, it does not
    /// wait for that job.
    ///
    /// # Errors
    ///
    /// When the grace is over first: what was not started by then is dropped, what runs goes on to
    /// its end.
    pub fn shutdown(&self, grace: Duration) -> Result<(), PoolStillBusy> {
        self.shared.close();
        let place = worker::place_in(&self.shared);
        let inside = place == Place::AtWork;
        let patience = Patience::new(grace);
        let mut floor = self.shared.floor.lock();
        floor.waiting_inside += u64::from(inside);
        self.shared.left.notify_all();
        let running = loop {
            let running = self.shared.staff.read().at_work;
            let running = running.saturating_sub(floor.waiting_inside);
            if running == 0 {
                break 0;
            }
            let Some(left) = patience.left() else {
                break running;
            };
            // Who has counted a worker in and could not start it tells nobody.
            let left = if self.shared.staff.is_hiring() {
                left.min(HIRING_POLL)
            } else {
                left
            };
            floor = self.shared.left.wait_timeout(floor, left);
        };
        floor.waiting_inside -= u64::from(inside);
        // A thread that has left the floor may be in here too, through the destructor of a
        // thread-local: it must not join itself.
        let ended = if self.shared.staff.read().at_work == 0 && place == Place::Elsewhere {
            // The last instructions of a hire.
            while self.shared.staff.is_hiring() {
                thread::yield_now();
            }
            floor.threads.extend(self.shared.has_started.try_iter());
            std::mem::take(&mut floor.threads)
        } else {
            Vec::new()
        };
        drop(floor);
        // They have left the floor; only the last few instructions of their threads are waited for.
        ended.into_iter().for_each(|thread| drop(thread.join()));
        if running == 0 {
            return Ok(());
        }
        let dropped = self.shared.queue.take_all();
        Err(PoolStillBusy {
            running: running as usize,
            dropped: dropped.len(),
        })
    }
}

impl Executor for Pool {
    fn execute(&self, jobs: &mut Vec<Job>) {
        if jobs.is_empty() {
            return;
        }
        self.shared.hand_over(|| self.shared.queue.push(jobs));
    }

    fn queued(&self) -> usize {
        self.shared.queue.len()
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.close();
    }
}

impl Shared {
    /// Every worker is woken after it, so none sleeps on.
    fn close(&self) {
        self.entrance.close();
        self.sleepers.wake_all();
    }

    /// Pushes unless the pool is closed. What is pushed runs, also when the pool is closed
    /// meanwhile.
    fn hand_over(&self, push: impl FnOnce()) {
        self.entrance.pass(push);
        self.sleepers.wake_one();
    }

    /// Whether there is nothing left to do, now and later.
    fn may_leave(&self) -> bool {
        self.entrance.is_deserted() && !self.queue.has_work()
    }

    /// A worker ends. It may have been counted out before.
    fn leave(&self, worker: usize, counted: Counted) {
        worker::has_left();
        self.sleepers.release(worker);
        let mut floor = self.floor.lock();
        if counted == Counted::In {
            self.staff.leave(1);
        }
        // A pool that breathes keeps no more of those that have ended than it has workers.
        let started = self.has_started.try_iter();
        floor.threads.extend(started);
        if floor.threads.len() as u64 > 2 * self.staff.read().at_work {
            floor.threads.retain(|thread| !has_ended(thread));
        }
        drop(floor);
        self.left.notify_all();
    }

    /// Room for so many workers, and for as many substitutes as may be lent.
    fn make_room(&self, most: usize) {
        let lent_max = self.lent_max.unwrap_or(most);
        self.sleepers.make_room(most.saturating_add(lent_max));
    }
}

/// Whether a worker that ends has been counted out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Counted {
    In,
    Out,
}

#[cfg(not(wheel_model))]
fn has_ended(thread: &JoinHandle<()>) -> bool {
    thread.is_finished()
}

/// A model does not live long enough to need it.
#[cfg(wheel_model)]
fn has_ended(_: &JoinHandle<()>) -> bool {
    false
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool")
            .field("name", &self.shared.name)
            .field("workers", &self.shared.staff.read())
            .field("queued", &self.queued())
            .finish_non_exhaustive()
    }
}

impl fmt::Display for PoolStillBusy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PoolStillBusy { running, dropped } = self;
        let workers = if *running == 1 { "worker" } else { "workers" };
        let jobs = if *dropped == 1 { "job" } else { "jobs" };
        write!(
            f,
            "the grace was over with {running} {workers} still busy and {dropped} {jobs} dropped before they started"
        )
    }
}

impl std::error::Error for PoolStillBusy {}

#[cfg(test)]
mod tests;
