//! What becomes of what is due beyond a full queue.

/// What becomes of runs that are due while as many wait for a worker as
/// [`queue_capacity`](crate::SchedulerBuilder::queue_capacity) says. Nothing here stalls the driver.
///
/// What is left out is counted as skipped, in [`TaskInfo::skipped`](crate::TaskInfo::skipped) and in
/// the [`Stats`](crate::Stats), and a task goes on with its next occurrence; one that has none ends
/// as [`Skipped`](crate::TaskState::Skipped). Another attempt of a run that has begun, if it is left
/// out, has failed, and the retry policy decides. All of that is done by the next worker that is
/// free, in front of everything else: until then the run counts as queued.
///
/// # Examples
///
/// ```
/// use wheel_runtime::{OnFull, Scheduler};
///
/// let builder = Scheduler::builder().queue_capacity(1_000).on_full(OnFull::Reject);
/// let scheduler = builder.build()?;
/// assert_eq!(scheduler.stats().rejected, 0);
/// # Ok::<(), wheel_runtime::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OnFull {
    /// Nothing is left out: they wait behind the queue, in the same order. Each task waits there
    /// once at most for each of its runs, so the number of tasks is the bound.
    #[default]
    Wait,
    /// The run that is due is left out, and counted in [`Stats::rejected`](crate::Stats::rejected).
    Reject,
    /// The run that was due first of the lowest class is left out, and counted in
    /// [`Stats::displaced`](crate::Stats::displaced). With an executor of your own, which keeps its
    /// queue to itself, this is [`Reject`](OnFull::Reject).
    DropOldest,
}
