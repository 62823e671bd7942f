//! What becomes of occurrences that were missed.

/// What a recurring task does about occurrences that were missed: the machine was suspended, the
/// process was stopped, the clock was moved.
///
/// Occurrences that are found due together are always looked at together, however late they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Misfire {
    /// One run stands for all that were missed, and the grid goes on: a task of every 10 ms that
    /// was held up for 30 s runs once, then every 10 ms again. The run's nominal time is that of
    /// the latest one missed.
    #[default]
    FireOnce,
}
