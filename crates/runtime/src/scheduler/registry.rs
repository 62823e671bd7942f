//! Which tasks there are, by id.
//!
//! Ground rules: sharded, each shard behind a lock that is held for one step of a map, or for a list of
//! what is in it, and never while user code runs or the lock of a task is taken. The driver only
//! tries it (`way_out.rs`). Ended tasks are not here; a handle keeps
//! its task. The count of tasks is Relaxed throughout: it guards nothing but itself. [O73]

use std::sync::Arc;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use wheel_sync::atomic::{AtomicUsize, Ordering};
use wheel_sync::{CachePadded, Mutex, MutexGuard, RandomState};

use crate::policy::OnConflict;
use crate::task::{Id, OwnId, Task};

const SHARDS: usize = 16;

pub(crate) struct Registry {
    /// Large, and the stacks of models are small.
    shards: Box<[CachePadded<Mutex<Shard>>]>,
    hasher: RandomState,
    limit: Option<Limit>,
}

/// Tasks by the hash of their ids, which they know. A reference each: what is compared is in the
/// task.
type Shard = HashTable<Arc<Task>>;

/// Where a task is, or would be.
pub(crate) struct ShardDoor<'r>(MutexGuard<'r, Shard>);

/// How many tasks there may be. Counted only if there is a limit, for all threads count there.
struct Limit {
    tasks: AtomicUsize,
    max: usize,
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
    pub(super) fn new(tasks_max: Option<usize>) -> Registry {
        Registry {
            shards: (0..SHARDS).map(|_| CachePadded::default()).collect(),
            hasher: RandomState::new(),
            limit: tasks_max.map(|max| Limit {
                tasks: AtomicUsize::new(0),
                max,
            }),
        }
    }

    /// The id of a new task, with or without a name; `None` if it may not have that.
    pub(super) fn id(&self, serial: u64, name: Option<&str>) -> Option<OwnId> {
        match name {
            None => Some(OwnId::numbered(serial, &self.hasher)),
            Some(name) => OwnId::named(serial, name, &self.hasher),
        }
    }

    /// The id that `text` names, for a task that is made again.
    pub(super) fn id_again(&self, serial: u64, text: &str) -> OwnId {
        OwnId::again(serial, text, &self.hasher)
    }

    /// Adds `task` under its id.
    pub(super) fn add(
        &self,
        task: &Arc<Task>,
        on_conflict: OnConflict,
    ) -> Result<Replaced, NotAdded> {
        let own = &task.id;
        let mut shard = self.shard_of(own.hash).lock();
        let is_it = |other: &Arc<Task>| other.id.hash == own.hash && other.id.id() == own.id();
        match shard.entry(own.hash, is_it, |task| task.id.hash) {
            Entry::Vacant(vacant) => {
                if !self.limit.as_ref().is_none_or(Limit::admits_one) {
                    return Err(NotAdded::Full);
                }
                vacant.insert(Arc::clone(task));
                Ok(None)
            }
            Entry::Occupied(mut occupied) => match on_conflict {
                OnConflict::Refuse => Err(NotAdded::Duplicate),
                OnConflict::Keep => Err(NotAdded::Kept(Arc::clone(occupied.get()))),
                OnConflict::Replace => Ok(Some(std::mem::replace(
                    occupied.get_mut(),
                    Arc::clone(task),
                ))),
            },
        }
    }

    /// What a map finds `id` by.
    pub(super) fn hash_of(&self, id: Id<'_>) -> u64 {
        id.hash(&self.hasher)
    }

    pub(super) fn get(&self, id: &str) -> Option<Arc<Task>> {
        let id = Id::read(id);
        let hash = id.hash(&self.hasher);
        let shard = self.shard_of(hash).lock();
        shard.find(hash, |task| task.id.id() == id).cloned()
    }

    /// Removes this very task; another one that has its id by now stays.
    pub(crate) fn remove(&self, task: &Task) {
        let shard = self.shard_of(task.id.hash).lock();
        self.remove_by(ShardDoor(shard), task);
    }

    /// For the driver, which waits for nobody: where this task is. `None` if somebody is there.
    pub(crate) fn try_enter(&self, task: &Task) -> Option<ShardDoor<'_>> {
        self.shard_of(task.id.hash).try_lock().map(ShardDoor)
    }

    /// As `remove`, of a task that is behind this door.
    pub(crate) fn remove_by(&self, door: ShardDoor<'_>, task: &Task) {
        let (hash, ShardDoor(mut shard)) = (task.id.hash, door);
        let found = shard.find_entry(hash, |other| std::ptr::eq(&**other, task));
        let removed = found.map(|found| found.remove().0);
        if let (Ok(_), Some(limit)) = (&removed, &self.limit) {
            limit.tasks.fetch_sub(1, Ordering::Relaxed);
        }
        // Before `removed`, which may be the last to hold the task.
        drop(shard);
    }

    /// All tasks at some instant during the call; those that are added meanwhile may be missing.
    pub(super) fn all(&self) -> Vec<Arc<Task>> {
        let mut tasks = Vec::new();
        for shard in &*self.shards {
            tasks.extend(shard.lock().iter().cloned());
        }
        tasks
    }

    /// By bits that the tables make no use of.
    fn shard_of(&self, hash: u64) -> &Mutex<Shard> {
        &self.shards[(hash >> 32) as usize % SHARDS]
    }
}

impl Limit {
    fn admits_one(&self) -> bool {
        let more = |tasks| (tasks < self.max).then_some(tasks + 1);
        let relaxed = Ordering::Relaxed;
        self.tasks.fetch_update(relaxed, relaxed, more).is_ok()
    }
}
