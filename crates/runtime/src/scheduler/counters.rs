//! What a scheduler counts while it works.
//!
//! Ground rules: plain atomics, written where things happen, so that nobody takes a lock to count.
//! Relaxed throughout: these are numbers for people, they publish nothing. [O64] But for `live`, at
//! which a waiter in `activity.rs` looks: every end of a task is followed by a step there, which
//! wakes it.
//!
//! A task is counted a dozen times in its life, by the thread that adds it, the driver and a
//! worker. Each thread counts on a line of its own, or they would wait for each other's line each
//! time; who reads adds the lines up.

use std::time::Duration;

use wheel_sync::CachePadded;
use wheel_sync::atomic::{AtomicUsize, Ordering};
use wheel_sync::counting::AtomicU64;
use wheel_sync::thread;

use crate::observe::{LatenessRecorder, Stats};
use crate::task::{SkipReason, TaskState};

/// Threads that count at the same time are few: the driver, the workers that have a core, and who
/// adds.
const LINES: usize = 16;

/// See [`Stats`] for what each one means.
pub(crate) struct Counters {
    /// On one line, since a waiter must not see it at 0 in between.
    live: CachePadded<AtomicUsize>,
    lines: Box<[CachePadded<Line>]>,
    lateness: LatenessRecorder,
}

/// What some threads have counted. A gauge goes up on the line of one thread and down on that of
/// another, so a line on its own means nothing, and wraps.
#[derive(Default)]
struct Line {
    scheduled: AtomicU64,
    queued: AtomicU64,
    running: AtomicU64,
    retrying: AtomicU64,
    paused: AtomicU64,
    runs: AtomicU64,
    succeeded: AtomicU64,
    failed: AtomicU64,
    abandoned: AtomicU64,
    dead: AtomicU64,
    retried: AtomicU64,
    timed_out: AtomicU64,
    snoozed: AtomicU64,
    panicked: AtomicU64,
    hooks_panicked: AtomicU64,
    skipped: AtomicU64,
    skipped_overlap: AtomicU64,
    skipped_misfire: AtomicU64,
    skipped_paused: AtomicU64,
    skipped_refused: AtomicU64,
    skipped_upstream: AtomicU64,
    missed: AtomicU64,
    misfired: AtomicU64,
    early: AtomicU64,
    cancelled: AtomicU64,
    queue_full: AtomicU64,
    rejected: AtomicU64,
}

impl Counters {
    pub(crate) fn new() -> Counters {
        Counters {
            live: CachePadded::new(AtomicUsize::new(0)),
            lines: (0..LINES).map(|_| CachePadded::default()).collect(),
            lateness: LatenessRecorder::new(),
        }
    }

    /// Where the calling thread counts.
    fn here(&self) -> &Line {
        &self.lines[thread::slot().unwrap_or(0) % LINES]
    }

    /// A task is there that was not.
    pub(crate) fn task_added(&self) {
        self.live.fetch_add(1, Ordering::Relaxed);
        self.here().scheduled.fetch_add(1, Ordering::Relaxed);
    }

    /// It is gone again, as if it had never been there.
    pub(crate) fn task_refused(&self) {
        self.here().scheduled.fetch_sub(1, Ordering::Relaxed);
        // Relaxed: it has done nothing that anybody could want to see. [O53]
        self.live.fetch_sub(1, Ordering::Relaxed);
    }

    /// A task went from one state to another.
    pub(crate) fn moved(&self, from: TaskState, to: TaskState) {
        if from == to {
            return;
        }
        let here = self.here();
        if let Some(gauge) = here.gauge(from) {
            gauge.fetch_sub(1, Ordering::Relaxed);
        }
        if let Some(gauge) = here.gauge(to) {
            gauge.fetch_add(1, Ordering::Relaxed);
        }
        if to.has_ended() {
            // Release: what the task has done; pairs with `live`. [O53]
            self.live.fetch_sub(1, Ordering::Release);
        }
        if to == TaskState::Cancelled {
            here.cancelled.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// An attempt starts, `late` after it was due.
    pub(crate) fn attempt_started(&self, late: Duration) {
        self.lateness.record(late);
    }

    /// It is the first one of its run.
    pub(crate) fn run_started(&self, missed: u64) {
        let here = self.here();
        here.runs.fetch_add(1, Ordering::Relaxed);
        if missed > 0 {
            here.missed.fetch_add(missed, Ordering::Relaxed);
        }
    }

    /// It started before it was due, which must not be.
    pub(crate) fn run_was_early(&self) {
        self.here().early.fetch_add(1, Ordering::Relaxed);
    }

    /// It started later than the misfire threshold allows.
    pub(crate) fn run_misfired(&self) {
        self.here().misfired.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn run_succeeded(&self) {
        self.here().succeeded.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn run_failed(&self) {
        self.here().failed.fetch_add(1, Ordering::Relaxed);
    }

    /// It has failed, and a policy has given it up.
    pub(crate) fn run_dead(&self) {
        self.here().dead.fetch_add(1, Ordering::Relaxed);
    }

    /// It had begun, and its end was not waited for.
    pub(crate) fn run_abandoned(&self) {
        self.here().abandoned.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn run_retried(&self) {
        self.here().retried.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn attempt_timed_out(&self) {
        self.here().timed_out.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn run_snoozed(&self) {
        self.here().snoozed.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn hook_panicked(&self) {
        self.here().hooks_panicked.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn run_panicked(&self) {
        self.here().panicked.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn skipped(&self, occurrences: u64, why: SkipReason) {
        let here = self.here();
        here.skipped.fetch_add(occurrences, Ordering::Relaxed);
        let of_reason = match why {
            SkipReason::Overlap => &here.skipped_overlap,
            SkipReason::Misfire => &here.skipped_misfire,
            SkipReason::Paused => &here.skipped_paused,
            SkipReason::Refused => &here.skipped_refused,
            SkipReason::Upstream => &here.skipped_upstream,
        };
        of_reason.fetch_add(occurrences, Ordering::Relaxed);
    }

    /// So many occurrences were more than a policy allows.
    pub(crate) fn missed(&self, occurrences: u64) {
        if occurrences > 0 {
            self.here().missed.fetch_add(occurrences, Ordering::Relaxed);
        }
    }

    /// So many runs found the queue full.
    pub(crate) fn queue_was_full(&self, runs: u64) {
        self.here().queue_full.fetch_add(runs, Ordering::Relaxed);
    }

    /// A run found the queue full, and is not to wait.
    pub(crate) fn run_rejected(&self) {
        self.here().rejected.fetch_add(1, Ordering::Relaxed);
    }

    /// Tasks that will run or run.
    pub(crate) fn live(&self) -> usize {
        // Acquire: pairs with `moved`. [O53]
        self.live.load(Ordering::Acquire)
    }

    pub(crate) fn read(&self) -> Stats {
        let count = |counter: fn(&Line) -> &AtomicU64| {
            let counts = self
                .lines
                .iter()
                .map(|line| counter(line).load(Ordering::Relaxed));
            counts.fold(0, u64::wrapping_add)
        };
        // The state of a task and its gauges are not changed in one step, and the lines are read
        // one after the other, so a gauge may be below zero for an instant.
        let gauge = |gauge| usize::try_from(count(gauge).cast_signed()).unwrap_or(0);
        Stats {
            scheduled: gauge(|line| &line.scheduled),
            queued: gauge(|line| &line.queued),
            running: gauge(|line| &line.running),
            retrying: gauge(|line| &line.retrying),
            paused: gauge(|line| &line.paused),
            runs: count(|line| &line.runs),
            succeeded: count(|line| &line.succeeded),
            failed: count(|line| &line.failed),
            abandoned: count(|line| &line.abandoned),
            dead: count(|line| &line.dead),
            retried: count(|line| &line.retried),
            timed_out: count(|line| &line.timed_out),
            snoozed: count(|line| &line.snoozed),
            panicked: count(|line| &line.panicked),
            hooks_panicked: count(|line| &line.hooks_panicked),
            skipped: count(|line| &line.skipped),
            skipped_overlap: count(|line| &line.skipped_overlap),
            skipped_misfire: count(|line| &line.skipped_misfire),
            skipped_paused: count(|line| &line.skipped_paused),
            skipped_refused: count(|line| &line.skipped_refused),
            skipped_upstream: count(|line| &line.skipped_upstream),
            missed: count(|line| &line.missed),
            misfired: count(|line| &line.misfired),
            early: count(|line| &line.early),
            cancelled: count(|line| &line.cancelled),
            queue_full: count(|line| &line.queue_full),
            rejected: count(|line| &line.rejected),
            lateness: self.lateness.snapshot(),
            // What the dead letters, the pools and those that hang know.
            ..Stats::default()
        }
    }
}

impl Line {
    fn gauge(&self, state: TaskState) -> Option<&AtomicU64> {
        match state {
            TaskState::Scheduled => Some(&self.scheduled),
            TaskState::Queued => Some(&self.queued),
            TaskState::Running => Some(&self.running),
            TaskState::Retrying => Some(&self.retrying),
            TaskState::Paused => Some(&self.paused),
            _ => None,
        }
    }
}
