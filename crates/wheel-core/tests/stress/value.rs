//! What a timer of the stress carries: a name, and an account of those that are somewhere. Some of
//! them panic when they are dropped.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

/// Of so many values, one panics in its drop.
const BOMBS: u64 = 97;

/// What is known of all values of a round.
#[derive(Default)]
pub(crate) struct Ledger {
    alive: AtomicI64,
    /// Those that were dropped without anybody having noted how they left.
    unnoted: Mutex<Vec<u64>>,
}

impl Ledger {
    /// Values that are somewhere.
    pub(crate) fn alive(&self) -> i64 {
        // Relaxed: read when all threads have ended.
        self.alive.load(Ordering::Relaxed)
    }

    /// Takes out the values whose end nobody has noted.
    pub(crate) fn unnoted(&self) -> Vec<u64> {
        std::mem::take(&mut self.unnoted.lock().unwrap())
    }
}

/// The payload of the panics in here, which no hook prints.
struct Bomb;

pub(crate) struct Value {
    id: u64,
    noted: bool,
    ledger: Arc<Ledger>,
}

impl Value {
    pub(crate) fn new(id: u64, ledger: &Arc<Ledger>) -> Value {
        // Relaxed: a count.
        ledger.alive.fetch_add(1, Ordering::Relaxed);
        Value {
            id,
            noted: false,
            ledger: Arc::clone(ledger),
        }
    }

    /// The name; how it leaves is noted from here on.
    pub(crate) fn note(&mut self) -> u64 {
        self.noted = true;
        self.id
    }

    /// Notes it and drops it, here and without a panic.
    pub(crate) fn end(mut self) -> u64 {
        let id = self.note();
        survive(|| drop(self));
        id
    }
}

impl Drop for Value {
    fn drop(&mut self) {
        // Relaxed: a count.
        self.ledger.alive.fetch_sub(1, Ordering::Relaxed);
        if !self.noted {
            self.ledger.unnoted.lock().unwrap().push(self.id);
        }
        if self.id.is_multiple_of(BOMBS) && !thread::panicking() {
            resume_unwind(Box::new(Bomb));
        }
    }
}

/// Runs what may panic because a value is dropped. False when it did; other panics go on.
pub(crate) fn survive(run: impl FnOnce()) -> bool {
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(()) => true,
        Err(panic) if panic.is::<Bomb>() => false,
        Err(panic) => resume_unwind(panic),
    }
}
