//! Where a driver sleeps, and the clock that it sleeps by.
//!
//! The clock is a number that threads move on. Whoever moves it past the tick that the driver
//! sleeps until ends the sleep, as a timeout would. A wake is kept until it has ended a sleep. The
//! bed can tell whether the driver is in it, and until when: then somebody who knows what is
//! pending can tell whether it was woken when it had to be.

use std::sync::Arc;
use std::task::{Wake, Waker};

use wheel_core::Tick;
use wheel_sync::atomic::{AtomicU64, Ordering};
use wheel_sync::{Condvar, Mutex};

/// What the driver of a wheel is told, or the bed tells of it.
#[derive(Debug)]
pub struct Bed {
    now: AtomicU64,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    woken: bool,
    stopped: bool,
    /// The driver is asleep until then; `u64::MAX` for ever.
    asleep: Option<u64>,
    gone: bool,
}

/// Where the driver is when nobody has anything to tell it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rest {
    /// Asleep until that tick; `u64::MAX` for ever.
    Asleep(u64),
    /// It has ended.
    Gone,
}

impl Bed {
    /// Empty, with the clock at `now`.
    pub fn new(now: u64) -> Arc<Bed> {
        Arc::new(Bed {
            now: AtomicU64::new(now),
            state: Mutex::default(),
            changed: Condvar::new(),
        })
    }

    /// A waker of whoever sleeps here.
    pub fn waker(self: &Arc<Bed>) -> Waker {
        Waker::from(Arc::clone(self))
    }

    /// The clock.
    pub fn now(&self) -> u64 {
        // Relaxed: a reading of the time.
        self.now.load(Ordering::Relaxed)
    }

    /// Moves the clock, and ends the sleep of a driver whose time has come.
    pub fn pass(&self, ticks: u64) {
        // Relaxed: the lock that follows orders it for one who goes to sleep.
        self.now.fetch_add(ticks, Ordering::Relaxed);
        let mut state = self.state.lock();
        if state.asleep.is_some_and(|until| until <= self.now()) {
            state.woken = true;
            self.changed.notify_all();
        }
    }

    /// For the driver: sleeps until woken, or until the clock has come to `until`, or not at all if
    /// it was woken since the last sleep.
    pub fn sleep(&self, until: Option<Tick>) {
        let until = until.map_or(u64::MAX, Tick::get);
        let mut state = self.state.lock();
        state.asleep = Some(until);
        self.changed.notify_all();
        while !state.woken && !state.stopped && until > self.now() {
            state = self.changed.wait(state);
        }
        state.woken = false;
        state.asleep = None;
    }

    /// For the driver: whether it is to end.
    pub fn is_stopped(&self) -> bool {
        self.state.lock().stopped
    }

    /// For the driver: says that it has ended when it is dropped.
    pub fn leaving(&self) -> impl Drop + '_ {
        struct Leaving<'a>(&'a Bed);
        impl Drop for Leaving<'_> {
            fn drop(&mut self) {
                self.0.state.lock().gone = true;
                self.0.changed.notify_all();
            }
        }
        Leaving(self)
    }

    /// Whether the driver has ended.
    pub fn is_left(&self) -> bool {
        self.state.lock().gone
    }

    /// Until when the driver sleeps, if it does and nobody has woken it.
    pub fn asleep_until(&self) -> Option<u64> {
        let state = self.state.lock();
        state.asleep.filter(|_| !state.woken)
    }

    /// Waits until the driver rests, and has it end then. Says where it was.
    pub fn stop_when_at_rest(&self) -> Rest {
        let mut state = self.state.lock();
        let rest = loop {
            match state.asleep {
                _ if state.gone => break Rest::Gone,
                Some(until) if !state.woken && until > self.now() => break Rest::Asleep(until),
                _ => state = self.changed.wait(state),
            }
        };
        state.stopped = true;
        self.changed.notify_all();
        rest
    }

    /// Makes the bed anew for another driver.
    pub fn make(&self) {
        *self.state.lock() = State::default();
    }
}

impl Wake for Bed {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.state.lock().woken = true;
        self.changed.notify_all();
    }
}
