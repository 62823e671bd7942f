//! What is left to do about an attempt that was over time and whose task has hooks, or functions in
//! its retry policy: a job, for the driver does not call them.

use std::sync::Arc;

use super::after::After;
use super::attempt::{Attempt, Ended};
use super::conclude::Ending;
use super::run::{enter, leave};
use super::terms::LimitOf;
use super::{CancelToken, Errand, Task};
use crate::clock::Moment;
use crate::executor::{Job, Work};
use crate::panics::discard;
use crate::scheduler::WayOut;

/// What is left to do about an attempt that was over time, for the executor.
pub(super) struct Settlement {
    /// `None` once it is being done.
    task: Option<Arc<Task>>,
    attempt: Attempt,
    of: LimitOf,
    at: Moment,
    /// Its token is set, and futures that wait for that are to be woken.
    awaited: Option<CancelToken>,
}

impl Settlement {
    /// Before whatever is due.
    pub(super) fn errand(
        task: &Arc<Task>,
        attempt: Attempt,
        at: Moment,
        awaited: Option<CancelToken>,
    ) -> Errand {
        let of = attempt.limit().of;
        let settlement = Settlement {
            task: Some(Arc::clone(task)),
            attempt,
            of,
            at,
            awaited,
        };
        Errand::of(task, Job::due_at(0, settlement))
    }

    fn conclude(&mut self) {
        if let Some(task) = self.task.take() {
            // A hook that waits for its own task must not keep the thread, as in a run.
            let outside = enter(&task, self.attempt.ticket);
            if let Some(token) = self.awaited.take() {
                token.wake();
            }
            task.settle(&mut self.attempt, self.of, self.at);
            leave(outside);
        }
    }
}

impl Work for Settlement {
    fn run(mut self: Box<Self>) {
        self.conclude();
    }
}

/// An executor that drops it has refused it: what is written down must be.
impl Drop for Settlement {
    fn drop(&mut self) {
        self.conclude();
    }
}

impl Task {
    /// As `finish`, of an attempt that was over time at that moment.
    fn settle(self: &Arc<Task>, attempt: &mut Attempt, of: LimitOf, at: Moment) {
        let failing = {
            let life = self.life.lock();
            life.code.as_ref().and_then(|code| code.failing.clone())
        };
        let judged = failing.as_deref();
        let verdict = self.judge(attempt, judged, Ended::OverTime(of), at);
        let life = self.life.lock();
        let is_over = life.state.check_over(attempt.ticket).is_ok();
        if is_over {
            let carried = attempt.values.take();
            let ending = Ending {
                attempt,
                failing: failing.as_ref(),
                verdict: &verdict,
                at,
            };
            let mut after = After::of_run(carried);
            self.conclude(life, &ending, &mut after, WayOut::default());
            self.follow_up(&ending, &mut after);
        } else {
            drop(life);
        }
        discard(failing);
        if is_over {
            // Before it no longer counts: whose handler waits for idle is excused until then.
            self.core.hung.settle(self, (attempt.run, attempt.number));
            self.core.activity.end();
        }
    }
}
