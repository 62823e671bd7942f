//! For the models of the scheduler: one on a clock that stands still, whose jobs go to a shelf from
//! which the model takes them.
//!
//! So a model decides which thread plays the worker, and has its race without a pool around it. The
//! driver thread is one of the threads of the model; it sleeps when nothing is due.

use std::sync::Arc;
use std::time::Duration;

use wheel_runtime::{Context, Executor, Job, ManualClock, Scheduler, Stats, TaskHandle};
use wheel_sync::{Mutex, unexplored};

/// An executor that keeps the jobs.
#[derive(Clone, Debug, Default)]
pub struct Shelf(Arc<Mutex<Vec<Job>>>);

impl Shelf {
    /// The job that came last.
    pub fn take(&self) -> Option<Job> {
        self.0.lock().pop()
    }
}

impl Executor for Shelf {
    fn execute(&self, jobs: &mut Vec<Job>) {
        self.0.lock().append(jobs);
    }
}

/// A scheduler, its clock and its shelf.
#[derive(Clone, Debug)]
pub struct Shop {
    /// The scheduler.
    pub scheduler: Scheduler,
    /// Its clock.
    pub clock: ManualClock,
    /// Where its jobs are.
    pub shelf: Shelf,
}

impl Shop {
    /// An open shop, whose driver may still be on its way to sleep.
    ///
    /// # Panics
    ///
    /// Never: a model refuses no thread.
    pub fn open() -> Shop {
        let (clock, shelf) = (ManualClock::new(), Shelf::default());
        let builder = Scheduler::builder().clock(clock.clone());
        let scheduler = builder.executor(shelf.clone()).build();
        Shop {
            scheduler: scheduler.expect("a model refuses no thread"),
            clock,
            shelf,
        }
    }

    /// A shop with a task that is due once, and its run, which waits for a worker. The driver
    /// sleeps. How that came about is not explored.
    ///
    /// # Panics
    ///
    /// When the run does not come.
    pub fn with_a_queued_run(
        handler: impl Fn(&Context) + Send + Sync + 'static,
    ) -> (Shop, TaskHandle, Job) {
        unexplored(|| {
            let shop = Shop::open();
            let task = shop.scheduler.after(Duration::ZERO, handler).unwrap();
            shop.clock.advance(Duration::ZERO);
            let job = shop.shelf.take().expect("it is due");
            (shop, task, job)
        })
    }

    /// Runs what is on the shelf, and all that comes until nothing is due.
    pub fn run_all(&self) {
        self.clock.advance(Duration::ZERO);
        while let Some(job) = self.shelf.take() {
            job.run();
            self.clock.advance(Duration::ZERO);
        }
    }

    /// What the scheduler counts, once nothing goes on any more.
    ///
    /// # Panics
    ///
    /// When it counts something that is not there.
    pub fn stats_when_idle(&self) -> Stats {
        self.scheduler.wait_idle();
        let stats = self.scheduler.stats();
        assert_eq!((stats.queued, stats.running, stats.early), (0, 0, 0));
        stats
    }
}
