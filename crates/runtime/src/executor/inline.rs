//! The executor without threads: whoever hands a job over runs it.

use super::{Executor, Job};

/// Runs each job at once, on the driver thread.
///
/// For work of microseconds, and for simulations: together with a manual clock everything happens
/// in one order, on one thread. While a job runs, no timer of that engine fires.
///
/// # Examples
///
/// ```
/// use wheel_runtime::{InlineExecutor, ManualClock, Scheduler};
///
/// let clock = ManualClock::new();
/// let scheduler = Scheduler::builder().clock(clock).executor(InlineExecutor).build()?;
/// # drop(scheduler);
/// # Ok::<(), wheel_runtime::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct InlineExecutor;

impl Executor for InlineExecutor {
    fn execute(&self, jobs: &mut Vec<Job>) {
        for job in jobs.drain(..) {
            job.run();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wheel_sync::{Arc, Mutex};

    #[test]
    fn a_panic_does_not_keep_the_next_job_from_running() {
        let ran = Arc::new(Mutex::new(Vec::new()));
        let mut jobs: Vec<Job> = (0..3)
            .map(|n| {
                let ran = ran.clone();
                Job::new(move || {
                    assert_ne!(n, 1, "job 1 panics");
                    ran.lock().push(n);
                })
            })
            .collect();
        InlineExecutor.execute(&mut jobs);
        assert!(jobs.is_empty());
        assert_eq!(*ran.lock(), [0, 2]);
    }
}
