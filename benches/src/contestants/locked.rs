//! What the structures in one mutex have in common: lock, do, unlock.
//!
//! An engine here is a plain single-owner structure. Every insert and cancel takes the lock; the
//! driver takes it once for each timer that is due, as a callback must not run under it, except
//! where the structure itself fires in batches.

use std::hint::black_box;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::{Contestant, Hand, Moment, Shared, Tick, Value};

/// A single-owner structure of timers.
pub trait Structure: Send + Default + 'static {
    /// Names a timer.
    type Key: Send + Copy;

    /// Adds a timer.
    fn insert(&mut self, due: Tick, value: Value) -> Self::Key;

    /// Takes one out, or marks it; whether it was pending.
    fn cancel(&mut self, key: Self::Key) -> bool;

    /// Takes the earliest out if it is due.
    fn pop_due(&mut self, now: Tick) -> Option<Value>;
}

/// A structure in a mutex, which is shared.
pub(super) struct Locked<S>(Arc<Mutex<S>>);

impl<S> Clone for Locked<S> {
    fn clone(&self) -> Self {
        Locked(Arc::clone(&self.0))
    }
}

impl<S: Structure> Locked<S> {
    pub(super) fn new() -> Self {
        Locked(Arc::default())
    }

    #[inline(always)]
    fn lock(&self) -> MutexGuard<'_, S> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[inline(always)]
    pub(super) fn insert(&self, due: Tick, value: Value) -> S::Key {
        self.lock().insert(due, value)
    }

    #[inline(always)]
    pub(super) fn cancel(&self, key: S::Key) -> bool {
        self.lock().cancel(key)
    }

    #[inline]
    pub(super) fn advance(&self, now: Tick) -> usize {
        let mut fired = 0;
        loop {
            let next = self.lock().pop_due(now);
            let Some(value) = next else { return fired };
            black_box(value);
            fired += 1;
        }
    }

    pub(super) fn share<C>(threads: usize) -> Shared<C>
    where
        C: Contestant<Key = S::Key, Hand = LockedHand<S>>,
    {
        let engine = Locked::new();
        Shared {
            hands: (0..threads).map(|_| LockedHand(engine.clone())).collect(),
            drivers: vec![Box::new(move |now| {
                engine.advance(now);
            })],
            settle: None,
        }
    }
}

/// A handle for one thread.
pub struct LockedHand<S>(Locked<S>);

impl<S: Structure> Hand for LockedHand<S> {
    type Key = S::Key;

    #[inline(always)]
    fn insert(&mut self, now: Moment, delay_ms: u64, value: Value) -> S::Key {
        self.0.insert(Tick::new(now.tick + delay_ms), value)
    }

    #[inline(always)]
    fn cancel(&mut self, key: S::Key) {
        assert!(self.0.cancel(key), "nothing was due");
    }
}

/// The part of `impl Contestant` that is the same for every structure in a mutex.
macro_rules! by_the_lock {
    ($structure:ty) => {
        type Key = <$structure as Structure>::Key;
        type Hand = LockedHand<$structure>;

        fn new(_: Time) -> Self {
            Self(Locked::new())
        }

        #[inline(always)]
        fn insert(&mut self, due: Tick, value: Value) -> Self::Key {
            self.0.insert(due, value)
        }

        #[inline(always)]
        fn cancel(&mut self, key: Self::Key) -> bool {
            self.0.cancel(key)
        }

        #[inline]
        fn advance(&mut self, now: Tick) -> usize {
            self.0.advance(now)
        }

        fn share(threads: usize) -> Shared<Self> {
            Locked::share(threads)
        }
    };
}
pub(super) use by_the_lock;
