//! How large a model lets things grow.

/// How large to make what can fill up: the logic is the same in every size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sizes {
    /// As it ships.
    Full,
    /// For random schedules of some hundred operations: what threads share is crowded, and yet
    /// holds all that they do.
    Small,
    /// For every interleaving of a few steps.
    Tiny,
}
