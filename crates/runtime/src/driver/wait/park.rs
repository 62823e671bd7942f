//! Waiting on a condition variable: works everywhere, as precise as the system's timed waits.
//!
//! A ring is a flag under a mutex. A thread that is preempted while it holds that mutex delays the
//! wake-ups of others until it runs again; the eventfd of Linux has no such moment.

use std::sync::Arc;
use std::time::Duration;

use wheel_sync::{Condvar, Mutex};

use super::{Until, wall};
use crate::clock::{Clock, Moment, unix_nanos};

/// How often to look at the wall clock while something follows it: nobody tells of its steps.
const LOOK: Duration = Duration::from_secs(1);

pub(super) struct ParkBell {
    rung: Mutex<bool>,
    changed: Condvar,
}

pub(super) struct ParkWaiter {
    bell: Arc<ParkBell>,
    spin: Duration,
}

pub(super) fn open(spin: Duration) -> (Arc<ParkBell>, ParkWaiter) {
    let bell = Arc::new(ParkBell {
        rung: Mutex::new(false),
        changed: Condvar::new(),
    });
    let waiter = ParkWaiter {
        bell: Arc::clone(&bell),
        spin,
    };
    (bell, waiter)
}

impl ParkBell {
    pub(super) fn ring(&self) {
        *self.rung.lock() = true;
        self.changed.notify_one();
    }

    fn take(&self) -> bool {
        std::mem::take(&mut *self.rung.lock())
    }
}

impl ParkWaiter {
    pub(super) fn wait(&mut self, clock: &Clock, until: Until) -> bool {
        let now = clock.now();
        let look = wall_look(clock, now, until.wall_ms);
        let slept = self.park(clock, now, until.wake_at(self.spin).min(look));
        until.spin_through(clock, self.spin, || self.bell.take());
        slept
    }

    fn park(&self, clock: &Clock, mut now: Moment, end: Moment) -> bool {
        let mut slept = false;
        let mut rung = self.bell.rung.lock();
        while !*rung && now < end {
            slept = true;
            rung = if end == Moment::NEVER {
                self.bell.changed.wait(rung)
            } else {
                let left = clock.nap(end.since(now));
                self.bell.changed.wait_timeout(rung, left)
            };
            now = clock.now();
        }
        *rung = false;
        slept
    }
}

/// When to look at the wall clock next.
fn wall_look(clock: &Clock, now: Moment, wall_ms: Option<u64>) -> Moment {
    let Some(due_ms) = wall_ms else {
        return Moment::NEVER;
    };
    let left = wall::nanos_of_ms(due_ms) - unix_nanos(clock.wall());
    let left = Duration::from_nanos(u64::try_from(left.max(0)).unwrap_or(u64::MAX));
    now.after(left.min(LOOK))
}
