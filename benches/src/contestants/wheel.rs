//! The lock-free wheel with its driver.

use wheel_core::{Budget, Config, Driver, Key, Tick, Wheel};

use crate::{Contestant, Value};

/// A wheel and the driver that advances it, without a waker: the bench is the clock.
pub struct WheelAndDriver {
    wheel: Wheel<Value>,
    driver: Driver<Value>,
}

impl Contestant for WheelAndDriver {
    type Key = Key;

    const NAME: &'static str = "wheel";

    fn new() -> Self {
        let (wheel, driver) = Config::new().build();
        WheelAndDriver { wheel, driver }
    }

    #[inline]
    fn insert(&self, due: Tick, value: Value) -> Key {
        self.wheel
            .insert(due, value)
            .expect("the wheel is open and has no limit")
    }

    #[inline]
    fn cancel(&self, key: Key) -> Option<Value> {
        self.wheel.cancel(key)
    }

    fn advance(&mut self, now: Tick) -> usize {
        let mut fired = 0;
        loop {
            let progress = self.driver.advance(now, Budget::UNLIMITED, |timer| {
                std::hint::black_box(timer.value);
            });
            fired += progress.fired;
            if !progress.more {
                return fired;
            }
        }
    }
}
