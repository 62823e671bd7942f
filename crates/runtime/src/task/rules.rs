//! On a worker: what the rules about repeated failure want to be done with a run that has ended.
//!
//! ```text
//!  run.rs:      the handler has returned --> stand_in: it failed for good, a fallback is called
//!  conclude.rs: the end is written down  --> react: count the row, archive, raise events
//! ```

use std::sync::Arc;

use super::attempt::{Attempt, Ended};
use super::failing::{Failing, Verdict};
use super::run::panicked;
use super::{Context, Outcome, Task};
use crate::panics::contain;
use crate::policy::{React, RepeatedFailure, Rules, RunEnd};

/// What the rows count of an attempt.
#[derive(Clone, Debug)]
pub(super) enum Counts {
    /// What is written down of it.
    AsRecorded,
    /// The handler failed for good with this error, whatever the fallback in its place said.
    FailureOf(Arc<str>),
    /// Nothing: it was asked to stop, and what it said then is no sign.
    Nothing,
}

impl Failing {
    /// Those of the task, and those of its kind.
    pub(super) fn all_rules(&self) -> impl Iterator<Item = &Rules> {
        #[cfg(feature = "serde")]
        let of_kind = self.made.as_ref().map(|made| made.rules());
        #[cfg(not(feature = "serde"))]
        let of_kind = None;
        let all = [Some(&self.rules), of_kind].into_iter().flatten();
        all.filter(|rules| !rules.is_empty())
    }
}

impl Task {
    /// The handler has returned. If that means that the run has failed for good, and a rule has a
    /// fallback for it, the fallback says what comes of the run.
    pub(super) fn stand_in(
        &self,
        attempt: &mut Attempt,
        failing: &Failing,
        context: &Context,
        outcome: Outcome,
    ) -> Ended {
        let has_failed = match &outcome {
            Outcome::Failure(_) | Outcome::RetryAfter(..) | Outcome::Permanent(_) => true,
            Outcome::Success | Outcome::Snooze(_) | Outcome::Cancel => false,
        };
        if !has_failed {
            return Ended::Returned(outcome);
        }
        if context.is_cancelled() {
            attempt.counts = Counts::Nothing;
            return Ended::Returned(outcome);
        }
        let Some(fallback) = failing.all_rules().find_map(Rules::fallback) else {
            return Ended::Returned(outcome);
        };
        let at = self.core.engine.clock().now();
        let verdict = self.judge(attempt, Some(failing), Ended::Returned(outcome), at);
        let Verdict::Failed { error, .. } = verdict else {
            return Ended::Judged(verdict);
        };
        attempt.counts = Counts::FailureOf(Arc::clone(&error));
        let said = contain(|| fallback(context));
        let said = said.unwrap_or_else(|message| panicked(self, &message));
        Ended::Returned(match said {
            Outcome::Failure(other) | Outcome::RetryAfter(_, other) | Outcome::Permanent(other) => {
                Outcome::Permanent(format!("{error}; the fallback: {other}"))
            }
            other => other,
        })
    }

    /// A run may be over: it is counted, and what is due is done.
    pub(super) fn react(self: &Arc<Task>, attempt: &Attempt, failing: &Failing, verdict: &Verdict) {
        let error = match (verdict, &attempt.counts) {
            (Verdict::Again(_), _) | (_, Counts::Nothing) => return,
            (_, Counts::FailureOf(error)) | (Verdict::Failed { error, .. }, _) => Some(error),
            (Verdict::Succeeded | Verdict::Stop, Counts::AsRecorded) => None,
        };
        for rules in failing.all_rules() {
            let Some(error) = error else {
                rules.count(RunEnd::Succeeded);
                continue;
            };
            let in_a_row = rules.count(RunEnd::Failed);
            for react in rules.due(in_a_row) {
                match react {
                    // The run itself has done it.
                    React::Fallback(_) => {}
                    React::Archive => {
                        // A task that has ended meanwhile needs none.
                        let _ = self.cancel();
                    }
                    React::Event(listener) => {
                        let failure = RepeatedFailure {
                            task: self.name().to_owned(),
                            run: attempt.run,
                            in_a_row,
                            error: error.to_string(),
                        };
                        self.call_hook("the event of on_repeated_failure", || listener(&failure));
                    }
                }
            }
        }
    }
}
