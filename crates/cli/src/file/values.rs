//! Single values of a task: each function reads one key, or adds the fault that says what would be
//! right.

use std::time::Duration;

use toml::Spanned;
use toml::de::DeValue;

use super::fault::{Faults, is_harmful};
use crate::duration;

/// Characters of an id at most: it stands in front of every line of output.
const ID_CHARS_MAX: usize = 100;

pub(crate) type Value<'a> = Spanned<DeValue<'a>>;

/// A key that may be absent.
pub(super) type Optional<T> = Result<Option<T>, Wrong>;

/// The key is there, and its fault has been added.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wrong;

pub(super) fn optional<T>(
    value: Option<&Value<'_>>,
    read: impl FnOnce(&Value<'_>) -> Option<T>,
) -> Optional<T> {
    value.map(|value| read(value).ok_or(Wrong)).transpose()
}

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

/// A whole number for `key`, from 1 to `most`.
pub(super) fn number<N>(
    key: &str,
    value: &Value<'_>,
    most: N,
    help: &str,
    faults: &mut Faults,
) -> Option<N>
where
    N: Copy + Into<i128> + TryFrom<i128>,
{
    let most: i128 = most.into();
    let wrong = match whole(value) {
        Some(number) if (1..=most).contains(&number) => return N::try_from(number).ok(),
        Some(number) => number.to_string(),
        None => kind(value),
    };
    faults
        .add(
            value.span(),
            format!("`{key}` must be a whole number from 1 to {most}, not {wrong}"),
        )
        .help(help);
    None
}

/// `true` or `false` for `key`.
pub(super) fn truth(key: &str, value: &Value<'_>, faults: &mut Faults) -> Option<bool> {
    let truth = value.get_ref().as_bool();
    if truth.is_none() {
        let kind = kind(value);
        faults
            .add(
                value.span(),
                format!("`{key}` must be true or false, not {kind}"),
            )
            .help(format!("write {key} = true, without quotes"));
    }
    truth
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
