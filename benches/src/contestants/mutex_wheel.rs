//! The single-threaded wheel in one mutex.

use std::any::Any;
use std::hint::black_box;
use std::sync::{Arc, Mutex, PoisonError};

use crossbeam_utils::CachePadded;
use wheel_core::{Budget, Config, Key, LocalWheel, Tick};

use super::{NO_WAIT, NO_WORKERS};
use crate::{Contestant, Hand, Moment, Recorder, Shared, Time, Value, Workload};

/// `LocalWheel` shared through a mutex; the driver holds the lock for a whole advance.
#[derive(Clone)]
pub struct MutexWheel(Arc<CachePadded<Mutex<LocalWheel<Value>>>>);

impl MutexWheel {
    pub(super) fn empty() -> Self {
        let wheel = Mutex::new(Config::new().build_local());
        MutexWheel(Arc::new(CachePadded::new(wheel)))
    }

    #[inline(always)]
    pub(super) fn put(&self, due: Tick, value: Value) -> Key {
        let mut wheel = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        wheel.insert(due, value).expect("it has no limit")
    }

    #[inline(always)]
    pub(super) fn take(&self, key: Key) -> bool {
        let mut wheel = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        black_box(wheel.cancel(key)).is_some()
    }

    #[inline]
    pub(super) fn drive(&self, now: Tick) -> usize {
        let mut wheel = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let progress = wheel.advance(now, Budget::UNLIMITED, |timer| {
            black_box(timer.value);
        });
        progress.fired
    }
}

impl Contestant for MutexWheel {
    type Key = Key;
    type Hand = MutexWheel;

    const NAME: &'static str = "mutex_wheel";
    const SETUP: &'static str = "wheel_core::LocalWheel in one std::sync::Mutex";

    fn left_out(workload: Workload) -> Option<&'static str> {
        match workload {
            Workload::Lateness => Some(NO_WAIT),
            other => other.needs_workers().then_some(NO_WORKERS),
        }
    }

    fn new(_: Time) -> Self {
        MutexWheel::empty()
    }

    #[inline(always)]
    fn insert(&mut self, due: Tick, value: Value) -> Key {
        self.put(due, value)
    }

    #[inline(always)]
    fn cancel(&mut self, key: Key) -> bool {
        self.take(key)
    }

    #[inline]
    fn advance(&mut self, now: Tick) -> usize {
        self.drive(now)
    }

    fn share(threads: usize) -> Shared<Self> {
        let engine = MutexWheel::empty();
        Shared {
            hands: vec![engine.clone(); threads],
            drivers: vec![Box::new(move |now| {
                engine.drive(now);
            })],
            settle: None,
        }
    }

    fn fire_at(_: &Arc<Recorder>, _: &str) -> Box<dyn Any> {
        unreachable!("left out")
    }
}

impl Hand for MutexWheel {
    type Key = Key;

    #[inline(always)]
    fn insert(&mut self, now: Moment, delay_ms: u64, value: Value) -> Key {
        self.put(Tick::new(now.tick + delay_ms), value)
    }

    #[inline(always)]
    fn cancel(&mut self, key: Key) {
        assert!(self.take(key), "nothing was due");
    }
}
