//! The numbers of a scheduler, as its users see them.

use std::time::{Duration, SystemTime};

use super::{ClockJumps, Histogram, Lateness};

/// What a scheduler holds and has done until now. Counts are read one by one, so in the middle of
/// things they may be off against each other by a few.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Tasks that wait until they are due.
    pub scheduled: usize,
    /// Tasks that are due and wait for a worker: the depth of the queue.
    pub queued: usize,
    /// Tasks that a worker runs.
    pub running: usize,
    /// Tasks whose run waits for another attempt.
    pub retrying: usize,
    /// Tasks that are paused and have no run waiting or going.
    pub paused: usize,
    /// Definitions that are no tasks yet, because their kind is not registered.
    pub unresolved: usize,
    /// Runs started. Each one succeeds, fails or is abandoned in the end.
    pub runs: u64,
    /// Runs that succeeded, in whichever attempt.
    pub succeeded: u64,
    /// Runs that failed, panics and those that were not over in time included. Not those that are
    /// tried again.
    pub failed: u64,
    /// Runs that had begun and waited for another attempt when their task was cancelled or the
    /// scheduler was shut down.
    pub abandoned: u64,
    /// Runs that failed and that a retry policy has given up.
    pub dead: u64,
    /// Of those, the ones that the dead letters hold now.
    pub dead_letters: usize,
    /// Dead letters that were dropped because there were as many as the scheduler may keep.
    pub dead_letters_dropped: u64,
    /// Attempts that failed and were tried again, or will be.
    pub retried: u64,
    /// Attempts that were not over in [time](crate::TaskBuilder::timeout). Each failed, and may have
    /// been tried again.
    pub timed_out: u64,
    /// Handlers that go on all the same, right now: [`Scheduler::hung`](crate::Scheduler::hung).
    pub hung: usize,
    /// Attempts that were snoozed.
    pub snoozed: u64,
    /// Attempts that panicked.
    pub panicked: u64,
    /// Panics in what users gave besides handlers: hooks, and the functions of a retry policy.
    pub hooks_panicked: u64,
    /// Occurrences left out, for whichever of the five reasons that follow.
    pub skipped: u64,
    /// Because runs before had not ended.
    pub skipped_overlap: u64,
    /// Because they were too late.
    pub skipped_misfire: u64,
    /// Because the task was paused.
    pub skipped_paused: u64,
    /// Because the executor refused the run.
    pub skipped_refused: u64,
    /// Because a task that was to end before had ended otherwise.
    pub skipped_upstream: u64,
    /// Occurrences that were found due together with a later one, whose run stood for them.
    pub missed: u64,
    /// Runs that started later than the misfire threshold.
    pub misfired: u64,
    /// Runs that started before they were due. Stays 0.
    pub early: u64,
    /// Tasks that were cancelled.
    pub cancelled: u64,
    /// Runs that found the queue full and waited behind it, in due order.
    pub queue_full: u64,
    /// Runs that found the queue full and were left out: [`OnFull::Reject`](crate::OnFull::Reject).
    /// They are counted as skipped as well.
    pub rejected: u64,
    /// Runs that were left out of a full queue to make room:
    /// [`OnFull::DropOldest`](crate::OnFull::DropOldest). They are counted as skipped as well, or as
    /// attempts that failed.
    pub displaced: u64,
    /// Threads of the scheduler's pools, substitutes included; 0 with an executor of your own.
    pub workers: usize,
    /// Of those, the ones that have nothing to do.
    pub idle_workers: usize,
    /// From the tick at which an attempt was due (the earliest, if its run stood for several
    /// occurrences) to its start.
    pub lateness: Lateness,
    /// The same against fixed bounds, which can be added up over processes.
    pub start_delay: Histogram,
    /// How long attempts took.
    pub run_duration: Histogram,
    /// How long the run that was due first of those in the queues has been due by now; `None` if
    /// nothing waits: [`PoolStats::oldest_due`].
    pub oldest_due: Option<Duration>,
    /// What the engine holds: a timer for each task that waits until it is due, for each attempt
    /// that waits, and for each limit of an attempt that is going.
    pub pending_timers: usize,
    /// Timers that have fired.
    pub fired: u64,
    /// How often the driver thread woke up.
    pub wakeups: u64,
    /// Jumps of the clocks that the driver has noticed, of whichever kind.
    pub clock_jumps: u64,
    /// Those by kind and direction, and the latest with its size.
    pub jumps: ClockJumps,
    /// How late the driver itself was: from the start of a tick at which it had something to do to its
    /// look, once for each such tick. A busy or paused machine shows here, and so does a handler that
    /// runs on the driver thread for longer than a tick.
    pub driver_lag: Lateness,
    /// The same against fixed bounds, which can be added up over processes.
    pub tick_lag: Histogram,
    /// Pool by pool, the one without a name in front.
    pub pools: Vec<PoolStats>,
    /// Name by name; tasks without one in front, under `_unnamed`.
    pub by_name: Vec<NameStats>,
}

/// The runs of all tasks that are counted under one name.
///
/// Every count only goes up. A run that has started is over when it is counted in one of
/// [`succeeded`](NameStats::succeeded), [`failed`](NameStats::failed),
/// [`timed_out`](NameStats::timed_out), [`dead`](NameStats::dead) and
/// [`cancelled`](NameStats::cancelled).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct NameStats {
    /// What the tasks were [named](crate::TaskBuilder::name), or their kind. `_unnamed` for those
    /// without; `_other` for names beyond [as many as there may be](crate::SchedulerBuilder::max_names).
    pub name: String,
    /// Runs started.
    pub runs: u64,
    /// Runs that succeeded, in whichever attempt.
    pub succeeded: u64,
    /// Runs that failed, of tasks without a retry policy.
    pub failed: u64,
    /// Runs that were not over in time, of tasks without a retry policy.
    pub timed_out: u64,
    /// Runs that a retry policy has given up.
    pub dead: u64,
    /// Runs that failed after their task was cancelled, or waited for another attempt then.
    pub cancelled: u64,
    pub(crate) cut: u64,
    pub(crate) abandoned: u64,
    /// Attempts that failed and were tried again, or will be.
    pub retried: u64,
    /// Attempts that were not over in time.
    pub attempts_timed_out: u64,
    /// Attempts that were snoozed.
    pub snoozed: u64,
    /// Attempts that panicked.
    pub panicked: u64,
    /// Occurrences left out because runs before had not ended.
    pub skipped_overlap: u64,
    /// Because they were too late.
    pub skipped_misfire: u64,
    /// Because the task was paused.
    pub skipped_paused: u64,
    /// Because the executor refused the run.
    pub skipped_refused: u64,
    /// Because a task that was to end before had ended otherwise.
    pub skipped_upstream: u64,
    /// Occurrences that were found due together with a later one, whose run stood for them.
    pub missed: u64,
    /// Runs that started later than the misfire threshold.
    pub misfired: u64,
    /// How long attempts took.
    pub duration: Histogram,
    /// When the last run ended that succeeded, to the millisecond; `None` if none has, and of tasks
    /// without a name.
    pub last_success: Option<SystemTime>,
}

impl NameStats {
    pub(crate) fn of(name: &str) -> NameStats {
        NameStats {
            name: name.to_owned(),
            ..NameStats::default()
        }
    }

    /// Occurrences left out, for whichever reason.
    pub fn skipped(&self) -> u64 {
        self.skipped_overlap
            + self.skipped_misfire
            + self.skipped_paused
            + self.skipped_refused
            + self.skipped_upstream
    }

    /// Those of `other` as well.
    pub(crate) fn merge(&mut self, other: &NameStats) {
        self.runs += other.runs;
        self.succeeded += other.succeeded;
        self.failed += other.failed;
        self.timed_out += other.timed_out;
        self.dead += other.dead;
        self.cancelled += other.cancelled;
        self.cut += other.cut;
        self.abandoned += other.abandoned;
        self.retried += other.retried;
        self.attempts_timed_out += other.attempts_timed_out;
        self.snoozed += other.snoozed;
        self.panicked += other.panicked;
        self.skipped_overlap += other.skipped_overlap;
        self.skipped_misfire += other.skipped_misfire;
        self.skipped_paused += other.skipped_paused;
        self.skipped_refused += other.skipped_refused;
        self.skipped_upstream += other.skipped_upstream;
        self.missed += other.missed;
        self.misfired += other.misfired;
        self.duration.merge(&other.duration);
    }
}

/// One pool of a scheduler, and its queue.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PoolStats {
    /// `None` for the pool without a name, or the executor that the user brought.
    pub name: Option<String>,
    /// Its threads, substitutes included; 0 of an executor of your own.
    pub workers: usize,
    /// Of those, the ones that have nothing to do.
    pub idle: usize,
    /// How much waits in its queue, now and then one that was cancelled included; 0 of an executor
    /// of your own, which [`Stats::queued`] counts.
    pub depth: usize,
    /// How long the run that was due first of those in the queue has been due by now; `None` if
    /// nothing waits, or of an executor of your own. Runs that a limit holds back are not in the
    /// queue yet.
    pub oldest_due: Option<Duration>,
    /// From when attempts were due to their starts, as [`Stats::lateness`].
    pub start_delay: Histogram,
}
