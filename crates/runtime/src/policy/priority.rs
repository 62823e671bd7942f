//! Classes of urgency.

use std::time::Duration;

/// How long a run waits for each class that it gains, unless a builder is told otherwise.
pub(crate) const AGEING_DEFAULT: Duration = Duration::from_secs(1);

/// How urgent the runs of a task are. Of what waits for a worker, a higher class goes first, and
/// within a class what was due first.
///
/// Nothing starves: a run that waits gains a class for each
/// [`ageing`](crate::SchedulerBuilder::ageing) period, 1 s unless told otherwise. So a
/// [`Low`](Priority::Low) run goes before every [`High`](Priority::High) one that was found due more
/// than two periods after it. A run that is going is never interrupted.
///
/// An executor of your own can read it by [`Job::priority`](crate::Job::priority).
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use wheel_runtime::{Priority, Scheduler};
///
/// let scheduler = Scheduler::builder().build()?;
/// let alarm = scheduler.task("alarm").every(Duration::from_secs(1)).priority(Priority::High);
/// alarm.run(|_| println!("looking at the sensors"))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Priority {
    /// After everything else.
    Low,
    /// What a run has unless told otherwise.
    #[default]
    Normal,
    /// Before everything else.
    High,
}

impl Priority {
    /// The rank of something of this class that has waited since then, where a class counts as much
    /// as waiting for `ageing_ns`: of several the least one goes first, and the higher class of two
    /// that are equal. It stays the same while they wait.
    pub(crate) fn rank_of_wait(self, since_ns: u64, ageing_ns: u64) -> u64 {
        let below = Priority::High as u64 - self as u64;
        since_ns.saturating_add(ageing_ns.saturating_mul(below))
    }
}
