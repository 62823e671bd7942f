//! What becomes of an occurrence while the last run is still going.

use super::PolicyError;

/// What a task does when it is due while its last run has not ended: it still runs, waits for a
/// worker, or waits for another attempt.
///
/// Runs by hand count like any other.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use wheel_runtime::{Overlap, Scheduler};
///
/// let scheduler = Scheduler::builder().build()?;
/// let every = |id| scheduler.task(id).every(Duration::from_secs(10));
/// // What counts is that the newest state is written, once.
/// every("save").overlap(Overlap::QueueOne).run(|_| ())?;
/// // Each counts, up to a limit.
/// every("bill").overlap(Overlap::QueueAll { max: 1_000 }).run(|_| ())?;
/// // They do not disturb each other.
/// every("ping").overlap(Overlap::Allow { max: 5 }).run(|_| ())?;
/// // The older one is of no use any more.
/// every("forecast").overlap(Overlap::CancelRunning).run(|run| {
///     while !run.token().wait_timeout(Duration::from_secs(1)) {}
/// })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(
    feature = "serde",
    serde(rename_all = "snake_case", deny_unknown_fields)
)]
#[non_exhaustive]
pub enum Overlap {
    /// The occurrence is left out and counted as skipped. Two runs of the task never go at once,
    /// and no backlog builds up.
    #[default]
    Skip,
    /// One run follows as soon as the present one has ended. It stands for all that were due
    /// meanwhile: its nominal time is that of the latest, the others count as missed.
    QueueOne,
    /// Each occurrence has its run, one after the other. If more than `max` wait, from 1 to 65,535,
    /// the newest is left out and counted as skipped.
    QueueAll {
        /// How many may wait for the present run to end.
        max: u16,
    },
    /// Runs go beside each other, up to `max` at once, from 1 to 1,000; what is due beyond that is
    /// left out and counted as skipped.
    Allow {
        /// How many may wait or go at once.
        max: u16,
    },
    /// The present run gives way: one that waits for a worker or for another attempt does not go
    /// on, one that is going is told to stop through its token, and the new one starts when it has
    /// returned. What was told to stop is not tried again.
    CancelRunning,
}

const FIELD: &str = "overlap";
/// The most that [`Overlap::Allow`] may ask for.
const ALLOWED_MAX: u16 = 1_000;

impl Overlap {
    pub(crate) fn check(self) -> Result<(), PolicyError> {
        match self {
            Overlap::QueueAll { max } => {
                PolicyError::check(FIELD, "QueueAll with max ", max.into(), 1..=u16::MAX.into())
            }
            Overlap::Allow { max } => {
                PolicyError::check(FIELD, "Allow with max ", max.into(), 1..=ALLOWED_MAX.into())
            }
            Overlap::Skip | Overlap::QueueOne | Overlap::CancelRunning => Ok(()),
        }
    }

    /// How many runs may wait or go at once.
    pub(crate) fn room(self) -> usize {
        match self {
            Overlap::Allow { max } => usize::from(max),
            _ => 1,
        }
    }
}
