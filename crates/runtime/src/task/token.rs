//! How a run is told that it should stop.
//!
//! ```text
//!  token of an attempt: reason, lock, condvar      is it set?  own reason, or of one above it
//!     ^         ^                                  who waits:  at the topmost one, for all of them
//!   child     child: a reason of its own           set one:    write the reason, wake the topmost
//! ```
//!
//! A child knows its parent and not the other way round: nothing is registered, nothing has to be
//! taken out again, and setting a token is one write and one wake-up however many are below it.

use std::sync::Arc;
use std::time::Duration;

#[cfg(feature = "async")]
use wheel_sync::MutexGuard;
use wheel_sync::atomic::{AtomicBool, AtomicU32, Ordering};
use wheel_sync::{Condvar, Mutex};

use super::StopReason;
use super::awaiting::{Awaiting, ToWake};
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
    /// A [`StopReason`] as its code; 0 while it is not set.
    reason: AtomicU32,
    /// Nothing below it has anything to do any more.
    is_over: AtomicBool,
    place: Place,
}

/// Where it stands.
#[derive(Debug)]
enum Place {
    /// Here those wait who wait for it, or for one below it.
    Top(Bell),
    Below(CancelToken),
}

#[derive(Debug, Default)]
struct Bell {
    lock: Mutex<Awaiting>,
    raised: Condvar,
}

/// Who has been woken of those that wait for a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Woken {
    All,
    /// Futures wait as well, and whoever may run what is the user's is to wake them.
    Threads,
    /// Somebody has the lock that waking takes.
    Nobody,
}

impl Default for Place {
    fn default() -> Place {
        Place::Top(Bell::default())
    }
}

impl CancelToken {
    /// A token that is not set.
    pub fn new() -> CancelToken {
        CancelToken::default()
    }

    /// A token below this one: it is set when this one is, or by itself.
    ///
    /// # Examples
    ///
    /// ```
    /// use wheel_runtime::CancelToken;
    ///
    /// let all = CancelToken::new();
    /// let (one, other) = (all.child(), all.child());
    /// one.cancel();
    /// assert!(one.is_cancelled() && !other.is_cancelled());
    /// all.cancel();
    /// assert!(other.is_cancelled());
    /// ```
    #[must_use]
    pub fn child(&self) -> CancelToken {
        CancelToken(Arc::new(Flag {
            place: Place::Below(self.clone()),
            ..Flag::default()
        }))
    }

    /// Whether it has been set. One load, and two more for each token above it.
    pub fn is_cancelled(&self) -> bool {
        self.stop_reason().is_some()
    }

    /// Why it was set; `None` if it has not been.
    pub fn stop_reason(&self) -> Option<StopReason> {
        let mut flag = &*self.0;
        let own = flag.reason();
        if own.is_some() {
            return own;
        }
        while let Place::Below(above) = &flag.place {
            flag = &above.0;
            if let Some(reason) = flag.reason() {
                return Some(reason);
            }
            // Relaxed: it publishes nothing. Who waits looks under the lock, which `end` takes. [O95]
            if flag.is_over.load(Ordering::Relaxed) {
                return Some(StopReason::Over);
            }
        }
        None
    }

    /// Sets it and wakes everyone who waits for it.
    pub fn cancel(&self) {
        self.stop(StopReason::Cancelled);
    }

    /// Sets it for this reason, unless it is set.
    pub(crate) fn stop(&self, reason: StopReason) {
        self.set(reason);
        self.wake();
    }

    /// As `stop`, on a thread that must not wait nor run what is the user's: sets it and wakes the
    /// threads that wait.
    pub(crate) fn try_stop(&self, reason: StopReason) -> Woken {
        self.set(reason);
        let bell = self.bell();
        let Some(guard) = bell.lock.try_lock() else {
            return Woken::Nobody;
        };
        let is_all = guard.is_empty();
        drop(guard);
        bell.raised.notify_all();
        if is_all { Woken::All } else { Woken::Threads }
    }

    /// The same, and those futures that wait are to be woken by somebody else. `None`: nobody was
    /// woken, call it again.
    pub(crate) fn try_stop_all(&self, reason: StopReason) -> Option<ToWake> {
        self.set(reason);
        let bell = self.bell();
        let to_wake = bell.lock.try_lock()?.take();
        bell.raised.notify_all();
        Some(to_wake)
    }

    /// The handler whose token this is has returned: those below it are set, it is not.
    pub(super) fn end(&self) {
        // Relaxed: it says nothing of what the handler has done. [O95]
        self.0.is_over.store(true, Ordering::Relaxed);
        self.wake();
    }

    /// Whether more than `known` clones and children refer to it. Only those can make another.
    pub(super) fn is_shared_beyond(&self, known: usize) -> bool {
        Arc::strong_count(&self.0) > known
    }

    /// Keeps those out who wait, and who wakes them.
    #[cfg(test)]
    pub(crate) fn hold(&self) -> impl Sized + '_ {
        self.bell().lock.lock()
    }

    fn set(&self, reason: StopReason) {
        // Release: pairs with `Flag::reason`. Relaxed if it is set: then this says nothing. [O63]
        let (flag, code) = (&self.0.reason, reason.code());
        let _ = flag.compare_exchange(0, code, Ordering::Release, Ordering::Relaxed);
    }

    pub(super) fn wake(&self) {
        let bell = self.bell();
        // Whoever looked before the flag was set is in `wait` once the lock has been free, or among
        // those who are to be woken.
        let to_wake = bell.lock.lock().take();
        bell.raised.notify_all();
        to_wake.wake();
    }

    /// The futures that wait for it, or for another one below the same topmost one.
    #[cfg(feature = "async")]
    pub(super) fn awaiting(&self) -> MutexGuard<'_, Awaiting> {
        self.bell().lock.lock()
    }

    fn bell(&self) -> &Bell {
        let mut token = self;
        loop {
            match &token.0.place {
                Place::Top(bell) => return bell,
                Place::Below(above) => token = above,
            }
        }
    }

    /// Waits until it is set, for `limit` of real time at most. Returns whether it is set.
    pub fn wait_timeout(&self, limit: Duration) -> bool {
        let patience = Patience::new(limit);
        let bell = self.bell();
        let mut guard = bell.lock.lock();
        while !self.is_cancelled() {
            let Some(left) = patience.left() else {
                return false;
            };
            guard = bell.raised.wait_timeout(guard, left);
        }
        true
    }
}

impl Flag {
    fn reason(&self) -> Option<StopReason> {
        // Acquire: pairs with `set`, so that what was written before it is visible. [O63]
        StopReason::of_code(self.reason.load(Ordering::Acquire))
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

    #[test]
    fn the_first_reason_stays() {
        let token = CancelToken::new();
        token.stop(StopReason::TimedOut);
        token.cancel();
        assert_eq!(token.try_stop(StopReason::ShutDown), Woken::All);
        assert_eq!(token.stop_reason(), Some(StopReason::TimedOut));
    }

    #[test]
    fn what_is_below_hears_of_all_above_and_not_the_other_way_round() {
        let top = CancelToken::new();
        let middle = top.child();
        let (low, beside) = (middle.child(), top.child());
        middle.stop(StopReason::TimedOut);
        assert_eq!(low.stop_reason(), Some(StopReason::TimedOut));
        assert_eq!((top.stop_reason(), beside.stop_reason()), (None, None));
        top.cancel();
        assert_eq!(beside.stop_reason(), Some(StopReason::Cancelled));
        assert_eq!(middle.stop_reason(), Some(StopReason::TimedOut));
    }

    #[test]
    fn a_handler_that_has_returned_stops_what_is_below_and_sets_nothing_itself() {
        let token = CancelToken::new();
        let child = token.child().child();
        thread::scope(|s| {
            let waiter = s.spawn(|| child.wait_timeout(Duration::MAX));
            token.end();
            assert!(waiter.join().unwrap());
        });
        assert_eq!(child.stop_reason(), Some(StopReason::Over));
        assert_eq!(token.stop_reason(), None);
    }

    #[test]
    fn a_token_is_shared_by_clones_and_children() {
        let token = CancelToken::new();
        assert!(!token.is_shared_beyond(1));
        let child = token.child();
        assert!(token.is_shared_beyond(1));
        drop(child);
        assert!(!token.is_shared_beyond(1));
    }
}
