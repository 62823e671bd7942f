//! The numbers of a scheduler, as its users see them.

use super::Lateness;

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
    /// Runs started.
    pub runs: u64,
    /// Runs that succeeded.
    pub succeeded: u64,
    /// Runs that failed, panics included.
    pub failed: u64,
    /// Runs that panicked.
    pub panicked: u64,
    /// Occurrences left out because the run before had not ended, or because the executor refused
    /// the run.
    pub skipped: u64,
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
    /// From the tick at which a run was due (the earliest, if it stood for several) to its start.
    pub lateness: Lateness,
}
