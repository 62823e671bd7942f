//! How a run is told that it should stop.

use std::sync::Arc;
use std::time::Duration;

use wheel_sync::atomic::{AtomicBool, Ordering};
use wheel_sync::{Condvar, Mutex};

use crate::clock::Patience;

/// Says that a run should stop. A cheap clone of the same flag; once set it stays set.
///
/// Nothing stops a handler by force: it looks at the token, or waits with it instead of sleeping.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use wheel_runtime::{CancelToken, Context};
///
/// fn poll(run: &Context) {
///     // Ends as soon as the run should stop, and not a second later.
///     while !run.token().wait_timeout(Duration::from_secs(1)) {
///         println!("polling");
///     }
/// }
///
/// let token = CancelToken::new();
/// assert!(!token.wait_timeout(Duration::ZERO));
/// token.cancel();
/// assert!(token.wait_timeout(Duration::MAX));
/// # let _: fn(&Context) = poll;
/// ```
#[derive(Clone, Debug, Default)]
pub struct CancelToken(Arc<Flag>);

#[derive(Debug, Default)]
struct Flag {
    set: AtomicBool,
    lock: Mutex<()>,
    raised: Condvar,
}

impl CancelToken {
    /// A token that is not set.
    pub fn new() -> CancelToken {
        CancelToken::default()
    }

    /// Whether it has been set. One load.
    pub fn is_cancelled(&self) -> bool {
        // Acquire: pairs with `cancel`, so that what was written before it is visible. [O63]
        self.0.set.load(Ordering::Acquire)
    }

    /// Sets it and wakes everyone who waits for it.
    pub fn cancel(&self) {
        // Release: pairs with `is_cancelled`. [O63]
        self.0.set.store(true, Ordering::Release);
        // Whoever looked before the store is in `wait` once the lock has been free.
        drop(self.0.lock.lock());
        self.0.raised.notify_all();
    }

    /// As `cancel`, on a thread that must not wait: sets it, and tells whether those who wait have
    /// been woken. If not, call it again.
    pub(crate) fn try_cancel(&self) -> bool {
        // Release: as in `cancel`. [O63]
        self.0.set.store(true, Ordering::Release);
        let Some(guard) = self.0.lock.try_lock() else {
            return false;
        };
        drop(guard);
        self.0.raised.notify_all();
        true
    }

    /// Waits until it is set, for `limit` of real time at most. Returns whether it is set.
    pub fn wait_timeout(&self, limit: Duration) -> bool {
        let patience = Patience::new(limit);
        let mut guard = self.0.lock.lock();
        while !self.is_cancelled() {
            let Some(left) = patience.left() else {
                return false;
            };
            guard = self.0.raised.wait_timeout(guard, left);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wheel_sync::thread;

    #[test]
    fn all_clones_are_one_flag() {
        let token = CancelToken::new();
        let other = token.clone();
        assert!(!other.wait_timeout(Duration::ZERO));
        token.cancel();
        assert!(other.is_cancelled());
        assert!(other.wait_timeout(Duration::ZERO));
    }

    #[test]
    fn a_waiter_is_woken_long_before_its_limit() {
        let token = CancelToken::new();
        thread::scope(|s| {
            let waiter = s.spawn(|| token.wait_timeout(Duration::MAX));
            token.cancel();
            assert!(waiter.join().unwrap());
        });
    }
}
