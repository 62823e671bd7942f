//! How a file looks: its first line, its length, its name, its ends of lines, its parameters.

use super::tree::Tree;
use super::{Finding, Rule};

/// Tests count too: a test file with two subjects is as hard to find one's way in.
const MOST_LINES: usize = 450;
const NAMELESS: &[&str] = &["util", "utils", "common", "helper", "helpers", "misc"];

pub(super) const RULES: &[Rule] = &[
    Rule {
        name: "opening",
        about: "a Rust file opens with `//!`: what it is and why",
        check: opening,
    },
    Rule {
        name: "length",
        about: "no Rust file is longer than 450 lines, tests included",
        check: length,
    },
    Rule {
        name: "nameless",
        about: "no file or folder is called util, common, helpers",
        check: nameless,
    },
    Rule {
        name: "mod-rs",
        about: "a module with files of its own is a folder with mod.rs",
        check: mod_rs,
    },
    Rule {
        name: "line-ends",
        about: "no trailing blanks, no tabs or CR, one newline at the end",
        check: line_ends,
    },
    Rule {
        name: "bool-parameter",
        about: "no bool parameters: two functions or an enum",
        check: bool_parameter,
    },
];

fn opening(tree: &Tree) -> Vec<Finding> {
    let bad = tree.rust().filter(|file| !file.text.starts_with("//! "));
    bad.map(|file| {
        Finding::at(
            file,
            1,
            "the file does not open with `//! ` and what it is".into(),
        )
    })
    .collect()
}

fn length(tree: &Tree) -> Vec<Finding> {
    let counted = tree.rust().map(|file| (file, file.text.lines().count()));
    counted
        .filter(|(_, lines)| *lines > MOST_LINES)
        .map(|(file, lines)| {
            Finding::at(
                file,
                lines,
                format!("{lines} lines, {MOST_LINES} at most: look for the second idea"),
            )
        })
        .collect()
}

fn nameless(tree: &Tree) -> Vec<Finding> {
    let mut wrong = Vec::new();
    for file in tree.rust() {
        let names = file.path.trim_end_matches(".rs").split('/');
        for name in names.filter(|name| NAMELESS.contains(name)) {
            wrong.push(Finding::at(
                file,
                1,
                format!("`{name}` says nothing: name the file after its idea"),
            ));
        }
    }
    wrong
}

fn mod_rs(tree: &Tree) -> Vec<Finding> {
    let in_src = tree.rust().filter(|file| file.path.contains("/src/"));
    in_src
        .filter(|file| tree.has(&format!("{}/", file.path.trim_end_matches(".rs"))))
        .map(|file| {
            Finding::at(
                file,
                1,
                format!("move it to `{}/mod.rs`", file.path.trim_end_matches(".rs")),
            )
        })
        .collect()
}

fn line_ends(tree: &Tree) -> Vec<Finding> {
    let mut wrong = Vec::new();
    for file in tree.files().filter(|file| !file.text.is_empty()) {
        for (index, line) in file.text.split('\n').enumerate() {
            if line.ends_with([' ', '\t', '\r']) {
                wrong.push(Finding::at(
                    file,
                    index + 1,
                    "blanks at the end of the line".into(),
                ));
            } else if line.contains('\t') {
                wrong.push(Finding::at(file, index + 1, "a tab; use spaces".into()));
            }
        }
        if !file.text.ends_with('\n') || file.text.ends_with("\n\n") {
            let last = file.text.lines().count();
            wrong.push(Finding::at(
                file,
                last,
                "the file must end with exactly one newline".into(),
            ));
        }
    }
    wrong
}

fn bool_parameter(tree: &Tree) -> Vec<Finding> {
    let mut wrong = Vec::new();
    for file in tree.rust().filter(|file| file.is_product()) {
        let code: String = file
            .product_code()
            .map(|(_, code)| format!("{code}\n"))
            .collect();
        for (start, parameters) in parameter_lists(&code) {
            for parameter in split_at_commas(parameters) {
                if parameter
                    .split_once(':')
                    .is_some_and(|(_, kind)| kind.trim() == "bool")
                {
                    let line = code[..start].matches('\n').count() + 1;
                    let name = parameter.trim().replace('\n', " ");
                    wrong.push(Finding::at(
                        file,
                        line,
                        format!("`{name}`: a caller cannot read a bare true"),
                    ));
                }
            }
        }
    }
    wrong
}

/// Where each `fn` begins, and what stands between its parentheses.
fn parameter_lists(code: &str) -> Vec<(usize, &str)> {
    let mut lists = Vec::new();
    for (start, _) in code.match_indices("fn ") {
        let named = code[start + 3..].starts_with(|c: char| c.is_alphabetic() || c == '_');
        if !named || code[..start].ends_with(|c: char| c.is_alphanumeric() || c == '_') {
            continue;
        }
        let Some(open) = first_outside_generics(&code[start..], '(') else {
            continue;
        };
        let open = start + open;
        let mut depth = 0;
        let close = code[open..].char_indices().find(|(_, c)| {
            depth += match c {
                '(' => 1,
                ')' => -1,
                _ => 0,
            };
            depth == 0
        });
        if let Some((length, _)) = close {
            lists.push((start, &code[open + 1..open + length]));
        }
    }
    lists
}

/// The place of `wanted` outside of angle brackets; the `>` of an arrow is none.
fn first_outside_generics(code: &str, wanted: char) -> Option<usize> {
    let (mut depth, mut before) = (0, ' ');
    for (index, c) in code.char_indices() {
        match c {
            '<' => depth += 1,
            '>' if before != '-' => depth -= 1,
            _ if c == wanted && depth == 0 => return Some(index),
            _ => {}
        }
        before = c;
    }
    None
}

/// The parts between the commas that are in no bracket.
fn split_at_commas(list: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut from, mut before) = (Vec::new(), 0, 0, ' ');
    for (index, c) in list.char_indices() {
        match c {
            '(' | '[' | '{' | '<' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            '>' if before != '-' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&list[from..index]);
                from = index + 1;
            }
            _ => {}
        }
        before = c;
    }
    parts.push(&list[from..]);
    parts
}

#[cfg(test)]
mod tests {
    use super::super::tests::found;
    use super::*;

    #[test]
    fn a_file_without_an_opening_is_found() {
        let bad = [
            ("a.rs", "use std::fmt;\n"),
            ("b.rs", "//! What.\n"),
            ("c.rs", "// What.\n"),
        ];
        assert_eq!(found(RULES, "opening", &bad), ["a.rs:1", "c.rs:1"]);
    }

    #[test]
    fn a_long_file_is_found_also_when_it_is_a_test() {
        let long = "//! x\n".repeat(451);
        let short = "//! x\n".repeat(450);
        let files = [
            ("crates/a/tests/b.rs", long.as_str()),
            ("c.rs", short.as_str()),
        ];
        assert_eq!(found(RULES, "length", &files), ["crates/a/tests/b.rs:451"]);
    }

    #[test]
    fn names_that_say_nothing_are_found() {
        let files = [
            ("crates/a/src/utils.rs", ""),
            ("crates/a/tests/common/mod.rs", ""),
            ("src/commonly.rs", ""),
        ];
        assert_eq!(found(RULES, "nameless", &files).len(), 2);
    }

    #[test]
    fn a_module_file_beside_its_folder_is_found() {
        let bad = [
            ("crates/a/src/clock.rs", ""),
            ("crates/a/src/clock/jump.rs", ""),
        ];
        assert_eq!(found(RULES, "mod-rs", &bad), ["crates/a/src/clock.rs:1"]);
        let good = [
            ("crates/a/src/clock/mod.rs", ""),
            ("crates/a/src/clock/jump.rs", ""),
        ];
        assert!(found(RULES, "mod-rs", &good).is_empty());
    }

    #[test]
    fn bad_ends_of_lines_are_found() {
        let files = [
            ("a.md", "a \nb\n"),
            ("b.md", "a\r\n"),
            ("c.rs", "\ta\n"),
            ("d.rs", "a"),
            ("e.rs", "a\n\n"),
        ];
        assert_eq!(
            found(RULES, "line-ends", &files),
            ["a.md:1", "b.md:1", "c.rs:1", "d.rs:1", "e.rs:2"]
        );
        assert!(found(RULES, "line-ends", &[("a.rs", "a\n\nb\n")]).is_empty());
    }

    #[test]
    fn a_bool_parameter_is_found_wherever_it_stands() {
        let bad = "//! x\nfn a<F: Fn(u8) -> bool>(f: F, deep: bool) {}\n\npub fn b(\n    &self,\n    x: bool,\n) {}\n";
        assert_eq!(
            found(RULES, "bool-parameter", &[("crates/a/src/b.rs", bad)]),
            ["crates/a/src/b.rs:2", "crates/a/src/b.rs:4"]
        );
    }

    #[test]
    fn bools_that_are_no_parameters_are_left_alone() {
        let good = "fn a(keep: &mut dyn FnMut(u8) -> bool, f: fn(bool)) -> bool {}\n\
                    struct A { more: bool }\n#[cfg(test)]\nmod tests {\n    fn t(x: bool) {}\n}\n";
        assert!(found(RULES, "bool-parameter", &[("crates/a/src/b.rs", good)]).is_empty());
    }
}
