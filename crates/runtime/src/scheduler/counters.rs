//! What a scheduler counts while it works.
//!
//! Ground rules: plain atomics, written where things happen, so that nobody takes a lock to count.
//! Relaxed throughout: these are numbers for people, they publish nothing. [O64] But for `live`, at
//! which a waiter in `activity.rs` looks: every end of a task is followed by a step there, which
//! wakes it.

use std::time::Duration;

use wheel_sync::atomic::{AtomicUsize, Ordering};
use wheel_sync::counting::{AtomicI64, AtomicU64};

use crate::observe::{LatenessRecorder, Stats};
use crate::task::TaskState;

/// See [`Stats`] for what each one means.
pub(crate) struct Counters {
    live: AtomicUsize,
    /// The state of a task and its gauges are not changed in one step, so a gauge may be below zero
    /// for an instant.
    scheduled: AtomicI64,
    queued: AtomicI64,
    running: AtomicI64,
    retrying: AtomicI64,
    runs: AtomicU64,
    succeeded: AtomicU64,
    failed: AtomicU64,
    abandoned: AtomicU64,
    dead: AtomicU64,
    retried: AtomicU64,
    snoozed: AtomicU64,
    panicked: AtomicU64,
    hooks_panicked: AtomicU64,
    skipped: AtomicU64,
    missed: AtomicU64,
    misfired: AtomicU64,
    early: AtomicU64,
    cancelled: AtomicU64,
    queue_full: AtomicU64,
    lateness: LatenessRecorder,
}

impl Counters {
    pub(crate) fn new() -> Counters {
        Counters {
            live: AtomicUsize::new(0),
            scheduled: AtomicI64::new(0),
            queued: AtomicI64::new(0),
            running: AtomicI64::new(0),
            retrying: AtomicI64::new(0),
            runs: AtomicU64::new(0),
            succeeded: AtomicU64::new(0),
            failed: AtomicU64::new(0),
            abandoned: AtomicU64::new(0),
            dead: AtomicU64::new(0),
            retried: AtomicU64::new(0),
            snoozed: AtomicU64::new(0),
            panicked: AtomicU64::new(0),
            hooks_panicked: AtomicU64::new(0),
            skipped: AtomicU64::new(0),
            missed: AtomicU64::new(0),
            misfired: AtomicU64::new(0),
            early: AtomicU64::new(0),
            cancelled: AtomicU64::new(0),
            queue_full: AtomicU64::new(0),
            lateness: LatenessRecorder::new(),
        }
    }

    /// A task is there that was not.
    pub(crate) fn task_added(&self) {
        self.live.fetch_add(1, Ordering::Relaxed);
        self.scheduled.fetch_add(1, Ordering::Relaxed);
    }

    /// It is gone again, as if it had never been there.
    pub(crate) fn task_refused(&self) {
        self.scheduled.fetch_sub(1, Ordering::Relaxed);
        // Relaxed: it has done nothing that anybody could want to see. [O53]
        self.live.fetch_sub(1, Ordering::Relaxed);
    }

    /// A task went from one state to another.
    pub(crate) fn moved(&self, from: TaskState, to: TaskState) {
        if from == to {
            return;
        }
        if let Some(gauge) = self.gauge(from) {
            gauge.fetch_sub(1, Ordering::Relaxed);
        }
        if let Some(gauge) = self.gauge(to) {
            gauge.fetch_add(1, Ordering::Relaxed);
        }
        if to.has_ended() {
            // Release: what the task has done; pairs with `live`. [O53]
            self.live.fetch_sub(1, Ordering::Release);
        }
        if to == TaskState::Cancelled {
            self.cancelled.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// An attempt starts, `late` after it was due.
    pub(crate) fn attempt_started(&self, late: Duration) {
        self.lateness.record(late);
    }

    /// It is the first one of its run.
    pub(crate) fn run_started(&self, missed: u64) {
        self.runs.fetch_add(1, Ordering::Relaxed);
        self.missed.fetch_add(missed, Ordering::Relaxed);
    }

    /// It started before it was due, which must not be.
    pub(crate) fn run_was_early(&self) {
        self.early.fetch_add(1, Ordering::Relaxed);
    }

    /// It started later than the misfire threshold allows.
    pub(crate) fn run_misfired(&self) {
        self.misfired.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn run_succeeded(&self) {
        self.succeeded.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn run_failed(&self) {
        self.failed.fetch_add(1, Ordering::Relaxed);
    }

    /// It has failed, and a policy has given it up.
    pub(crate) fn run_dead(&self) {
        self.dead.fetch_add(1, Ordering::Relaxed);
    }

    /// It had begun, and its end was not waited for.
    pub(crate) fn run_abandoned(&self) {
        self.abandoned.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn run_retried(&self) {
        self.retried.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn run_snoozed(&self) {
        self.snoozed.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn hook_panicked(&self) {
        self.hooks_panicked.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn run_panicked(&self) {
        self.panicked.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn skipped(&self, occurrences: u64) {
        self.skipped.fetch_add(occurrences, Ordering::Relaxed);
    }

    /// So many runs found the queue full.
    pub(crate) fn queue_was_full(&self, runs: u64) {
        self.queue_full.fetch_add(runs, Ordering::Relaxed);
    }

    /// Tasks that will run or run.
    pub(crate) fn live(&self) -> usize {
        // Acquire: pairs with `moved`. [O53]
        self.live.load(Ordering::Acquire)
    }

    pub(crate) fn read(&self) -> Stats {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let gauge = |gauge: &AtomicI64| usize::try_from(gauge.load(Ordering::Relaxed)).unwrap_or(0);
        Stats {
            scheduled: gauge(&self.scheduled),
            queued: gauge(&self.queued),
            running: gauge(&self.running),
            retrying: gauge(&self.retrying),
            runs: count(&self.runs),
            succeeded: count(&self.succeeded),
            failed: count(&self.failed),
            abandoned: count(&self.abandoned),
            dead: count(&self.dead),
            retried: count(&self.retried),
            snoozed: count(&self.snoozed),
            panicked: count(&self.panicked),
            hooks_panicked: count(&self.hooks_panicked),
            skipped: count(&self.skipped),
            missed: count(&self.missed),
            misfired: count(&self.misfired),
            early: count(&self.early),
            cancelled: count(&self.cancelled),
            queue_full: count(&self.queue_full),
            lateness: self.lateness.snapshot(),
            // What the dead letters know.
            ..Stats::default()
        }
    }

    fn gauge(&self, state: TaskState) -> Option<&AtomicI64> {
        match state {
            TaskState::Scheduled => Some(&self.scheduled),
            TaskState::Queued => Some(&self.queued),
            TaskState::Running => Some(&self.running),
            TaskState::Retrying => Some(&self.retrying),
            _ => None,
        }
    }
}
