//! Why a text is no cron expression, in words that say what would be right.

use std::convert::Infallible;
use std::fmt;

use super::CronField;
use super::parse::BYTES_MAX;
use crate::duration::DurationError;

/// Why a text is not a cron expression. Trying again does not help.
///
/// # Examples
///
/// ```
/// use wheel_runtime::Cron;
///
/// let error = "0 9 * * 8".parse::<Cron>().unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "day of week: `8` is out of range (0 to 7 where 0 and 7 are Sunday, SUN to SAT, FRI#2 or 5L)"
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CronError {
    /// There are not five, six or seven fields.
    FieldCount(usize),
    /// It is longer than any expression that makes sense.
    TooLong,
    /// It begins with `@`, and no such word is known.
    UnknownWord(String),
    /// What stands behind `@every` is not a duration.
    Every(DurationError),
    /// `@every` with a duration of zero.
    EveryZero,
    /// A zone stands in the expression. It is given apart.
    ZoneInside,
    /// One field is wrong.
    Field {
        /// Which one.
        field: CronField,
        /// The part of it that is wrong.
        part: String,
        /// What is wrong with that, and what would be right.
        reason: String,
    },
    /// The fields are right, but no day has them all, such as the 30th of February.
    NeverFires,
}

/// Of a wrong part so much is shown.
const SHOWN_CHARS_MAX: usize = 40;

impl CronError {
    pub(super) fn unknown_word(text: &str) -> CronError {
        CronError::UnknownWord(text.chars().take(SHOWN_CHARS_MAX).collect())
    }

    pub(super) fn field(field: CronField, part: &str, reason: impl Into<String>) -> CronError {
        let mut shown: String = part.chars().take(SHOWN_CHARS_MAX).collect();
        if shown.len() < part.len() {
            shown.push('…');
        }
        CronError::Field {
            field,
            part: shown,
            reason: reason.into(),
        }
    }
}

impl fmt::Display for CronError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CronError::FieldCount(0) => f.write_str(
                "the expression is empty: write five fields (minute, hour, day of month, month, day of week), such as 30 2 * * *",
            ),
            CronError::FieldCount(count) => write!(
                f,
                "{count} field{} in place of 5 (minute, hour, day of month, month, day of week), 6 (second first) or 7 (year last)",
                if *count == 1 { "" } else { "s" }
            ),
            CronError::TooLong => {
                write!(f, "the expression is longer than {BYTES_MAX} bytes: use ranges and steps")
            }
            CronError::UnknownWord(word) => write!(
                f,
                "`{}` is not known: there are @yearly, @annually, @monthly, @weekly, @daily, @midnight, @hourly and @every 5m",
                word.escape_debug()
            ),
            CronError::Every(error) => {
                write!(f, "@every: {error}; write a duration behind it, such as @every 5m")
            }
            CronError::EveryZero => {
                f.write_str("@every: a duration of zero is not possible: it must be longer")
            }
            CronError::ZoneInside => f.write_str(
                "a zone does not stand in the expression: give it apart, as the time zone of the task",
            ),
            CronError::Field {
                field,
                part,
                reason,
            } => write!(f, "{field}: `{}` {reason}", part.escape_debug()),
            CronError::NeverFires => f.write_str(
                "it never fires: no month has such a day (such as the 30th of February); correct day of month, month, day of week or year",
            ),
        }
    }
}

impl std::error::Error for CronError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            CronError::Every(error) => Some(error),
            _ => None,
        }
    }
}

/// For callers that take an expression or a text: an expression is right already.
impl From<Infallible> for CronError {
    fn from(never: Infallible) -> CronError {
        match never {}
    }
}
