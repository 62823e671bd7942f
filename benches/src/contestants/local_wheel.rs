//! The wheel of one thread.

use std::any::Any;
use std::hint::black_box;
use std::sync::Arc;

use wheel_core::{Budget, Config, Key, LocalWheel, Tick};

use super::{NO_WAIT, NO_WORKERS};
use crate::{Contestant, NoHand, Recorder, Shared, Time, Value, Workload};

/// `LocalWheel` as its one owner has it.
pub struct OneOwner(LocalWheel<Value>);

impl Contestant for OneOwner {
    type Key = Key;
    type Hand = NoHand<Key>;

    const NAME: &'static str = "local_wheel";
    const SETUP: &'static str = "wheel_core::LocalWheel, owned by the thread that uses it";

    fn left_out(workload: Workload) -> Option<&'static str> {
        if workload.is_threaded() {
            return Some("is for one thread; `mutex_wheel` is the same behind a lock");
        }
        match workload {
            Workload::Lateness => Some(NO_WAIT),
            other => other.needs_workers().then_some(NO_WORKERS),
        }
    }

    fn new(_: Time) -> Self {
        OneOwner(Config::new().build_local())
    }

    #[inline(always)]
    fn insert(&mut self, due: Tick, value: Value) -> Key {
        self.0.insert(due, value).expect("it has no limit")
    }

    #[inline(always)]
    fn cancel(&mut self, key: Key) -> bool {
        black_box(self.0.cancel(key)).is_some()
    }

    #[inline]
    fn advance(&mut self, now: Tick) -> usize {
        let progress = self.0.advance(now, Budget::UNLIMITED, |timer| {
            black_box(timer.value);
        });
        progress.fired
    }

    fn share(_: usize) -> Shared<Self> {
        unreachable!("left out")
    }

    fn fire_at(_: &Arc<Recorder>, _: &str) -> Box<dyn Any> {
        unreachable!("left out")
    }
}
