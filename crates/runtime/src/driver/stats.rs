//! What an engine counts.
//!
//! The driver thread writes, and anybody reads at any time without a lock, so neither disturbs the
//! other. Relaxed throughout: these are counts for people, and publish nothing. [O64]

use std::time::Duration;

use wheel_sync::atomic::Ordering;
use wheel_sync::counting::AtomicU64;

use crate::observe::{Histogram, Lateness, LatenessRecorder};

/// What an engine has done until now.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct EngineStats {
    pub(crate) pending: usize,
    pub(crate) fired: u64,
    pub(crate) wakeups: u64,
    pub(crate) clock_jumps: u64,
    pub(crate) lateness: Lateness,
    pub(crate) lag: Histogram,
}

/// Written by the driver thread, read by any. The values are read one by one, so in the middle of
/// things they may be off against each other by a few.
pub(super) struct Counters {
    fired: AtomicU64,
    wakeups: AtomicU64,
    clock_jumps: AtomicU64,
    lateness: LatenessRecorder,
}

impl Counters {
    pub(super) fn new() -> Counters {
        Counters {
            fired: AtomicU64::new(0),
            wakeups: AtomicU64::new(0),
            clock_jumps: AtomicU64::new(0),
            lateness: LatenessRecorder::new(),
        }
    }

    pub(super) fn fired(&self, late: Duration) {
        add_one(&self.fired);
        self.lateness.record(late);
    }

    pub(super) fn woke_up(&self) {
        add_one(&self.wakeups);
    }

    pub(super) fn clock_jumped(&self) {
        add_one(&self.clock_jumps);
    }

    pub(super) fn snapshot(&self, pending: usize) -> EngineStats {
        EngineStats {
            pending,
            fired: self.fired.load(Ordering::Relaxed),
            wakeups: self.wakeups.load(Ordering::Relaxed),
            clock_jumps: self.clock_jumps.load(Ordering::Relaxed),
            lateness: self.lateness.snapshot(),
            lag: self.lateness.histogram(),
        }
    }
}

/// A step of the driver, the only writer: no read-modify-write needed.
fn add_one(counter: &AtomicU64) {
    let count = counter.load(Ordering::Relaxed);
    counter.store(count.wrapping_add(1), Ordering::Relaxed);
}
