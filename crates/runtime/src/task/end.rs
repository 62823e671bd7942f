//! The last steps of a task, under its lock; and what it leaves to be dropped outside of that.
//!
//! The order matters: the end is told, then the task is in the history, then its id is free. So who
//! does not find it live any more finds it among those that have ended.

use std::sync::Arc;

use super::state::End;
use super::upstream::News;
use super::{Code, Life, Task};
use crate::scheduler::{EventKind, ShardDoor, WayOut};

/// What an ended task leaves behind: the user's code, and those that wait for it. Dropped and told
/// outside of every lock.
#[must_use = "drop it after the lock"]
pub(crate) struct Leftovers {
    code: Option<Code>,
    news: Option<News>,
}

impl Leftovers {
    pub(crate) const NOTHING: Leftovers = Leftovers {
        code: None,
        news: None,
    };

    pub(crate) fn is_nothing(&self) -> bool {
        self.code.is_none() && self.news.is_none()
    }

    pub(super) fn take_news(&mut self) -> Option<News> {
        self.news.take()
    }

    /// Tells those that wait, and drops the rest; a panic of the user's `Drop` ends here.
    pub(crate) fn discard(self) {
        self.news.into_iter().for_each(News::tell);
        self.code.into_iter().for_each(Code::discard);
    }
}

impl Task {
    /// The last steps of a task that has just ended. From here on its id is free.
    pub(super) fn bury(self: &Arc<Task>, life: &mut Life) -> Leftovers {
        self.bury_by(life, WayOut::default())
    }

    /// The same by doors that the driver has entered before.
    pub(super) fn bury_by(self: &Arc<Task>, life: &mut Life, way_out: WayOut<'_>) -> Leftovers {
        let state = life.state.name();
        // Before the id is free, and a task that takes it is told of.
        self.note(life, || EventKind::Ended { state });
        // Before it is free, too: whoever does not find it live any more finds it there.
        match way_out.ended {
            Some(door) => door.push(self),
            None => self.core.ended.push(self),
        }
        self.take_down(life, way_out.shard)
    }

    /// As `bury`, of a task that never was one: its user is told that it was refused.
    pub(super) fn bury_refused(&self, life: &mut Life) -> Leftovers {
        self.take_down(life, None)
    }

    fn take_down(&self, life: &mut Life, door: Option<ShardDoor<'_>>) -> Leftovers {
        debug_assert!(life.state.name().has_ended());
        self.disarm(life);
        life.clear_backlog();
        match door {
            Some(door) => self.core.registry.remove_by(door, self),
            None => self.core.registry.remove(self),
        }
        if life.waiters > 0 {
            self.ended.notify_all();
        }
        life.forget_upstream();
        Leftovers {
            code: life.code.take(),
            news: life.take_dependents(life.state.name()),
        }
    }

    /// With nothing to come the task ends: what was left was left out.
    pub(super) fn end_without_more(self: &Arc<Task>, life: &mut Life) -> Leftovers {
        // What a closed engine has refused is ended, and named, by the shutdown.
        if self.has_more(life) || self.core.engine.is_closed() {
            return Leftovers::NOTHING;
        }
        match life.state.end(End::Skipped) {
            Ok(()) => self.bury(life),
            Err(_) => Leftovers::NOTHING,
        }
    }
}
