//! What a scheduler counts while it works.
//!
//! ```text
//!  states of tasks, the queue --> Line of the thread              \
//!  runs, of a task without a name --> RunCounts in that Line       >-- read --> Stats
//!  runs, of a task with a name --> RunCounts of the name (names.rs)/
//! ```
//!
//! Ground rules: plain atomics, written where things happen, so that nobody takes a lock to count.
//! Relaxed throughout: these are numbers for people, they publish nothing. [O64] But for `live`, at
//! which a waiter in `activity.rs` looks: every end of a task is followed by a step there, which
//! wakes it.
//!
//! A task is counted a dozen times in its life, by the thread that adds it, the driver and a
//! worker. Each thread counts on a line of its own, or they would wait for each other's line each
//! time; who reads adds the lines up.

mod line;
mod names;

use std::sync::Arc;
use std::time::Duration;

use wheel_sync::CachePadded;
use wheel_sync::atomic::{AtomicUsize, Ordering};
use wheel_sync::counting::AtomicU64;
use wheel_sync::thread;

use super::limits::Limits;
use crate::observe::{Histogram, LatenessRecorder, NameStats, Stats};
use crate::task::TaskState;
pub(crate) use line::RunCounts;
pub(crate) use names::Series;
use names::{Names, UNNAMED};

/// Threads that count at the same time are few: the driver, the workers that have a core, and who
/// adds.
const LINES: usize = 16;

/// See [`Stats`] for what each one means.
pub(crate) struct Counters {
    /// On one line, since a waiter must not see it at 0 in between.
    live: CachePadded<AtomicUsize>,
    lines: Box<[CachePadded<Line>]>,
    names: Names,
    /// How late attempts start, in each pool.
    lateness: Box<[LatenessRecorder]>,
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
    hooks_panicked: AtomicU64,
    early: AtomicU64,
    cancelled: AtomicU64,
    queue_full: AtomicU64,
    rejected: AtomicU64,
    /// Of tasks without a name.
    runs: RunCounts,
}

impl Counters {
    /// For so many pools, and names.
    pub(super) fn new(pools: usize, names_max: usize) -> Counters {
        Counters {
            live: CachePadded::new(AtomicUsize::new(0)),
            lines: (0..LINES).map(|_| CachePadded::default()).collect(),
            names: Names::new(names_max),
            lateness: (0..pools).map(|_| LatenessRecorder::new()).collect(),
        }
    }

    /// What a task carries that is counted under `name`, besides `limits`.
    pub(super) fn limits_of(&self, name: &str, limits: Option<Limits>) -> Option<Arc<Limits>> {
        self.names.limits(name, limits)
    }

    /// Where the calling thread counts.
    fn here(&self) -> &Line {
        &self.lines[thread::slot().unwrap_or(0) % LINES]
    }

    /// Where it counts runs of a task with these limits.
    pub(crate) fn runs_of<'c>(&'c self, limits: Option<&'c Arc<Limits>>) -> &'c RunCounts {
        match limits.and_then(|limits| limits.series.as_deref()) {
            Some(series) => series.here(),
            None => &self.here().runs,
        }
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

    /// An attempt starts in this pool, `late` after it was due.
    pub(crate) fn attempt_started(&self, pool: usize, late: Duration) {
        self.lateness[pool].record(late);
    }

    /// It started before it was due, which must not be.
    pub(crate) fn run_was_early(&self) {
        self.here().early.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn hook_panicked(&self) {
        self.here().hooks_panicked.fetch_add(1, Ordering::Relaxed);
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

    /// How late attempts in a pool start.
    pub(super) fn start_delay(&self, pool: usize) -> Histogram {
        self.lateness[pool].histogram()
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
        let by_name = self.by_name();
        let mut sum = NameStats::default();
        by_name.iter().for_each(|name| sum.merge(name));
        Stats {
            scheduled: gauge(|line| &line.scheduled),
            queued: gauge(|line| &line.queued),
            running: gauge(|line| &line.running),
            retrying: gauge(|line| &line.retrying),
            paused: gauge(|line| &line.paused),
            runs: sum.runs,
            succeeded: sum.succeeded,
            failed: sum.failed + sum.timed_out + sum.dead + sum.cut,
            abandoned: sum.abandoned,
            dead: sum.dead,
            retried: sum.retried,
            timed_out: sum.attempts_timed_out,
            snoozed: sum.snoozed,
            panicked: sum.panicked,
            hooks_panicked: count(|line| &line.hooks_panicked),
            skipped: sum.skipped(),
            skipped_overlap: sum.skipped_overlap,
            skipped_misfire: sum.skipped_misfire,
            skipped_paused: sum.skipped_paused,
            skipped_refused: sum.skipped_refused,
            skipped_upstream: sum.skipped_upstream,
            missed: sum.missed,
            misfired: sum.misfired,
            early: count(|line| &line.early),
            cancelled: count(|line| &line.cancelled),
            queue_full: count(|line| &line.queue_full),
            rejected: count(|line| &line.rejected),
            lateness: LatenessRecorder::snapshot_of(&self.lateness),
            run_duration: sum.duration,
            by_name,
            // What the engine, the dead letters, the pools and those that hang know.
            ..Stats::default()
        }
    }

    /// Those without a name in front.
    fn by_name(&self) -> Vec<NameStats> {
        let mut unnamed = NameStats::of(UNNAMED);
        self.lines
            .iter()
            .for_each(|line| line.runs.add_to(&mut unnamed));
        let mut all = vec![unnamed];
        all.extend(self.names.read());
        all
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
