//! The indexed heap in a mutex: what one would write first, and hard to beat when it is small.

use std::sync::{Mutex, PoisonError};

use wheel_core::Tick;
use wheel_overflow::{HeapKey, HeapTimers};

use crate::{Contestant, Value};

/// `HeapTimers` shared through a mutex; the driver takes the lock for each timer that is due.
pub struct LockedHeap(Mutex<HeapTimers<Value>>);

impl LockedHeap {
    fn lock(&self) -> std::sync::MutexGuard<'_, HeapTimers<Value>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Contestant for LockedHeap {
    type Key = HeapKey;

    const NAME: &'static str = "heap in a mutex";

    fn new() -> Self {
        LockedHeap(Mutex::new(HeapTimers::new()))
    }

    #[inline]
    fn insert(&self, due: Tick, value: Value) -> HeapKey {
        self.lock().insert(due, value)
    }

    #[inline]
    fn cancel(&self, key: HeapKey) -> Option<Value> {
        self.lock().cancel(key)
    }

    /// One lock per timer, as a callback must not run under it.
    fn advance(&mut self, now: Tick) -> usize {
        let mut fired = 0;
        loop {
            let next = self.lock().pop_due(now);
            let Some((_, value)) = next else { return fired };
            std::hint::black_box(value);
            fired += 1;
        }
    }
}
