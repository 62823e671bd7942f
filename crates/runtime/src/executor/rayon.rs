//! The executor on a rayon pool that the user already has.
//!
//! Rayon keeps no order of its own that would suit due work, so jobs wait in the same ordered queue
//! as the built-in pool's, and rayon is told how many to come for: each of its turns takes what was
//! due first.

use std::fmt;
use std::sync::Arc;

use rayon::ThreadPool;

use super::pool::Queue;
use super::{Executor, Job, Ran};
use crate::panics::tell_stderr;
use crate::policy::AGEING_DEFAULT;

/// Runs due work on a rayon pool of yours.
///
/// The pool is shared, not owned: nothing here shuts it down. How fast a job is handed over is up
/// to rayon.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
/// use wheel_runtime::{RayonExecutor, Scheduler};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let pool = Arc::new(rayon::ThreadPoolBuilder::new().num_threads(2).build()?);
/// let scheduler = Scheduler::builder().executor(RayonExecutor::new(pool)).build()?;
/// # drop(scheduler);
/// # Ok(())
/// # }
/// ```
pub struct RayonExecutor {
    pool: Arc<ThreadPool>,
    queue: Arc<Queue>,
}

impl RayonExecutor {
    /// Runs jobs on `pool`.
    pub fn new(pool: Arc<ThreadPool>) -> RayonExecutor {
        RayonExecutor {
            pool,
            queue: Arc::new(Queue::new(AGEING_DEFAULT)),
        }
    }
}

impl Executor for RayonExecutor {
    fn execute(&self, jobs: &mut Vec<Job>) {
        let turns = jobs.len();
        self.queue.push(jobs);
        for _ in 0..turns {
            let queue = self.queue.clone();
            self.pool.spawn_fifo(move || {
                let Some(taken) = queue.take() else { return };
                if let Ran::Panicked(message) = taken.job.run() {
                    tell_stderr("a job on a rayon pool panicked", &message);
                }
            });
        }
    }

    fn queued(&self) -> usize {
        self.queue.len()
    }
}

impl fmt::Debug for RayonExecutor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RayonExecutor")
            .field("queued", &self.queued())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;
    use std::time::Duration;

    const HANG: Duration = Duration::from_secs(20);

    #[test]
    fn jobs_run_on_the_given_pool_in_due_order_and_survive_a_panic() {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(1)
            .thread_name(|_| "mine".into())
            .build()
            .unwrap();
        let executor = RayonExecutor::new(Arc::new(pool));
        let (sent, ran) = channel();
        let (open, opened) = channel::<()>();
        let job = |due: u64| {
            let sent = sent.clone();
            Job::due_at(due * 1_000_000, move || {
                let name = wheel_sync::thread::current().name().map(str::to_owned);
                sent.send((due, name)).unwrap();
            })
        };
        executor.execute(&mut vec![Job::new(move || {
            let _ = opened.recv_timeout(HANG);
            panic!("of the test");
        })]);
        executor.execute(&mut vec![job(20), job(10)]);
        executor.execute(&mut vec![job(15)]);
        open.send(()).unwrap();
        for due in [10, 15, 20] {
            let (ran_due, name) = ran.recv_timeout(HANG).unwrap();
            assert_eq!((ran_due, name.as_deref()), (due, Some("mine")));
        }
    }
}
