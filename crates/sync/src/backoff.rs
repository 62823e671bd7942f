//! Waiting for another thread's next step under a checker: nothing changes until one runs.

use crate::thread;

/// Lets another thread run.
#[derive(Debug, Default)]
pub struct Backoff(());

impl Backoff {
    /// Ready to wait.
    pub fn new() -> Backoff {
        Backoff(())
    }

    /// Yields.
    pub fn snooze(&self) {
        thread::yield_now();
    }
}
