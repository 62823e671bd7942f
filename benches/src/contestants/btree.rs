//! A tree ordered by due and id: cancelling is a removal, the earliest is the first.

use std::any::Any;
use std::collections::BTreeMap;
use std::hint::black_box;
use std::sync::Arc;

use super::locked::{Locked, LockedHand, Structure, by_the_lock};
use super::{NO_WAIT, NO_WORKERS};
use crate::{Contestant, Recorder, Shared, Tick, Time, Value, Workload};

/// `BTreeMap` with keys of due and id.
#[derive(Default)]
pub struct Tree {
    timers: BTreeMap<(u64, u64), Value>,
    last: u64,
}

impl Structure for Tree {
    type Key = (u64, u64);

    #[inline(always)]
    fn insert(&mut self, due: Tick, value: Value) -> (u64, u64) {
        self.last += 1;
        let key = (due.get(), self.last);
        self.timers.insert(key, value);
        key
    }

    #[inline(always)]
    fn cancel(&mut self, key: (u64, u64)) -> bool {
        black_box(self.timers.remove(&key)).is_some()
    }

    #[inline]
    fn pop_due(&mut self, now: Tick) -> Option<Value> {
        let first = self.timers.first_entry()?;
        (first.key().0 <= now.get()).then(|| first.remove())
    }
}

/// The tree in a mutex.
pub struct Btree(Locked<Tree>);

impl Contestant for Btree {
    by_the_lock!(Tree);

    const NAME: &'static str = "btree";
    const SETUP: &'static str = "std BTreeMap with keys of due and id in a std::sync::Mutex";

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
