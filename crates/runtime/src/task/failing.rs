//! What a task is told to do about failures: its policy and its hooks. And what they make of an
//! attempt that has ended.
//!
//! All of it is the user's code: it is called and dropped on the worker, with no lock held, and its
//! panics end here.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::attempt::{Attempt, Ended};
use super::{Outcome, Task};
use crate::clock::Moment;
use crate::panics::{contain, discard, tell_stderr};
use crate::policy::{DELAY_MIN, Decision, Draws, Failed, GaveUp, Retry, Rules};
use crate::scheduler::DeadLetter;
#[cfg(feature = "serde")]
use crate::scheduler::Made;

/// Told about things that went wrong.
pub(crate) type Hook<T> = Arc<dyn Fn(&T) + Send + Sync>;

/// For tasks that have anything of it; the others pay for a pointer.
#[derive(Clone, Default)]
pub(crate) struct Failing {
    pub(crate) retry: Option<Retry>,
    pub(crate) on_failure: Option<Hook<Failure>>,
    pub(crate) on_dead: Option<Hook<DeadLetter>>,
    pub(crate) rules: Rules,
    /// If it is of a kind: what it was made of, and the rules of its kind.
    #[cfg(feature = "serde")]
    pub(crate) made: Option<Arc<Made>>,
}

/// An attempt that failed, as a hook is told.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Failure {
    /// The id of the task.
    pub task: String,
    /// What the task is [labelled](crate::TaskBuilder::label) with.
    pub labels: BTreeMap<String, String>,
    /// Which run of the task it was, from 1.
    pub run: u64,
    /// Which attempt of the run, from 1.
    pub attempt: u32,
    /// What the handler said, or `panicked: ` and the message.
    pub error: String,
    /// After how long the run is tried again; `None` if it is not.
    pub next_in: Option<Duration>,
}

/// What has come of an attempt.
#[derive(Debug)]
pub(super) enum Verdict {
    Succeeded,
    /// So has it, and the handler wants no more runs.
    Stop,
    Again(Again),
    /// The run has failed; with a policy, it is dead.
    Failed {
        error: Arc<str>,
        dead: Option<GaveUp>,
        /// The time of the attempt was over, or that of the run is.
        is_late: bool,
    },
}

/// The run goes on: it was snoozed, or it failed with this error.
#[derive(Debug)]
pub(super) struct Again {
    pub(super) delay: Duration,
    pub(super) due: Moment,
    pub(super) error: Option<Arc<str>>,
}

impl Task {
    /// What comes of an attempt that has just ended.
    pub(super) fn judge(
        &self,
        attempt: &Attempt,
        failing: Option<&Failing>,
        ended: Ended,
        at: Moment,
    ) -> Verdict {
        let retry = failing.and_then(|failing| failing.retry.as_ref());
        let again = |delay, error| {
            let due = at.after(delay);
            let Some(limit) = attempt.deadline().passed(due) else {
                return Verdict::Again(Again { delay, due, error });
            };
            Verdict::Failed {
                error: error.unwrap_or_else(|| limit.to_string().into()),
                dead: retry.map(|_| GaveUp::PastDeadline),
                is_late: true,
            }
        };
        let (is_late, outcome) = match ended {
            Ended::Returned(outcome) => (false, outcome),
            // The policy is the user's: it is asked once for each attempt.
            Ended::Judged(verdict) => return verdict,
            Ended::OverTime(limit) => (true, Outcome::Failure(limit.to_string())),
        };
        let (error, asked, is_permanent) = match outcome {
            Outcome::Success => return Verdict::Succeeded,
            Outcome::Cancel => return Verdict::Stop,
            Outcome::Snooze(delay) => return again(delay.max(DELAY_MIN), None),
            Outcome::Failure(error) => (error, None, false),
            Outcome::RetryAfter(delay, error) => (error, Some(delay), false),
            Outcome::Permanent(error) => (error, None, true),
        };
        let error: Arc<str> = error.into();
        let failed = |error, dead| Verdict::Failed {
            error,
            dead,
            is_late,
        };
        let Some(retry) = retry else {
            return failed(error, None);
        };
        let decision = if attempt.deadline().passed(at).is_some() {
            Decision::GiveUp(GaveUp::PastDeadline)
        } else if is_permanent {
            Decision::GiveUp(GaveUp::Permanent)
        } else {
            let failed = Failed {
                error: &error,
                attempt: attempt.number,
                elapsed: at.since(attempt.since),
                asked,
                draw: self.draw(attempt),
            };
            let decided = self.call_hook("the retry policy", || retry.decide(failed));
            decided.unwrap_or(Decision::GiveUp(GaveUp::PolicyPanicked))
        };
        match decision {
            Decision::Again(delay) => again(delay, Some(error)),
            Decision::GiveUp(why) => failed(error, Some(why)),
        }
    }

    /// Calls what the user wants to be asked or told. A panic is counted, and there is no answer
    /// then.
    pub(super) fn call_hook<R>(&self, what: &str, call: impl FnOnce() -> R) -> Option<R> {
        contain(call)
            .map_err(|message| {
                self.core.counters.hook_panicked();
                tell_stderr(&format!("{what} of {} panicked", self.name()), &message);
            })
            .ok()
    }

    /// What all that is drawn for this task depends on.
    pub(super) fn draws(&self) -> Draws {
        Draws::of(self.core.seed, self.name())
    }

    /// The random number of an attempt: the same for the same seed, id, run and attempt.
    fn draw(&self, attempt: &Attempt) -> u64 {
        self.draws().draw(attempt.nominal, attempt.number)
    }
}

impl Failing {
    /// Whether nothing of it is the user's code.
    pub(super) fn is_quiet(&self) -> bool {
        let has_hooks = self.on_failure.is_some() || self.on_dead.is_some();
        let has_rules = self.all_rules().next().is_some();
        !has_hooks && !has_rules && self.retry.as_ref().is_none_or(Retry::is_quiet)
    }
}

/// As [`Code::discard`](super::Code::discard).
impl Drop for Failing {
    fn drop(&mut self) {
        discard(self.on_failure.take());
        discard(self.on_dead.take());
        if let Some(retry) = self.retry.take() {
            retry.discard();
        }
        std::mem::take(&mut self.rules).discard();
        #[cfg(feature = "serde")]
        discard(self.made.take());
    }
}

impl fmt::Debug for Failing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Failing")
            .field("retry", &self.retry)
            .field("has_on_failure", &self.on_failure.is_some())
            .field("has_on_dead", &self.on_dead.is_some())
            .field("rules", &self.rules)
            .finish()
    }
}
