//! The heap against the oracle: random streams of operations, compared with a sorted map after every step.

use wheel_core::Tick;
use wheel_overflow::{HeapKey, HeapTimers};
use wheel_testkit::{Refused, Scale, Step, Subject, check, seeds};

struct Heap(HeapTimers<u64>);

impl Subject for Heap {
    type Key = HeapKey;
    const LIMITS: bool = false;
    const CLOSES: bool = false;

    fn insert(&mut self, due: u64, value: u64) -> Result<HeapKey, Refused> {
        Ok(self.0.insert(Tick::new(due), value))
    }

    fn cancel(&mut self, key: HeapKey) -> Option<u64> {
        self.0.cancel(key)
    }

    fn reset(&mut self, key: HeapKey, due: u64) -> Option<HeapKey> {
        self.0.reset(key, Tick::new(due)).then_some(key)
    }

    fn advance(&mut self, now: u64, budget: usize, fire: &mut dyn FnMut(u64, u64)) -> Step {
        let done = self
            .0
            .advance(Tick::new(now), budget, |due, value| fire(due.get(), value));
        Step {
            fired: done.fired,
            moved: done.moved,
            more: done.more,
        }
    }

    fn next_due(&mut self) -> Option<u64> {
        self.0.next_due().map(Tick::get)
    }

    fn pending(&mut self) -> usize {
        self.0.len()
    }

    fn close(&mut self) -> Vec<u64> {
        self.0.drain().map(|(_, value)| value).collect()
    }
}

#[test]
fn heap_timers_agree_with_the_oracle() {
    for seed in seeds(1_500) {
        check(seed, Scale::Millisecond, |_| Heap(HeapTimers::new()));
    }
}

#[test]
fn heap_timers_agree_with_the_oracle_at_fine_ticks() {
    for seed in seeds(1_500) {
        check(seed, Scale::TenMicroseconds, |_| Heap(HeapTimers::new()));
    }
}
