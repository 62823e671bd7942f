//! What came of the mutants: a line as each one ends, the table, the verdict.

use std::time::Duration;

use crate::process::End;
use crate::step::seconds;

/// What became of a mutant.
pub(super) enum Fate {
    /// This has failed, or did not end.
    Noticed { by: String, end: End },
    /// Nothing has, and docs/ORDERINGS.md says why.
    Explained { why: String },
    /// Nothing has.
    Survived { why: String },
    /// The mutant could not be made or run.
    Broken { why: String },
}

/// A mutant and its end.
pub(super) struct Verdict {
    pub(super) site: String,
    pub(super) change: String,
    pub(super) fate: Fate,
    pub(super) took: Duration,
}

impl Verdict {
    fn noticed_by(&self) -> String {
        match &self.fate {
            Fate::Noticed {
                by,
                end: End::TimedOut,
            } => format!("{by} (does not end)"),
            Fate::Noticed { by, .. } => by.clone(),
            Fate::Explained { why } => format!("none: {why}"),
            Fate::Survived { why } => format!("SURVIVED: {why}"),
            Fate::Broken { why } => format!("BROKEN: {why}"),
        }
    }

    pub(super) fn print(&self, done: usize, of: usize) {
        println!(
            "  [{done:>3}/{of}] {:<38} {:<30} {} ({})",
            self.site,
            self.change,
            self.noticed_by(),
            seconds(self.took)
        );
    }
}

/// How to print the table.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Plain,
    Markdown,
}

pub(super) fn print_table(title: &str, verdicts: &[Verdict], form: Form) {
    if verdicts.is_empty() {
        return;
    }
    if form == Form::Markdown {
        println!("\n| {title} | changed | noticed by |\n|---|---|---|");
        for verdict in verdicts {
            // No line numbers: the table stands in a document.
            let site = verdict.site.split(':').next().unwrap_or_default();
            let by = verdict.noticed_by();
            println!("| {site} | {} | {by} |", verdict.change);
        }
    } else {
        println!(
            "\n  {title:<38} {:<30} {:>7}  noticed by",
            "changed", "time"
        );
        for verdict in verdicts {
            println!(
                "  {:<38} {:<30} {:>7}  {}",
                verdict.site,
                verdict.change,
                seconds(verdict.took),
                verdict.noticed_by()
            );
        }
    }
}

/// Counts, and what is wrong.
pub(super) fn judge(kind: &str, verdicts: &[Verdict]) -> Result<(), String> {
    let count = |is: fn(&Fate) -> bool| verdicts.iter().filter(|v| is(&v.fate)).count();
    let noticed = count(|fate| matches!(fate, Fate::Noticed { .. }));
    let explained = count(|fate| matches!(fate, Fate::Explained { .. }));
    let wrong = verdicts.len() - noticed - explained;
    println!(
        "  {} {kind}: {noticed} noticed, {explained} unnoticed for a written reason, {wrong} wrong",
        verdicts.len()
    );
    let wrong: Vec<String> = verdicts
        .iter()
        .filter(|v| matches!(v.fate, Fate::Survived { .. } | Fate::Broken { .. }))
        .map(|v| format!("{} {}: {}", v.site, v.change, v.noticed_by()))
        .collect();
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(wrong.join("\n  ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(fate: Fate) -> Verdict {
        Verdict {
            site: "a.rs:1".into(),
            change: "Release to Relaxed".into(),
            fate,
            took: Duration::ZERO,
        }
    }

    #[test]
    fn one_survivor_is_one_too_many() {
        let explained = || verdict(Fate::Explained { why: "w".into() });
        assert!(judge("orderings", &[explained()]).is_ok());
        let survived = verdict(Fate::Survived {
            why: "no model reaches it".into(),
        });
        let error = judge("orderings", &[explained(), survived]).unwrap_err();
        assert!(error.contains("a.rs:1 Release to Relaxed"), "{error}");
    }
}
