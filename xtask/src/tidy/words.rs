//! What is never written: unfinished work, ignored tests, and second words for one idea.

use super::source::words;
use super::tree::Tree;
use super::{Finding, Rule};

/// Macros of unfinished work. Clippy knows them too, but not under every `cfg`.
const UNFINISHED: &[&str] = &["todo!", "unimplemented!", "dbg!"];
const MARKS: &[&str] = &["TODO", "FIXME", "XXX", "HACK"];

/// Parts of names that have a word in docs/GLOSSARY.md, and that word.
const SYNONYMS: &[(&str, &str)] = &[
    ("expiry", "due"),
    ("expiration", "due"),
    ("expire", "fire"),
    ("expires", "due"),
    ("expired", "due or fired"),
    ("canceled", "cancelled"),
    ("cancelation", "cancellation"),
    ("jiffies", "ticks"),
];

/// The same, where the wheel and the heap are at home. Elsewhere a histogram may have buckets.
const SYNONYMS_OF_THE_ENGINE: &[(&str, &str)] = &[
    ("bucket", "slot"),
    ("buckets", "slots"),
    ("horizon", "span"),
    ("tombstone", "vacant"),
    ("zombie", "vacant"),
    ("deadline", "due"),
];

const ENGINE: &[&str] = &["crates/wheel-core/", "crates/overflow/"];

pub(super) const RULES: &[Rule] = &[
    Rule {
        name: "unfinished",
        about: "no todo!, unimplemented!, dbg!",
        check: unfinished,
    },
    Rule {
        name: "ignored-test",
        about: "no #[ignore]: a test that does not run proves nothing",
        check: ignored,
    },
    Rule {
        name: "marks",
        about: "no TODO, FIXME, XXX, HACK: finish it or leave it out",
        check: marks,
    },
    Rule {
        name: "glossary",
        about: "one word per idea in names: docs/GLOSSARY.md",
        check: glossary,
    },
];

fn unfinished(tree: &Tree) -> Vec<Finding> {
    code_lines(tree, |code| {
        let found = UNFINISHED.iter().find(|name| {
            code.match_indices(**name)
                .any(|(at, _)| !code[..at].ends_with(super::source::is_word))
        })?;
        Some(format!("`{found}` is unfinished work"))
    })
}

fn ignored(tree: &Tree) -> Vec<Finding> {
    code_lines(tree, |code| {
        let is_ignored = code.trim_start().starts_with("#[ignore") || code.contains(", ignore)]");
        is_ignored.then(|| "an ignored test; make it quick or remove it".to_owned())
    })
}

/// In comments of Rust files and anywhere in other files, but for what a document quotes.
fn marks(tree: &Tree) -> Vec<Finding> {
    let mut wrong = Vec::new();
    for file in tree.files() {
        if file.path.ends_with(".rs") {
            for (index, line) in file.source().lines.iter().enumerate() {
                wrong.extend(mark_in(&line.comment).map(|mark| Finding::at(file, index + 1, mark)));
            }
        } else {
            for (index, line) in file.text.lines().enumerate() {
                let bare = line.split('`').step_by(2).collect::<Vec<_>>().join(" ");
                wrong.extend(mark_in(&bare).map(|mark| Finding::at(file, index + 1, mark)));
            }
        }
    }
    wrong
}

fn mark_in(text: &str) -> Option<String> {
    let mark = words(text).find(|word| MARKS.contains(word))?;
    Some(format!("`{mark}`: finish it or leave it out"))
}

fn glossary(tree: &Tree) -> Vec<Finding> {
    let mut wrong = Vec::new();
    for file in tree.rust().filter(|file| !file.path.starts_with("xtask/")) {
        let in_engine = ENGINE.iter().any(|folder| file.path.starts_with(folder));
        let also: &[_] = if in_engine {
            SYNONYMS_OF_THE_ENGINE
        } else {
            &[]
        };
        for (index, line) in file.source().lines.iter().enumerate() {
            for name in words(&line.code) {
                if let Some((part, word)) = synonym_in(name, also) {
                    let message = format!("`{name}`: not `{part}` but `{word}`");
                    wrong.push(Finding::at(file, index + 1, message));
                }
            }
        }
    }
    wrong
}

/// `when` at the end of a name is a time; in the middle it is the conjunction, as in names of
/// tests.
fn synonym_in(name: &str, also: &[(&str, &'static str)]) -> Option<(String, &'static str)> {
    if name == "when" || name.ends_with("_when") {
        return Some(("when".to_owned(), "due"));
    }
    parts(name).into_iter().find_map(|part| {
        let mut synonyms = SYNONYMS.iter().chain(also);
        synonyms
            .find(|(banned, _)| *banned == part)
            .map(|(_, word)| (part, *word))
    })
}

/// The lower-cased parts of a snake or camel case name.
fn parts(name: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    for c in name.chars() {
        let last = parts.len() - 1;
        if c == '_' || (c.is_uppercase() && !parts[last].is_empty()) {
            parts.push(String::new());
        }
        if c != '_' {
            let last = parts.len() - 1;
            parts[last].extend(c.to_lowercase());
        }
    }
    parts
}

fn code_lines(tree: &Tree, check: impl Fn(&str) -> Option<String>) -> Vec<Finding> {
    let mut wrong = Vec::new();
    for file in tree.rust() {
        for (index, line) in file.source().lines.iter().enumerate() {
            wrong.extend(check(&line.code).map(|message| Finding::at(file, index + 1, message)));
        }
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::super::tests::found;
    use super::*;

    #[test]
    fn unfinished_work_is_found_in_code_only() {
        let files = [(
            "a.rs",
            "fn a() { todo!() }\nlet b = dbg!(c);\n// todo!()\nlet d = \"dbg!\";\nmy_todo!();\n",
        )];
        assert_eq!(found(RULES, "unfinished", &files), ["a.rs:1", "a.rs:2"]);
    }

    #[test]
    fn ignored_tests_are_found() {
        let files = [(
            "a.rs",
            "#[test]\n#[ignore = \"slow\"]\nfn a() {}\n#[cfg_attr(miri, ignore)]\nfn ignore() {}\n",
        )];
        assert_eq!(found(RULES, "ignored-test", &files), ["a.rs:2", "a.rs:4"]);
    }

    #[test]
    fn marks_are_found_in_comments_and_documents() {
        let files = [
            (
                "a.rs",
                "// TODO: later\nlet a = \"TODO\";\nlet b = TODO_LIST;\n",
            ),
            ("b.md", "No `TODO` here.\nFIXME: this.\n"),
        ];
        assert_eq!(found(RULES, "marks", &files), ["a.rs:1", "b.md:2"]);
    }

    #[test]
    fn second_words_are_found_in_snake_and_camel_case() {
        let code = "let next_expiry = 1;\nstruct ExpiredTimers;\nfn wake_when() {}\nlet due = 2; // expiry\n\
                    When::Done;\nfn it_fires_when_it_is_due() {}\n";
        let path = "crates/runtime/src/a.rs";
        assert_eq!(
            found(RULES, "glossary", &[(path, code)]),
            [
                format!("{path}:1"),
                format!("{path}:2"),
                format!("{path}:3")
            ]
        );
    }

    #[test]
    fn a_deadline_belongs_to_a_run_and_a_bucket_to_a_histogram() {
        let code = "let deadline = 1;\nlet bucket = 2;\n";
        let files = [
            ("crates/wheel-core/src/a.rs", code),
            ("crates/runtime/src/b.rs", code),
        ];
        assert_eq!(
            found(RULES, "glossary", &files),
            [
                "crates/wheel-core/src/a.rs:1",
                "crates/wheel-core/src/a.rs:2"
            ]
        );
    }
}
