//! What a task that depends on another one waits for.

use crate::task::TaskState;

/// How the other task must have ended for a task that [depends](crate::TaskBuilder::depends_on) on
/// it to run.
///
/// | the other one ended as | `Succeeded` | `Failed` | `Finished` |
/// |---|---|---|---|
/// | succeeded | holds | cannot hold | holds |
/// | failed, dead, timed out | cannot hold | holds | holds |
/// | cancelled, skipped | cannot hold | cannot hold | holds |
///
/// A run that will be tried again is not over, so each attempt but the last one says nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum When {
    /// It did what it should.
    Succeeded,
    /// It is over, in whichever way: also if it was cancelled, or never ran.
    Finished,
    /// It failed, for good.
    Failed,
}

impl When {
    /// Whether it holds of a task that ended so.
    pub(crate) fn holds(self, ended: TaskState) -> bool {
        match self {
            When::Succeeded => ended == TaskState::Succeeded,
            When::Failed => {
                use TaskState::{Dead, Failed, TimedOut};
                matches!(ended, Failed | Dead | TimedOut)
            }
            When::Finished => true,
        }
    }
}
