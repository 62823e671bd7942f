//! The key `retry` of a task: how often a program that failed is started again, and after how long.

use std::time::Duration;

use toml::de::DeValue;
use wheel_runtime::RetryJitter;

use super::choice::one_of;
use super::fault::Faults;
use super::keys::{Known, nearest};
use super::values::{self, Value};

/// How a task is tried again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Retry {
    /// The first one included.
    pub(crate) attempts: u32,
    pub(crate) delay: Duration,
    pub(crate) backoff: Backoff,
    pub(crate) max_delay: Option<Duration>,
    pub(crate) jitter: Option<RetryJitter>,
}

/// How the delay goes on from attempt to attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Backoff {
    Fixed,
    Linear,
    Exponential,
}

const KEYS: [&str; 5] = ["attempts", "delay", "backoff", "max_delay", "jitter"];
const KNOWN: Known = Known {
    keys: &KEYS,
    whose: "`retry`",
    place: " in `retry`",
    in_place_of: |_| None,
    meant_by,
};
const EXAMPLE: &str = "write retry = { attempts = 3, delay = \"5s\" }";
/// The runtime has no shorter one.
const DELAY_MIN: Duration = Duration::from_millis(1);

/// Reads the table, or adds every fault in it.
pub(crate) fn read(value: &Value<'_>, faults: &mut Faults) -> Option<Retry> {
    let Some(table) = value.get_ref().as_table() else {
        let kind = values::kind(value);
        let fault = faults.add(value.span(), format!("`retry` must be a table, not {kind}"));
        match value.get_ref() {
            DeValue::Integer(number) => {
                let number = number.as_str();
                fault.help(format!(
                    "write retry = {{ attempts = {number}, delay = \"5s\" }}"
                ))
            }
            _ => fault.help(EXAMPLE),
        };
        return None;
    };
    let right = KNOWN.check(table, faults);
    // Each value is looked at, so that a user sees all faults at once.
    let missing = |key: &str, faults: &mut Faults| {
        if !KNOWN.is_misspelt(key, table) {
            faults
                .add(value.span(), format!("`retry` has no `{key}`"))
                .help(EXAMPLE);
        }
    };
    let attempts = match table.get("attempts") {
        Some(value) => {
            let help = "the first try counts: attempts = 3 is one try and two more";
            values::number("attempts", value, u32::MAX, help, faults)
        }
        None => {
            missing("attempts", faults);
            None
        }
    };
    let delay = match table.get("delay") {
        Some(value) => values::duration("delay", value, faults),
        None => {
            missing("delay", faults);
            None
        }
    };
    let backoff = match table.get("backoff") {
        Some(value) => {
            let choices = [
                ("fixed", Backoff::Fixed),
                ("linear", Backoff::Linear),
                ("exponential", Backoff::Exponential),
            ];
            one_of("backoff", value, choices, faults)
        }
        None => Some(Backoff::Fixed),
    };
    let max_delay = match table.get("max_delay") {
        Some(value) => longest(value, faults).map(Some),
        None => Some(None),
    };
    let jitter = match table.get("jitter") {
        Some(value) => {
            let choices = [("full", RetryJitter::Full), ("equal", RetryJitter::Equal)];
            one_of("jitter", value, choices, faults).map(Some)
        }
        None => Some(None),
    };
    let retry = Retry {
        attempts: attempts?,
        delay: delay?,
        backoff: backoff?,
        max_delay: max_delay?,
        jitter: jitter?,
    };
    right.then_some(retry)
}

fn meant_by(unknown: &str) -> Option<&'static str> {
    let other = match unknown {
        "max_attempts" | "count" | "times" | "tries" | "limit" | "max" => Some("attempts"),
        "wait" | "after" | "interval" | "pause" | "base" => Some("delay"),
        "back_off" | "kind" | "policy" | "strategy" => Some("backoff"),
        "max_interval" | "cap" => Some("max_delay"),
        _ => None,
    };
    other.or_else(|| nearest(unknown, &KEYS))
}

fn longest(value: &Value<'_>, faults: &mut Faults) -> Option<Duration> {
    let delay = values::duration("max_delay", value, faults)?;
    if delay < DELAY_MIN {
        faults
            .add(
                value.span(),
                "`max_delay` is shorter than 1ms, the shortest delay",
            )
            .help("write the longest delay, such as max_delay = \"1m\"");
        return None;
    }
    Some(delay)
}
