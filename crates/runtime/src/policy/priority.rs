//! Classes of urgency.

/// How urgent work is. Of what waits for a worker, a higher class goes first, and within a class
/// what was due first.
///
/// All work is [`Normal`](Priority::Normal) at present: nothing sets another class. An executor of
/// your own can read it by [`Job::priority`](crate::Job::priority).
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
