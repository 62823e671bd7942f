//! How many runs wait or go, and who waits for that to change.
//!
//! ```text
//!  who ends something                        waiter
//!  1 change the number (runs, or another)    1 announce itself in `waiters`
//!  2 look at `waiters`                       2 under the lock: look at the number, or sleep
//!  3 if somebody waits: lock, unlock, notify
//! ```
//!
//! Ground rules: `begin` is one atomic step, for the driver calls it. Waiters take a lock, and
//! those who end something take it only while somebody waits. SeqCst throughout: of the two steps 1
//! and 2 on either side at least one sees the other's. The lock in step 3 waits for a waiter that
//! has looked and does not sleep yet.

use wheel_sync::atomic::{AtomicUsize, Ordering};
use wheel_sync::{Condvar, Mutex};

use crate::clock::Patience;

pub(crate) struct Activity {
    runs: AtomicUsize,
    waiters: AtomicUsize,
    excused: Mutex<usize>,
    changed: Condvar,
}

/// Who waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Caller {
    Outside,
    /// A handler of the same scheduler, whose own run cannot end while it waits.
    InsideRun,
}

impl Activity {
    pub(crate) fn new() -> Activity {
        Activity {
            runs: AtomicUsize::new(0),
            waiters: AtomicUsize::new(0),
            excused: Mutex::new(0),
            changed: Condvar::new(),
        }
    }

    /// One more waits or goes.
    pub(crate) fn begin(&self) {
        self.runs.fetch_add(1, Ordering::SeqCst);
    }

    /// One less.
    pub(crate) fn end(&self) {
        let before = self.runs.fetch_sub(1, Ordering::SeqCst);
        assert!(before > 0, "a run ended that never began");
        self.tell();
    }

    /// Something changed that somebody may wait for.
    pub(crate) fn tell(&self) {
        if self.waiters.load(Ordering::SeqCst) > 0 {
            drop(self.excused.lock());
            self.changed.notify_all();
        }
    }

    /// Waits until no run waits or goes but those whose handlers wait here themselves. Returns how
    /// many are left: more than none if patience ended first.
    pub(crate) fn wait_idle(&self, caller: Caller, patience: Patience) -> usize {
        self.waiters.fetch_add(1, Ordering::SeqCst);
        let mut excused = self.excused.lock();
        if caller == Caller::InsideRun {
            *excused += 1;
            self.changed.notify_all();
        }
        let left = loop {
            let left = self.runs.load(Ordering::SeqCst).saturating_sub(*excused);
            if left == 0 {
                break 0;
            }
            let Some(time) = patience.left() else {
                break left;
            };
            excused = self.changed.wait_timeout(excused, time);
        };
        if caller == Caller::InsideRun {
            *excused -= 1;
        }
        drop(excused);
        self.waiters.fetch_sub(1, Ordering::SeqCst);
        left
    }

    /// Waits until `reached` holds, which somebody who calls `tell` afterwards brings about.
    /// Returns whether it does.
    pub(crate) fn wait_until(&self, patience: Patience, reached: impl Fn() -> bool) -> bool {
        self.waiters.fetch_add(1, Ordering::SeqCst);
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
        self.waiters.fetch_sub(1, Ordering::SeqCst);
        held
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use wheel_sync::thread;

    #[test]
    fn idle_is_when_nothing_waits_or_goes() {
        let activity = Activity::new();
        let now = Patience::new(Duration::ZERO);
        assert_eq!(activity.wait_idle(Caller::Outside, now), 0);
        activity.begin();
        assert_eq!(activity.wait_idle(Caller::Outside, now), 1);
        assert_eq!(activity.wait_idle(Caller::InsideRun, now), 0);
        activity.end();
        assert_eq!(activity.wait_idle(Caller::Outside, now), 0);
    }

    #[test]
    fn two_runs_that_wait_for_idle_do_not_wait_for_each_other() {
        let activity = Activity::new();
        activity.begin();
        activity.begin();
        let run = || {
            let patience = Patience::new(Duration::from_secs(20));
            assert_eq!(activity.wait_idle(Caller::InsideRun, patience), 0);
            activity.end();
        };
        thread::scope(|s| {
            s.spawn(run);
            s.spawn(run);
        });
    }
}
