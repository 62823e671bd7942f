//! What happens when an id is taken.

/// What happens when the id of a new task belongs to a live one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum OnConflict {
    /// The new task is refused.
    #[default]
    Refuse,
    /// The live one is cancelled, and the new one has its id. A run of the old one that is going is
    /// asked to stop, and the new one does not wait for it.
    Replace,
    /// The live one stays, and its handle is returned; the new handler is dropped.
    Keep,
}
