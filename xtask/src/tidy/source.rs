//! A Rust file taken apart: for every line its code and its comment.
//!
//! String contents are blanked, so that a rule which looks for a word never trips over a message. A
//! small hand-written scanner that knows line and nested block comments, strings, raw strings, byte
//! strings, characters and lifetimes. It does not parse: unbalanced input gives odd lines, no
//! panic.

/// A file as lines.
pub(crate) struct Source {
    pub(crate) lines: Vec<Line>,
    /// Index of the first line of the unit tests; the number of lines if there are none.
    pub(crate) tests_from: usize,
}

#[derive(Default)]
pub(crate) struct Line {
    pub(crate) code: String,
    pub(crate) comment: String,
}

enum Inside {
    Code,
    LineComment,
    BlockComment { depth: usize },
    Text,
    RawText { hashes: usize },
}

impl Source {
    pub(crate) fn parse(text: &str) -> Source {
        let chars: Vec<char> = text.chars().collect();
        let mut lines = vec![Line::default()];
        let mut inside = Inside::Code;
        let mut at = 0;
        while at < chars.len() {
            let here = chars[at];
            let next = chars.get(at + 1).copied();
            if here == '\n' {
                if matches!(inside, Inside::LineComment) {
                    inside = Inside::Code;
                }
                lines.push(Line::default());
                at += 1;
                continue;
            }
            let last = lines.len() - 1;
            let line = &mut lines[last];
            match inside {
                Inside::Code => match (here, next) {
                    ('/', Some('/')) => {
                        line.comment.push_str("//");
                        inside = Inside::LineComment;
                        at += 1;
                    }
                    ('/', Some('*')) => {
                        inside = Inside::BlockComment { depth: 1 };
                        at += 1;
                    }
                    ('"', _) => {
                        line.code.push('"');
                        inside = Inside::Text;
                    }
                    ('r', Some('"' | '#')) if starts_raw_text(&chars, at) => {
                        let hashes = chars[at + 1..].iter().take_while(|c| **c == '#').count();
                        line.code.push('"');
                        inside = Inside::RawText { hashes };
                        at += hashes + 1;
                    }
                    ('\'', Some(_)) => match char_literal_length(&chars, at) {
                        Some(length) => {
                            line.code.push_str("' '");
                            at += length - 1;
                        }
                        None => line.code.push('\''),
                    },
                    _ => line.code.push(here),
                },
                Inside::LineComment => line.comment.push(here),
                Inside::BlockComment { depth } => match (here, next) {
                    ('*', Some('/')) => {
                        inside = if depth == 1 {
                            Inside::Code
                        } else {
                            Inside::BlockComment { depth: depth - 1 }
                        };
                        at += 1;
                    }
                    ('/', Some('*')) => {
                        inside = Inside::BlockComment { depth: depth + 1 };
                        at += 1;
                    }
                    _ => line.comment.push(here),
                },
                Inside::Text => match here {
                    // The escaped character is skipped, but a line must still end.
                    '\\' if next != Some('\n') => at += 1,
                    '"' => {
                        line.code.push('"');
                        inside = Inside::Code;
                    }
                    _ => {}
                },
                Inside::RawText { hashes } => {
                    let ends = here == '"'
                        && chars[at + 1..]
                            .iter()
                            .take(hashes)
                            .filter(|c| **c == '#')
                            .count()
                            == hashes;
                    if ends {
                        line.code.push('"');
                        inside = Inside::Code;
                        at += hashes;
                    }
                }
            }
            at += 1;
        }
        if text.ends_with('\n') {
            lines.pop();
        }
        let tests_from = tests_from(&lines);
        Source { lines, tests_from }
    }

    /// All code as one text; line `n` of it is line `n` of the file.
    pub(crate) fn code(&self) -> String {
        self.lines
            .iter()
            .map(|line| line.code.as_str())
            .collect::<Vec<_>>()
            .join("\n")
    }
}

/// `r"` or `r#"`, also after a `b`, but not the end of a name such as `var"` or a raw name
/// `r#type`.
fn starts_raw_text(chars: &[char], at: usize) -> bool {
    let before = at.checked_sub(1).map(|before| chars[before]);
    let in_a_name = before.is_some_and(|c| is_word(c) && c != 'b');
    let after_hashes = chars[at + 1..].iter().find(|c| **c != '#');
    !in_a_name && after_hashes == Some(&'"')
}

/// The length of the character literal at `at`, or `None` for a lifetime.
fn char_literal_length(chars: &[char], at: usize) -> Option<usize> {
    if chars.get(at + 1) == Some(&'\\') {
        let end = chars[at + 3..].iter().position(|c| *c == '\'')?;
        return Some(end + 4);
    }
    (chars.get(at + 2) == Some(&'\'')).then_some(3)
}

/// The last `#[cfg(test)] mod name {` of the file; what follows it is tests.
fn tests_from(lines: &[Line]) -> usize {
    let mut from = lines.len();
    for (index, line) in lines.iter().enumerate() {
        let code = line.code.trim();
        if code.starts_with("#[cfg(test") || code.starts_with("#[cfg(all(test") {
            let mut after = lines[index + 1..].iter().map(|line| line.code.trim());
            let item = after.find(|code| !code.is_empty() && !code.starts_with("#["));
            if item.is_some_and(|item| item.contains("mod ") && item.ends_with('{')) {
                from = index;
                break;
            }
        }
    }
    from
}

pub(crate) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The words of a line of code: names, keywords, numbers.
pub(crate) fn words(code: &str) -> impl Iterator<Item = &str> {
    code.split(|c| !is_word(c)).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code_of(text: &str) -> String {
        Source::parse(text).code()
    }

    #[test]
    fn comments_and_code_are_kept_apart() {
        let source = Source::parse("let a = 1; // why\n/* b /* c */ d */ let e;\n");
        assert_eq!(source.lines[0].code, "let a = 1; ");
        assert_eq!(source.lines[0].comment, "// why");
        assert_eq!(source.lines[1].code, " let e;");
        assert_eq!(source.lines.len(), 2);
    }

    #[test]
    fn strings_of_every_kind_are_blanked() {
        assert_eq!(code_of(r#"a("x // y \" z", b"q")"#), r#"a("", b"")"#);
        assert_eq!(code_of("a(r#\"x \" // y\"#) + br\"z\""), "a(\"\") + b\"\"");
        assert_eq!(code_of("let r#type = var;"), "let r#type = var;");
    }

    #[test]
    fn characters_are_no_lifetimes() {
        assert_eq!(
            code_of("f('\"', '\\'', '\\u{7f}') 'a: &'a str"),
            "f(' ', ' ', ' ') 'a: &'a str"
        );
    }

    #[test]
    fn a_string_over_several_lines_keeps_the_line_numbers() {
        let source = Source::parse("a(\"x \\\n  y\n z\");\nb();\n");
        assert_eq!(source.lines[3].code, "b();");
    }
}
