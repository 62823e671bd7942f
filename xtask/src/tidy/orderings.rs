//! Every atomic site explains itself, and docs/ORDERINGS.md knows the sites of the protocols.
//!
//! ```text
//! // Release: publishes the value; pairs with claim. [O3]        | O3 | writer | reader | ... |
//! self.0.store(word, Ordering::Release);                         a row of docs/ORDERINGS.md
//! ```
//!
//! A site is a memory ordering named in code. In `wheel-core` and `sync` it carries an id on its
//! own line or in the five lines above, ids have rows, and rows have sites. Elsewhere a comment in
//! the same place is enough, or an opening of the file that speaks of that ordering: such atomics
//! are counters and flags, and the comment says so.

use std::collections::{BTreeMap, BTreeSet};

use super::imports::import_lines;
use super::source::words;
use super::tree::{File, Tree};
use super::{Finding, Rule};

const TABLE: &str = "docs/ORDERINGS.md";
const ORDERINGS: &[&str] = &["Relaxed", "Acquire", "Release", "AcqRel", "SeqCst"];
const LINES_ABOVE: usize = 5;
/// What is there for the checkers only takes no part in a protocol of the product.
const MODEL_ONLY: &[&str] = &["crates/sync/src/under_", "crates/sync/src/channel.rs"];

pub(super) const RULES: &[Rule] = &[
    Rule {
        name: "ordering-id",
        about: "an atomic site of wheel-core and sync carries [O<n>]",
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
        && matches!(file.crate_folder(), Some("wheel-core" | "sync"))
        && !MODEL_ONLY.iter().any(|path| file.path.starts_with(path))
}

fn without_id(tree: &Tree) -> Vec<Finding> {
    let mut wrong = Vec::new();
    for file in tree.rust().filter(|file| has_ids(file)) {
        for (line, ordering) in sites(file) {
            if !comments_near(file, line).any(|comment| !ids_in(comment).is_empty()) {
                let place = format!("here or in the {LINES_ABOVE} lines above");
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

fn without_reason(tree: &Tree) -> Vec<Finding> {
    let mut wrong = Vec::new();
    for file in tree
        .rust()
        .filter(|file| file.is_product() && !has_ids(file))
    {
        for (line, ordering) in sites(file) {
            let near = comments_near(file, line).any(|comment| comment.starts_with("// "));
            if !near && !opening(file).any(|comment| words(comment).any(|word| word == ordering)) {
                let message =
                    format!("`{ordering}`: no comment here, above or in the opening says why");
                wrong.push(Finding::at(file, line, message));
            }
        }
    }
    wrong
}

fn comments_near(file: &File, line: usize) -> impl Iterator<Item = &str> {
    let lines = &file.source().lines[(line - 1).saturating_sub(LINES_ABOVE)..line];
    lines.iter().map(|line| line.comment.as_str())
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

fn rows(tree: &Tree) -> Vec<Finding> {
    let mut cited: BTreeMap<String, (String, usize)> = BTreeMap::new();
    for file in tree.rust().filter(|file| has_ids(file)) {
        for (index, line) in file.source().lines.iter().enumerate() {
            for id in ids_in(&line.comment) {
                cited
                    .entry(id)
                    .or_insert_with(|| (file.path.clone(), index + 1));
            }
        }
    }
    let mut wrong = Vec::new();
    let mut known = BTreeSet::new();
    let table = tree.get(TABLE).map_or("", |file| file.text.as_str());
    for (index, line) in table.lines().enumerate() {
        let Some(id) = row_id(line) else { continue };
        let mut complain = |message| {
            wrong.push(Finding {
                path: TABLE.into(),
                line: index + 1,
                message,
            })
        };
        if !cited.contains_key(&id) {
            complain(format!("no site cites {id}"));
        }
        if !known.insert(id.clone()) {
            complain(format!("{id} has two rows"));
        }
    }
    for (id, (path, line)) in cited {
        if !known.contains(&id) {
            wrong.push(Finding {
                path,
                line,
                message: format!("{id} has no row in {TABLE}"),
            });
        }
    }
    wrong
}

/// The ids in brackets: `[O3]`, `[O3, O17]`.
fn ids_in(comment: &str) -> Vec<String> {
    let brackets = comment
        .split('[')
        .skip(1)
        .filter_map(|rest| rest.split_once(']'));
    brackets
        .flat_map(|(inside, _)| inside.split(','))
        .map(str::trim)
        .filter(|id| is_id(id))
        .map(str::to_owned)
        .collect()
}

fn row_id(line: &str) -> Option<String> {
    let first = line.strip_prefix('|')?.split('|').next()?;
    let id = first
        .trim()
        .trim_matches(|c| matches!(c, '[' | ']' | '`' | '*'));
    is_id(id).then(|| id.to_owned())
}

fn is_id(text: &str) -> bool {
    text.strip_prefix('O')
        .is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
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
        let file = "crates/runtime/src/a.rs";
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
        let file = "crates/runtime/src/a.rs";
        let code = "//! Counters for people, hence Relaxed.\n\n\n\n\n\n\nx.load(Ordering::Relaxed);\n\
                    y.load(Ordering::Acquire);\n";
        assert_eq!(
            found(RULES, "ordering-reason", &[(file, code)]),
            [format!("{file}:9")]
        );
    }
}
