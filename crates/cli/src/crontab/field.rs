//! One of the five fields of an entry: what cron takes, and what would be right in place of the rest.
//!
//! ```text
//! field = part { "," part }        part = "*" [ "/" step ] | value | value "-" value [ "/" step ]
//! ```

use std::fmt::Write as _;
use std::ops::Range;

/// Which values a field has.
pub(super) struct Field {
    pub(super) name: &'static str,
    low: u32,
    high: u32,
    names: &'static [&'static str],
}

const MONTHS: [&str; 12] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];
const DAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

pub(super) const FIELDS: [Field; 5] = [
    Field::numbers("minute", 0, 59),
    Field::numbers("hour", 0, 23),
    Field::numbers("day of month", 1, 31),
    Field {
        names: &MONTHS,
        ..Field::numbers("month", 1, 12)
    },
    Field {
        names: &DAYS,
        ..Field::numbers("day of week", 0, 7)
    },
];

/// A part that is wrong.
pub(super) struct Wrong {
    /// Where it is in the field.
    pub(super) at: Range<usize>,
    pub(super) what: String,
    pub(super) help: String,
}

impl Field {
    const fn numbers(name: &'static str, low: u32, high: u32) -> Field {
        let names = &[];
        Field {
            name,
            low,
            high,
            names,
        }
    }

    /// The field in numbers, or the first part of it that is wrong.
    pub(super) fn read(&self, text: &str) -> Result<String, Wrong> {
        let mut read = String::new();
        let mut start = 0;
        for part in text.split(',') {
            let at = start..start + part.len().max(1);
            start += part.len() + 1;
            if !read.is_empty() {
                read.push(',');
            }
            self.part(part, &mut read).map_err(|(what, help)| Wrong {
                at,
                what: format!("{}: {what}", self.name),
                help,
            })?;
        }
        Ok(read)
    }

    fn part(&self, part: &str, read: &mut String) -> Result<(), (String, String)> {
        let shown = part.escape_debug();
        if part.is_empty() {
            let help = "drop the comma, or write a value".to_owned();
            return Err(("a part of the list is empty".to_owned(), help));
        }
        let (range, step) = match part.split_once('/') {
            Some((range, step)) => (range, Some(step)),
            None => (part, None),
        };
        let step = step.map(|step| self.step(step)).transpose()?;
        if range == "*" {
            read.push('*');
        } else if let Some((from, to)) = range.split_once('-') {
            let (from, to) = (self.value(from)?, self.value(to)?);
            if from > to {
                return Err(self.backwards(part, from, to));
            }
            let _ = write!(read, "{from}-{to}");
        } else {
            let value = self.value(range)?;
            if step.is_some() {
                let (_, step) = part.split_once('/').unwrap_or_default();
                let what = format!("`{shown}`: a step needs a range in front of it");
                return Err((what, format!("write {value}-{}/{step}", self.most())));
            }
            let _ = write!(read, "{value}");
        }
        if let Some(step) = step {
            let _ = write!(read, "/{step}");
        }
        Ok(())
    }

    fn value(&self, text: &str) -> Result<u32, (String, String)> {
        let name = self
            .names
            .iter()
            .position(|name| name.eq_ignore_ascii_case(text));
        if let Some(place) = name {
            return Ok(self.low + place as u32);
        }
        let is_number = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let number = text.parse().ok().filter(|_| is_number);
        match number {
            Some(number) if (self.low..=self.high).contains(&number) => Ok(number),
            _ if is_number => Err((
                format!("`{text}` is out of range"),
                format!(
                    "write a number from {} to {}{}",
                    self.low,
                    self.high,
                    self.named()
                ),
            )),
            _ => Err(self.no_value(text)),
        }
    }

    fn no_value(&self, text: &str) -> (String, String) {
        let what = match text {
            "" => "a value is missing".to_owned(),
            _ => format!("`{}` is not a value", text.escape_debug()),
        };
        let is_of_others = text.contains(['L', 'W', '#', '?', 'H', '~'])
            || matches!(text.as_bytes(), [.., b'l' | b'w']);
        let numbers = format!(
            "write a number from {} to {}{}",
            self.low,
            self.high,
            self.named()
        );
        let help = match is_of_others && !text.is_empty() {
            true => format!(
                "{numbers}; cron has no L, W, #, ?, H and ~ (`cron` of a task file has L, W and #)"
            ),
            false => numbers,
        };
        (what, help)
    }

    fn backwards(&self, part: &str, from: u32, to: u32) -> (String, String) {
        let most = self.most();
        let step = part.split_once('/').map_or("", |(_, step)| step);
        let what = format!(
            "`{}` goes backwards, and cron takes that for no value at all",
            part.escape_debug()
        );
        let help = match (self.is_of_weekdays(), to, step) {
            (true, 0, "") => format!("write {from}-7"),
            (_, _, "") => format!("write {from}-{most},{}-{to}", self.low),
            _ => "write the values one by one".to_owned(),
        };
        (what, help)
    }

    fn step(&self, text: &str) -> Result<u32, (String, String)> {
        let is_number = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let help = || "write the distance from one to the next, such as */5".to_owned();
        if !is_number {
            return Err((format!("`{}` is not a step", text.escape_debug()), help()));
        }
        // A step over the end of the field leaves its first value, however large it is.
        let most = self.high - self.low + 1;
        let most = if self.is_of_weekdays() { 7 } else { most };
        match text.parse::<u32>().unwrap_or(most) {
            0 => Err(("a step of 0 goes nowhere".to_owned(), help())),
            step => Ok(step.min(most)),
        }
    }

    /// The last value; Sunday comes first in a week.
    fn most(&self) -> u32 {
        if self.is_of_weekdays() { 6 } else { self.high }
    }

    fn is_of_weekdays(&self) -> bool {
        self.high == 7
    }

    fn named(&self) -> String {
        match self.names {
            [first, .., last] => format!(", or a name from {first} to {last}"),
            _ => String::new(),
        }
    }
}
