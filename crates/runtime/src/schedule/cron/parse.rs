//! From text to a calendar: what each part of each field means, or what is wrong with it.
//!
//! ```text
//! expression = "@daily" and friends | "@every " duration | 5, 6 or 7 fields
//! field      = part { "," part }
//! part       = range [ "/" step ]        range = "*" | value | value "-" value
//!            | "L" | "L-3" | "15W" | "LW"                  of days of the month
//!            | value "L" | value "#" n | value "#L"        of days of the week
//! ```
//!
//! One pass over a text of bounded length; nothing here looks at a date.

use super::calendar::{Calendar, Years};
use super::days::{Both, Days};
use super::{CronError, CronField};
use crate::duration;

/// More than any sensible expression needs, so that work is bounded by it.
pub(super) const BYTES_MAX: usize = 1_000;

/// What an expression means.
pub(super) enum Parsed {
    Calendar(Calendar),
    Every(std::time::Duration),
}

/// The expression, and its text with single blanks.
pub(super) fn parse(text: &str) -> Result<(Parsed, String), CronError> {
    if text.len() > BYTES_MAX {
        return Err(CronError::TooLong);
    }
    let text = text.trim_matches(is_blank);
    if text.starts_with('@') {
        return word(text);
    }
    if text.starts_with("TZ=") || text.starts_with("CRON_TZ=") {
        return Err(CronError::ZoneInside);
    }
    let fields: Vec<&str> = text
        .split(is_blank)
        .filter(|field| !field.is_empty())
        .collect();
    Ok((Parsed::Calendar(calendar(&fields)?), fields.join(" ")))
}

fn is_blank(c: char) -> bool {
    c.is_ascii_whitespace()
}

fn word(text: &str) -> Result<(Parsed, String), CronError> {
    let (word, behind) = text.split_once(is_blank).unwrap_or((text, ""));
    let lower = word.to_ascii_lowercase();
    if lower == "@every" {
        let period = duration::parse(behind).map_err(CronError::Every)?;
        if period.is_zero() {
            return Err(CronError::EveryZero);
        }
        return Ok((
            Parsed::Every(period),
            format!("@every {}", duration::format(period)),
        ));
    }
    let fields = match lower.as_str() {
        "@yearly" | "@annually" => ["0", "0", "1", "1", "*"],
        "@monthly" => ["0", "0", "1", "*", "*"],
        "@weekly" => ["0", "0", "*", "*", "0"],
        "@daily" | "@midnight" => ["0", "0", "*", "*", "*"],
        "@hourly" => ["0", "*", "*", "*", "*"],
        _ => return Err(CronError::unknown_word(text)),
    };
    if !behind.is_empty() {
        return Err(CronError::unknown_word(text));
    }
    Ok((Parsed::Calendar(calendar(&fields)?), lower))
}

fn calendar(fields: &[&str]) -> Result<Calendar, CronError> {
    let (second, [minute, hour, day, month, weekday], year) = match *fields {
        [minute, hour, day, month, weekday] => ("0", [minute, hour, day, month, weekday], "*"),
        [second, minute, hour, day, month, weekday] => {
            (second, [minute, hour, day, month, weekday], "*")
        }
        [second, minute, hour, day, month, weekday, year] => {
            (second, [minute, hour, day, month, weekday], year)
        }
        _ => return Err(CronError::FieldCount(fields.len())),
    };
    let calendar = Calendar {
        seconds: mask(CronField::Second, second)?,
        minutes: mask(CronField::Minute, minute)?,
        hours: mask(CronField::Hour, hour)?,
        days: days(day, weekday)?,
        months: mask(CronField::Month, month)?,
        years: years(year)?,
        follows_real_time: minute.starts_with('*') || hour.starts_with('*'),
    };
    if calendar.never_fires() {
        return Err(CronError::NeverFires);
    }
    Ok(calendar)
}

/// A field of plain numbers, bit n for the number n.
fn mask(field: CronField, text: &str) -> Result<u64, CronError> {
    let mut mask = 0;
    for part in text.split(',') {
        values(field, part, &mut |value| mask |= 1 << value)?;
    }
    Ok(mask)
}

fn years(text: &str) -> Result<Option<Box<Years>>, CronError> {
    if text == "*" {
        return Ok(None);
    }
    let mut years = Box::new(Years::none());
    for part in text.split(',') {
        values(CronField::Year, part, &mut |year| years.add(year))?;
    }
    Ok(Some(years))
}

fn days(day: &str, weekday: &str) -> Result<Days, CronError> {
    let mut days = Days::none(if day.starts_with('*') || weekday.starts_with('*') {
        Both::Must
    } else {
        Both::May
    });
    for part in day.split(',') {
        day_of_month(part, &mut days)?;
    }
    for part in weekday.split(',') {
        day_of_week(part, &mut days)?;
    }
    Ok(days)
}

fn day_of_month(part: &str, days: &mut Days) -> Result<(), CronError> {
    let field = CronField::DayOfMonth;
    let upper = part.to_ascii_uppercase();
    if upper == "L" {
        days.before_last |= 1;
    } else if upper == "LW" {
        days.last_weekday = true;
    } else if let Some(before) = upper.strip_prefix("L-") {
        match number(before) {
            Some(n @ 0..=30) => days.before_last |= 1 << n,
            _ => {
                let reason = "is not a number of days before the last one (L-0 to L-30)";
                return Err(CronError::field(field, part, reason));
            }
        }
    } else if let Some(day) = upper.strip_suffix('W') {
        match number(day) {
            Some(day @ 1..=31) => days.nearest |= 1 << day,
            _ => {
                let reason = "is not the weekday nearest to one day (1W to 31W, or LW)";
                return Err(CronError::field(field, part, reason));
            }
        }
    } else {
        values(field, part, &mut |day| days.of_month |= 1 << day)?;
    }
    Ok(())
}

fn day_of_week(part: &str, days: &mut Days) -> Result<(), CronError> {
    let field = CronField::DayOfWeek;
    let upper = part.to_ascii_uppercase();
    if upper == "L" {
        let reason = "does not say the last of which day of the week (such as 5L, the last Friday)";
        return Err(CronError::field(field, part, reason));
    }
    if let Some((weekday, n)) = upper.split_once('#') {
        let weekday = value(field, weekday)? % 7;
        match n {
            "L" => days.last_of_week |= 1 << weekday,
            _ => match number(n) {
                Some(n @ 1..=5) => days.nth[usize::from(weekday)] |= 1 << n,
                _ => {
                    let reason = "is not one of the first to fifth (such as FRI#2, or FRI#L)";
                    return Err(CronError::field(field, part, reason));
                }
            },
        }
    } else if let Some(weekday) = upper.strip_suffix('L') {
        days.last_of_week |= 1 << (value(field, weekday)? % 7);
    } else {
        values(field, part, &mut |weekday| days.of_week |= 1 << weekday)?;
    }
    Ok(())
}

/// Calls `each` with every value of a part without letters of its own.
fn values(field: CronField, part: &str, each: &mut dyn FnMut(u16)) -> Result<(), CronError> {
    let (range, step) = match part.split_once('/') {
        None => (part, None),
        Some((range, step)) => (range, Some(self::step(field, part, step)?)),
    };
    let (from, steps) = match range.split_once('-') {
        _ if range == "*" => (field.first(), field.size() - 1),
        None => {
            let from = value(field, range)? % modulus(field);
            let last = field.first() + field.size() - 1;
            // `5/15` goes on to the end of the field, `5` is itself only.
            (from, step.map_or(0, |_| last - from))
        }
        Some((from, to)) => span(field, part, value(field, from)?, value(field, to)?)?,
    };
    let (first, size) = (field.first(), field.size());
    for passed in (0..=steps).step_by(step.unwrap_or(1).into()) {
        each(first + (from - first + passed) % size);
    }
    Ok(())
}

/// Where a range begins and how many values follow: it may go on over the end of the field, such as
/// `22-2` of hours or `FRI-MON`.
fn span(field: CronField, part: &str, from: u16, to: u16) -> Result<(u16, u16), CronError> {
    if from == to {
        return Ok((from % modulus(field), 0));
    }
    let size = field.size();
    let from = from % modulus(field);
    if from <= to {
        return Ok((from, to - from));
    }
    if field == CronField::Year {
        let reason = "ends before it begins (write the earlier year first)";
        return Err(CronError::field(field, part, reason));
    }
    Ok((from, size - from + to))
}

/// 7 is Sunday, as 0 is; every other number stands for itself.
fn modulus(field: CronField) -> u16 {
    match field {
        CronField::DayOfWeek => field.size(),
        _ => u16::MAX,
    }
}

fn step(field: CronField, part: &str, text: &str) -> Result<u16, CronError> {
    match number(text) {
        Some(step) if (1..=field.size()).contains(&step) => Ok(step),
        _ => {
            let reason = format!("has a step that is not possible (/1 to /{})", field.size());
            Err(CronError::field(field, part, reason))
        }
    }
}

fn value(field: CronField, text: &str) -> Result<u16, CronError> {
    let named = field
        .names()
        .iter()
        .position(|name| name.eq_ignore_ascii_case(text));
    if let Some(index) = named {
        return Ok(field.first() + index as u16);
    }
    let looks_like_a_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match number(text) {
        Some(value) if (field.first()..=field.last()).contains(&value) => Ok(value),
        _ if looks_like_a_number => {
            let reason = format!("is out of range ({})", field.wanted());
            Err(CronError::field(field, text, reason))
        }
        _ => Err(CronError::field(field, text, why_no_value(field, text))),
    }
}

fn why_no_value(field: CronField, text: &str) -> String {
    let wanted = field.wanted();
    match text {
        "" => format!("is empty where a value should stand ({wanted})"),
        "?" => "is not known here (write *, and mind that Sunday is 0 or 7)".to_owned(),
        "*" => "stands for the whole field, by itself or with a step (such as */5)".to_owned(),
        _ => format!("is not a value of this field ({wanted})"),
    }
}

/// Digits only: no sign, no blank. `None` also if it is too large to matter.
fn number(text: &str) -> Option<u16> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok()).flatten()
}
