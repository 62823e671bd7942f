//! What docs/ORDERINGS.md says about orderings that nothing notices.
//!
//! The last column of a row may hold, between semicolons, why a weakening is noticed by nothing
//! that runs here and stays all the same:
//!
//! ```text
//! none: WHY                          of every site with this id, whatever is lost
//! none for LOST: WHY                 when Acquire, Release, SeqCst or the fence is lost
//! none for LOST in FUNCTION: WHY     of the sites in that function
//! ```

use std::collections::BTreeMap;

use crate::tidy::ids::row_id;

/// Why a weakening stays unnoticed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Reason {
    lost: Option<String>,
    function: Option<String>,
    pub(super) why: String,
}

/// The reasons of every row, by id.
pub(super) struct Rows(BTreeMap<String, Vec<Reason>>);

impl Rows {
    pub(super) fn read(table: &str) -> Rows {
        let rows = table.lines().filter_map(|line| {
            let id = row_id(line, 'O')?;
            let last = line.trim_end().trim_end_matches('|').rsplit('|').next()?;
            Some((id, last.split(';').filter_map(Reason::read).collect()))
        });
        Rows(rows.collect())
    }

    /// Why it goes unnoticed when a site with these ids loses `lost` in `function`, if a row says.
    pub(super) fn reason(&self, ids: &[String], lost: &str, function: &str) -> Option<&Reason> {
        let reasons = ids.iter().filter_map(|id| self.0.get(id)).flatten();
        let fits = |named: &Option<String>, it: &str| named.as_ref().is_none_or(|n| n == it);
        reasons
            .into_iter()
            .find(|reason| fits(&reason.lost, lost) && fits(&reason.function, function))
    }
}

impl Reason {
    fn read(text: &str) -> Option<Reason> {
        let (head, why) = text.trim().strip_prefix("none")?.split_once(": ")?;
        let (lost, function) = match head.strip_prefix(" for ") {
            None if head.is_empty() => (None, None),
            None => return None,
            Some(head) => match head.split_once(" in ") {
                None => (Some(head), None),
                Some((lost, function)) => (Some(lost), Some(function)),
            },
        };
        let plain = |name: &str| name.trim_matches('`').to_owned();
        Some(Reason {
            lost: lost.map(plain),
            function: function.map(plain),
            why: why.trim().to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "| id | site | model that notices |\n|---|---|---|\n\
        | O1 | `a`, Acquire | some_file: a model |\n\
        | O2 | `b`, AcqRel | some_file: a model; none for Release: it is of no use here |\n\
        | O3 | `c`, Acquire | none: the hint has it; more |\n\
        | O4 | `d`, Relaxed | none needed (a: b) |\n\
        | O5 | `e` | none for Acquire in `take`: the swap decides |\n";

    fn why<'a>(rows: &'a Rows, id: &str, lost: &str, function: &str) -> Option<&'a str> {
        let reason = rows.reason(&[id.to_owned()], lost, function)?;
        Some(&reason.why)
    }

    #[test]
    fn a_row_explains_what_it_names_and_nothing_else() {
        let rows = Rows::read(TABLE);
        assert_eq!(why(&rows, "O1", "Acquire", "f"), None);
        assert_eq!(
            why(&rows, "O2", "Release", "f"),
            Some("it is of no use here")
        );
        assert_eq!(why(&rows, "O2", "Acquire", "f"), None);
        assert_eq!(why(&rows, "O3", "Acquire", "f"), Some("the hint has it"));
        assert_eq!(
            why(&rows, "O5", "Acquire", "take"),
            Some("the swap decides")
        );
        assert_eq!(why(&rows, "O5", "Acquire", "push"), None);
    }

    #[test]
    fn none_needed_is_no_reason() {
        assert_eq!(why(&Rows::read(TABLE), "O4", "Acquire", "f"), None);
    }
}
