//! The indexed heap in a mutex: hard to beat when it is small, and the measure of all ratios.

use std::any::Any;
use std::hint::black_box;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use wheel_overflow::{HeapKey, HeapTimers};

use super::NO_WORKERS;
use super::locked::{Locked, LockedHand, Structure, by_the_lock};
use crate::{Contestant, Recorder, Shared, Tick, Time, Value, Workload};

/// `HeapTimers` shared through a mutex.
pub struct Heap(Locked<HeapTimers<Value>>);

impl Structure for HeapTimers<Value> {
    type Key = HeapKey;

    #[inline(always)]
    fn insert(&mut self, due: Tick, value: Value) -> HeapKey {
        HeapTimers::insert(self, due, value)
    }

    #[inline(always)]
    fn cancel(&mut self, key: HeapKey) -> bool {
        black_box(HeapTimers::cancel(self, key)).is_some()
    }

    #[inline]
    fn pop_due(&mut self, now: Tick) -> Option<Value> {
        HeapTimers::pop_due(self, now).map(|(_, value)| value)
    }
}

impl Contestant for Heap {
    by_the_lock!(HeapTimers<Value>);

    const NAME: &'static str = "heap";
    const SETUP: &'static str = "wheel_overflow::HeapTimers, an indexed 4-ary heap, in a \
                                 std::sync::Mutex; for lateness a thread waits on a Condvar";

    fn left_out(workload: Workload) -> Option<&'static str> {
        workload.needs_workers().then_some(NO_WORKERS)
    }

    /// A thread that sleeps on a condvar until the earliest is due, to the microsecond: a tick is
    /// one here.
    fn fire_at(recorder: &Arc<Recorder>, _: &str) -> Box<dyn Any> {
        let started = Instant::now();
        let shared = Arc::new((Mutex::new(HeapTimers::<usize>::new()), Condvar::new()));
        let (driver, told) = (Arc::clone(&shared), Arc::clone(recorder));
        thread::spawn(move || wait_and_fire(&driver.0, &driver.1, started, &told));
        for (index, asked) in recorder.asked().iter().enumerate() {
            let after = asked.saturating_duration_since(started);
            let due = Tick::new(u64::try_from(after.as_nanos().div_ceil(1000)).unwrap_or(u64::MAX));
            let mut heap = shared.0.lock().unwrap_or_else(PoisonError::into_inner);
            let first = heap.next_due().is_none_or(|next| due < next);
            heap.insert(due, index);
            drop(heap);
            if first {
                shared.1.notify_one();
            }
        }
        Box::new(shared)
    }
}

fn wait_and_fire(
    heap: &Mutex<HeapTimers<usize>>,
    earlier: &Condvar,
    started: Instant,
    told: &Recorder,
) {
    let mut timers = heap.lock().unwrap_or_else(PoisonError::into_inner);
    while told.missing() > 0 {
        let elapsed = started.elapsed();
        let now = Tick::new(u64::try_from(elapsed.as_micros()).unwrap_or(u64::MAX));
        if let Some((_, index)) = timers.pop_due(now) {
            drop(timers);
            told.fired(index);
            timers = heap.lock().unwrap_or_else(PoisonError::into_inner);
            continue;
        }
        let wait = match timers.next_due() {
            Some(due) => Duration::from_micros(due.get()).saturating_sub(elapsed),
            None => Duration::from_millis(10),
        };
        let woken = earlier.wait_timeout(timers, wait);
        timers = woken.unwrap_or_else(PoisonError::into_inner).0;
    }
}
