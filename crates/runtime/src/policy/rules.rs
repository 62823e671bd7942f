//! What is done when runs fail again and again.
//!
//! ```text
//!  a run has failed for good --> count + 1 --> n reached? --> archive, fallback, event
//!  a run has succeeded       --> count = 0
//! ```
//!
//! A row of failures is counted in one place for all rules that belong together: those of a task, or
//! those of a kind, whose tasks share them. Here is the count and who is to react; `task/rules.rs`
//! does it.

use std::fmt;
use std::sync::Arc;

use wheel_sync::Mutex;

use super::PolicyError;
use crate::panics::discard;
use crate::task::{Context, Handler, IntoOutcome};

/// What is done when so many runs in a row have failed for good, which is when no further attempt
/// follows: [`TaskBuilder::on_repeated_failure`](crate::TaskBuilder::on_repeated_failure).
#[derive(Clone)]
pub struct Reaction(pub(crate) React);

#[derive(Clone)]
pub(crate) enum React {
    Archive,
    Fallback(Handler),
    Event(Listener),
}

/// Told of runs that failed in a row.
pub(crate) type Listener = Arc<dyn Fn(&RepeatedFailure) + Send + Sync>;

/// A run that failed for good, as so many before it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RepeatedFailure {
    /// The id of the task.
    pub task: String,
    /// Which run of the task it was, from 1.
    pub run: u64,
    /// How many runs in a row have failed, this one included: of the task, or of the kind.
    pub in_a_row: u32,
    /// What the last attempt of the run said.
    pub error: String,
}

impl Reaction {
    /// The task is cancelled: a run that has begun meanwhile is asked to stop, and no other one
    /// comes. Its dead letters stay, to be looked at and replayed.
    pub fn archive() -> Reaction {
        Reaction(React::Archive)
    }

    /// From then on, each run that has failed for good is not over: `fallback` is called in its
    /// place at once, on the same worker and with the same context, and what it returns decides.
    /// Until the handler succeeds again.
    ///
    /// If the fallback fails as well the run has failed, with both errors, and is not tried again.
    /// Its success does not end the row, which is about the handler. It has no turn in a run that
    /// was cancelled, or whose attempt the executor refused.
    pub fn fallback<F, O>(fallback: F) -> Reaction
    where
        F: Fn(&Context) -> O + Send + Sync + 'static,
        O: IntoOutcome,
    {
        let handler = move |context: &Context| fallback(context).into_outcome();
        Reaction(React::Fallback(Arc::new(handler)))
    }

    /// `listener` is called after each such run, with the count and the error, as
    /// [`on_failure`](crate::TaskBuilder::on_failure) is and behind it.
    pub fn event(listener: impl Fn(&RepeatedFailure) + Send + Sync + 'static) -> Reaction {
        Reaction(React::Event(Arc::new(listener)))
    }
}

/// Rules that belong together, and the row that they are about.
#[derive(Clone, Default)]
pub(crate) struct Rules {
    in_a_row: Arc<Mutex<u32>>,
    rules: Vec<Rule>,
}

#[derive(Clone)]
struct Rule {
    failures: u32,
    react: React,
}

/// How a run has ended, for the row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunEnd {
    Succeeded,
    Failed,
}

impl Rules {
    pub(crate) fn add(&mut self, failures: u32, reaction: Reaction) {
        let react = reaction.0;
        self.rules.push(Rule { failures, react });
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Whether they can be kept to.
    pub(crate) fn check(&self) -> Result<(), PolicyError> {
        let mut rules = self.rules.iter();
        rules.try_for_each(|rule| Rules::check_failures("on_repeated_failure", rule.failures))
    }

    /// Refuses a row of no failures.
    pub(crate) fn check_failures(field: &'static str, failures: u32) -> Result<(), PolicyError> {
        match failures {
            0 => Err(PolicyError::new(field, "0 failures", "at least 1")),
            _ => Ok(()),
        }
    }

    /// What is called in place of a run that fails now. Of several, the one of the longest row that
    /// this one is part of.
    pub(crate) fn fallback(&self) -> Option<&Handler> {
        let in_a_row = self.in_a_row.lock().saturating_add(1);
        let reached = self.rules.iter().filter(|rule| rule.failures <= in_a_row);
        let fallbacks = reached.filter_map(|rule| match &rule.react {
            React::Fallback(handler) => Some((rule.failures, handler)),
            _ => None,
        });
        let longest = fallbacks.max_by_key(|(failures, _)| *failures);
        longest.map(|(_, handler)| handler)
    }

    /// A run has ended. Returns how many have failed in a row by now.
    pub(crate) fn count(&self, end: RunEnd) -> u32 {
        let mut in_a_row = self.in_a_row.lock();
        *in_a_row = match end {
            RunEnd::Succeeded => 0,
            RunEnd::Failed => in_a_row.saturating_add(1),
        };
        *in_a_row
    }

    /// What is to be done after so many in a row, in the order in which it was asked for.
    pub(crate) fn due(&self, in_a_row: u32) -> impl Iterator<Item = &React> {
        let due = self
            .rules
            .iter()
            .filter(move |rule| rule.failures <= in_a_row);
        due.map(|rule| &rule.react)
    }

    /// Drops them, each of the user's functions by itself, and a panic of its `Drop` ends here.
    pub(crate) fn discard(self) {
        discard(self.rules);
    }
}

impl fmt::Debug for Reaction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            React::Archive => "archive",
            React::Fallback(_) => "fallback",
            React::Event(_) => "event",
        })
    }
}

impl fmt::Debug for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rules = self.rules.iter();
        f.debug_map()
            .entries(rules.map(|rule| (rule.failures, Reaction(rule.react.clone()))))
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(failures: &[u32]) -> Rules {
        let mut rules = Rules::default();
        for failures in failures {
            rules.add(*failures, Reaction::fallback(|_| ()));
        }
        rules
    }

    #[test]
    fn a_row_grows_with_failures_and_a_success_ends_it() {
        let rules = rules(&[2]);
        let ends = [
            RunEnd::Failed,
            RunEnd::Failed,
            RunEnd::Succeeded,
            RunEnd::Failed,
        ];
        assert_eq!(ends.map(|end| rules.count(end)), [1, 2, 0, 1]);
        assert_eq!((rules.due(1).count(), rules.due(2).count()), (0, 1));
    }

    #[test]
    fn a_fallback_has_its_turn_in_the_run_that_makes_the_row_long_enough() {
        let rules = rules(&[2]);
        assert!(rules.fallback().is_none());
        rules.count(RunEnd::Failed);
        assert!(rules.fallback().is_some());
        rules.count(RunEnd::Succeeded);
        assert!(rules.fallback().is_none());
    }

    #[test]
    fn those_who_share_rules_share_the_row() {
        let rules = rules(&[2]);
        rules.clone().count(RunEnd::Failed);
        assert_eq!(rules.count(RunEnd::Failed), 2);
    }
}
