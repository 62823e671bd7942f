//! The built-in executor: a fixed number of threads, and one ordered queue.
//!
//! ```text
//!  driver: push a batch, wake one worker
//!                |                 worker: take what goes first,
//!                v                         wake the next one if more waits, run it
//!          queue.rs (ordered)  <-- worker
//!                                  worker, asleep (sleepers.rs)
//! ```
//!
//! Ground rules: `execute` takes no lock that a worker holds. No lock is held while a job runs or
//! is dropped. A closed pool accepts nothing, runs what it has, and then its threads end.

mod entrance;
mod order;
mod queue;
mod sleepers;
mod worker;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use wheel_sync::atomic::Ordering;
use wheel_sync::counting::AtomicU64;
use wheel_sync::thread::{self, JoinHandle};
use wheel_sync::{Condvar, Mutex};

use super::{Executor, Job};
use crate::clock::Patience;
use crate::error::BuildError;
use entrance::Entrance;
pub(crate) use queue::Queue;
use sleepers::Sleepers;
use worker::Place;

/// The most workers that a pool may have.
const WORKERS_MAX: usize = 1024;

/// A fixed number of threads that run due work, in the order in which it was due.
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
    workers: usize,
    queue: Queue,
    sleepers: Sleepers,
    entrance: Entrance,
    panics: AtomicU64,
    floor: Mutex<Floor>,
    left: Condvar,
}

/// Who is still in.
struct Floor {
    at_work: usize,
    /// Workers whose job waits in `shutdown`: nobody waits for those, or two of them would wait for
    /// each other.
    waiting_inside: usize,
    threads: Vec<JoinHandle<()>>,
}

/// How a [`Pool`] will be.
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until it builds"]
pub struct PoolBuilder {
    workers: Option<usize>,
    name: String,
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
        PoolBuilder {
            workers: None,
            name: "wheel-worker".to_owned(),
        }
    }

    /// How many threads it has.
    pub fn workers(&self) -> usize {
        self.shared.workers
    }

    /// How many jobs have panicked.
    pub fn panics(&self) -> u64 {
        // Relaxed: a count for people. [O64]
        self.shared.panics.load(Ordering::Relaxed)
    }

    /// One of the jobs handed over has become void. Not for the driver thread.
    pub(crate) fn note_void(&self) {
        self.shared.queue.note_void();
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
        floor.waiting_inside += usize::from(inside);
        self.shared.left.notify_all();
        while floor.at_work > floor.waiting_inside {
            let Some(left) = patience.left() else { break };
            floor = self.shared.left.wait_timeout(floor, left);
        }
        let running = floor.at_work - floor.waiting_inside;
        floor.waiting_inside -= usize::from(inside);
        // A thread that has left the floor may be in here too, through the destructor of a
        // thread-local: it must not join itself.
        let ended = if floor.at_work == 0 && place == Place::Elsewhere {
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
            running,
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

    fn leave(&self) {
        worker::has_left();
        self.floor.lock().at_work -= 1;
        self.left.notify_all();
    }
}

impl PoolBuilder {
    /// How many threads: 1 to 1024.
    pub fn workers(mut self, workers: usize) -> PoolBuilder {
        self.workers = Some(workers);
        self
    }

    /// What the threads are called, before a dash and their number. NUL characters are left out.
    pub fn thread_name(mut self, name: impl Into<String>) -> PoolBuilder {
        self.name = name.into().replace('\0', "");
        self
    }

    /// Starts the threads.
    ///
    /// # Errors
    ///
    /// When the number of workers is not possible, or the system refuses a thread (those already
    /// started end then).
    pub fn build(self) -> Result<Pool, BuildError> {
        let workers = self.workers.unwrap_or_else(cores);
        BuildError::check("workers", workers as u128, 1..=WORKERS_MAX as u128)?;
        let shared = Arc::new(Shared {
            name: self.name,
            workers,
            queue: Queue::new(),
            sleepers: Sleepers::new(workers),
            entrance: Entrance::new(),
            panics: AtomicU64::new(0),
            floor: Mutex::new(Floor {
                at_work: 0,
                waiting_inside: 0,
                threads: Vec::with_capacity(workers),
            }),
            left: Condvar::new(),
        });
        // If a thread is refused, dropping the pool sends those already started home.
        let pool = Pool { shared };
        for worker in 0..workers {
            let shared = pool.shared.clone();
            let mut floor = pool.shared.floor.lock();
            let thread = thread::Builder::new()
                .name(format!("{}-{worker}", shared.name))
                .spawn(move || worker::work(shared, worker))
                .map_err(BuildError::Thread)?;
            floor.at_work += 1;
            floor.threads.push(thread);
        }
        Ok(pool)
    }
}

fn cores() -> usize {
    thread::available_parallelism().map_or(1, |n| n.get().min(WORKERS_MAX))
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool")
            .field("name", &self.shared.name)
            .field("workers", &self.shared.workers)
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
