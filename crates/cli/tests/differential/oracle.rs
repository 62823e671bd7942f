//! An entry of a crontab the way cron has it: a set of values for each field, and every minute looked
//! at.

use std::ops::Range;

use jiff::Timestamp;
use jiff::tz::TimeZone;

const DAY: i64 = 24 * 60;
const MONTHS: [&str; 12] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];
const DAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/// A line with its times.
pub(super) struct Entry {
    pub(super) line: String,
    /// `None`: when cron is started.
    times: Option<Times>,
}

struct Times {
    fields: [Vec<bool>; 5],
    /// Which of them begin with a star.
    stars: [bool; 5],
}

impl Entry {
    /// `None` for what is no entry.
    pub(super) fn read(line: &str) -> Option<Entry> {
        let shown = line.trim_start();
        let words: Vec<&str> = shown.split_whitespace().collect();
        let first = *words.first()?;
        let fields = match first {
            "@reboot" => None,
            "@yearly" | "@annually" => Some(["0", "0", "1", "1", "*"]),
            "@monthly" => Some(["0", "0", "1", "*", "*"]),
            "@weekly" => Some(["0", "0", "*", "*", "0"]),
            "@daily" | "@midnight" => Some(["0", "0", "*", "*", "*"]),
            "@hourly" => Some(["0", "*", "*", "*", "*"]),
            _ if first.starts_with(|c: char| c.is_ascii_digit() || c == '*') => {
                Some([words[0], words[1], words[2], words[3], words[4]])
            }
            _ => return None,
        };
        let times = fields.map(|fields| {
            let lows = [0, 0, 1, 1, 0];
            let highs = [59, 23, 31, 12, 7];
            let names: [&[&str]; 5] = [&[], &[], &[], &MONTHS, &DAYS];
            let mut number = 0;
            let read = fields.map(|field| {
                number += 1;
                let at = number - 1;
                values(field, lows[at], highs[at], names[at])
            });
            Times {
                fields: read,
                stars: fields.map(|field| field.starts_with('*')),
            }
        });
        let line = shown.to_owned();
        Some(Entry { line, times })
    }

    /// The minutes since 1970 of a span at which it is due.
    pub(super) fn minutes(&self, clocks: &TimeZone, span: Range<i64>) -> Vec<i64> {
        let Some(times) = &self.times else {
            return vec![span.start];
        };
        let local = |minute: i64| {
            let at = Timestamp::from_second(minute * 60).unwrap();
            minute + i64::from(clocks.to_offset(at).seconds()) / 60
        };
        let mut due = Vec::new();
        // Two days before it, to know which minutes have been shown.
        let mut shown = local(span.start - 2 * DAY - 1);
        for minute in span.start - 2 * DAY..span.end {
            let now = local(minute);
            let is_due = if times.stars[0] || times.stars[1] {
                times.has(now)
            } else {
                // What is skipped is due now; what has been shown is not.
                (shown + 1..=now).any(|at| times.has(at))
            };
            shown = shown.max(now);
            if is_due && minute >= span.start {
                due.push(minute);
            }
        }
        due
    }
}

impl Times {
    /// Whether it has this minute of local time.
    fn has(&self, minute: i64) -> bool {
        let at = Timestamp::from_second(minute * 60)
            .unwrap()
            .to_zoned_datetime(TimeZone::UTC);
        let [minutes, hours, days, months, weekdays] = &self.fields;
        let is = |field: &[bool], value: i8| field[usize::try_from(value).unwrap()];
        let day = is(days, at.day());
        let sunday_first = at.weekday().to_sunday_zero_offset();
        let weekday = is(weekdays, sunday_first) || (sunday_first == 0 && weekdays[7]);
        let is_day = match self.stars[2] || self.stars[4] {
            true => day && weekday,
            false => day || weekday,
        };
        is(minutes, at.minute()) && is(hours, at.hour()) && is(months, at.month()) && is_day
    }
}

fn values(field: &str, low: usize, high: usize, names: &[&str]) -> Vec<bool> {
    let mut values = vec![false; high + 1];
    let number = |text: &str| {
        let name = names
            .iter()
            .position(|name| name.eq_ignore_ascii_case(text));
        name.map_or_else(|| text.parse().unwrap(), |place| place + low)
    };
    for part in field.split(',') {
        let (range, step) = part.split_once('/').unwrap_or((part, "1"));
        let (from, to) = match range.split_once('-') {
            _ if range == "*" => (low, high),
            Some((from, to)) => (number(from), number(to)),
            None => (number(range), number(range)),
        };
        for value in (from..=to).step_by(step.parse().unwrap()) {
            values[value] = true;
        }
    }
    values
}
