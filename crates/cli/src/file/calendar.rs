//! Values that name instants of the calendar: `at`, `start`, `not_before`, `not_after`, `cron` and
//! `timezone`.

use std::time::SystemTime;

use toml::de::DeValue;
use wheel_runtime::{Cron, Zone};

use super::fault::Faults;
use super::schedule::{Kind, Start};
use super::values::{Value, text};

/// The instant of `at`.
pub(crate) fn at(value: &Value<'_>, faults: &mut Faults) -> Option<SystemTime> {
    moment("at", value, faults)
}

/// An instant of the wall clock for `key`: a string, or a date-time of TOML.
pub(super) fn moment(key: &str, value: &Value<'_>, faults: &mut Faults) -> Option<SystemTime> {
    let written;
    let text = match value.get_ref() {
        DeValue::Datetime(instant) => {
            written = instant.to_string();
            written.as_str()
        }
        _ => text(key, value, "\"2026-12-01T02:00:00+08:00\"", faults)?,
    };
    match instant(text) {
        Ok(instant) => Some(instant),
        Err(why) => {
            faults
                .add(value.span(), format!("`{key}` is not an instant: {why}"))
                .help(format!(
                    "write date, time and offset, such as {key} = \"2026-12-01T02:00:00+08:00\" or \
                     {key} = \"2026-11-30T18:00:00Z\""
                ));
            None
        }
    }
}

/// Where the grid of `every` begins: `"now"`, or an instant.
pub(super) fn start(value: &Value<'_>, faults: &mut Faults) -> Option<Start> {
    match value.get_ref().as_str() {
        Some("now") => Some(Start::Now),
        Some(word) if word.chars().all(|c| c.is_ascii_alphabetic()) => {
            faults
                .add(
                    value.span(),
                    format!("`start` cannot be \"{}\"", word.escape_debug()),
                )
                .help("write start = \"now\", or an instant that the grid contains, such as start = \"2026-12-01T02:00:00Z\"");
            None
        }
        _ => moment("start", value, faults).map(Start::At),
    }
}

/// Reads a date, a time and an offset.
///
/// # Errors
///
/// What is wrong, in the words of this command where it is one of the usual mistakes, else in those
/// of whoever read it.
pub(crate) fn instant(text: &str) -> Result<SystemTime, String> {
    let text = text.trim();
    let instant = text.parse::<jiff::Timestamp>();
    let instant = instant.and_then(SystemTime::try_from);
    instant.map_err(|error| {
        let begins_with_a_year = text.len() > 4 && text.bytes().take(4).all(|b| b.is_ascii_digit());
        if text.parse::<jiff::civil::DateTime>().is_ok() {
            "it has no offset from UTC, so it would be another instant in every time zone"
                .to_owned()
        } else if begins_with_a_year && text.as_bytes()[4] == b'-' {
            error.to_string()
        } else {
            format!("`{}` does not begin with a date", text.escape_debug())
        }
    })
}

/// A cron expression, in UTC until it is told otherwise. `@every` is a period like any other.
pub(crate) fn cron(value: &Value<'_>, faults: &mut Faults) -> Option<Kind> {
    let text = text("cron", value, "\"30 2 * * *\"", faults)?;
    match text.parse::<Cron>() {
        Ok(cron) => Some(match cron.period() {
            Some(period) => Kind::Every {
                period,
                start: Start::OnePeriodOn,
            },
            None => Kind::Cron {
                cron: Box::new(cron),
                zone: Zone::UTC,
            },
        }),
        Err(error) => {
            faults
                .add(value.span(), format!("`cron` is not an expression: {error}"))
                .help("write minute, hour, day of month, month and day of week, such as cron = \"30 2 * * MON-FRI\"");
            None
        }
    }
}

/// The name of a time zone.
pub(crate) fn timezone(value: &Value<'_>, faults: &mut Faults) -> Option<Zone> {
    let text = text("timezone", value, "\"Asia/Shanghai\"", faults)?;
    match text.parse::<Zone>() {
        Ok(zone) => Some(zone),
        Err(error) => {
            faults
                .add(value.span(), format!("`timezone`: {error}"))
                .help("write a name of the IANA database, such as timezone = \"Asia/Shanghai\"");
            None
        }
    }
}
