//! Single values of a task: each function reads one key, or adds the fault that says what would be
//! right.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use toml::Spanned;
use toml::de::DeValue;

use super::fault::{Faults, is_harmful};
use crate::duration;

/// Characters of an id at most: it stands in front of every line of output.
const ID_CHARS_MAX: usize = 100;

pub(crate) type Value<'a> = Spanned<DeValue<'a>>;

/// A text for `key`.
pub(crate) fn text<'a>(
    key: &str,
    value: &'a Value<'_>,
    example: &str,
    faults: &mut Faults,
) -> Option<&'a str> {
    let text = value.get_ref().as_str();
    if text.is_none() {
        faults
            .add(
                value.span(),
                format!("`{key}` must be a string, not {}", kind(value)),
            )
            .help(format!("write {key} = {example}"));
    }
    text
}

/// The name of a task.
pub(crate) fn id(value: &Value<'_>, faults: &mut Faults) -> Option<String> {
    let text = text("id", value, "\"close-order-1001\"", faults)?;
    if text.trim().is_empty() {
        faults
            .add(value.span(), "`id` is empty")
            .help("give the task a name, such as id = \"heartbeat\"");
        return None;
    }
    if text.starts_with('#') {
        faults
            .add(
                value.span(),
                "`id` begins with #, which is kept for tasks without a name",
            )
            .help("begin it with a letter");
        return None;
    }
    if text.contains(is_harmful) {
        faults
            .add(
                value.span(),
                "`id` has a control character or a line break in it",
            )
            .help("the id stands in front of every line of output: use letters, digits and -");
        return None;
    }
    if text.chars().count() > ID_CHARS_MAX {
        faults
            .add(
                value.span(),
                format!("`id` is longer than {ID_CHARS_MAX} characters"),
            )
            .help("the id stands in front of every line of output: make it shorter");
        return None;
    }
    Some(text.to_owned())
}

/// A duration for `key`.
pub(crate) fn duration(key: &str, value: &Value<'_>, faults: &mut Faults) -> Option<Duration> {
    let number = match value.get_ref() {
        DeValue::Integer(number) => Some(number.to_string()),
        DeValue::Float(number) => Some(number.as_str().to_owned()),
        _ => None,
    };
    if let Some(number) = number {
        faults
            .add(value.span(), format!("`{key}` is a number without a unit"))
            .help(format!(
                "write {key} = \"{number}s\" or {key} = \"{number}ms\""
            ));
        return None;
    }
    let text = text(key, value, "\"3s\"", faults)?;
    match duration::parse(text) {
        Ok(duration) => Some(duration),
        Err(error) => {
            faults
                .add(value.span(), format!("`{key}` is not a duration: {error}"))
                .help(duration::EXAMPLES);
            None
        }
    }
}

/// A period for `every`: a duration above zero.
pub(crate) fn period(value: &Value<'_>, faults: &mut Faults) -> Option<Duration> {
    let period = duration("every", value, faults)?;
    if period.is_zero() {
        faults
            .add(
                value.span(),
                "`every` is zero: the task would be due without end",
            )
            .help("write a period above zero, such as every = \"500ms\"");
        return None;
    }
    Some(period)
}

/// A number of runs for `count`: a whole number above zero.
pub(crate) fn count(value: &Value<'_>, faults: &mut Faults) -> Option<u64> {
    let number = whole(value);
    match number {
        Some(number @ 1..) => {
            if let Ok(number) = u64::try_from(number) {
                return Some(number);
            }
            faults
                .add(value.span(), "`count` is too large")
                .help("leave `count` away for runs without end");
        }
        Some(0) => {
            faults
                .add(value.span(), "`count` is 0: the task would never run")
                .help("write a number of runs from 1, or leave `count` away for runs without end");
        }
        _ => {
            let found = if number.is_some() {
                "a negative number".to_owned()
            } else {
                kind(value)
            };
            faults
                .add(
                    value.span(),
                    format!("`count` must be a whole number from 1, not {found}"),
                )
                .help("write count = 10");
        }
    }
    None
}

/// A program and its arguments for `run`, each with its place.
pub(crate) fn run(value: &Value<'_>, faults: &mut Faults) -> Option<(Vec<String>, Range<usize>)> {
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
pub(crate) fn env(value: &Value<'_>, faults: &mut Faults) -> Option<Vec<(String, String)>> {
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
pub(crate) fn dir(value: &Value<'_>, faults: &mut Faults) -> Option<PathBuf> {
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
pub(crate) fn output(value: &Value<'_>, faults: &mut Faults) -> Option<PathBuf> {
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

/// What a value is, such as `an integer`.
pub(super) fn kind(value: &Value<'_>) -> String {
    let kind = value.get_ref().type_str();
    let vowel = kind.starts_with(['a', 'e', 'i', 'o', 'u']);
    format!("{} {kind}", if vowel { "an" } else { "a" })
}

/// The number that a value is, if it is a whole one.
pub(super) fn whole(value: &Value<'_>) -> Option<i128> {
    let number = value.get_ref().as_integer()?;
    i128::from_str_radix(number.as_str(), number.radix()).ok()
}
