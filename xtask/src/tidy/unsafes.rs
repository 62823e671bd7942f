//! `unsafe` in product code: each place carries an id, whose row says what it relies on.

use super::ids;
use super::source::words;
use super::tree::{File, Tree};
use super::{Finding, Rule};

const TABLE: &str = "docs/UNSAFE.md";

pub(super) const RULES: &[Rule] = &[
    Rule {
        name: "unsafe-id",
        about: "an `unsafe` block or impl of a crate carries [U<n>]",
        check: without_id,
    },
    Rule {
        name: "unsafe-row",
        about: "ids and rows of docs/UNSAFE.md are the same set",
        check: |tree| ids::rows_match(tree, 'U', TABLE, File::is_product),
    },
];

fn without_id(tree: &Tree) -> Vec<Finding> {
    let mut wrong = Vec::new();
    for file in tree.rust().filter(|file| file.is_product()) {
        for (line, code) in file.product_code() {
            if !relies_on_something(code) || ids::is_near(file, line, 'U') {
                continue;
            }
            let place = format!("here or in the {} lines above", ids::LINES_ABOVE);
            wrong.push(Finding::at(
                file,
                line,
                format!("`unsafe` has no [U<n>] {place}"),
            ));
        }
    }
    wrong
}

/// A block or an impl does; what is declared `unsafe fn` or `unsafe trait` only asks.
fn relies_on_something(code: &str) -> bool {
    let mut words = words(code).skip_while(|word| *word != "unsafe");
    words.next().is_some() && !matches!(words.next(), Some("fn" | "trait"))
}

#[cfg(test)]
mod tests {
    use super::super::tests::found;
    use super::*;

    const ENTRY: &str = "crates/wheel-core/src/entry.rs";

    #[test]
    fn unsafe_without_an_id_is_found() {
        let code = "// SAFETY: mine. [U1]\nunsafe { a() }\n\n\n\n\n\nunsafe { b() }\n";
        assert_eq!(
            found(RULES, "unsafe-id", &[(ENTRY, code)]),
            [format!("{ENTRY}:8")]
        );
    }

    #[test]
    fn what_is_declared_unsafe_needs_none() {
        let code = "pub(crate) unsafe fn a() {}\n\n\nunsafe trait B {}\n";
        assert!(found(RULES, "unsafe-id", &[(ENTRY, code)]).is_empty());
    }

    #[test]
    fn tests_need_none() {
        let code = "#[cfg(test)]\nmod tests {\n    unsafe impl A for B {}\n}\n";
        assert!(found(RULES, "unsafe-id", &[(ENTRY, code)]).is_empty());
        let other = "loom-tests/src/lib.rs";
        assert!(found(RULES, "unsafe-id", &[(other, "unsafe { a() }\n")]).is_empty());
    }

    #[test]
    fn ids_and_rows_must_match() {
        let code = "// SAFETY: mine. [U1]\nunsafe { a() }\n";
        let table = "| U2 | a |\n";
        assert_eq!(
            found(RULES, "unsafe-row", &[(ENTRY, code), (TABLE, table)]),
            [format!("{TABLE}:1"), format!("{ENTRY}:1")]
        );
    }
}
