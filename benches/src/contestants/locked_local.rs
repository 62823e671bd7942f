//! The single-threaded wheel in a mutex: the honest baseline of what the lock-free one has to beat.

use std::sync::{Mutex, MutexGuard, PoisonError};

use wheel_core::{Budget, Config, Key, LocalWheel, Tick};

use crate::{Contestant, Value};

/// `LocalWheel` shared through a mutex; the driver holds the lock for a whole advance.
pub struct LockedLocalWheel(Mutex<LocalWheel<Value>>);

impl LockedLocalWheel {
    fn lock(&self) -> MutexGuard<'_, LocalWheel<Value>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Contestant for LockedLocalWheel {
    type Key = Key;

    const NAME: &'static str = "local wheel in a mutex";

    fn new() -> Self {
        LockedLocalWheel(Mutex::new(Config::new().build_local()))
    }

    #[inline]
    fn insert(&self, due: Tick, value: Value) -> Key {
        self.lock().insert(due, value).expect("it has no limit")
    }

    #[inline]
    fn cancel(&self, key: Key) -> Option<Value> {
        self.lock().cancel(key)
    }

    fn advance(&mut self, now: Tick) -> usize {
        let progress = self.lock().advance(now, Budget::UNLIMITED, |timer| {
            std::hint::black_box(timer.value);
        });
        progress.fired
    }
}
