//! How long, how many at once, and how often: `timeout`, `deadline`, `concurrency_key`,
//! `concurrency`, `rate_limit`.
//!
//! A key may be named by many tasks, and has one number. What [`Shared`] has read is what all tasks
//! of the file say; two that contradict each other are a fault.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::Range;
use std::time::Duration;

use super::fault::{Faults, is_harmful};
use super::keys::{Known, nearest};
use super::values::{self, Value};
use crate::duration;

/// Bytes of a key at most, as the runtime has it.
const KEY_BYTES_MAX: usize = 256;
const PERIOD_MAX: Duration = Duration::from_secs(100 * 366 * 86_400);

const RATE_KEYS: [&str; 3] = ["rate", "burst", "key"];
const OF_RATE: Known = Known {
    keys: &RATE_KEYS,
    whose: "`rate_limit`",
    place: " in `rate_limit`",
    in_place_of: |_| None,
    meant_by: |unknown| match unknown {
        "limit" | "count" | "per_second" => Some("rate"),
        "bucket" | "capacity" => Some("burst"),
        "name" | "id" => Some("key"),
        _ => nearest(unknown, &RATE_KEYS),
    },
};
const RATE_HELP: &str = "write a number of starts and a time, such as rate_limit = \"10/s\" or \
                         rate_limit = { rate = \"100/1m\", burst = 5, key = \"api\" }";

/// So many starts per period.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rate {
    pub(crate) starts: u32,
    pub(crate) period: Duration,
    pub(crate) burst: Option<u32>,
    /// The tasks that name it share the starts; `None`: the task alone.
    pub(crate) key: Option<String>,
}

/// At most so many runs at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Concurrency {
    pub(crate) key: String,
    /// `None`: whatever another task says about the key, else 1.
    pub(crate) at_most: Option<u32>,
}

/// What was said about keys so far, each with its line.
#[derive(Debug, Default)]
pub(super) struct Shared {
    at_most: HashMap<String, (u32, usize)>,
    rates: HashMap<String, (Rate, usize)>,
}

/// A limit of time.
pub(super) fn time(key: &str, value: &Value<'_>, faults: &mut Faults) -> Option<Duration> {
    let limit = values::duration(key, value, faults)?;
    if limit.is_zero() {
        faults
            .add(
                value.span(),
                format!("`{key}` is zero: no program would have time to run"),
            )
            .help(format!(
                "write a time above zero, such as {key} = \"30s\", or leave `{key}` away for no limit"
            ));
        return None;
    }
    Some(limit)
}

/// The name that tasks have in common.
fn key(name: &str, value: &Value<'_>, faults: &mut Faults) -> Option<String> {
    let text = values::text(name, value, "\"database\"", faults)?;
    let wrong = if text.is_empty() {
        "is empty"
    } else if text.contains(is_harmful) || text.contains(char::is_control) {
        "has a control character or a line break in it"
    } else if text.len() > KEY_BYTES_MAX {
        "is longer than 256 bytes"
    } else {
        return Some(text.to_owned());
    };
    faults
        .add(value.span(), format!("`{name}` {wrong}"))
        .help(format!("write a short name, such as {name} = \"database\""));
    None
}

impl Shared {
    /// `concurrency_key` and `concurrency`, which go together.
    pub(super) fn concurrency(
        &mut self,
        name: Option<&Value<'_>>,
        at_most: Option<&Value<'_>>,
        faults: &mut Faults,
    ) -> Option<Option<Concurrency>> {
        let number = at_most.map(|value| {
            let help = "write how many of them may run at once: concurrency = 2";
            let number = values::number("concurrency", value, u32::MAX, help, faults);
            (value.span(), number)
        });
        let Some(name) = name else {
            let Some((span, number)) = number else {
                return Some(None);
            };
            let number = number.unwrap_or(2);
            faults
                .add(span, "`concurrency` without `concurrency_key`: of which tasks?")
                .help(format!(
                    "add concurrency_key = \"database\" to each of them; for runs of this task alone \
                     write overlap = {{ allow = {number} }}"
                ));
            return None;
        };
        let key = key("concurrency_key", name, faults)?;
        let at_most = match number {
            None => None,
            Some((span, number)) => {
                let number = number?;
                self.agree_at_most(&key, number, span, faults)?;
                Some(number)
            }
        };
        Some(Some(Concurrency { key, at_most }))
    }

    fn agree_at_most(
        &mut self,
        key: &str,
        number: u32,
        span: Range<usize>,
        faults: &mut Faults,
    ) -> Option<()> {
        let line = faults.line_of(span.start);
        match self.at_most.entry(key.to_owned()) {
            Entry::Vacant(place) => {
                place.insert((number, line));
                Some(())
            }
            Entry::Occupied(said) if said.get().0 == number => Some(()),
            Entry::Occupied(said) => {
                let (other, first) = said.get();
                faults
                    .add(
                        span,
                        format!(
                            "`concurrency` of {key:?} is {number} here and {other} in line {first}"
                        ),
                    )
                    .help("a key has one number: say it once, for the others take it over");
                None
            }
        }
    }

    /// What tasks that name a key without a number take over.
    pub(super) fn at_most(&self, key: &str) -> Option<u32> {
        self.at_most.get(key).map(|(number, _)| *number)
    }

    /// `rate_limit`.
    pub(super) fn rate(&mut self, value: &Value<'_>, faults: &mut Faults) -> Option<Rate> {
        let rate = read_rate(value, faults)?;
        let Some(key) = rate.key.clone() else {
            return Some(rate);
        };
        let line = faults.line_of(value.span().start);
        match self.rates.entry(key) {
            Entry::Vacant(place) => {
                place.insert((rate.clone(), line));
                Some(rate)
            }
            Entry::Occupied(said) if said.get().0 == rate => Some(rate),
            Entry::Occupied(said) => {
                let (key, first) = (said.key(), said.get().1);
                faults
                    .add(
                        value.span(),
                        format!("`rate_limit` of {key:?} is another one here than in line {first}"),
                    )
                    .help("tasks that share a key have the same rate and the same burst");
                None
            }
        }
    }
}

fn read_rate(value: &Value<'_>, faults: &mut Faults) -> Option<Rate> {
    if value.get_ref().as_str().is_some() {
        let (starts, period) = per_time("rate_limit", value, faults)?;
        return Some(Rate {
            starts,
            period,
            burst: None,
            key: None,
        });
    }
    let Some(table) = value.get_ref().as_table() else {
        let kind = values::kind(value);
        faults
            .add(
                value.span(),
                format!("`rate_limit` must be a string or a table, not {kind}"),
            )
            .help(RATE_HELP);
        return None;
    };
    let right = OF_RATE.check(table, faults);
    // Each value is looked at, so that a user sees all faults at once.
    let rate = match table.get("rate") {
        Some(value) => per_time("rate", value, faults),
        None => {
            if !OF_RATE.is_misspelt("rate", table) {
                faults
                    .add(value.span(), "`rate_limit` has no `rate`")
                    .help(RATE_HELP);
            }
            None
        }
    };
    let burst = match table.get("burst") {
        Some(value) => {
            let help = "write how many starts may be saved up: burst = 5";
            values::number("burst", value, u32::MAX, help, faults).map(Some)
        }
        None => Some(None),
    };
    let name = match table.get("key") {
        Some(value) => key("key", value, faults).map(Some),
        None => Some(None),
    };
    let (starts, period) = rate?;
    let rate = Rate {
        starts,
        period,
        burst: burst?,
        key: name?,
    };
    right.then_some(rate)
}

/// `10/s`, `100/m`, `5/10s`.
fn per_time(key: &str, value: &Value<'_>, faults: &mut Faults) -> Option<(u32, Duration)> {
    let text = values::text(key, value, "\"10/s\"", faults)?;
    match parse_rate(text) {
        Ok(rate) => Some(rate),
        Err(why) => {
            faults
                .add(value.span(), format!("`{key}` is not a rate: {why}"))
                .help(RATE_HELP);
            None
        }
    }
}

fn parse_rate(text: &str) -> Result<(u32, Duration), String> {
    let (starts, period) = text
        .split_once('/')
        .ok_or("there is no / between the number and the time")?;
    let (starts, period) = (starts.trim(), period.trim());
    let starts = match starts.parse::<u32>() {
        Ok(0) => return Err("with 0 starts the task would never run".to_owned()),
        Ok(starts) => starts,
        Err(_) => {
            let (shown, most) = (starts.escape_debug(), u32::MAX);
            return Err(format!("`{shown}` is no whole number from 1 to {most}"));
        }
    };
    // `/s` is short for `/1s`.
    let begins_with_unit = period.starts_with(|c: char| c.is_ascii_alphabetic());
    let period = match begins_with_unit {
        true => duration::parse(&format!("1{period}")),
        false => duration::parse(period),
    };
    let period = period.map_err(|error| error.to_string())?;
    if period.is_zero() {
        return Err("the time is zero".to_owned());
    }
    if period > PERIOD_MAX {
        return Err("the time is longer than 100 years".to_owned());
    }
    Ok((starts, period))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_a_number_and_a_time() {
        let second = Duration::from_secs(1);
        for (text, rate) in [
            ("10/s", (10, second)),
            ("1/1s", (1, second)),
            (" 100 / m ", (100, second * 60)),
            ("5/10s", (5, second * 10)),
            ("3/1h30m", (3, second * 5400)),
        ] {
            assert_eq!(parse_rate(text), Ok(rate), "{text}");
        }
        for text in [
            "", "10", "0/s", "-1/s", "1.5/s", "10/", "10/0s", "10/s/s", "10/sec", "1/99999d",
        ] {
            assert!(parse_rate(text).is_err(), "{text}");
        }
    }
}
