//! Where values go that never fired: back to whoever closed the engine, or to their `Drop`.
//!
//! The driver thread leaves them here as it ends. None is dropped here under the lock: their `Drop`
//! is user code, which may panic, and may call back into the engine.

use std::mem;

use wheel_sync::Mutex;

enum Left<T> {
    /// The driver is running, or somebody has taken what it left.
    Awaited,
    /// Nobody will ask: the driver drops what is left.
    Abandoned,
    Values(Vec<T>),
}

pub(super) struct Exit<T>(Mutex<Left<T>>);

impl<T> Exit<T> {
    pub(super) fn new() -> Exit<T> {
        Exit(Mutex::new(Left::Awaited))
    }

    /// Says that nobody will ask, and returns what was left already, to be discarded.
    #[must_use]
    pub(super) fn abandon(&self) -> Vec<T> {
        match mem::replace(&mut *self.0.lock(), Left::Abandoned) {
            Left::Values(values) => values,
            Left::Awaited | Left::Abandoned => Vec::new(),
        }
    }

    /// Leaves `values` for whoever asks, or gives them back to be discarded if nobody will.
    #[must_use]
    pub(super) fn leave(&self, values: Vec<T>) -> Vec<T> {
        let mut left = self.0.lock();
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
        let mut left = self.0.lock();
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
