//! The keys that a table knows, and what was probably meant by one that it does not know.

use toml::Spanned;
use toml::de::{DeString, DeTable};

use super::fault::Faults;
use super::words::{NOT_THERE, OTHER_WORDS};

/// All keys of a `[[task]]` table, in the order in which help texts list them.
pub(crate) const TASK_KEYS: [&str; 26] = [
    "id",
    "after",
    "at",
    "every",
    "cron",
    "timezone",
    "aligned",
    "start",
    "not_before",
    "not_after",
    "count",
    "jitter",
    "depends_on",
    "run",
    "retry",
    "timeout",
    "deadline",
    "misfire",
    "overlap",
    "priority",
    "concurrency_key",
    "concurrency",
    "rate_limit",
    "env",
    "dir",
    "output",
];

/// What to do in place of an unknown key that has no counterpart.
fn in_place_of(unknown: &str) -> Option<&'static str> {
    let unknown = unknown.to_lowercase();
    let found = NOT_THERE.iter().find(|(word, _)| *word == unknown);
    found.map(|(_, help)| *help)
}

/// The keys that a table knows.
pub(crate) struct Known {
    pub(crate) keys: &'static [&'static str],
    /// What knows them, and where that stands if it is no task.
    pub(crate) whose: &'static str,
    pub(crate) place: &'static str,
    /// What to do in place of an unknown one that has no counterpart.
    pub(crate) in_place_of: fn(&str) -> Option<&'static str>,
    /// The one that was probably meant by an unknown one.
    pub(crate) meant_by: fn(&str) -> Option<&'static str>,
}

pub(crate) const OF_TASK: Known = Known {
    keys: &TASK_KEYS,
    whose: "a task",
    place: "",
    in_place_of,
    meant_by,
};

impl Known {
    fn unknown_of<'t, 'd>(
        &self,
        table: &'t DeTable<'d>,
    ) -> impl Iterator<Item = &'t Spanned<DeString<'d>>> {
        let keys = table.iter().map(|(key, _)| key);
        keys.filter(|key| !self.keys.contains(&key.get_ref().as_ref()))
    }

    /// Adds a fault for each key that is not known. Returns whether there was none.
    pub(crate) fn check(&self, table: &DeTable<'_>, faults: &mut Faults) -> bool {
        let mut right = true;
        for key in self.unknown_of(table) {
            right = false;
            let shown = key.get_ref().escape_debug();
            let fault = faults.add(key.span(), format!("unknown key `{shown}`{}", self.place));
            if let Some(help) = (self.in_place_of)(key.get_ref()) {
                fault.help(help);
            } else if let Some(meant) = (self.meant_by)(key.get_ref()) {
                fault.help(format!("did you mean `{meant}`?"));
            }
            fault.note(format!("{} knows {}", self.whose, self.keys.join(", ")));
        }
        right
    }

    /// Whether an unknown key probably means this one, so that it is not also said to be missing.
    pub(crate) fn is_misspelt(&self, missing: &str, table: &DeTable<'_>) -> bool {
        let mut unknown = self.unknown_of(table);
        unknown.any(|key| (self.meant_by)(key.get_ref()) == Some(missing))
    }
}

/// The known key that was probably meant by an unknown one.
fn meant_by(unknown: &str) -> Option<&'static str> {
    let unknown = unknown.to_lowercase();
    let other = OTHER_WORDS
        .iter()
        .find(|(word, _)| *word == unknown)
        .map(|(_, key)| *key);
    other.or_else(|| nearest(&unknown, &TASK_KEYS))
}

/// The candidate that is at most a third of its letters (at least one) away.
pub(crate) fn nearest<'c>(text: &str, candidates: &[&'c str]) -> Option<&'c str> {
    let scored = candidates
        .iter()
        .map(|candidate| (distance(text, candidate), *candidate));
    let (steps, candidate) = scored.min_by_key(|(steps, _)| *steps)?;
    (steps <= (candidate.len() / 3).max(1)).then_some(candidate)
}

/// Letters to insert, drop, replace or swap with a neighbour to get from one text to the other.
fn distance(from: &str, to: &str) -> usize {
    let from: Vec<char> = from.chars().take(64).collect();
    let to: Vec<char> = to.chars().collect();
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=to.len()).collect();
    for i in 1..=from.len() {
        let mut row = vec![i];
        for j in 1..=to.len() {
            let replaced = last[j - 1] + usize::from(from[i - 1] != to[j - 1]);
            let mut best = replaced.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1] {
                best = best.min(before_last[j - 2] + 1);
            }
            row.push(best);
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_key_leads_to_the_right_one() {
        for (unknown, meant) in [
            ("evry", "every"),
            ("evrey", "every"),
            ("Every", "every"),
            ("afer", "after"),
            ("aftre", "after"),
            ("cuont", "count"),
            ("outptu", "output"),
            ("command", "run"),
            ("cwd", "dir"),
            ("name", "id"),
            ("priorty", "priority"),
            ("depend_on", "depends_on"),
            ("requires", "depends_on"),
            ("not_befor", "not_before"),
            ("concurency", "concurrency"),
            ("ratelimit", "rate_limit"),
        ] {
            assert_eq!(meant_by(unknown), Some(meant), "{unknown}");
        }
    }

    #[test]
    fn a_key_that_is_like_none_leads_nowhere() {
        for unknown in ["colour", "zzzzzz", ""] {
            assert_eq!(meant_by(unknown), None, "{unknown}");
        }
    }
}
