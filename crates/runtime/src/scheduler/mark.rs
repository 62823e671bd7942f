//! How a thread learns that the driver has come as far as now.
//!
//! A mark goes through the engine like a timer that is due at once. When the driver meets it, and
//! everything else that was due has been handed over, the mark is dropped, and that tells the
//! thread that waits.

use std::sync::Arc;

use wheel_sync::atomic::{AtomicBool, Ordering};
use wheel_sync::thread::{self, Thread};

use crate::clock::Patience;

/// Tells one waiting thread that the driver has handed over everything that was due before it.
/// Dropped unseen (because the engine was closed), it tells so as well.
pub(crate) struct Mark(Arc<Passed>);

struct Passed {
    is_passed: AtomicBool,
    waiter: Thread,
}

/// The waiting side of a [`Mark`].
pub(super) struct MarkWait(Arc<Passed>);

impl Mark {
    /// For the calling thread.
    pub(super) fn new() -> (Mark, MarkWait) {
        let passed = Arc::new(Passed {
            is_passed: AtomicBool::new(false),
            waiter: thread::current(),
        });
        (Mark(Arc::clone(&passed)), MarkWait(passed))
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        // Release: pairs with `wait`. Unpark and not a condition variable: the driver takes no
        // lock. [O60]
        self.0.is_passed.store(true, Ordering::Release);
        self.0.waiter.unpark();
    }
}

impl MarkWait {
    /// Waits until the driver has passed the mark, or patience ends.
    pub(super) fn wait(self, patience: Patience) {
        // Acquire: pairs with the drop of the mark; what the driver did before is visible. [O60]
        while !self.0.is_passed.load(Ordering::Acquire) {
            let Some(left) = patience.left() else { return };
            thread::park_timeout(left);
        }
    }
}
