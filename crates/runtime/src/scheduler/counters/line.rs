//! What is counted of runs, on one line: that of some threads, or of some threads and one name.
//!
//! A run that is over is counted by how, once, so that no number is a difference of two and all of
//! them only go up.
//!
//! Relaxed throughout: these are numbers for people, they publish nothing. [O64]

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use wheel_sync::atomic::Ordering;
use wheel_sync::counting::AtomicU64;

use crate::observe::{Durations, NameStats};
use crate::task::{SkipReason, TaskState};

/// See [`NameStats`] for what each one means.
#[derive(Default)]
pub(crate) struct RunCounts {
    runs: AtomicU64,
    succeeded: AtomicU64,
    failed: AtomicU64,
    run_timed_out: AtomicU64,
    dead: AtomicU64,
    /// Failed, but cancelled before.
    cut: AtomicU64,
    abandoned: AtomicU64,
    retried: AtomicU64,
    timed_out: AtomicU64,
    snoozed: AtomicU64,
    panicked: AtomicU64,
    skipped_overlap: AtomicU64,
    skipped_misfire: AtomicU64,
    skipped_paused: AtomicU64,
    skipped_refused: AtomicU64,
    skipped_upstream: AtomicU64,
    missed: AtomicU64,
    misfired: AtomicU64,
    took: Durations,
}

impl RunCounts {
    /// A run starts, which stands for so many others.
    pub(crate) fn run_started(&self, missed: u64) {
        self.runs.fetch_add(1, Ordering::Relaxed);
        self.missed(missed);
    }

    /// It started later than the misfire threshold allows.
    pub(crate) fn run_misfired(&self) {
        self.misfired.fetch_add(1, Ordering::Relaxed);
    }

    /// An attempt is over.
    pub(crate) fn attempt_took(&self, took: Duration) {
        self.took.record(took);
    }

    /// A run is over, and has ended so.
    pub(crate) fn run_over(&self, how: TaskState) {
        let counter = match how {
            TaskState::Succeeded => &self.succeeded,
            TaskState::Dead => &self.dead,
            TaskState::TimedOut => &self.run_timed_out,
            TaskState::Cancelled => &self.cut,
            _ => &self.failed,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// It had begun, and its end was not waited for.
    pub(crate) fn run_abandoned(&self) {
        self.abandoned.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn run_retried(&self) {
        self.retried.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn attempt_timed_out(&self) {
        self.timed_out.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn run_snoozed(&self) {
        self.snoozed.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn run_panicked(&self) {
        self.panicked.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn skipped(&self, occurrences: u64, why: SkipReason) {
        let of_reason = match why {
            SkipReason::Overlap => &self.skipped_overlap,
            SkipReason::Misfire => &self.skipped_misfire,
            SkipReason::Paused => &self.skipped_paused,
            SkipReason::Refused => &self.skipped_refused,
            SkipReason::Upstream => &self.skipped_upstream,
        };
        of_reason.fetch_add(occurrences, Ordering::Relaxed);
    }

    /// So many occurrences had no run of their own.
    pub(crate) fn missed(&self, occurrences: u64) {
        if occurrences > 0 {
            self.missed.fetch_add(occurrences, Ordering::Relaxed);
        }
    }

    /// Adds what is on this line.
    pub(super) fn add_to(&self, sum: &mut NameStats) {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        // Ends before starts: who reads in the middle of things sees no more ends than starts.
        sum.succeeded += read(&self.succeeded);
        sum.failed += read(&self.failed);
        sum.timed_out += read(&self.run_timed_out);
        sum.dead += read(&self.dead);
        let (cut, abandoned) = (read(&self.cut), read(&self.abandoned));
        sum.cancelled += cut + abandoned;
        sum.cut += cut;
        sum.abandoned += abandoned;
        sum.runs += read(&self.runs);
        sum.retried += read(&self.retried);
        sum.attempts_timed_out += read(&self.timed_out);
        sum.snoozed += read(&self.snoozed);
        sum.panicked += read(&self.panicked);
        sum.skipped_overlap += read(&self.skipped_overlap);
        sum.skipped_misfire += read(&self.skipped_misfire);
        sum.skipped_paused += read(&self.skipped_paused);
        sum.skipped_refused += read(&self.skipped_refused);
        sum.skipped_upstream += read(&self.skipped_upstream);
        sum.missed += read(&self.missed);
        sum.misfired += read(&self.misfired);
        sum.duration.merge(&self.took.read());
    }
}

/// An instant in milliseconds; 0 is none.
#[derive(Default)]
pub(super) struct LatestMs(AtomicU64);

impl LatestMs {
    pub(super) fn note(&self, at: SystemTime) {
        let since_epoch = at.duration_since(UNIX_EPOCH).unwrap_or_default();
        let ms = u64::try_from(since_epoch.as_millis()).unwrap_or(0);
        self.0.fetch_max(ms, Ordering::Relaxed);
    }

    pub(super) fn read(&self) -> Option<SystemTime> {
        match self.0.load(Ordering::Relaxed) {
            0 => None,
            ms => UNIX_EPOCH.checked_add(Duration::from_millis(ms)),
        }
    }
}
