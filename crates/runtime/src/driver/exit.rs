//! Where values go that never fired: back to whoever closed the engine, or to their `Drop`.
//!
//! The driver thread leaves them here as it ends. None is dropped here under the lock: their `Drop`
//! is user code, which may panic, and may call back into the engine.

use std::mem;

use wheel_sync::{Condvar, Mutex};

use crate::clock::Patience;

enum Left<T> {
    /// The driver is running, or somebody has taken what it left.
    Awaited,
    /// Nobody will ask: the driver drops what is left.
    Abandoned,
    Values(Vec<T>),
}

pub(super) struct Exit<T> {
    left: Mutex<Left<T>>,
    /// The driver thread runs no user code any more.
    gone: Mutex<bool>,
    went: Condvar,
}

impl<T> Exit<T> {
    pub(super) fn new() -> Exit<T> {
        Exit {
            left: Mutex::new(Left::Awaited),
            gone: Mutex::new(false),
            went: Condvar::new(),
        }
    }

    /// The driver thread has nothing left to do.
    pub(super) fn go(&self) {
        *self.gone.lock() = true;
        self.went.notify_all();
    }

    /// Waits until the driver thread has nothing left to do. False when patience ended first.
    pub(super) fn wait_gone(&self, patience: Patience) -> bool {
        let mut gone = self.gone.lock();
        while !*gone {
            let Some(time) = patience.left() else { break };
            gone = self.went.wait_timeout(gone, time);
        }
        *gone
    }

    /// Says that nobody will ask, and returns what was left already, to be discarded.
    #[must_use]
    pub(super) fn abandon(&self) -> Vec<T> {
        match mem::replace(&mut *self.left.lock(), Left::Abandoned) {
            Left::Values(values) => values,
            Left::Awaited | Left::Abandoned => Vec::new(),
        }
    }

    /// Leaves `values` for whoever asks, or gives them back to be discarded if nobody will.
    #[must_use]
    pub(super) fn leave(&self, values: Vec<T>) -> Vec<T> {
        let mut left = self.left.lock();
        match *left {
            Left::Abandoned => values,
            Left::Awaited | Left::Values(_) => {
                *left = Left::Values(values);
                Vec::new()
            }
        }
    }

    /// What was left; the second call gets nothing.
    pub(super) fn take(&self) -> Vec<T> {
        let mut left = self.left.lock();
        match mem::replace(&mut *left, Left::Awaited) {
            Left::Values(values) => values,
            Left::Awaited => Vec::new(),
            Left::Abandoned => {
                *left = Left::Abandoned;
                Vec::new()
            }
        }
    }
}
