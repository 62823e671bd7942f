//! What an engine counts.
//!
//! The driver thread writes, and anybody reads at any time without a lock, so neither disturbs the
//! other. Relaxed throughout: these are counts for people, and publish nothing. [O64]

use std::time::Duration;

use wheel_sync::atomic::Ordering;
use wheel_sync::counting::AtomicU64;

use crate::clock::ClockJump;
use crate::observe::{ClockJumps, Histogram, JumpRecorder, Lateness, LatenessRecorder, add_one};

/// What an engine has done until now.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct EngineStats {
    pub(crate) pending: usize,
    pub(crate) fired: u64,
    pub(crate) lateness: Lateness,
    pub(crate) driver: DriverStats,
}

/// How the driver of an engine has fared until now.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct DriverStats {
    pub(crate) wakeups: u64,
    /// From the start of a tick that the driver had to visit to its visit.
    pub(crate) lag: Lateness,
    /// The same against fixed bounds.
    pub(crate) tick_lag: Histogram,
    pub(crate) jumps: ClockJumps,
}

/// Written by the driver thread, read by any. The values are read one by one, so in the middle of
/// things they may be off against each other by a few.
pub(super) struct Counters {
    fired: AtomicU64,
    wakeups: AtomicU64,
    lateness: LatenessRecorder,
    tick_lag: LatenessRecorder,
    jumps: JumpRecorder,
}

impl Counters {
    pub(super) fn new() -> Counters {
        Counters {
            fired: AtomicU64::new(0),
            wakeups: AtomicU64::new(0),
            lateness: LatenessRecorder::new(),
            tick_lag: LatenessRecorder::new(),
            jumps: JumpRecorder::new(),
        }
    }

    pub(super) fn fired(&self, late: Duration) {
        add_one(&self.fired);
        self.lateness.record(late);
    }

    pub(super) fn woke_up(&self) {
        add_one(&self.wakeups);
    }

    pub(super) fn visited(&self, lag: Duration) {
        self.tick_lag.record(lag);
    }

    pub(super) fn clock_jumped(&self, jump: ClockJump) {
        self.jumps.record(jump);
    }

    pub(super) fn snapshot(&self, pending: usize) -> EngineStats {
        EngineStats {
            pending,
            fired: self.fired.load(Ordering::Relaxed),
            lateness: self.lateness.snapshot(),
            driver: self.of_driver(),
        }
    }

    fn of_driver(&self) -> DriverStats {
        DriverStats {
            wakeups: self.wakeups.load(Ordering::Relaxed),
            lag: self.tick_lag.snapshot(),
            tick_lag: self.tick_lag.histogram(),
            jumps: self.jumps.snapshot(),
        }
    }
}
