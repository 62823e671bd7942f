//! Every atomic site explains itself, and docs/ORDERINGS.md knows the sites of the protocols.
//!
//! ```text
//! // Release: publishes the value; pairs with claim. [O3]        | O3 | writer | reader | ... |
//! self.0.store(word, Ordering::Release);                         a row of docs/ORDERINGS.md
//! ```
//!
//! A site is a memory ordering named in code. In `wheel-core`, `runtime` and `sync` it carries an id
//! on its own line or in the five lines above, ids have rows, and rows have sites; for what is
//! Relaxed the opening of the file may carry it. Elsewhere a comment in the same place is enough, or
//! an opening of the file that speaks of that ordering: such atomics are counters and flags, and the
//! comment says so.

use super::ids;
use super::imports::import_lines;
use super::source::words;
use super::tree::{File, Tree};
use super::{Finding, Rule};

const TABLE: &str = "docs/ORDERINGS.md";
const ORDERINGS: &[&str] = &["Relaxed", "Acquire", "Release", "AcqRel", "SeqCst"];
/// What is there for the checkers only takes no part in a protocol of the product.
const MODEL_ONLY: &[&str] = &["crates/sync/src/under_", "crates/sync/src/channel.rs"];

pub(super) const RULES: &[Rule] = &[
    Rule {
        name: "ordering-id",
        about: "an atomic site of wheel-core, runtime and sync carries [O<n>]",
        check: without_id,
    },
    Rule {
        name: "ordering-row",
        about: "ids and rows of docs/ORDERINGS.md are the same set",
        check: rows,
    },
    Rule {
        name: "ordering-reason",
        about: "an atomic site elsewhere has a comment",
        check: without_reason,
    },
];

fn has_ids(file: &File) -> bool {
    file.is_product()
        && matches!(file.crate_folder(), Some("wheel-core" | "runtime" | "sync"))
        && !MODEL_ONLY.iter().any(|path| file.path.starts_with(path))
}

fn without_id(tree: &Tree) -> Vec<Finding> {
    let mut wrong = Vec::new();
    for file in tree.rust().filter(|file| has_ids(file)) {
        for (line, ordering) in sites(file) {
            let near = ids::is_near(file, line, 'O');
            let covered = near || ordering == "Relaxed" && opening_covers_relaxed(file);
            if !covered {
                let place = format!("here or in the {} lines above", ids::LINES_ABOVE);
                wrong.push(Finding::at(
                    file,
                    line,
                    format!("`{ordering}` has no [O<n>] {place}"),
                ));
            }
        }
    }
    wrong
}

/// Whether the opening says why the file is Relaxed, with an id: counters by the dozen.
fn opening_covers_relaxed(file: &File) -> bool {
    let names_it = opening(file).any(|comment| words(comment).any(|word| word == "Relaxed"));
    names_it && opening(file).any(|comment| !ids::ids_in(comment, 'O').is_empty())
}

fn rows(tree: &Tree) -> Vec<Finding> {
    ids::rows_match(tree, 'O', TABLE, has_ids)
}

fn without_reason(tree: &Tree) -> Vec<Finding> {
    let mut wrong = Vec::new();
    for file in tree
        .rust()
        .filter(|file| file.is_product() && !has_ids(file))
    {
        for (line, ordering) in sites(file) {
            let near = ids::comments_near(file, line).any(|comment| comment.starts_with("// "));
            if !near && !opening(file).any(|comment| words(comment).any(|word| word == ordering)) {
                let message =
                    format!("`{ordering}`: no comment here, above or in the opening says why");
                wrong.push(Finding::at(file, line, message));
            }
        }
    }
    wrong
}

fn opening(file: &File) -> impl Iterator<Item = &str> {
    let comments = file.source().lines.iter().map(|line| line.comment.as_str());
    comments.take_while(|comment| comment.starts_with("//!"))
}

/// Lines of product code that name an ordering, imports apart.
fn sites(file: &File) -> Vec<(usize, &'static str)> {
    let imports = import_lines(&file.source().code());
    file.product_code()
        .filter(|(line, _)| !imports[line - 1])
        .filter_map(|(line, code)| {
            let ordering =
                words(code).find_map(|word| ORDERINGS.iter().find(|name| **name == word))?;
            Some((line, *ordering))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::found;
    use super::*;

    const STATE: &str = "crates/wheel-core/src/state.rs";

    #[test]
    fn a_site_without_an_id_is_found() {
        let code = "use a::Ordering::{Acquire, Release};\n\nx.load(Ordering::Acquire);\n\n// Why. [O1]\nx.swap(1, Release);\n";
        assert_eq!(
            found(RULES, "ordering-id", &[(STATE, code)]),
            [format!("{STATE}:3")]
        );
    }

    #[test]
    fn an_id_reaches_five_lines_down_and_no_further() {
        let code = format!(
            "// Why. [O1]\n{}x.load(Ordering::Acquire);\n",
            "\n".repeat(4)
        );
        assert!(found(RULES, "ordering-id", &[(STATE, &code)]).is_empty());
        let code = format!(
            "// Why. [O1]\n{}x.load(Ordering::Acquire);\n",
            "\n".repeat(5)
        );
        assert_eq!(found(RULES, "ordering-id", &[(STATE, &code)]).len(), 1);
    }

    #[test]
    fn an_opening_with_an_id_covers_what_is_relaxed_and_nothing_else() {
        let code = "//! Relaxed throughout: counts. [O1]\n\n\n\n\n\n\n\nx.load(Ordering::Relaxed);\n\
                    y.load(Ordering::Acquire);\n";
        assert_eq!(
            found(RULES, "ordering-id", &[(STATE, code)]),
            [format!("{STATE}:10")]
        );
    }

    #[test]
    fn comparing_is_no_atomic_site() {
        assert!(
            found(
                RULES,
                "ordering-id",
                &[(STATE, "a.cmp(b) == Ordering::Less;\n")]
            )
            .is_empty()
        );
    }

    #[test]
    fn ids_and_rows_must_match() {
        let code = "// Why. [O1, O2]\nx.load(Ordering::Acquire);\n";
        let table = "| id | writer |\n|---|---|\n| O1 | a |\n| O3 | b |\n| O1 | c |\n";
        assert_eq!(
            found(RULES, "ordering-row", &[(STATE, code), (TABLE, table)]),
            [
                format!("{TABLE}:4"),
                format!("{TABLE}:5"),
                format!("{STATE}:1")
            ]
        );
    }

    #[test]
    fn elsewhere_a_comment_is_enough_and_needed() {
        let file = "crates/cli/src/a.rs";
        let good = "// Relaxed: a counter for people.\nx.load(Ordering::Relaxed);\n";
        assert!(found(RULES, "ordering-reason", &[(file, good)]).is_empty());
        assert_eq!(
            found(
                RULES,
                "ordering-reason",
                &[(file, "x.load(Ordering::Relaxed);\n")]
            )
            .len(),
            1
        );
        assert_eq!(
            found(
                RULES,
                "ordering-reason",
                &[(file, "/// Docs.\nx.load(Ordering::Relaxed);\n")]
            )
            .len(),
            1
        );
    }

    #[test]
    fn an_opening_explains_the_ordering_that_it_names_and_no_other() {
        let file = "crates/cli/src/a.rs";
        let code = "//! Counters for people, hence Relaxed.\n\n\n\n\n\n\nx.load(Ordering::Relaxed);\n\
                    y.load(Ordering::Acquire);\n";
        assert_eq!(
            found(RULES, "ordering-reason", &[(file, code)]),
            [format!("{file}:9")]
        );
    }
}
