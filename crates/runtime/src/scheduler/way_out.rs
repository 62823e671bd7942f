//! The locks that the end of a task takes, beside its own: the history, the registry, and the dead
//! letters. Readers hold them for as long as a look takes, and may be preempted there. A worker
//! waits for them; the driver tries all of them before its first step, and comes back if one is
//! taken.

use super::Core;
use super::dead_letters::DeadDoor;
use super::history::EndedDoor;
use super::registry::ShardDoor;
use crate::task::Task;

/// Those that have been entered before. Whoever takes one out waits for it if it is not here.
#[derive(Default)]
pub(crate) struct WayOut<'c> {
    pub(crate) dead: Option<DeadDoor<'c>>,
    pub(crate) ended: Option<EndedDoor<'c>>,
    pub(crate) shard: Option<ShardDoor<'c>>,
}

impl Core {
    /// For the driver: what this task needs to end, but for the dead letters. `None` if somebody is
    /// there. Until it is dropped, nothing that waits for the registry may be called.
    pub(crate) fn try_way_out(&self, task: &Task) -> Option<WayOut<'_>> {
        Some(WayOut {
            dead: None,
            ended: Some(self.ended.try_enter()?),
            shard: Some(self.registry.try_enter(task)?),
        })
    }
}
