//! What a task does when time does not go as planned, and who goes first: `misfire`, `overlap`,
//! `jitter`, `priority`.

use std::time::Duration;

use wheel_runtime::{Jitter, Misfire, Overlap, Priority};

use super::choice::{Form, Forms, one_of};
use super::fault::Faults;
use super::values::{self, Value};
use crate::duration;

const MISFIRE: Forms = Forms {
    key: "misfire",
    alone: &["fire_once", "skip"],
    with_value: &[("fire_all", "100")],
};
const OVERLAP: Forms = Forms {
    key: "overlap",
    alone: &["skip", "queue_one", "cancel_running"],
    with_value: &[("queue_all", "100"), ("allow", "3")],
};
const JITTER: Forms = Forms {
    key: "jitter",
    alone: &[],
    with_value: &[("hashed", "\"10m\""), ("uniform", "\"30s\"")],
};

/// As many as the runtime takes.
const ALLOWED_MAX: u16 = 1_000;
const JITTER_MAX: Duration = Duration::from_secs(365 * 86_400);

/// What becomes of occurrences that were missed.
pub(super) fn misfire(value: &Value<'_>, faults: &mut Faults) -> Option<Misfire> {
    match MISFIRE.read(value, faults)? {
        Form::Alone("skip") => Some(Misfire::Skip),
        Form::Alone(_) => Some(Misfire::FireOnce),
        Form::WithValue(key, value) => {
            let help = "write how many of those that were missed run at most: { fire_all = 100 }";
            let max = values::number(key, value, u16::MAX, help, faults)?;
            Some(Misfire::FireAll { max })
        }
    }
}

/// What becomes of an occurrence while the last run is going.
pub(super) fn overlap(value: &Value<'_>, faults: &mut Faults) -> Option<Overlap> {
    match OVERLAP.read(value, faults)? {
        Form::Alone("queue_one") => Some(Overlap::QueueOne),
        Form::Alone("cancel_running") => Some(Overlap::CancelRunning),
        Form::Alone(_) => Some(Overlap::Skip),
        Form::WithValue(key @ "queue_all", value) => {
            let help = "write how many may wait for the run that is going: { queue_all = 100 }";
            let max = values::number(key, value, u16::MAX, help, faults)?;
            Some(Overlap::QueueAll { max })
        }
        Form::WithValue(key, value) => {
            let help = "write how many may run beside each other: { allow = 3 }";
            let max = values::number(key, value, ALLOWED_MAX, help, faults)?;
            Some(Overlap::Allow { max })
        }
    }
}

/// How far occurrences are spread. A duration alone is by the id, so that a task keeps its distance
/// from one run to the next.
pub(super) fn jitter(value: &Value<'_>, faults: &mut Faults) -> Option<Jitter> {
    if value.get_ref().as_table().is_none() {
        return length("jitter", value, faults).map(Jitter::Hashed);
    }
    match JITTER.read(value, faults)? {
        Form::WithValue(key @ "uniform", value) => length(key, value, faults).map(Jitter::Uniform),
        Form::WithValue(key, value) => length(key, value, faults).map(Jitter::Hashed),
        Form::Alone(_) => None,
    }
}

fn length(key: &str, value: &Value<'_>, faults: &mut Faults) -> Option<Duration> {
    let length = values::duration(key, value, faults)?;
    if length > JITTER_MAX {
        let longest = duration::format(JITTER_MAX);
        faults
            .add(
                value.span(),
                format!("`{key}` is longer than {longest}, the longest spread"),
            )
            .help("write how much later than its schedule a run may be due, such as \"10m\"");
        return None;
    }
    Some(length)
}

/// Who goes first when there are more programs than workers.
pub(super) fn priority(value: &Value<'_>, faults: &mut Faults) -> Option<Priority> {
    if let Some(number) = values::whole(value) {
        let word = match number {
            ..0 => "low",
            0 => "normal",
            1.. => "high",
        };
        faults
            .add(value.span(), "`priority` must be a string, not an integer")
            .help(format!("write priority = \"{word}\""))
            .note("it is one of low, normal, high");
        return None;
    }
    let choices = [
        ("low", Priority::Low),
        ("normal", Priority::Normal),
        ("high", Priority::High),
    ];
    one_of("priority", value, choices, faults)
}
