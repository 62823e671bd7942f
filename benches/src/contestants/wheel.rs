//! The lock-free wheel with its driver.

use std::any::Any;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use wheel_core::{Budget, Config, Driver, Key, Tick, Wheel};
use wheel_runtime::Timers;

use crate::{Contestant, Hand, Moment, Recorder, Shared, Time, Value, Workload};

/// A wheel and the driver that advances it, without a waker: the bench is the clock.
pub struct WheelAndDriver {
    wheel: Wheel<Value>,
    driver: Driver<Value>,
}

/// A driver's thread takes this much on at a time, so that it reads the clock in between.
const PASS: Budget = Budget::new(4096);

impl Contestant for WheelAndDriver {
    type Key = Key;
    type Hand = WheelHand;

    const NAME: &'static str = "wheel";
    const SETUP: &'static str = "wheel_core::Wheel and its Driver, advanced by the bench or by a \
                                 thread that ticks every millisecond; wheel_runtime::Timers where \
                                 time is real, Scheduler for tasks";

    fn left_out(_: Workload) -> Option<&'static str> {
        None
    }

    fn new(_: Time) -> Self {
        let (wheel, driver) = Config::new().build();
        WheelAndDriver { wheel, driver }
    }

    #[inline(always)]
    fn insert(&mut self, due: Tick, value: Value) -> Key {
        self.wheel.insert(due, value).expect("it has no limit")
    }

    #[inline(always)]
    fn cancel(&mut self, key: Key) -> bool {
        black_box(self.wheel.cancel(key)).is_some()
    }

    #[inline]
    fn advance(&mut self, now: Tick) -> usize {
        let mut fired = 0;
        loop {
            let progress = self.driver.advance(now, Budget::UNLIMITED, |timer| {
                black_box(timer.value);
            });
            fired += progress.fired;
            if !progress.more {
                return fired;
            }
        }
    }

    fn share(threads: usize) -> Shared<Self> {
        let (wheel, mut driver) = Config::new().build();
        Shared {
            hands: (0..threads).map(|_| WheelHand(wheel.clone())).collect(),
            drivers: vec![Box::new(move |now| {
                while driver
                    .advance(now, PASS, |timer| {
                        black_box(timer.value);
                    })
                    .more
                {}
                driver.next_due();
            })],
            settle: None,
        }
    }

    fn fire_at(recorder: &Arc<Recorder>, variant: &str) -> Box<dyn Any> {
        let fine = Duration::from_micros(10);
        let builder = match variant {
            "fine_tick" => Timers::builder().tick(fine),
            "precise_wait" => Timers::builder()
                .tick(fine)
                .precise_wait(Duration::from_micros(100)),
            _ => Timers::builder(),
        };
        let timers = builder.build().expect("a driver thread");
        for index in 0..recorder.asked().len() {
            let told = Arc::clone(recorder);
            timers
                .after(recorder.delay(index), move || told.fired(index))
                .expect("it has no limit");
        }
        Box::new(timers)
    }
}

/// A handle for one thread.
pub struct WheelHand(Wheel<Value>);

impl Hand for WheelHand {
    type Key = Key;

    #[inline(always)]
    fn insert(&mut self, now: Moment, delay_ms: u64, value: Value) -> Key {
        let due = Tick::new(now.tick + delay_ms);
        self.0.insert(due, value).expect("it has no limit")
    }

    #[inline(always)]
    fn cancel(&mut self, key: Key) {
        assert!(black_box(self.0.cancel(key)).is_some(), "nothing was due");
    }
}
