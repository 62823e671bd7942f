//! Wheel and LocalWheel against the oracle: random streams of operations, compared with a sorted map
//! after every step.

use std::time::Duration;

use wheel_core::{
    Budget, Config, Driver, InsertError, Key, LocalWheel, Progress, Tick, TickLength, Wheel,
};
use wheel_testkit::{Refused, Scale, Setup, Step, Subject, check, seeds};

fn config(scale: Scale, setup: &Setup) -> Config {
    let mut config = Config::new().start(Tick::new(setup.start));
    if let Scale::TenMicroseconds = scale {
        let tick = TickLength::new(Duration::from_micros(10)).expect("10 us divide 1 ms");
        config = config.tick_length(tick);
    }
    if let Some(max) = setup.max_timers {
        config = config.max_timers(max);
    }
    config
}

fn refused(error: InsertError<u64>) -> Refused {
    match error.is_full() {
        true => Refused::Full(error.into_value()),
        false => Refused::Closed(error.into_value()),
    }
}

fn step(done: Progress) -> Step {
    Step {
        fired: done.fired,
        moved: done.moved,
        more: done.more,
    }
}

struct Shared(Wheel<u64>, Option<Driver<u64>>);

impl Subject for Shared {
    type Key = Key;
    const LIMITS: bool = true;
    const CLOSES: bool = true;

    fn insert(&mut self, due: u64, value: u64) -> Result<Key, Refused> {
        self.0.insert(Tick::new(due), value).map_err(refused)
    }

    fn cancel(&mut self, key: Key) -> Option<u64> {
        self.0.cancel(key)
    }

    fn reset(&mut self, key: Key, due: u64) -> Option<Key> {
        self.0.reset(key, Tick::new(due))
    }

    fn advance(&mut self, now: u64, budget: usize, fire: &mut dyn FnMut(u64, u64)) -> Step {
        let driver = self.1.as_mut().expect("not closed");
        step(
            driver.advance(Tick::new(now), Budget::new(budget), |timer| {
                fire(timer.due.get(), timer.value);
            }),
        )
    }

    fn next_due(&mut self) -> Option<u64> {
        self.1.as_mut().and_then(Driver::next_due).map(Tick::get)
    }

    fn pending(&mut self) -> usize {
        self.0.len()
    }

    fn close(&mut self) -> Vec<u64> {
        self.1
            .take()
            .map_or(Vec::new(), |driver| driver.close().collect())
    }
}

struct Local(Option<LocalWheel<u64>>);

impl Local {
    fn wheel(&mut self) -> &mut LocalWheel<u64> {
        self.0.as_mut().expect("not closed")
    }
}

impl Subject for Local {
    type Key = Key;
    const LIMITS: bool = true;
    const CLOSES: bool = false;

    fn insert(&mut self, due: u64, value: u64) -> Result<Key, Refused> {
        self.wheel().insert(Tick::new(due), value).map_err(refused)
    }

    fn cancel(&mut self, key: Key) -> Option<u64> {
        self.wheel().cancel(key)
    }

    fn reset(&mut self, key: Key, due: u64) -> Option<Key> {
        self.wheel().reset(key, Tick::new(due))
    }

    fn advance(&mut self, now: u64, budget: usize, fire: &mut dyn FnMut(u64, u64)) -> Step {
        let done = self
            .wheel()
            .advance(Tick::new(now), Budget::new(budget), |timer| {
                fire(timer.due.get(), timer.value);
            });
        step(done)
    }

    fn next_due(&mut self) -> Option<u64> {
        self.wheel().next_due().map(Tick::get)
    }

    fn pending(&mut self) -> usize {
        self.0.as_ref().map_or(0, LocalWheel::len)
    }

    fn close(&mut self) -> Vec<u64> {
        let empty = Config::new().build_local();
        self.0.replace(empty).expect("not closed").close().collect()
    }
}

fn judge_wheel(scale: Scale) {
    for seed in seeds(1500) {
        check(seed, scale, |setup| {
            let (wheel, driver) = config(scale, setup).build();
            Shared(wheel, Some(driver))
        });
    }
}

fn judge_local(scale: Scale) {
    for seed in seeds(1500) {
        check(seed, scale, |setup| {
            Local(Some(config(scale, setup).build_local()))
        });
    }
}

#[test]
fn wheel_agrees_with_the_oracle() {
    judge_wheel(Scale::Millisecond);
}

#[test]
fn wheel_agrees_with_the_oracle_at_fine_ticks() {
    judge_wheel(Scale::TenMicroseconds);
}

#[test]
fn local_wheel_agrees_with_the_oracle() {
    judge_local(Scale::Millisecond);
}

#[test]
fn local_wheel_agrees_with_the_oracle_at_fine_ticks() {
    judge_local(Scale::TenMicroseconds);
}
