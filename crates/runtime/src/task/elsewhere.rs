//! What the driver leaves to an executor, because the user has a part in it: what was captured is
//! dropped there, and there those are told that wait for the task.
//!
//! Ground rules: it counts as going until it is done, and the thread that does it as inside of the
//! attempt: what is called there may wait for everything else. It goes to the pool of the task, and
//! with the jobs of the pass, not by way of the engine, which may be stopped meanwhile.

use std::sync::Arc;

use super::occur::Looked;
use super::run::{enter, leave};
use super::{Leftovers, Task, Ticket};
use crate::executor::Job;
use crate::panics::contain;
use crate::scheduler::Fire;

/// A job that is no run, and the number of the pool it goes to.
pub(crate) struct Errand {
    pub(crate) job: Job,
    pub(crate) pool: usize,
}

/// On its way to an executor. One that drops it unseen has done the same.
struct Elsewhere {
    task: Arc<Task>,
    ticket: Ticket,
    what: Option<Box<dyn FnOnce() + Send>>,
}

impl Errand {
    pub(super) fn of(task: &Task, job: Job) -> Errand {
        let pool = task.pool();
        Errand { job, pool }
    }
}

impl Task {
    /// On the driver: `what` is to be done elsewhere, as a part of the attempt of `ticket`.
    pub(crate) fn elsewhere(
        self: &Arc<Task>,
        ticket: Ticket,
        what: impl FnOnce() + Send + 'static,
    ) -> Errand {
        self.core.activity.begin();
        let elsewhere = Elsewhere {
            task: Arc::clone(self),
            ticket,
            what: Some(Box::new(what)),
        };
        Errand::of(self, Job::new(move || drop(elsewhere)))
    }

    /// The same of what the end of the task has left.
    pub(super) fn discard_elsewhere(self: &Arc<Task>, leftovers: Leftovers) -> Looked {
        if leftovers.is_nothing() {
            return Looked::Nothing;
        }
        Looked::Errand(self.elsewhere(0, move || leftovers.discard()))
    }

    /// By way of the engine, where the driver returns with something else in its hands. Not under a
    /// lock: what a closed engine refuses is done here.
    pub(super) fn send_errand(&self, errand: Errand) {
        let engine = &self.core.engine;
        drop(engine.at_moment(engine.clock().now(), Fire::Errand(Box::new(errand))));
    }
}

impl Drop for Elsewhere {
    fn drop(&mut self) {
        let outside = enter(&self.task, self.ticket);
        // Each part of the user's tells of its panics itself.
        let _ = self.what.take().map(contain);
        leave(outside);
        self.task.core.activity.end();
    }
}
