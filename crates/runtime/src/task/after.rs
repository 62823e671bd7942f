//! What is left to do when the end of an attempt has been written down, without the lock: hooks, and
//! what is the user's to be dropped.
//!
//! On a worker it is done there. On the driver, where an attempt was over time, what is the user's
//! goes to the executor.

use std::sync::Arc;
use std::time::Duration;

use super::attempt::Attempt;
use super::conclude::Ending;
use super::failing::{Failing, Failure, Verdict};
use super::occur::Looked;
use super::trial::Lost;
use super::upstream::News;
use super::values::RunValues;
use super::waiting::WaitingRun;
use super::{CancelToken, Leftovers, Task, TaskState};
use crate::policy::GaveUp;
use crate::scheduler::{DeadLetter, DeadLetterId, Fire, Named, Replay, Tidings, Told};

/// What is left to do without the lock.
#[derive(Default)]
#[must_use = "the user's code is in it"]
pub(super) struct After {
    pub(super) leftovers: Option<Leftovers>,
    /// Those that waited for this run.
    pub(super) news: Option<News>,
    /// Runs that waited for this one to end.
    pub(super) follow: Vec<WaitingRun>,
    pub(super) lost: Lost,
    /// So many runs that waited for a worker will not start.
    pub(super) withdrawn: usize,
    /// What the run has carried.
    pub(super) carried: Option<RunValues>,
    /// Where the run stands now; `None` if nobody is told.
    pub(super) result: Option<TaskState>,
    /// For the hook.
    pub(super) letter: Option<DeadLetter>,
    /// For who listens.
    pub(super) dead: Option<(DeadLetterId, GaveUp)>,
    /// What had to make room for it: the user's code, to be dropped.
    pub(super) evicted: Vec<Replay>,
    /// Its token is set, and futures that wait for that are to be woken.
    pub(super) awaited: Option<CancelToken>,
    pub(super) next_in: Option<Duration>,
    pub(super) is_interrupted: bool,
    /// The task is in `Core::leaving`, and should no longer be.
    pub(super) is_gone: bool,
}

impl After {
    /// Of a run that has carried this until now.
    pub(super) fn of_run(carried: Option<RunValues>) -> After {
        After {
            carried,
            ..After::default()
        }
    }

    /// Drops what is the user's. Not on the driver.
    fn discard(&mut self) {
        if let Some(token) = self.awaited.take() {
            token.wake();
        }
        if let Some(news) = self.news.take() {
            news.tell();
        }
        if let Some(leftovers) = self.leftovers.take() {
            leftovers.discard();
        }
        self.evicted.drain(..).for_each(Replay::discard);
        self.carried = None;
        if !self.lost.is_nothing() {
            self.lost = Lost::default();
        }
    }

    /// Whether anything is to be done elsewhere, if this is the driver.
    fn is_nothing(&self) -> bool {
        let leaves_nothing = self.leftovers.as_ref().is_none_or(Leftovers::is_nothing);
        leaves_nothing
            && self.news.is_none()
            && self.evicted.is_empty()
            && self.awaited.is_none()
            && self.lost.is_nothing()
            && self.withdrawn == 0
            && self.carried.as_ref().is_none_or(RunValues::is_empty)
            && !self.is_interrupted
            && !self.is_gone
    }
}

impl Task {
    /// The rest, on a worker: the user is told. Then the run need no longer count as going.
    pub(super) fn follow_up(self: &Arc<Task>, ending: &Ending<'_>, after: &mut After) {
        let (attempt, verdict) = (ending.attempt, ending.verdict);
        self.cancel_timers(std::mem::take(&mut after.lost.timers));
        after.news.take().into_iter().for_each(News::tell);
        // Before it is out of sight of a shutdown that looks for runs to name.
        if after.is_interrupted {
            self.note_interrupted(attempt, verdict);
        }
        if after.is_gone {
            self.leave();
        }
        if after.withdrawn > 0 {
            self.core.note_withdrawn(after.withdrawn);
        }
        if let Some(failing) = ending.failing {
            self.call_hooks(attempt, failing, verdict, after);
            self.react(attempt, failing, verdict);
        }
        after.discard();
    }

    /// The rest, on the driver, of an attempt without hooks: what is the user's goes elsewhere.
    pub(super) fn follow_up_on_driver(
        self: &Arc<Task>,
        attempt: Attempt,
        verdict: Verdict,
        mut after: After,
    ) -> Looked {
        self.cancel_timers(std::mem::take(&mut after.lost.timers));
        let mut looked = Looked::Nothing;
        if !after.is_nothing() {
            let task = Arc::clone(self);
            looked = Looked::Errand(self.elsewhere(attempt.ticket, move || {
                if after.is_interrupted {
                    task.note_interrupted(&attempt, &verdict);
                }
                if after.is_gone {
                    task.leave();
                }
                if after.withdrawn > 0 {
                    task.core.note_withdrawn(after.withdrawn);
                }
                after.discard();
            }));
        }
        self.end_activity_on_driver();
        looked
    }

    /// The scheduler shuts down, or the run would have been tried again: the report names it.
    fn note_interrupted(&self, attempt: &Attempt, verdict: &Verdict) {
        let mut info = self.info();
        info.state = TaskState::Retrying;
        let failed = u32::from(verdict.error().is_some());
        info.attempt = attempt.number.saturating_add(failed);
        let serial = self.id.serial;
        self.core.interrupted.lock().push(Named { serial, info });
    }

    /// A run no longer counts as going.
    pub(super) fn end_activity_on_driver(self: &Arc<Task>) {
        if !self.core.activity.try_end() {
            let (task, what) = (Arc::clone(self), Tidings::Ended);
            let engine = &self.core.engine;
            let told = Fire::Tell(Told::new(task, what));
            // What a closed engine refuses tells them when it is dropped.
            let _ = engine.at_moment(engine.clock().now(), told);
        }
    }

    /// Its last run is over.
    fn leave(&self) {
        self.core.leaving.lock().remove(&self.id.serial);
    }

    fn call_hooks(&self, attempt: &Attempt, failing: &Failing, verdict: &Verdict, after: &After) {
        if let (Some(hook), Some(error)) = (&failing.on_failure, verdict.error()) {
            let failure = Failure {
                task: self.name().to_owned(),
                labels: self.labels(),
                run: attempt.run,
                attempt: attempt.number,
                error: error.to_string(),
                next_in: after.next_in,
            };
            self.call_hook("on_failure", || hook(&failure));
        }
        if let (Some(hook), Some(letter)) = (&failing.on_dead, &after.letter) {
            self.call_hook("on_dead", || hook(letter));
        }
    }
}

impl Verdict {
    pub(super) fn error(&self) -> Option<&Arc<str>> {
        match self {
            Verdict::Succeeded | Verdict::Stop => None,
            Verdict::Again(again) => again.error.as_ref(),
            Verdict::Failed { error, .. } => Some(error),
        }
    }
}
