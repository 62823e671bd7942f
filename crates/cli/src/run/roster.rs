//! The tasks that `wheel run` has handed to the scheduler: those of the file as it was read last, and
//! those that are in it no more.
//!
//! Written when the file is read (again), read by whoever waits, draws and sums up. A task has a
//! number for its record that nobody gets after it.

use std::path::PathBuf;
use std::time::SystemTime;

use wheel_runtime::{TaskHandle, TaskInfo, TaskState};
use wheel_sync::{Arc, Condvar, Mutex};

use super::handler::Handler;
use crate::file::Task;
use crate::record::{Record, Tally};

/// A task, as it was handed over.
#[derive(Debug, Clone)]
pub(crate) struct Member {
    pub(super) handler: Arc<Handler>,
    pub(super) handle: TaskHandle,
    pub(crate) place: Place,
}

/// Whether a task is in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    InFile,
    /// It was, or it was another one of this name.
    Gone,
}

impl Member {
    /// The number of its record.
    pub(crate) fn number(&self) -> usize {
        self.handler.number()
    }

    pub(crate) fn task(&self) -> Arc<Task> {
        self.handler.task()
    }

    pub(crate) fn info(&self) -> TaskInfo {
        self.handle.info()
    }

    /// Whether it would run again.
    pub(crate) fn is_pending(&self, info: &TaskInfo, tally: &Tally, now: SystemTime) -> bool {
        let (task, last) = (self.task(), info.last_run.map(|run| run.nominal));
        let schedule = &task.schedule;
        self.place == Place::InFile
            && info.state != TaskState::Skipped
            && schedule.goes_on_after(now, last)
            && schedule.count.is_none_or(|count| tally.counts.runs < count)
    }
}

/// A cheap handle; all clones show the same tasks.
#[derive(Debug, Clone)]
pub(crate) struct Roster {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    path: PathBuf,
    state: Mutex<State>,
    changed: Condvar,
}

/// The tasks, under their lock.
#[derive(Debug, Default)]
pub(super) struct State {
    /// In the order of the file.
    pub(super) members: Vec<Member>,
    /// The members by number in the file, each after those that it depends on.
    pub(super) order: Vec<usize>,
    pub(super) gone: Vec<Member>,
    /// How often they were changed.
    pub(super) changes: u64,
    /// No more changes: the end has begun.
    pub(super) is_closed: bool,
}

impl Roster {
    pub(super) fn new(path: PathBuf) -> Roster {
        let shared = Shared {
            path,
            state: Mutex::default(),
            changed: Condvar::new(),
        };
        Roster {
            shared: Arc::new(shared),
        }
    }

    pub(crate) fn path(&self) -> &PathBuf {
        &self.shared.path
    }

    /// All of them: those of the file in its order, then the others.
    pub(crate) fn all(&self) -> Vec<Member> {
        self.shared.state.lock().all()
    }

    /// The same, each with how it stands.
    pub(super) fn infos(&self) -> Vec<(Member, TaskInfo)> {
        let with_info = |member: Member| {
            let info = member.info();
            (member, info)
        };
        self.all().into_iter().map(with_info).collect()
    }

    /// The same, for the last time: they stay as they are.
    pub(super) fn close(&self) -> Vec<Member> {
        let mut state = self.shared.state.lock();
        state.is_closed = true;
        state.all()
    }

    /// Changes them under the lock; `change` tells whether it has.
    pub(super) fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let mut state = self.shared.state.lock();
        let before = state.changes;
        let result = change(&mut state);
        if state.changes != before {
            self.shared.changed.notify_all();
        }
        result
    }

    /// Waits until all of them have ended, calls `idle`, and begins anew when they have changed. Does
    /// not return.
    pub(super) fn watch(&self, idle: impl Fn()) -> ! {
        loop {
            let (all, changes) = {
                let state = self.shared.state.lock();
                (state.all(), state.changes)
            };
            for member in &all {
                member.handle.wait();
            }
            let mut state = self.shared.state.lock();
            if state.changes == changes {
                // Under the lock: what changes now takes that back.
                idle();
            }
            while state.changes == changes {
                state = self.shared.changed.wait(state);
            }
        }
    }

    /// Which of these would run again.
    pub(super) fn pending(seen: &[(Member, TaskInfo)], record: &Record) -> Vec<bool> {
        let (tallies, now) = (record.tallies(), SystemTime::now());
        let pending = seen.iter().map(|(member, info)| {
            let tally = tallies.get(member.number());
            tally.is_some_and(|tally| member.is_pending(info, tally, now))
        });
        pending.collect()
    }
}

impl State {
    fn all(&self) -> Vec<Member> {
        self.members.iter().chain(&self.gone).cloned().collect()
    }
}
