//! The standard library's heap with tombstones: what one writes in an afternoon.

use std::any::Any;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};
use std::hint::black_box;
use std::sync::Arc;

use super::locked::{Locked, LockedHand, Structure, by_the_lock};
use super::{NO_WAIT, NO_WORKERS};
use crate::{Contestant, Recorder, Shared, Tick, Time, Value, Workload};

/// `BinaryHeap` of due, id and value, and a set of the ids that were cancelled. When more than half
/// of the heap is cancelled it is rebuilt without them, as asyncio does.
#[derive(Default)]
pub struct Tombstones {
    heap: BinaryHeap<Reverse<(u64, u64, Value)>>,
    cancelled: HashSet<u64>,
    last: u64,
}

impl Tombstones {
    fn sweep(&mut self) {
        let cancelled = std::mem::take(&mut self.cancelled);
        self.heap
            .retain(|Reverse((_, id, _))| !cancelled.contains(id));
        self.cancelled = cancelled;
        self.cancelled.clear();
    }
}

impl Structure for Tombstones {
    type Key = u64;

    #[inline(always)]
    fn insert(&mut self, due: Tick, value: Value) -> u64 {
        self.last += 1;
        self.heap.push(Reverse((due.get(), self.last, value)));
        self.last
    }

    /// Cannot tell whether the timer has fired; its users keep that in the timer itself.
    #[inline(always)]
    fn cancel(&mut self, key: u64) -> bool {
        self.cancelled.insert(key);
        if self.cancelled.len() > 64 && self.cancelled.len() > self.heap.len() / 2 {
            self.sweep();
        }
        true
    }

    #[inline]
    fn pop_due(&mut self, now: Tick) -> Option<Value> {
        loop {
            let Reverse((due, _, _)) = self.heap.peek()?;
            if *due > now.get() {
                return None;
            }
            let Reverse((_, id, value)) = self.heap.pop()?;
            if self.cancelled.is_empty() || !self.cancelled.remove(&id) {
                return Some(black_box(value));
            }
        }
    }
}

/// The heap in a mutex.
pub struct StdBinaryHeap(Locked<Tombstones>);

impl Contestant for StdBinaryHeap {
    by_the_lock!(Tombstones);

    const NAME: &'static str = "std_binary_heap";
    const SETUP: &'static str = "std BinaryHeap in a std::sync::Mutex, cancelled ids in a HashSet \
                                 (default hasher), rebuilt when over half are cancelled";

    fn left_out(workload: Workload) -> Option<&'static str> {
        match workload {
            Workload::Lateness => Some(NO_WAIT),
            other => other.needs_workers().then_some(NO_WORKERS),
        }
    }

    fn fire_at(_: &Arc<Recorder>, _: &str) -> Box<dyn Any> {
        unreachable!("left out")
    }
}
