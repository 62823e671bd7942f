//! Cron: an expression, a zone, and the instants that they name. Pure: nothing here reads a clock.
//!
//! ```text
//!  text --parse.rs--> Calendar (a mask for each field)
//!                        |  calendar.rs, days.rs   the next date and time of day, in no zone
//!                        |  next.rs                the next instant: gaps and folds of a zone
//!                        |  count.rs               how many there were, and the last of them
//!                        '  describe.rs            the same in words
//! ```
//!
//! Work is bounded by the length of the text, which is bounded, and by the years of the calendar,
//! never by how far away an instant is or how many were missed.

mod field;
mod error;

mod parse;
mod calendar;
mod days;

mod zone;
mod next;
mod count;

mod describe;

use std::fmt;
use std::iter::FusedIterator;
use std::str::FromStr;
use std::time::{Duration, SystemTime};

use jiff::{SignedDuration, Timestamp};

use calendar::Calendar;
pub use error::CronError;
pub use field::CronField;
use parse::Parsed;
pub use zone::{Zone, ZoneError};

/// A cron expression: which instants of the calendar.
///
/// Five fields: minute, hour, day of month, month, day of week. Six: a second in front. Seven: a
/// second in front and a year behind.
///
/// | in a field | means |
/// |---|---|
/// | `*`, `5`, `1-5`, `1,15` | all values, one, a range, a list |
/// | `22-2`, `FRI-MON` | a range that goes on over the end of the field |
/// | `*/15`, `10-40/10`, `5/15` | every 15th from the first, of a range, from 5 to the end of the field |
/// | `JAN`-`DEC`, `SUN`-`SAT` | months and days of the week by name; Sunday is 0 or 7 |
/// | `L`, `L-3` | day of month: the last one, the third before the last one |
/// | `15W`, `LW` | day of month: the weekday (Monday to Friday) nearest to the 15th, the last weekday |
/// | `5L`, `FRI#L`, `FRI#2` | day of week: the last Friday of the month, the second Friday |
///
/// If both day fields are restricted, a day that one of them names is enough; a field that begins
/// with `*` does not restrict, and then a day must have both. Words: `@yearly`, `@annually`,
/// `@monthly`, `@weekly`, `@daily`, `@midnight`, `@hourly`, and `@every` with a duration such as
/// `@every 1h30m`, which does not follow the calendar but counts from where it begins.
///
/// # Daylight saving
///
/// A time that the clocks skip runs once, right after the gap; one that they repeat runs once, on
/// its first pass. Expressions whose minute or hour begins with `*` follow real time: they are not
/// made up for what is skipped, and go on through what is repeated.
///
/// # Errors
///
/// Parsing gives a [`CronError`] that names the field, what is wrong and what would be right; also
/// if no day has what the fields say, such as the 30th of February.
///
/// # Examples
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use wheel_runtime::{Cron, Zone};
///
/// let office: Cron = "0 9 * * MON-FRI".parse()?;
/// assert_eq!(office.describe(), "at 09:00, on Monday to Friday");
/// let berlin: Zone = "Europe/Berlin".parse()?;
/// // Saturday, 2000-01-01T00:00:00Z. The next one is on Monday at nine, an hour ahead of UTC.
/// let new_year = SystemTime::UNIX_EPOCH + Duration::from_secs(946_684_800);
/// let next = office.next_after(new_year, &berlin).ok_or("there is always one more")?;
/// assert_eq!(next, new_year + Duration::from_secs((2 * 24 + 8) * 3600));
/// let week: Vec<SystemTime> = office.occurrences(new_year, &berlin).take(5).collect();
/// assert_eq!(week[4], next + Duration::from_secs(4 * 24 * 3600));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Cron {
    text: Box<str>,
    rule: Rule,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Rule {
    Calendar(Calendar),
    Every(Duration),
}

impl Cron {
    /// The first instant after `after`, never `after` itself, on a whole second. `None` if there is
    /// none: the years of the expression are over, `zone` skips all of it, or it would lie beyond the
    /// year 9999.
    ///
    /// Of `@every` it is `after` and the duration.
    pub fn next_after(&self, after: SystemTime, zone: &Zone) -> Option<SystemTime> {
        match &self.rule {
            Rule::Every(period) => after.checked_add(*period),
            Rule::Calendar(calendar) => {
                let next = calendar.next_after(timestamp_of(after), &zone.0)?;
                system_time_of(next)
            }
        }
    }

    /// All instants after `after`, one after the other, each later than the one before.
    pub fn occurrences<'a>(&'a self, after: SystemTime, zone: &'a Zone) -> Occurrences<'a> {
        Occurrences {
            cron: self,
            zone,
            last: Some(after),
        }
    }

    /// What it says, in plain words. The zone is not part of it.
    pub fn describe(&self) -> String {
        match &self.rule {
            Rule::Every(period) => format!("every {}", crate::duration::format(*period)),
            Rule::Calendar(calendar) => describe::describe(calendar),
        }
    }

    /// The duration of `@every`; `None` for what goes by the calendar.
    pub fn period(&self) -> Option<Duration> {
        match self.rule {
            Rule::Every(period) => Some(period),
            Rule::Calendar(_) => None,
        }
    }

    /// The first instant at or after `from`.
    pub(crate) fn first_from(&self, from: SystemTime, zone: &Zone) -> Option<SystemTime> {
        let Rule::Calendar(calendar) = &self.rule else {
            return None;
        };
        // Instants are on whole seconds, so nothing lies between the two.
        let before = timestamp_of(from).checked_sub(SignedDuration::from_nanos(1));
        let next = calendar.next_after(before.ok()?, &zone.0)?;
        system_time_of(next)
    }

    /// How many instants there are in (`after`, `until`].
    pub(crate) fn count_in(&self, after: SystemTime, until: SystemTime, zone: &Zone) -> u64 {
        match &self.rule {
            Rule::Calendar(calendar) => {
                calendar.count_in(timestamp_of(after), timestamp_of(until), &zone.0)
            }
            Rule::Every(_) => 0,
        }
    }

    /// The last instant in (`after`, `until`] and how many there are in it.
    pub(crate) fn last_of(
        &self,
        after: SystemTime,
        until: SystemTime,
        zone: &Zone,
    ) -> Option<(SystemTime, u64)> {
        let Rule::Calendar(calendar) = &self.rule else {
            return None;
        };
        let (after, until) = (timestamp_of(after), timestamp_of(until));
        let last = calendar.last_in(after, until, &zone.0)?;
        Some((
            system_time_of(last)?,
            calendar.count_in(after, last, &zone.0),
        ))
    }
}

/// The instants of an expression in a zone, from [`Cron::occurrences`].
#[derive(Clone, Debug)]
#[must_use = "an iterator does nothing by itself"]
pub struct Occurrences<'a> {
    cron: &'a Cron,
    zone: &'a Zone,
    last: Option<SystemTime>,
}

impl Iterator for Occurrences<'_> {
    type Item = SystemTime;

    fn next(&mut self) -> Option<SystemTime> {
        self.last = self.cron.next_after(self.last?, self.zone);
        self.last
    }
}

impl FusedIterator for Occurrences<'_> {}

/// Before and after the years of the calendar it is their first and last instant.
fn timestamp_of(at: SystemTime) -> Timestamp {
    Timestamp::try_from(at).unwrap_or(if at < SystemTime::UNIX_EPOCH {
        Timestamp::MIN
    } else {
        Timestamp::MAX
    })
}

fn system_time_of(at: Timestamp) -> Option<SystemTime> {
    SystemTime::try_from(at).ok()
}

impl FromStr for Cron {
    type Err = CronError;

    fn from_str(text: &str) -> Result<Cron, CronError> {
        let (parsed, text) = parse::parse(text)?;
        let rule = match parsed {
            Parsed::Calendar(calendar) => Rule::Calendar(calendar),
            Parsed::Every(period) => Rule::Every(period),
        };
        Ok(Cron {
            text: text.into(),
            rule,
        })
    }
}

impl TryFrom<&str> for Cron {
    type Error = CronError;

    fn try_from(text: &str) -> Result<Cron, CronError> {
        text.parse()
    }
}

impl TryFrom<String> for Cron {
    type Error = CronError;

    fn try_from(text: String) -> Result<Cron, CronError> {
        text.parse()
    }
}

/// As it was written, with single blanks; read again, it is the same.
impl fmt::Display for Cron {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for Cron {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cron({})", self.text)
    }
}

#[cfg(test)]
mod tests;
