//! docs/CASES.md is the list of promises that came from other engines' bugs; each has its test.
//!
//! A row is `| OV-06 | the promise | `path/to/file.rs::test_name` |`, with several tests if need
//! be. The file must exist, hold a function of that name and mention the id, so that neither side
//! can lose the other.

use std::collections::BTreeSet;

use super::tree::Tree;
use super::{Finding, Rule};

const LIST: &str = "docs/CASES.md";

pub(super) const RULES: &[Rule] = &[
    Rule {
        name: "case-tests",
        about: "every row of docs/CASES.md names a test that exists",
        check: tests_exist,
    },
    Rule {
        name: "case-rows",
        about: "every case id in a comment has a row in docs/CASES.md",
        check: rows_exist,
    },
];

struct Row<'a> {
    line: usize,
    id: &'a str,
    tests: Vec<&'a str>,
}

fn rows(tree: &Tree) -> Vec<Row<'_>> {
    let text = tree.get(LIST).map_or("", |file| file.text.as_str());
    text.lines()
        .enumerate()
        .filter_map(|(index, line)| row(index + 1, line))
        .collect()
}

fn row(line: usize, text: &str) -> Option<Row<'_>> {
    let cells: Vec<&str> = text.strip_prefix('|')?.split('|').map(str::trim).collect();
    let id = cells.first().copied().filter(|id| is_id(id))?;
    let tests = cells.get(2)?.split('`').skip(1).step_by(2).collect();
    Some(Row { line, id, tests })
}

fn tests_exist(tree: &Tree) -> Vec<Finding> {
    let mut wrong = Vec::new();
    for row in rows(tree) {
        let mut complain = |message| {
            wrong.push(Finding {
                path: LIST.into(),
                line: row.line,
                message,
            })
        };
        if row.tests.is_empty() {
            complain(format!("{} names no test", row.id));
        }
        for test in row.tests {
            let found = test
                .split_once("::")
                .and_then(|(path, name)| Some((tree.get(path)?, name)));
            match found {
                None => complain(format!(
                    "{}: `{test}` is not `path::test` of a file that exists",
                    row.id
                )),
                Some((file, name)) if !has_function(&file.text, name) => {
                    complain(format!("{}: {} has no test `{name}`", row.id, file.path));
                }
                Some((file, _)) if !file.text.contains(row.id) => {
                    complain(format!("{}: {} does not mention the id", row.id, file.path));
                }
                Some(_) => {}
            }
        }
    }
    wrong
}

/// A test, or a case that is generic over the engine that it is played to.
fn has_function(text: &str, name: &str) -> bool {
    ["(", "<"]
        .iter()
        .any(|next| text.contains(&format!("fn {name}{next}")))
}

fn rows_exist(tree: &Tree) -> Vec<Finding> {
    let rows = rows(tree);
    let known: BTreeSet<&str> = rows.iter().map(|row| row.id).collect();
    let families: BTreeSet<&str> = known.iter().map(|id| &id[..2]).collect();
    let mut wrong = Vec::new();
    for file in tree.rust() {
        for (index, line) in file.source().lines.iter().enumerate() {
            let words = line
                .comment
                .split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
            for id in words.filter(|word| is_id(word)) {
                if families.contains(&id[..2]) && !known.contains(id) {
                    let message = format!("{id} has no row in {LIST}");
                    wrong.push(Finding {
                        path: file.path.clone(),
                        line: index + 1,
                        message,
                    });
                }
            }
        }
    }
    wrong
}

/// Two capitals, a hyphen, two digits.
fn is_id(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() == 5
        && bytes[..2].iter().all(u8::is_ascii_uppercase)
        && bytes[2] == b'-'
        && bytes[3..].iter().all(u8::is_ascii_digit)
}

#[cfg(test)]
mod tests {
    use super::super::tests::found;
    use super::*;

    const TEST: (&str, &str) = ("crates/a/tests/b.rs", "// OV-06\n#[test]\nfn holds() {}\n");

    #[test]
    fn a_row_with_its_test_is_fine() {
        let list = "| id | promise | test |\n|---|---|---|\n| OV-06 | ok | `crates/a/tests/b.rs::holds` |\n";
        assert!(found(RULES, "case-tests", &[(LIST, list), TEST]).is_empty());
    }

    #[test]
    fn rows_without_a_real_test_are_found() {
        let list = "| OV-06 | none | |\n| OV-06 | no file | `crates/a/tests/c.rs::holds` |\n\
                    | OV-06 | no function | `crates/a/tests/b.rs::hold` |\n| OV-07 | no id | `crates/a/tests/b.rs::holds` |\n";
        assert_eq!(found(RULES, "case-tests", &[(LIST, list), TEST]).len(), 4);
    }

    #[test]
    fn a_case_in_a_comment_needs_a_row() {
        let list = "| OV-07 | x | `y` |\n";
        assert_eq!(
            found(RULES, "case-rows", &[(LIST, list), TEST]),
            ["crates/a/tests/b.rs:1"]
        );
    }
}
