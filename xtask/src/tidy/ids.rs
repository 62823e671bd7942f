//! Ids in comments, `[O3]` or `[U7]`, and the tables in `docs/` that have a row for each.
//!
//! An id is a letter and a number. The letter says which table it belongs to. A comment that cites
//! one reaches a few lines down.

use std::collections::{BTreeMap, BTreeSet};

use super::Finding;
use super::tree::{File, Tree};

/// How far down a comment reaches.
pub(super) const LINES_ABOVE: usize = 5;

/// The comments of a line and of those above it that may speak of it.
pub(super) fn comments_near(file: &File, line: usize) -> impl Iterator<Item = &str> {
    let lines = &file.source().lines[(line - 1).saturating_sub(LINES_ABOVE)..line];
    lines.iter().map(|line| line.comment.as_str())
}

/// Whether a comment near a line cites an id.
pub(super) fn is_near(file: &File, line: usize, letter: char) -> bool {
    comments_near(file, line).any(|comment| !ids_in(comment, letter).is_empty())
}

/// What is wrong between the ids that files cite and the rows of their table.
pub(super) fn rows_match(
    tree: &Tree,
    letter: char,
    table: &str,
    cites: fn(&File) -> bool,
) -> Vec<Finding> {
    let mut cited: BTreeMap<String, (String, usize)> = BTreeMap::new();
    for file in tree.rust().filter(|file| cites(file)) {
        for (index, line) in file.source().lines.iter().enumerate() {
            for id in ids_in(&line.comment, letter) {
                cited
                    .entry(id)
                    .or_insert_with(|| (file.path.clone(), index + 1));
            }
        }
    }
    let mut wrong = Vec::new();
    let mut known = BTreeSet::new();
    let text = tree.get(table).map_or("", |file| file.text.as_str());
    for (index, line) in text.lines().enumerate() {
        let Some(id) = row_id(line, letter) else {
            continue;
        };
        let mut complain = |message| {
            wrong.push(Finding {
                path: table.into(),
                line: index + 1,
                message,
            })
        };
        if !cited.contains_key(&id) {
            complain(format!("no comment cites {id}"));
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
                message: format!("{id} has no row in {table}"),
            });
        }
    }
    wrong
}

/// The ids in brackets: `[O3]`, `[O3, O17]`.
pub(crate) fn ids_in(comment: &str, letter: char) -> Vec<String> {
    let brackets = comment
        .split('[')
        .skip(1)
        .filter_map(|rest| rest.split_once(']'));
    brackets
        .flat_map(|(inside, _)| inside.split(','))
        .map(str::trim)
        .filter(|id| is_id(id, letter))
        .map(str::to_owned)
        .collect()
}

pub(crate) fn row_id(line: &str, letter: char) -> Option<String> {
    let first = line.strip_prefix('|')?.split('|').next()?;
    let id = first
        .trim()
        .trim_matches(|c| matches!(c, '[' | ']' | '`' | '*'));
    is_id(id, letter).then(|| id.to_owned())
}

fn is_id(text: &str, letter: char) -> bool {
    text.strip_prefix(letter)
        .is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_a_letter_and_a_number_in_brackets() {
        assert_eq!(ids_in("// Why. [O1, O27] and [U3]", 'O'), ["O1", "O27"]);
        assert_eq!(ids_in("// Why. [O1, O27] and [U3]", 'U'), ["U3"]);
        assert!(ids_in("// a slot [0] of [Owner]", 'O').is_empty());
    }

    #[test]
    fn a_row_begins_with_its_id() {
        assert_eq!(row_id("| U12 | a |", 'U').as_deref(), Some("U12"));
        assert_eq!(row_id("| id | a |", 'U'), None);
        assert_eq!(row_id("U12 is a", 'U'), None);
    }
}
