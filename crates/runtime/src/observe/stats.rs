//! The numbers of a scheduler, as its users see them.

use super::{ClockJumps, Lateness};

/// What a scheduler holds and has done until now. Counts are read one by one, so in the middle of
/// things they may be off against each other by a few.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
    /// How late the driver itself was: from the start of a tick at which it had something to do to its
    /// look, once for each such tick. A busy or paused machine shows here, and so does a handler that
    /// runs on the driver thread for longer than a tick.
    pub tick_lag: Lateness,
    /// Jumps of the clocks that the driver has noticed, of whichever kind.
    pub clock_jumps: u64,
    /// Those by kind and direction, and the latest with its size.
    pub jumps: ClockJumps,
}
