//! `cargo xtask tidy`: the file-level conventions that a machine can hold.
//!
//! ```text
//! tree.rs   which files there are          source.rs  code and comments of a Rust file, apart
//! shape.rs  how a file and a name look     words.rs   what is never written
//! seams.rs  what only some crates may use  orderings.rs  atomics and docs/ORDERINGS.md
//! links.rs  documents that name files      cases.rs   docs/CASES.md and its tests
//! unsafes.rs  unsafe and docs/UNSAFE.md     ids.rs     ids in comments and their tables
//! imports.rs  use statements spelled out
//! ```
//!
//! A rule is a function from the tree of files to findings. It never touches the disk, so each one
//! is tested on a bad sample that it must find and a good one that it must leave alone. An
//! exception is written where it is made, `// tidy: allow RULE, REASON`, and must be needed
//! (waiver.rs). Rules hold by reading tokens, not by understanding Rust; what needs types is
//! clippy's, in `clippy.toml`.

mod cases;
pub(crate) mod ids;
pub(crate) mod imports;
mod links;
mod orderings;
mod seams;
mod shape;
pub(crate) mod source;
pub(crate) mod tree;
mod unsafes;
mod waiver;
mod words;

use std::fmt;

use crate::step::root;
use tree::{File, Tree};

/// Something that breaks a convention.
#[derive(Debug)]
struct Finding {
    path: String,
    line: usize,
    message: String,
}

impl Finding {
    fn at(file: &File, line: usize, message: String) -> Finding {
        Finding {
            path: file.path.clone(),
            line,
            message,
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.message)
    }
}

/// A convention with its name, one sentence, and its check.
struct Rule {
    name: &'static str,
    about: &'static str,
    check: fn(&Tree) -> Vec<Finding>,
}

fn rules() -> impl Iterator<Item = &'static Rule> {
    [
        shape::RULES,
        words::RULES,
        seams::RULES,
        orderings::RULES,
        unsafes::RULES,
        links::RULES,
        cases::RULES,
    ]
    .into_iter()
    .flatten()
}

/// Checks the tree, or lists the rules.
pub(crate) fn run(args: &[String]) -> Result<(), String> {
    match args {
        [] => check(),
        [flag] if flag == "--rules" => {
            rules().for_each(|rule| println!("  {:<16} {}", rule.name, rule.about));
            Ok(())
        }
        [other, ..] => Err(format!("`cargo xtask tidy` takes no `{other}`")),
    }
}

fn check() -> Result<(), String> {
    let tree = Tree::read(&root()).map_err(|error| format!("cannot read the files: {error}"))?;
    let findings = rules().map(|rule| (rule.name, (rule.check)(&tree)));
    let findings = waiver::apply(&tree, findings.collect());
    for (rule, finding) in &findings {
        println!("{finding} [{rule}]");
    }
    if findings.is_empty() {
        println!(
            "tidy: {} files, {} rules, nothing to say.",
            tree.files().count(),
            rules().count()
        );
        return Ok(());
    }
    Err(format!(
        "{} findings; `cargo xtask tidy --rules` says what each rule wants",
        findings.len()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `rule` finds in a tree of these files, as `path:line`.
    pub(super) fn found(rules: &[Rule], name: &str, files: &[(&str, &str)]) -> Vec<String> {
        let rule = rules
            .iter()
            .find(|rule| rule.name == name)
            .expect("a rule of that name");
        let findings = (rule.check)(&Tree::of(files));
        findings
            .iter()
            .map(|finding| format!("{}:{}", finding.path, finding.line))
            .collect()
    }

    #[test]
    fn rule_names_are_unique() {
        let mut names: Vec<_> = rules().map(|rule| rule.name).collect();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn unknown_arguments_are_refused() {
        assert!(run(&["--fix".into()]).is_err());
    }
}
