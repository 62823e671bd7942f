//! What a program is started with: `run`, `env`, `dir`, `output`.

use std::ops::Range;
use std::path::{Path, PathBuf};

use toml::Spanned;
use toml::de::DeValue;

use super::fault::Faults;
use super::values::{Value, kind, text};

/// A program and its arguments for `run`, each with its place.
pub(super) fn run(value: &Value<'_>, faults: &mut Faults) -> Option<(Vec<String>, Range<usize>)> {
    let Some(items) = value.get_ref().as_array() else {
        let fault = faults.add(
            value.span(),
            "`run` must be an array of strings: the program and its arguments",
        );
        match value.get_ref().as_str() {
            Some(line) if line.contains(['|', '>', '<', '&', ';', '$', '*', '\'', '"']) => {
                fault.help("for a line of shell write run = [\"sh\", \"-c\", '...the line...']")
            }
            Some(line) => {
                let words: Vec<&str> = line.split_whitespace().collect();
                fault.help(format!("write run = {words:?}"))
            }
            None => fault.help("write run = [\"program\", \"argument\"]"),
        };
        return None;
    };
    let mut words = Vec::new();
    let mut right = true;
    for item in items.iter() {
        match item.get_ref().as_str() {
            Some(word) if word.contains('\0') => {
                right = false;
                faults
                    .add(item.span(), "`run` has a NUL character in it")
                    .help("no program can be given one: drop it");
            }
            Some(word) => words.push(word.to_owned()),
            None => {
                right = false;
                let fault = faults.add(
                    item.span(),
                    format!("`run` must hold strings only, not {}", kind(item)),
                );
                fault.help("put it in quotes");
            }
        }
    }
    if items.is_empty() || words.first().is_some_and(String::is_empty) {
        let what = if items.is_empty() {
            "`run` is empty"
        } else {
            "`run` has an empty program name"
        };
        faults
            .add(value.span(), what)
            .help("write run = [\"program\", \"argument\"]");
        return None;
    }
    let first = items.first().map_or(value.span(), Spanned::span);
    right.then_some((words, first))
}

/// Variables for `env`: a table of strings.
pub(super) fn env(value: &Value<'_>, faults: &mut Faults) -> Option<Vec<(String, String)>> {
    let Some(table) = value.get_ref().as_table() else {
        faults
            .add(
                value.span(),
                format!("`env` must be a table of strings, not {}", kind(value)),
            )
            .help("write env = { PORT = \"8080\", MODE = \"test\" }");
        return None;
    };
    let mut variables = Vec::new();
    let mut right = true;
    for (name, item) in table.iter() {
        let key = name.get_ref();
        if key.is_empty() || key.contains(['=', '\0']) {
            right = false;
            faults
                .add(
                    name.span(),
                    format!("`{}` cannot be the name of a variable", key.escape_debug()),
                )
                .help("a name is not empty and has no = in it, such as env = { PORT = \"8080\" }");
        }
        match item.get_ref().as_str() {
            Some(text) if text.contains('\0') => {
                right = false;
                faults
                    .add(
                        item.span(),
                        format!("the variable `{key}` has a NUL character in it"),
                    )
                    .help("drop it");
            }
            Some(text) => variables.push((key.to_string(), text.to_owned())),
            None => {
                right = false;
                let example = match item.get_ref() {
                    DeValue::Integer(number) => number.to_string(),
                    DeValue::Boolean(truth) => truth.to_string(),
                    _ => "text".to_owned(),
                };
                faults
                    .add(
                        item.span(),
                        format!("the variable `{key}` must be a string, not {}", kind(item)),
                    )
                    .help(format!("write {key} = \"{example}\""));
            }
        }
    }
    right.then_some(variables)
}

/// A folder that exists, for `dir`.
pub(super) fn dir(value: &Value<'_>, faults: &mut Faults) -> Option<PathBuf> {
    let text = text("dir", value, "\"/srv/shop\"", faults)?;
    let path = Path::new(text);
    if path.is_dir() {
        return Some(path.to_owned());
    }
    let what = if path.exists() {
        "is not a folder"
    } else {
        "does not exist"
    };
    faults
        .add(value.span(), format!("`dir`: the folder {text:?} {what}"))
        .help("name an existing folder; a relative one is taken from where `wheel` is started");
    None
}

/// A file that can be written to, for `output`. It is not created here.
pub(super) fn output(value: &Value<'_>, faults: &mut Faults) -> Option<PathBuf> {
    let text = text("output", value, "\"report.log\"", faults)?;
    let path = Path::new(text);
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let what = if text.is_empty() {
        "`output` is empty".to_owned()
    } else if text.contains('\0') {
        "`output` has a NUL character in it".to_owned()
    } else if path.is_dir() {
        format!("`output`: {text:?} is a folder")
    } else if !folder.is_dir() {
        format!(
            "`output`: the folder {:?} does not exist",
            folder.display().to_string()
        )
    } else {
        return Some(path.to_owned());
    };
    faults.add(value.span(), what).help(
        "name a file in an existing folder; a relative one is taken from where `wheel` is started",
    );
    None
}
