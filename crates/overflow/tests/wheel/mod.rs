//! The wheel with a heap for its far timers, as the testkit sees an engine.

use wheel_core::{
    Budget, Config, Driver, InsertError, Key, LevelSnapshot, Tick, TickLength, Wheel,
};
use wheel_overflow::FarHeap;
use wheel_testkit::{Places, Refused, Setup, Step, Subject};

/// A wheel, and its driver until that is closed.
pub(crate) struct WithFarHeap {
    wheel: Wheel<u64>,
    driver: Option<Driver<u64>>,
}

impl WithFarHeap {
    /// An engine whose far timers wait in a heap.
    pub(crate) fn build(setup: &Setup) -> WithFarHeap {
        let tick_length = setup.scale.tick_length();
        let tick_length = TickLength::new(tick_length).expect("it divides a millisecond");
        let mut config = Config::new()
            .tick_length(tick_length)
            .start(Tick::new(setup.start))
            .overflow(FarHeap::new());
        if let Some(max_timers) = setup.max_timers {
            config = config.max_timers(max_timers);
        }
        let (wheel, driver) = config.build();
        WithFarHeap {
            wheel,
            driver: Some(driver),
        }
    }

    fn driver(&mut self) -> &mut Driver<u64> {
        self.driver.as_mut().expect("the driver was not closed yet")
    }
}

impl Subject for WithFarHeap {
    type Key = Key;
    const LIMITS: bool = true;
    const CLOSES: bool = true;

    fn insert(&mut self, due: u64, value: u64) -> Result<Key, Refused> {
        self.wheel
            .insert(Tick::new(due), value)
            .map_err(|error| match error {
                InsertError::Full(value) => Refused::Full(value),
                InsertError::Closed(value) => Refused::Closed(value),
                other => panic!(
                    "an insert failed for a reason that the testkit does not know: {other:?}"
                ),
            })
    }

    fn cancel(&mut self, key: Key) -> Option<u64> {
        self.wheel.cancel(key)
    }

    fn reset(&mut self, key: Key, due: u64) -> Option<Key> {
        self.wheel.reset(key, Tick::new(due))
    }

    fn advance(&mut self, now: u64, budget: usize, fire: &mut dyn FnMut(u64, u64)) -> Step {
        let done = self
            .driver()
            .advance(Tick::new(now), Budget::new(budget), |fired| {
                fire(fired.due.get(), fired.value)
            });
        Step {
            fired: done.fired,
            moved: done.moved,
            more: done.more,
        }
    }

    fn next_due(&mut self) -> Option<u64> {
        self.driver().next_due().map(Tick::get)
    }

    fn pending(&mut self) -> usize {
        self.wheel.len()
    }

    fn places(&mut self) -> Option<Places> {
        let snapshot = self.driver().snapshot();
        let slots = snapshot.levels.iter().flat_map(LevelSnapshot::slots);
        let outside = snapshot.overdue + snapshot.overflow + snapshot.put_off;
        Some(Places {
            slots: slots
                .map(|(begins, len)| (begins.get(), len as usize))
                .collect(),
            elsewhere: outside + snapshot.intake,
            live: snapshot.live,
            vacant: snapshot.vacant,
        })
    }

    fn close(&mut self) -> Vec<u64> {
        self.driver
            .take()
            .map(|driver| driver.close().collect())
            .unwrap_or_default()
    }
}
