//! How many runs wait or go, and who waits for that to change.
//!
//! ```text
//!  who ends something                        waiter
//!  1 change the number, or anything else     1 announce itself
//!  2 see who has announced itself            2 under the lock: look at the number, or sleep
//!  3 if somebody has: lock, unlock, notify
//! ```
//!
//! Ground rules: `begin` is one atomic step, for the driver calls it. Waiters take a lock, and
//! those who end something take it only while somebody waits. The lock in step 3 waits for a waiter
//! that has looked and does not sleep yet.
//!
//! Runs and waiters are counted in one word, which both sides change by read-modify-writes, so one
//! of the two steps comes second: a waiter that announces itself second sees what was changed, and
//! who ends something second sees the waiter. No fence is needed. `tell` steps on the word as well,
//! although it changes nothing there: a load could miss a waiter.

use wheel_sync::atomic::{AtomicU64, Ordering};
use wheel_sync::{CachePadded, Condvar, Mutex};

use crate::clock::Patience;
use crate::task::Excuse;

/// The upper part of the word counts waiters, the lower one runs. More than 2^40 runs, each of
/// which takes memory, do not fit into a machine, nor 2^24 threads that wait.
const WAITER: u64 = 1 << 40;

pub(crate) struct Activity {
    runs_and_waiters: CachePadded<AtomicU64>,
    /// Of handlers that wait here.
    excused: Mutex<Vec<Excuse>>,
    changed: Condvar,
}

/// Who waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Caller {
    Outside,
    /// A handler of the same scheduler, whose own run cannot end while it waits.
    InsideRun(Excuse),
}

impl Activity {
    pub(crate) fn new() -> Activity {
        Activity {
            runs_and_waiters: CachePadded::new(AtomicU64::new(0)),
            excused: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    /// One more waits or goes.
    pub(crate) fn begin(&self) {
        // Relaxed: it publishes nothing, and nobody waits for more runs. [O45]
        self.runs_and_waiters.fetch_add(1, Ordering::Relaxed);
    }

    /// One less.
    pub(crate) fn end(&self) {
        // Release: what the run has done; pairs with `announce` and `runs`. [O46]
        let before = self.runs_and_waiters.fetch_sub(1, Ordering::Release);
        assert_ne!(runs_in(before), 0, "a run ended that never began");
        self.wake(before);
    }

    /// As `end`, for the driver, which waits for no lock. False if those who wait have not been woken:
    /// then `try_tell` is to follow.
    pub(crate) fn try_end(&self) -> bool {
        // Release: as in `end`. [O46]
        let before = self.runs_and_waiters.fetch_sub(1, Ordering::Release);
        assert_ne!(runs_in(before), 0, "a run ended that never began");
        self.try_wake(before)
    }

    /// As `tell`, in the same way.
    pub(crate) fn try_tell(&self) -> bool {
        // Release: as in `tell`. [O47]
        let now = self.runs_and_waiters.fetch_add(0, Ordering::Release);
        self.try_wake(now)
    }

    fn try_wake(&self, word: u64) -> bool {
        if word < WAITER {
            return true;
        }
        let Some(guard) = self.excused.try_lock() else {
            return false;
        };
        drop(guard);
        self.changed.notify_all();
        true
    }

    /// Something changed that somebody may wait for.
    pub(crate) fn tell(&self) {
        // Release: the change; pairs with `announce`. Adds nothing: see above. [O47]
        let now = self.runs_and_waiters.fetch_add(0, Ordering::Release);
        self.wake(now);
    }

    fn wake(&self, word: u64) {
        if word >= WAITER {
            drop(self.excused.lock());
            self.changed.notify_all();
        }
    }

    fn announce(&self) {
        // Acquire: what those did who ended something before. [O48]
        self.runs_and_waiters.fetch_add(WAITER, Ordering::Acquire);
    }

    fn withdraw(&self) {
        // Relaxed: who still sees it wakes nobody. [O49]
        self.runs_and_waiters.fetch_sub(WAITER, Ordering::Relaxed);
    }

    fn runs(&self) -> usize {
        // Acquire: what the runs have done that are no longer counted. [O50]
        runs_in(self.runs_and_waiters.load(Ordering::Acquire))
    }

    /// Waits until no run waits or goes but those whose handlers wait here themselves. Returns how
    /// many are left: more than none if patience ended first. A handler goes on when its time is
    /// over, and its run does not: then `is_void` is to say so of its excuse, before that run is
    /// counted as over.
    pub(crate) fn wait_idle(
        &self,
        caller: Caller,
        patience: Patience,
        is_void: impl Fn(Excuse) -> bool,
    ) -> usize {
        self.announce();
        let mut excused = self.excused.lock();
        if let Caller::InsideRun(own) = caller {
            excused.push(own);
            self.changed.notify_all();
        }
        let left = loop {
            // In this order: who is not counted any more is known to be void.
            let runs = self.runs();
            let excuses = excused.iter().filter(|excuse| !is_void(**excuse));
            let left = runs.saturating_sub(excuses.count());
            if left == 0 {
                break 0;
            }
            let Some(time) = patience.left() else {
                break left;
            };
            excused = self.changed.wait_timeout(excused, time);
        };
        if let Caller::InsideRun(own) = caller {
            let place = excused.iter().position(|excuse| *excuse == own);
            excused.swap_remove(place.expect("an excuse stays until it is given back"));
        }
        drop(excused);
        self.withdraw();
        left
    }

    /// Returns when somebody waits, and either sleeps or has not looked yet.
    #[cfg(test)]
    pub(super) fn until_somebody_waits(&self) {
        // Relaxed: what is asserted of it is behind the lock. [O49]
        while self.runs_and_waiters.load(Ordering::Relaxed) < WAITER {
            wheel_sync::thread::yield_now();
        }
    }

    /// As `try_end` while somebody has the lock.
    #[cfg(test)]
    pub(super) fn end_unheard(&self) {
        let excused = self.excused.lock();
        assert!(!self.try_end(), "nobody has been woken");
        drop(excused);
    }

    /// How many handlers wait here for the others.
    #[cfg(test)]
    pub(super) fn excused(&self) -> usize {
        self.excused.lock().len()
    }

    /// Waits until `reached` holds, which somebody who calls `tell` afterwards brings about.
    /// Returns whether it does.
    pub(crate) fn wait_until(&self, patience: Patience, reached: impl Fn() -> bool) -> bool {
        self.announce();
        let mut guard = self.excused.lock();
        let held = loop {
            if reached() {
                break true;
            }
            let Some(time) = patience.left() else {
                break false;
            };
            guard = self.changed.wait_timeout(guard, time);
        };
        drop(guard);
        self.withdraw();
        held
    }
}

fn runs_in(word: u64) -> usize {
    usize::try_from(word % WAITER).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use wheel_sync::thread;

    fn inside() -> Caller {
        Caller::InsideRun(Excuse::of_caller())
    }

    #[test]
    fn idle_is_when_nothing_waits_or_goes() {
        let activity = Activity::new();
        let now = Patience::new(Duration::ZERO);
        assert_eq!(activity.wait_idle(Caller::Outside, now, |_| false), 0);
        activity.begin();
        assert_eq!(activity.wait_idle(Caller::Outside, now, |_| false), 1);
        assert_eq!(activity.wait_idle(inside(), now, |_| false), 0);
        activity.end();
        assert_eq!(activity.wait_idle(Caller::Outside, now, |_| false), 0);
    }

    #[test]
    fn the_driver_ends_a_run_without_a_lock() {
        let activity = Activity::new();
        activity.begin();
        activity.announce();
        let excused = activity.excused.lock();
        assert!(!activity.try_end(), "nobody has been woken");
        assert!(!activity.try_tell());
        drop(excused);
        assert!(activity.try_tell());
        activity.withdraw();
        assert_eq!(activity.runs(), 0);
    }

    #[test]
    fn two_runs_that_wait_for_idle_do_not_wait_for_each_other() {
        let activity = Activity::new();
        activity.begin();
        activity.begin();
        let run = || {
            let patience = Patience::new(Duration::from_secs(20));
            assert_eq!(activity.wait_idle(inside(), patience, |_| false), 0);
            activity.end();
        };
        thread::scope(|s| {
            s.spawn(run);
            s.spawn(run);
        });
    }
}
