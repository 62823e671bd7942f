//! What becomes of occurrences that were missed.

use super::PolicyError;

/// What a recurring task does about occurrences that were missed: the machine was suspended, the
/// process was stopped, the clock was moved, or every worker was busy.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use wheel_runtime::{InlineExecutor, ManualClock, Misfire, Scheduler};
///
/// let clock = ManualClock::new();
/// let scheduler = Scheduler::builder().clock(clock.clone()).executor(InlineExecutor).build()?;
/// let minute = Duration::from_secs(60);
/// let every = |id| scheduler.task(id).every(minute);
/// let once = every("refresh").run(|_| ())?;
/// let each = every("meter").misfire(Misfire::FireAll { max: 100 }).run(|_| ())?;
/// let none = every("greet").misfire(Misfire::Skip).run(|_| ())?;
/// // The machine slept: 10 of each are found due together, the latest of them 30 s late.
/// clock.advance(minute * 10 + minute / 2);
/// scheduler.wait_idle();
/// assert_eq!((once.info().runs, once.info().missed), (1, 9));
/// assert_eq!(each.info().runs, 10);
/// // It is late by less than the misfire threshold of a minute.
/// assert_eq!(none.info().runs, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(
    feature = "serde",
    serde(rename_all = "snake_case", deny_unknown_fields)
)]
#[non_exhaustive]
pub enum Misfire {
    /// One run stands for all that were missed, and the grid goes on: a task of every 10 ms that
    /// was held up for 30 s runs once, then every 10 ms again. The run's nominal time is that of
    /// the latest one missed. Holds for whatever is found due together, however late it is.
    #[default]
    FireOnce,
    /// What is later than the [misfire
    /// threshold](crate::SchedulerBuilder::misfire_threshold), when it is found due or when a worker
    /// is free for it, is left out and counted as skipped. What is found due together within the
    /// threshold is one run. A task that runs once and is too late ends as
    /// [`Skipped`](crate::TaskState::Skipped).
    Skip,
    /// Each one that was missed has a run of its own, with its own nominal time, one after the
    /// other (beside each other as far as [`Overlap::Allow`](crate::Overlap::Allow) lets them). If
    /// more than `max` were missed, from 1 to 65,535, the oldest are left out and counted as
    /// missed.
    FireAll {
        /// How many runs at most.
        max: u16,
    },
}

impl Misfire {
    pub(crate) fn check(self) -> Result<(), PolicyError> {
        match self {
            Misfire::FireAll { max } => PolicyError::check(
                "misfire",
                "FireAll with max ",
                max.into(),
                1..=u16::MAX.into(),
            ),
            Misfire::FireOnce | Misfire::Skip => Ok(()),
        }
    }
}
