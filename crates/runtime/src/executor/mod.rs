//! Where due work runs: the driver hands jobs over in batches, an executor runs them.
//!
//! ```text
//!  driver thread                     any thread of the executor
//!  execute(&mut batch)  ---------->  job.run()
//! ```
//!
//! Ground rules: [`Executor::execute`] is called on the driver thread, so it must not block, and
//! must not take a lock that a thread can hold while it is not running. A job never unwinds:
//! [`Job::run`] catches panics. Whoever builds an executor shuts it down; the doors that use it
//! only hand jobs over.

mod inline;
mod job;
mod pool;
#[cfg(feature = "rayon")]
mod rayon;

pub use inline::InlineExecutor;
pub use job::{Job, Ran};
pub use pool::{Pool, PoolBuilder, PoolStillBusy, Workers};
#[cfg(feature = "rayon")]
pub use rayon::RayonExecutor;

pub(crate) use job::{BatchReporter, Work, waits_since};
pub(crate) use pool::Sleepers;

use std::sync::Arc;

/// Runs jobs that have become due.
///
/// The crate brings three: [`Pool`] (threads of its own), [`InlineExecutor`] (the driver thread
/// itself) and, with the feature `rayon`, `RayonExecutor` (a rayon pool of yours). Implement it to
/// run jobs anywhere else.
///
/// # Examples
///
/// ```
/// use wheel_runtime::{Executor, Job};
///
/// /// Hands each job to a thread of its own.
/// struct ThreadPerJob;
///
/// impl Executor for ThreadPerJob {
///     fn execute(&self, jobs: &mut Vec<Job>) {
///         for job in jobs.drain(..) {
///             std::thread::spawn(move || job.run());
///         }
///     }
/// }
/// ```
pub trait Executor: Send + Sync + 'static {
    /// Takes the jobs out of `jobs`, which stand in the order in which they are due, to run each
    /// once, soon.
    ///
    /// Called on the driver thread: it must not block, because every timer of the engine waits
    /// while it does. A job that is left in `jobs`, or dropped without being run, counts as
    /// refused.
    fn execute(&self, jobs: &mut Vec<Job>);

    /// How many jobs have been taken and not yet started; 0 where nobody counts.
    fn queued(&self) -> usize {
        0
    }
}

impl<E: Executor + ?Sized> Executor for Arc<E> {
    fn execute(&self, jobs: &mut Vec<Job>) {
        (**self).execute(jobs);
    }

    fn queued(&self) -> usize {
        (**self).queued()
    }
}
