//! What becomes of an occurrence while the last run is still going.

/// What a task does when it is due while its last run has not ended: it still runs, or still waits
/// for a worker.
///
/// Runs by hand count like any other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Overlap {
    /// The occurrence is left out and counted as skipped. Two runs of the task never go at once,
    /// and no backlog builds up.
    #[default]
    Skip,
}
