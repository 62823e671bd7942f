//! The files of the project, in memory.
//!
//! Everything below the root but build output, version control and files that are no text. Paths
//! are relative, with `/`. Rust files are taken apart once, when they are first looked at.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, io};

use super::source::Source;

/// Folders whose content is not ours to judge.
const SKIPPED: &[&str] = &[".git", "target", "proptest-regressions", "node_modules"];
/// Endings of the files that are read; the names of all others are known, their content is not.
const TEXT: &[&str] = &["rs", "md", "toml", "yml", "yaml", "sh", "txt"];

pub(crate) struct Tree {
    files: BTreeMap<String, File>,
}

pub(crate) struct File {
    pub(crate) path: String,
    pub(crate) text: String,
    source: OnceCell<Source>,
}

impl Tree {
    pub(crate) fn read(root: &Path) -> io::Result<Tree> {
        let mut tree = Tree {
            files: BTreeMap::new(),
        };
        tree.walk(root, "")?;
        Ok(tree)
    }

    #[cfg(test)]
    pub(crate) fn of(files: &[(&str, &str)]) -> Tree {
        let mut tree = Tree {
            files: BTreeMap::new(),
        };
        files
            .iter()
            .for_each(|(path, text)| tree.add((*path).to_owned(), (*text).to_owned()));
        tree
    }

    fn add(&mut self, path: String, text: String) {
        let file = File {
            path: path.clone(),
            text,
            source: OnceCell::new(),
        };
        self.files.insert(path, file);
    }

    fn walk(&mut self, folder: &Path, prefix: &str) -> io::Result<()> {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = format!("{prefix}{name}");
            if entry.file_type()?.is_dir() {
                if !SKIPPED.contains(&name.as_str()) {
                    self.walk(&entry.path(), &format!("{path}/"))?;
                }
            } else if is_text(&path) {
                self.add(path, fs::read_to_string(entry.path())?);
            } else {
                self.add(path, String::new());
            }
        }
        Ok(())
    }

    pub(crate) fn files(&self) -> impl Iterator<Item = &File> {
        self.files.values()
    }

    pub(crate) fn rust(&self) -> impl Iterator<Item = &File> {
        self.files().filter(|file| file.path.ends_with(".rs"))
    }

    pub(crate) fn documents(&self) -> impl Iterator<Item = &File> {
        self.files().filter(|file| file.path.ends_with(".md"))
    }

    pub(crate) fn get(&self, path: &str) -> Option<&File> {
        self.files.get(path)
    }

    /// Whether `path` is a file, or a folder with something in it.
    pub(crate) fn has(&self, path: &str) -> bool {
        let path = path.trim_end_matches('/');
        let folder = format!("{path}/");
        path.is_empty()
            || self.files.contains_key(path)
            || self
                .files
                .range(folder.clone()..)
                .next()
                .is_some_and(|(next, _)| next.starts_with(&folder))
    }
}

fn is_text(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    match name.rsplit_once('.') {
        Some((_, ending)) => TEXT.contains(&ending) || name == ".gitignore",
        None => name.starts_with("LICENSE") || path == ".ci/run",
    }
}

impl File {
    pub(crate) fn source(&self) -> &Source {
        self.source.get_or_init(|| Source::parse(&self.text))
    }

    /// The folder below `crates/`, such as `wheel-core`.
    pub(crate) fn crate_folder(&self) -> Option<&str> {
        self.path.strip_prefix("crates/")?.split('/').next()
    }

    /// Whether this is code of a crate that ships, not one of its tests, benches or examples.
    /// `bounds` is the folder of wheel-core's tests that count what is inside.
    pub(crate) fn is_product(&self) -> bool {
        let inside = self
            .crate_folder()
            .and_then(|name| self.path.strip_prefix(&format!("crates/{name}/")));
        let Some(inside) = inside else { return false };
        let of_tests = ["/tests/", "/bounds/"];
        inside.starts_with("src/")
            && !inside.ends_with("/tests.rs")
            && !of_tests.iter().any(|folder| inside.contains(folder))
    }

    /// Code lines with their numbers: all, or up to the unit tests of a product file.
    pub(crate) fn product_code(&self) -> impl Iterator<Item = (usize, &str)> {
        let source = self.source();
        source.lines[..source.tests_from]
            .iter()
            .enumerate()
            .map(|(index, line)| (index + 1, line.code.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_exist_when_a_file_is_in_them() {
        let tree = Tree::of(&[("docs/decisions/README.md", ""), ("docs-old.md", "")]);
        assert!(
            tree.has("docs") && tree.has("docs/decisions/") && tree.has("docs/decisions/README.md")
        );
        assert!(!tree.has("docs/decision") && !tree.has("doc"));
    }

    #[test]
    fn tests_are_no_product_code() {
        let is_product = |path| Tree::of(&[(path, "")]).files().next().unwrap().is_product();
        assert!(is_product("crates/wheel-core/src/tick.rs"));
        assert!(!is_product("crates/wheel-core/tests/oracle.rs"));
        assert!(!is_product("crates/wheel-core/src/level/tests.rs"));
        assert!(!is_product("xtask/src/main.rs"));
    }

    #[test]
    fn product_code_ends_where_the_unit_tests_begin() {
        let tree = Tree::of(&[(
            "crates/a/src/b.rs",
            "fn a() {}\n\n#[cfg(test)]\nmod tests {\n    fn b() {}\n}\n",
        )]);
        let code: Vec<_> = tree
            .files()
            .next()
            .unwrap()
            .product_code()
            .map(|(line, _)| line)
            .collect();
        assert_eq!(code, [1, 2]);
    }
}
