//! Values that name instants of the calendar: `at`, `cron` and `timezone`.

use std::time::SystemTime;

use toml::de::DeValue;
use wheel_runtime::{Cron, Zone};

use super::Schedule;
use super::fault::Faults;
use super::values::{Value, text};

/// An instant of the wall clock for `at`: a string, or a date-time of TOML.
pub(crate) fn at(value: &Value<'_>, faults: &mut Faults) -> Option<SystemTime> {
    let written;
    let text = match value.get_ref() {
        DeValue::Datetime(instant) => {
            written = instant.to_string();
            written.as_str()
        }
        _ => text("at", value, "\"2026-12-01T02:00:00+08:00\"", faults)?,
    };
    match instant(text) {
        Ok(instant) => Some(instant),
        Err(why) => {
            faults
                .add(value.span(), format!("`at` is not an instant: {why}"))
                .help("write date, time and offset, such as at = \"2026-12-01T02:00:00+08:00\" or at = \"2026-11-30T18:00:00Z\"");
            None
        }
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
pub(crate) fn cron(value: &Value<'_>, faults: &mut Faults) -> Option<Schedule> {
    let text = text("cron", value, "\"30 2 * * *\"", faults)?;
    match text.parse::<Cron>() {
        Ok(cron) => Some(match cron.period() {
            Some(period) => Schedule::Every {
                period,
                count: None,
            },
            None => Schedule::Cron {
                cron: Box::new(cron),
                zone: Zone::UTC,
                count: None,
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

/// The expression in its zone, if that still has an instant to come.
pub(crate) fn in_zone(
    cron: Box<Cron>,
    zone: Zone,
    place: &Value<'_>,
    faults: &mut Faults,
) -> Option<Schedule> {
    if cron.next_after(SystemTime::now(), &zone).is_none() {
        faults
            .add(
                place.span(),
                format!("`cron` names no instant after now in {zone}"),
            )
            .help("give it later years, or a time that the zone does not skip");
        return None;
    }
    Some(Schedule::Cron {
        cron,
        zone,
        count: None,
    })
}
