//! Classes of urgency.

/// How urgent work is. Of what waits for a worker, a higher class goes first, and within a class
/// what was due first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Priority {
    /// After everything else.
    Low,
    /// What work has unless told otherwise.
    #[default]
    Normal,
    /// Before everything else.
    High,
}
