//! Documents name what exists: links between documents, and the files of which the maps speak.

use super::tree::{File, Tree};
use super::{Finding, Rule};

/// Documents in which every file named in backticks must exist.
const MAPS: &[&str] = &[
    "docs/ARCHITECTURE.md",
    "docs/TIMER_PATH.md",
    "CONTRIBUTING.md",
    "benches/README.md",
];
const FILE_ENDINGS: &[&str] = &[".rs", ".md", ".toml", ".yml"];

pub(super) const RULES: &[Rule] = &[
    Rule {
        name: "links",
        about: "relative links in documents lead to a file and a heading",
        check: links,
    },
    Rule {
        name: "named-files",
        about: "files named in the maps of the project exist",
        check: named_files,
    },
];

fn links(tree: &Tree) -> Vec<Finding> {
    let mut wrong = Vec::new();
    for file in tree.documents() {
        for (line, target) in
            prose_of(file).flat_map(|(line, text)| targets(text).map(move |target| (line, target)))
        {
            if target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            let (path, heading) = target.split_once('#').unwrap_or((target, ""));
            let resolved = if path.is_empty() {
                file.path.clone()
            } else {
                resolve(&file.path, path)
            };
            if !tree.has(&resolved) {
                wrong.push(Finding::at(
                    file,
                    line,
                    format!("`{target}` leads to nothing"),
                ));
            } else if !heading.is_empty()
                && !tree
                    .get(&resolved)
                    .is_some_and(|page| has_heading(page, heading))
            {
                wrong.push(Finding::at(
                    file,
                    line,
                    format!("`{target}`: {resolved} has no such heading"),
                ));
            }
        }
    }
    wrong
}

fn named_files(tree: &Tree) -> Vec<Finding> {
    let mut wrong = Vec::new();
    for file in MAPS.iter().filter_map(|path| tree.get(path)) {
        for (line, text) in prose_of(file) {
            for name in text
                .split('`')
                .skip(1)
                .step_by(2)
                .filter(|name| names_a_file(name, tree))
            {
                let plain = !name.contains('/');
                let exists = if plain {
                    tree.files()
                        .any(|other| other.path.rsplit('/').next() == Some(name))
                } else {
                    tree.has(name)
                };
                if !exists {
                    wrong.push(Finding::at(file, line, format!("`{name}` does not exist")));
                }
            }
        }
    }
    wrong
}

/// A path from the root, or a bare file name; not a command, a type or a pattern.
fn names_a_file(name: &str, tree: &Tree) -> bool {
    let is_path = name
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || "._-/".contains(c));
    let top = name.split('/').next().unwrap_or(name);
    is_path
        && (FILE_ENDINGS.iter().any(|ending| name.ends_with(ending))
            || (name.contains('/') && tree.has(top)))
}

/// The lines outside of fenced code, with their numbers.
fn prose_of(file: &File) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    file.text
        .lines()
        .enumerate()
        .filter_map(move |(index, line)| {
            let fence = line.trim_start().starts_with("```");
            fenced ^= fence;
            (!fenced && !fence).then_some((index + 1, line))
        })
}

/// The targets of `[text](target)`; what stands in backticks is no link.
fn targets(line: &str) -> impl Iterator<Item = &str> {
    line.match_indices("](")
        .filter(|(at, _)| line[..*at].matches('`').count().is_multiple_of(2))
        .filter_map(|(at, mark)| line[at + mark.len()..].split_once(')'))
        .map(|(target, _)| target)
}

/// `path`, as seen from the folder of the document `from`.
fn resolve(from: &str, path: &str) -> String {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                if parts.pop().is_none() {
                    return format!("outside the project: {path}");
                }
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// Headings become anchors as on the usual hosts: lower case, punctuation dropped, blanks to `-`.
fn has_heading(page: &File, anchor: &str) -> bool {
    prose_of(page)
        .filter(|(_, line)| line.starts_with('#'))
        .any(|(_, line)| {
            let title = line.trim_start_matches('#').trim().to_lowercase();
            let kept = title
                .chars()
                .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
            kept.map(|c| if c == ' ' { '-' } else { c })
                .eq(anchor.chars())
        })
}

#[cfg(test)]
mod tests {
    use super::super::tests::found;
    use super::*;

    #[test]
    fn links_to_nothing_are_found() {
        let page = "[a](docs/B.md) [b](docs/C.md)\n[c](https://example.org) `[d](e)`\n[f](#one) [g](#two)\n# One\n";
        let files = [
            ("README.md", page),
            (
                "docs/B.md",
                "[up](../README.md#one) [up](../README.md#nine)\n",
            ),
        ];
        assert_eq!(
            found(RULES, "links", &files),
            ["README.md:1", "README.md:3", "docs/B.md:1"]
        );
    }

    #[test]
    fn code_blocks_hold_no_links() {
        assert!(found(RULES, "links", &[("a.md", "```\n[a](b)\n```\n")]).is_empty());
    }

    #[test]
    fn files_that_the_maps_name_must_exist() {
        let map = "`crates/a/src/b.rs` `crates/a/` `crates/a/src/c.rs`\n`b.rs` `d.rs` `Result<T>` `and/or`\n";
        let files = [("docs/TIMER_PATH.md", map), ("crates/a/src/b.rs", "")];
        assert_eq!(
            found(RULES, "named-files", &files),
            ["docs/TIMER_PATH.md:1", "docs/TIMER_PATH.md:2"]
        );
    }

    #[test]
    fn a_link_out_of_the_project_is_found() {
        assert_eq!(
            found(RULES, "links", &[("a.md", "[a](../b.md)\n"), ("b.md", "")]),
            ["a.md:1"]
        );
    }
}
