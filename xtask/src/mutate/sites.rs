//! Where the product names a memory ordering: the calls, their orderings, their ids.
//!
//! A scan of the source and not only what the models report, so that a site which no model reaches
//! is known too. A site is found again in the report of a model by its position: that of the
//! method's name, or of the path of a function, as `#[track_caller]` gives it.

use std::collections::BTreeMap;

use super::weakenings::Order;
use crate::tidy::ids::ids_in;
use crate::tidy::imports::import_lines;
use crate::tidy::source::{Source, is_word};
use crate::tidy::tree::{File, Tree};

/// Crates whose orderings are weakened.
const CRATES: &[&str] = &["wheel-core", "sync", "runtime"];
/// The halves of sync for the checkers are no product, and unit tests are none.
const NO_PRODUCT: &[&str] = &["crates/sync/src/under_", "crates/wheel-core/src/bounds/"];
/// Lines above a site in which its ids stand, as tidy has it.
const LINES_ABOVE: usize = 5;

/// A call that is given one or two orderings.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Site {
    pub(super) file: String,
    pub(super) line: usize,
    pub(super) column: usize,
    /// What is called: `store`, `compare_exchange`, or a method that hands the ordering on.
    pub(super) call: String,
    /// The function that the call stands in.
    pub(super) function: String,
    pub(super) orders: Vec<Order>,
    pub(super) ids: Vec<String>,
}

impl Site {
    pub(super) fn place(&self) -> String {
        format!("{}:{}:{}", self.file, self.line, self.column)
    }
}

/// Every site of the product.
pub(super) fn all(tree: &Tree) -> Vec<Site> {
    let product = tree.rust().filter(|file| is_searched(file));
    product
        .flat_map(|file| in_source(&file.path, file.source()))
        .collect()
}

fn is_searched(file: &File) -> bool {
    file.is_product()
        && file
            .crate_folder()
            .is_some_and(|name| CRATES.contains(&name))
        && !NO_PRODUCT
            .iter()
            .any(|left_out| file.path.starts_with(left_out))
}

fn in_source(path: &str, source: &Source) -> Vec<Site> {
    let code = source.code();
    let imports = import_lines(&code);
    let mut calls: BTreeMap<usize, Vec<Order>> = BTreeMap::new();
    for (at, order) in orders_in(&code) {
        let line = line_of(&code, at);
        if line > source.tests_from || imports[line - 1] {
            continue;
        }
        calls.entry(call_around(&code, at)).or_default().push(order);
    }
    let place_of = |(start, orders)| {
        let (name, position) = name_of_call(&code, start);
        let line = line_of(&code, position);
        let line_start = code[..position].rfind('\n').map_or(0, |end| end + 1);
        Site {
            file: path.to_owned(),
            line,
            column: position - line_start + 1,
            call: name.to_owned(),
            function: function_around(source, line),
            orders,
            ids: ids_near(source, line_of(&code, start)),
        }
    };
    calls.into_iter().map(place_of).collect()
}

/// Each ordering that is named, and where. Those of `cmp` have other names.
fn orders_in(code: &str) -> Vec<(usize, Order)> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = code[at..].find(is_word) {
        let start = at + start;
        let length = code[start..]
            .find(|c| !is_word(c))
            .unwrap_or(code.len() - start);
        if let Some(order) = Order::read(&code[start..start + length]) {
            found.push((start, order));
        }
        at = start + length;
    }
    found
}

/// Where the bracket opens that encloses `at`, or `at` itself when none does.
fn call_around(code: &str, at: usize) -> usize {
    let mut depth = 0;
    for (position, c) in code[..at].char_indices().rev() {
        match c {
            ')' | '}' => depth += 1,
            '(' if depth == 0 => return position,
            '{' | ';' if depth == 0 => return at,
            '(' | '{' => depth -= 1,
            _ => {}
        }
    }
    at
}

/// The name of what is called before the bracket at `start`, and its position: for a path, where
/// the path begins.
fn name_of_call(code: &str, start: usize) -> (&str, usize) {
    let back = |from: usize, belongs: fn(char) -> bool| {
        let rest = code[..from].trim_end_matches(belongs);
        rest.len()
    };
    let name = back(start, is_word);
    if name == start {
        return ("", start);
    }
    let is_method = code[..name].ends_with('.');
    let path = if is_method {
        name
    } else {
        back(start, |c| is_word(c) || c == ':')
    };
    (&code[name..start], path)
}

fn line_of(code: &str, at: usize) -> usize {
    code[..at].matches('\n').count() + 1
}

fn function_around(source: &Source, line: usize) -> String {
    let name_in = |code: &str| {
        let (before, after) = code.split_once("fn ")?;
        let begins = !before.ends_with(is_word);
        let name = after.split(|c| !is_word(c)).next()?;
        (begins && !name.is_empty()).then(|| name.to_owned())
    };
    let above = source.lines[..line].iter().rev();
    above
        .filter_map(|line| name_in(&line.code))
        .next()
        .unwrap_or_default()
}

/// The ids of the nearest comment at the line or above it.
fn ids_near(source: &Source, line: usize) -> Vec<String> {
    let near = &source.lines[(line - 1).saturating_sub(LINES_ABOVE)..line];
    let ids = near.iter().rev().map(|line| ids_in(&line.comment, 'O'));
    ids.into_iter()
        .find(|ids| !ids.is_empty())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sites(text: &str) -> Vec<Site> {
        in_source("a.rs", &Source::parse(text))
    }

    #[test]
    fn a_site_is_where_its_method_is_named() {
        let found = sites(
            "use a::Ordering;\nfn publish() {\n    // Release: why. [O5]\n    self.0\n        .store(f(1), Ordering::Release);\n}\n",
        );
        assert_eq!(found.len(), 1);
        let site = &found[0];
        assert_eq!((site.line, site.column), (5, 10));
        assert_eq!(
            (site.call.as_str(), site.function.as_str()),
            ("store", "publish")
        );
        assert_eq!(
            (site.orders.as_slice(), site.ids.as_slice()),
            (&[Order::Release][..], &["O5".to_owned()][..])
        );
    }

    #[test]
    fn both_orderings_of_a_call_belong_to_one_site() {
        let found = sites(
            "fn f() {\n    a.compare_exchange(x(1), y, Ordering::AcqRel, Ordering::Acquire);\n}\n",
        );
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].orders, [Order::AcqRel, Order::Acquire]);
        assert_eq!(found[0].column, 7);
    }

    #[test]
    fn a_function_is_where_its_path_begins() {
        let found = sites("fn f() {\n    atomic::fence(Ordering::SeqCst);\n}\n");
        assert_eq!((found[0].call.as_str(), found[0].column), ("fence", 5));
    }

    #[test]
    fn tests_imports_and_comparisons_are_no_sites() {
        let found = sites(
            "use a::Ordering::{Acquire};\nfn f() { a.cmp(b) == Ordering::Less }\n#[cfg(test)]\nmod tests {\n    fn g() { x.load(Ordering::Acquire); }\n}\n",
        );
        assert_eq!(found, []);
    }
}
