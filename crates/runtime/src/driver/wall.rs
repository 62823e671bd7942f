//! Timers that follow the wall clock, counted in milliseconds.
//!
//! The count begins 2^63 ms before the Unix epoch, so that it goes on evenly for a clock that stands
//! before that.
//!
//! They cannot live in the wheel: a step of the wall clock would have to move them all. Their own
//! heap is compared with the wall clock at each look, so a step moves them for nothing. They are
//! few and their instants coarse; a mutex is enough. No value is dropped under it.

use std::num::NonZeroU32;
use std::time::SystemTime;

use wheel_core::Tick;
use wheel_overflow::{HeapKey, HeapTimers};
use wheel_sync::Mutex;
use wheel_sync::atomic::{AtomicUsize, Ordering};

use crate::clock::unix_nanos;

const MS: i128 = 1_000_000;
/// What the count says at the Unix epoch.
const EPOCH: i128 = 1 << 63;

/// Names one wall-clock timer of one engine.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct WallKey {
    engine: NonZeroU32,
    timer: HeapKey,
}

/// The heap, shared by the driver and by those who insert and cancel.
pub(super) struct WallTimers<T> {
    engine: NonZeroU32,
    /// How many are pending, so that the others need not take the lock to see that there are none.
    len: AtomicUsize,
    queue: Mutex<Queue<T>>,
}

struct Queue<T> {
    /// A tick is a millisecond of the count here.
    timers: HeapTimers<T>,
    closed: bool,
}

/// The first whole millisecond that is not before `at`.
pub(super) fn ms_ceil(at: SystemTime) -> u64 {
    count(unix_nanos(at) + MS - 1)
}

/// The millisecond that a reading lies in.
pub(super) fn ms_floor(nanos: i128) -> u64 {
    count(nanos)
}

/// Nanoseconds since the Unix epoch at which the millisecond `ms` begins.
pub(super) fn nanos_of_ms(ms: u64) -> i128 {
    (i128::from(ms) - EPOCH) * MS
}

/// Rounds down; what cannot be counted is the first or the last.
fn count(nanos: i128) -> u64 {
    let ms = (nanos.div_euclid(MS) + EPOCH).max(0);
    u64::try_from(ms).unwrap_or(u64::MAX)
}

impl<T> WallTimers<T> {
    pub(super) fn new() -> WallTimers<T> {
        // tidy: allow sync-only, ids outlive an execution of a model and order nothing
        use std::sync::atomic::AtomicU32;
        static ENGINES: AtomicU32 = AtomicU32::new(1);
        // Relaxed: only the numbers must differ. [O71]
        let engine = ENGINES.fetch_add(1, Ordering::Relaxed);
        WallTimers {
            engine: NonZeroU32::new(engine).expect("fewer than 2^32 engines in one process"),
            len: AtomicUsize::new(0),
            queue: Mutex::new(Queue {
                timers: HeapTimers::new(),
                closed: false,
            }),
        }
    }

    /// Adds a timer; true if it is now the earliest, so that the driver must look again.
    pub(super) fn insert(&self, at: SystemTime, value: T) -> Result<(WallKey, bool), T> {
        self.insert_at(ms_ceil(at), value)
    }

    pub(super) fn insert_at(&self, due_ms: u64, value: T) -> Result<(WallKey, bool), T> {
        let mut queue = self.queue.lock();
        if queue.closed {
            return Err(value);
        }
        let due = Tick::new(due_ms);
        let earliest = queue.timers.next_due().is_none_or(|next| due < next);
        let timer = queue.timers.insert(due, value);
        self.publish_len(&queue);
        let key = WallKey {
            engine: self.engine,
            timer,
        };
        Ok((key, earliest))
    }

    /// The due millisecond and the value, exactly once.
    pub(super) fn cancel(&self, key: WallKey) -> Option<(u64, T)> {
        if key.engine != self.engine {
            return None;
        }
        let mut queue = self.queue.lock();
        let due = queue.timers.get(key.timer)?.0;
        let value = queue.timers.cancel(key.timer)?;
        self.publish_len(&queue);
        Some((due.get(), value))
    }

    /// Takes one that is due when the wall clock reads `now_ms`, the earliest first.
    pub(super) fn pop_due(&self, now_ms: u64) -> Option<(u64, T)> {
        let mut queue = self.queue.lock();
        let (due, value) = queue.timers.pop_due(Tick::new(now_ms))?;
        self.publish_len(&queue);
        Some((due.get(), value))
    }

    pub(super) fn next_due_ms(&self) -> Option<u64> {
        if self.is_empty() {
            return None;
        }
        self.queue.lock().timers.next_due().map(Tick::get)
    }

    /// Refuses what comes later and returns what is pending, in order of due.
    pub(super) fn close(&self) -> Vec<T> {
        let mut queue = self.queue.lock();
        queue.closed = true;
        let pending = queue.timers.drain().map(|(_, value)| value).collect();
        self.publish_len(&queue);
        pending
    }

    pub(super) fn len(&self) -> usize {
        // Relaxed: a count for people and for the limit; the values travel through the mutex.
        // [O72]
        self.len.load(Ordering::Relaxed)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn publish_len(&self, queue: &Queue<T>) {
        // Relaxed: written under the mutex, so the counts follow each other in order. A driver that
        // misses the first timer is rung after its insert, and the bell orders the two. [O72]
        self.len.store(queue.timers.len(), Ordering::Relaxed);
    }
}
