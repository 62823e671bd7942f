//! `Wheel` and `Driver`, held by one thread.

use std::task::{Wake, Waker};

use wheel_core::{Budget, Driver, Key, Tick, Wheel};
use wheel_sync::Arc;
use wheel_sync::atomic::{AtomicU64, Ordering};
use wheel_testkit::{Places, Refused, Setup, Step, Subject};

/// A wheel without an overflow, its driver until that is closed, and how often the driver was
/// called.
pub(crate) struct Shared {
    wheel: Wheel<u64>,
    driver: Option<Driver<u64>>,
    wakes: Arc<Wakes>,
}

#[derive(Default)]
struct Wakes(AtomicU64);

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        // Relaxed: one thread.
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl Shared {
    pub(crate) fn build(setup: &Setup) -> Shared {
        let wakes = Arc::new(Wakes::default());
        let waker = Waker::from(Arc::clone(&wakes));
        let (wheel, driver) = super::config(setup).waker(waker).build();
        Shared {
            wheel,
            driver: Some(driver),
            wakes,
        }
    }

    fn driver(&mut self) -> &mut Driver<u64> {
        self.driver.as_mut().expect("the driver was not closed yet")
    }
}

impl Subject for Shared {
    type Key = Key;
    const LIMITS: bool = true;
    const CLOSES: bool = true;

    fn insert(&mut self, due: u64, value: u64) -> Result<Key, Refused> {
        self.wheel
            .insert(Tick::new(due), value)
            .map_err(super::refused)
    }

    fn cancel(&mut self, key: Key) -> Option<u64> {
        self.wheel.cancel(key)
    }

    fn reset(&mut self, key: Key, due: u64) -> Option<Key> {
        self.wheel.reset(key, Tick::new(due))
    }

    fn advance(&mut self, now: u64, budget: usize, fire: &mut dyn FnMut(u64, u64)) -> Step {
        let budget = Budget::new(budget);
        super::step(self.driver().advance(Tick::new(now), budget, |timer| {
            fire(timer.due.get(), timer.value);
        }))
    }

    fn next_due(&mut self) -> Option<u64> {
        self.driver().next_due().map(Tick::get)
    }

    fn wakes(&mut self) -> Option<u64> {
        // Relaxed: one thread.
        Some(self.wakes.0.load(Ordering::Relaxed))
    }

    fn pending(&mut self) -> usize {
        self.wheel.len()
    }

    fn places(&mut self) -> Option<Places> {
        Some(super::places(&self.driver().snapshot()))
    }

    fn close(&mut self) -> Vec<u64> {
        self.driver
            .take()
            .map(|driver| driver.close().collect())
            .unwrap_or_default()
    }
}
