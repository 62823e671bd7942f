//! `LocalWheel`.

use wheel_core::{Budget, Config, Key, LocalWheel, Tick};
use wheel_testkit::{Places, Refused, Setup, Step, Subject};

/// A wheel for one thread. Closing leaves an empty one.
pub(crate) struct Local(LocalWheel<u64>);

impl Local {
    pub(crate) fn build(setup: &Setup) -> Local {
        Local(super::config(setup).build_local())
    }
}

impl Subject for Local {
    type Key = Key;
    const LIMITS: bool = true;
    const CLOSES: bool = false;

    fn insert(&mut self, due: u64, value: u64) -> Result<Key, Refused> {
        self.0.insert(Tick::new(due), value).map_err(super::refused)
    }

    fn cancel(&mut self, key: Key) -> Option<u64> {
        self.0.cancel(key)
    }

    fn reset(&mut self, key: Key, due: u64) -> Option<Key> {
        self.0.reset(key, Tick::new(due))
    }

    fn advance(&mut self, now: u64, budget: usize, fire: &mut dyn FnMut(u64, u64)) -> Step {
        let budget = Budget::new(budget);
        super::step(self.0.advance(Tick::new(now), budget, |timer| {
            fire(timer.due.get(), timer.value);
        }))
    }

    fn next_due(&mut self) -> Option<u64> {
        self.0.next_due().map(Tick::get)
    }

    fn pending(&mut self) -> usize {
        self.0.len()
    }

    fn places(&mut self) -> Option<Places> {
        Some(super::places(&self.0.snapshot()))
    }

    fn close(&mut self) -> Vec<u64> {
        let empty = Config::new().build_local();
        std::mem::replace(&mut self.0, empty).close().collect()
    }
}
