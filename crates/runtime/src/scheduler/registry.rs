//! Which tasks there are, by id.
//!
//! Ground rules: sharded, each shard behind a lock that is held for one step of a map and never
//! while user code runs or the lock of a task is taken. Ended tasks are not here; a handle keeps
//! its task. The count of tasks is Relaxed throughout: it guards nothing but itself. [O73]

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::BuildHasher;
use std::sync::Arc;

use wheel_sync::atomic::{AtomicUsize, Ordering};
use wheel_sync::{Mutex, RandomState};

use super::submit::OnConflict;
use crate::task::{Task, TaskId};

const SHARDS: usize = 16;

pub(crate) struct Registry {
    shards: [Mutex<Shard>; SHARDS],
    hasher: RandomState,
    tasks: AtomicUsize,
    tasks_max: usize,
}

#[derive(Default)]
struct Shard {
    named: HashMap<Arc<str>, Arc<Task>, RandomState>,
    numbered: HashMap<u64, Arc<Task>, RandomState>,
}

/// Why a task was not added.
pub(super) enum NotAdded {
    Duplicate,
    /// The id stays with this one.
    Kept(Arc<Task>),
    Full,
}

/// The task that had the id before, if there was one and it had to give way.
pub(super) type Replaced = Option<Arc<Task>>;

impl Registry {
    pub(super) fn new(tasks_max: usize) -> Registry {
        Registry {
            shards: std::array::from_fn(|_| Mutex::default()),
            hasher: RandomState::new(),
            tasks: AtomicUsize::new(0),
            tasks_max,
        }
    }

    /// Adds `task` under its id.
    pub(super) fn add(
        &self,
        task: &Arc<Task>,
        on_conflict: OnConflict,
    ) -> Result<Replaced, NotAdded> {
        let mut shard = self.shard_of(&task.id).lock();
        match &task.id {
            TaskId::Named(name) => self.add_to(shard.named.entry(name.clone()), task, on_conflict),
            TaskId::Numbered(number) => {
                self.add_to(shard.numbered.entry(*number), task, on_conflict)
            }
        }
    }

    fn add_to<K>(
        &self,
        entry: Entry<'_, K, Arc<Task>>,
        task: &Arc<Task>,
        on_conflict: OnConflict,
    ) -> Result<Replaced, NotAdded> {
        match entry {
            Entry::Vacant(vacant) => {
                self.tasks
                    .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |tasks| {
                        (tasks < self.tasks_max).then_some(tasks + 1)
                    })
                    .map_err(|_| NotAdded::Full)?;
                vacant.insert(Arc::clone(task));
                Ok(None)
            }
            Entry::Occupied(mut occupied) => match on_conflict {
                OnConflict::Refuse => Err(NotAdded::Duplicate),
                OnConflict::Keep => Err(NotAdded::Kept(Arc::clone(occupied.get()))),
                OnConflict::Replace => Ok(Some(occupied.insert(Arc::clone(task)))),
            },
        }
    }

    pub(super) fn get(&self, id: &str) -> Option<Arc<Task>> {
        let id = TaskId::read(id);
        let shard = self.shard_of(&id).lock();
        match &id {
            TaskId::Named(name) => shard.named.get(name),
            TaskId::Numbered(number) => shard.numbered.get(number),
        }
        .cloned()
    }

    /// Removes this very task; another one that has its id by now stays.
    pub(crate) fn remove(&self, task: &Task) {
        let mut shard = self.shard_of(&task.id).lock();
        let removed = match &task.id {
            TaskId::Named(name) => match shard.named.get(name) {
                Some(found) if found.serial == task.serial => shard.named.remove(name),
                _ => None,
            },
            TaskId::Numbered(number) => shard.numbered.remove(number),
        };
        if removed.is_some() {
            self.tasks.fetch_sub(1, Ordering::Relaxed);
        }
        // Before `removed`, which may be the last to hold the task.
        drop(shard);
    }

    /// All tasks at some instant during the call; those that are added meanwhile may be missing.
    pub(super) fn all(&self) -> Vec<Arc<Task>> {
        let mut tasks = Vec::with_capacity(self.tasks.load(Ordering::Relaxed));
        for shard in &self.shards {
            let shard = shard.lock();
            tasks.extend(shard.named.values().chain(shard.numbered.values()).cloned());
        }
        tasks
    }

    fn shard_of(&self, id: &TaskId) -> &Mutex<Shard> {
        let hash = match id {
            TaskId::Named(name) => self.hasher.hash_one(&**name),
            // Neighbouring numbers come from different threads as a rule, so they go to different
            // shards.
            TaskId::Numbered(number) => *number,
        };
        &self.shards[(hash % SHARDS as u64) as usize]
    }
}
