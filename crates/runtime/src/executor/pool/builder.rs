//! How a pool is set up.

use std::sync::Arc;
use std::time::Duration;

use wheel_sync::channel::unbounded;
use wheel_sync::counting::AtomicU64;
use wheel_sync::{Condvar, MODELLED, Mutex, thread};

use super::entrance::Entrance;
use super::queue::Queue;
use super::sleepers::Sleepers;
use super::staff::{Staff, WORKERS_MAX};
use super::{Floor, Pool, Shared, Workers};
use crate::error::BuildError;
use crate::policy::AGEING_DEFAULT;

/// How long a worker of an elastic pool sleeps for nothing before it leaves.
const KEEP_ALIVE_DEFAULT: Duration = Duration::from_secs(10);

/// Workers and substitutes; a model has few.
const PLACES_MAX: usize = if MODELLED { 4 } else { 2 * WORKERS_MAX };

/// How a [`Pool`] will be.
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until it builds"]
pub struct PoolBuilder {
    workers: Option<Workers>,
    name: String,
    ageing: Duration,
    keep_alive: Duration,
    lent_max: Option<usize>,
    kept_max: usize,
}

impl PoolBuilder {
    pub(super) fn new() -> PoolBuilder {
        PoolBuilder {
            workers: None,
            name: "wheel-worker".to_owned(),
            ageing: AGEING_DEFAULT,
            keep_alive: KEEP_ALIVE_DEFAULT,
            lent_max: None,
            kept_max: usize::MAX,
        }
    }

    /// How many threads, or between how many: 1 to 1024. See [`Workers`].
    pub fn workers(mut self, workers: impl Into<Workers>) -> PoolBuilder {
        self.workers = Some(workers.into());
        self
    }

    /// What the threads are called, before a dash and their number. NUL characters are left out.
    pub fn thread_name(mut self, name: impl Into<String>) -> PoolBuilder {
        self.name = name.into().replace('\0', "");
        self
    }

    /// How long a job waits for each class of [`Priority`](crate::Priority) that it gains, from 1 ms;
    /// 1 s unless told otherwise, and with [`Duration::MAX`] none is ever gained. Waiting begins when
    /// the driver finds the job due, and is reckoned to the millisecond.
    pub fn ageing(mut self, period: Duration) -> PoolBuilder {
        self.ageing = period;
        self
    }

    /// How long a worker has nothing to do before it leaves, where there are more than the least; 10 s
    /// unless told otherwise. Real time, whatever the clock of the engine.
    pub fn keep_alive(mut self, idle: Duration) -> PoolBuilder {
        self.keep_alive = idle;
        self
    }

    /// How many threads may stand in for hung workers at a time: 0 to 1024; as many as the most
    /// workers unless told otherwise.
    pub(crate) fn replace_hung(mut self, workers: usize) -> PoolBuilder {
        self.lent_max = Some(workers);
        self
    }

    /// What waits beyond so many jobs is dropped, the oldest of the lowest class first.
    pub(crate) fn drop_oldest_beyond(mut self, jobs: usize) -> PoolBuilder {
        self.kept_max = jobs;
        self
    }

    /// Checks all numbers but that of the workers.
    pub(crate) fn check(&self) -> Result<(), BuildError> {
        if let Some(max) = self.lent_max {
            BuildError::check("replace_hung", max as u128, 0..=WORKERS_MAX as u128)?;
        }
        let ageing_ms = self.ageing.as_millis().min(usize::MAX as u128);
        BuildError::check("ageing in milliseconds", ageing_ms, 1..=usize::MAX as u128)
    }

    /// Starts the threads.
    ///
    /// # Errors
    ///
    /// When the number of workers is not possible, or the system refuses a thread (those already
    /// started end then).
    pub fn build(self) -> Result<Pool, BuildError> {
        self.check()?;
        let workers = self.workers.unwrap_or_else(|| cores().into()).checked()?;
        let (least, most) = (*workers.start(), *workers.end());
        let (started, has_started) = unbounded();
        let shared = Arc::new(Shared {
            name: self.name,
            queue: Queue::new(self.ageing).keeping(self.kept_max),
            staff: Staff::new(workers),
            sleepers: Sleepers::new(PLACES_MAX),
            keep_alive: self.keep_alive,
            lent_max: self.lent_max,
            started,
            has_started,
            entrance: Entrance::new(),
            panics: AtomicU64::new(0),
            floor: Mutex::new(Floor {
                waiting_inside: 0,
                threads: Vec::new(),
            }),
            left: Condvar::new(),
        });
        shared.make_room(most);
        // If a thread is refused, dropping the pool sends those already started home.
        let pool = Pool { shared };
        for started in 0..least {
            let worker = pool.shared.sleepers.claim();
            let spawned = pool
                .shared
                .spawn(worker.expect("there is room for the most"));
            if let Err(error) = spawned {
                pool.shared.staff.leave((least - started) as u64);
                return Err(BuildError::Thread(error));
            }
        }
        Ok(pool)
    }
}

fn cores() -> usize {
    thread::available_parallelism().map_or(1, |n| n.get().min(WORKERS_MAX))
}
