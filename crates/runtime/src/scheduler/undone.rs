//! Who is named in the report of a shutdown: each task once, although it may be met in several places.
//! A handler that hangs, for one, may be of a task that waits for its next occurrence.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use wheel_sync::RandomState;

#[cfg(feature = "serde")]
use super::kinds::UnresolvedTask;
use super::shutdown::ShutdownReport;
use crate::task::{Task, TaskInfo};

/// A task as it stood. Its id may be used again, and its number is not.
pub(crate) struct Named {
    pub(crate) serial: u64,
    pub(crate) info: TaskInfo,
}

/// Those that were met, by what they were met in.
#[derive(Default)]
pub(super) struct Undone {
    pub(super) pending: Vec<Named>,
    pub(super) queued: Vec<Named>,
    pub(super) interrupted: Vec<Named>,
    pub(super) cut: Vec<Named>,
    #[cfg(feature = "serde")]
    pub(super) unresolved: Vec<UnresolvedTask>,
}

impl Named {
    pub(super) fn of(task: &Arc<Task>) -> Named {
        Named {
            serial: task.id.serial,
            info: task.info(),
        }
    }
}

impl Undone {
    pub(super) fn into_report(self) -> ShutdownReport {
        let mut cut: Vec<TaskInfo> = Vec::new();
        let mut cut_at: HashMap<u64, usize, RandomState> = HashMap::default();
        for named in self.cut {
            if let Entry::Vacant(new) = cut_at.entry(named.serial) {
                new.insert(cut.len());
                cut.push(named.info);
            }
        }
        let mut not_cut = |list: Vec<Named>| {
            let mut rest = Vec::new();
            for named in list {
                match cut_at.get(&named.serial) {
                    None => rest.push(named),
                    // It was ended by the shutdown since, and met again because it hangs.
                    Some(&place) if cut[place].state.has_ended() => cut[place] = named.info,
                    Some(_) => {}
                }
            }
            rest
        };
        let [pending, queued] = [self.pending, self.queued].map(&mut not_cut);
        let mut interrupted = not_cut(self.interrupted);
        // Several runs of one task may have been.
        let mut seen: HashSet<u64, RandomState> = HashSet::default();
        interrupted.retain(|named| seen.insert(named.serial));
        ShutdownReport {
            pending: infos(pending),
            queued: infos(queued),
            interrupted: infos(interrupted),
            cut,
            #[cfg(feature = "serde")]
            unresolved: self.unresolved,
        }
    }
}

fn infos(list: Vec<Named>) -> Vec<TaskInfo> {
    list.into_iter().map(|named| named.info).collect()
}
