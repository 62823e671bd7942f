//! The `use` statements of a Rust file, spelled out: `use a::{b, c::d}` names `a::b` and `a::c::d`.
//!
//! Nested imports are why a search for `std::thread` is not enough: `use std::{sync, thread}` names
//! it as well.

use super::source::is_word;

/// A path that a `use` statement names, and the line on which its last part stands.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Import {
    pub(super) line: usize,
    pub(super) path: String,
}

/// What the `use` statements of `code` name.
pub(super) fn imports(code: &str) -> Vec<Import> {
    let mut imports = Vec::new();
    for (start, end) in statements(code) {
        spell_out(code, start, end, "", &mut imports);
    }
    imports
}

/// Whether line `line` of `code` belongs to a `use` statement.
pub(crate) fn import_lines(code: &str) -> Vec<bool> {
    let mut lines = vec![false; code.matches('\n').count() + 1];
    for (start, end) in statements(code) {
        let (from, to) = (line_of(code, start), line_of(code, end));
        lines[from - 1..to].fill(true);
    }
    lines
}

/// From behind each `use ` to its semicolon.
fn statements(code: &str) -> Vec<(usize, usize)> {
    let starts = code
        .match_indices("use ")
        .filter(|(at, _)| !code[..*at].ends_with(is_word));
    starts
        .filter_map(|(at, word)| {
            let start = at + word.len();
            let end = code[start..].find(';')?;
            Some((start, start + end))
        })
        .collect()
}

/// Adds every path between `start` and `end` behind `prefix`.
fn spell_out(code: &str, start: usize, end: usize, prefix: &str, imports: &mut Vec<Import>) {
    let (mut depth, mut from) = (0, start);
    let mut parts = Vec::new();
    for (index, c) in code[start..end].char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push((from, start + index));
                from = start + index + 1;
            }
            _ => {}
        }
    }
    parts.push((from, end));
    for (from, to) in parts {
        let part = &code[from..to];
        if let Some((head, rest)) = part.split_once('{') {
            let inner = from + head.len() + 1;
            let close = from + head.len() + 1 + rest.rfind('}').unwrap_or(rest.len());
            spell_out(
                code,
                inner,
                close,
                &format!("{prefix}{}", plain(head)),
                imports,
            );
        } else if !part.trim().is_empty() {
            let at = from + part.len() - part.trim_start().len();
            let path = part.split(" as ").next().unwrap_or(part);
            imports.push(Import {
                line: line_of(code, at),
                path: format!("{prefix}{}", plain(path)),
            });
        }
    }
}

fn plain(path: &str) -> String {
    path.chars().filter(|c| !c.is_whitespace()).collect()
}

fn line_of(code: &str, at: usize) -> usize {
    code[..at].matches('\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nested_imports_are_spelled_out_with_their_lines() {
        let code = "use std::{\n    fmt,\n    sync::{Arc, atomic::AtomicU64 as A},\n};\nlet because = 1;\n";
        let expected = [
            (2, "std::fmt"),
            (3, "std::sync::Arc"),
            (3, "std::sync::atomic::AtomicU64"),
        ];
        let imports = imports(code);
        let found: Vec<_> = imports
            .iter()
            .map(|import| (import.line, import.path.as_str()))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn the_lines_of_an_import_are_known() {
        assert_eq!(
            import_lines("a();\npub use b::{\n    c,\n};\nd();"),
            [false, true, true, true, false]
        );
    }
}
