//! The heap-only scheduler as the testkit sees an engine.

use wheel_core::{Budget, Tick};
use wheel_overflow::{HeapKey, HeapTimers};
use wheel_testkit::{Refused, Setup, Step, Subject};

/// Timers in a heap.
pub(crate) struct Heap(HeapTimers<u64>);

impl Heap {
    /// A heap needs no start and knows no limit.
    pub(crate) fn build(_setup: &Setup) -> Heap {
        Heap(HeapTimers::new())
    }
}

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
            .advance(Tick::new(now), Budget::new(budget), |due, value| {
                fire(due.get(), value)
            });
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
