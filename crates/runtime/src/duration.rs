//! Durations as people write them: `500ms`, `3s`, `1h30m`, `1.5s`.
//!
//! A duration is one or more parts, each a number and a unit, from the largest unit to the
//! smallest, each unit at most once. Only the last part may have a fraction. What is finer than a
//! nanosecond rounds up, so that nothing gets earlier by being written down. All arithmetic is
//! checked: a duration that does not fit is an error, not a wrap-around.

use std::fmt;
use std::time::Duration;

/// What would be right, for messages.
pub const EXAMPLES: &str =
    "write a number and a unit, such as \"500ms\", \"3s\", \"1.5s\", \"1h30m\" or \"2d\"";

const SECOND_NS: u128 = 1_000_000_000;

const UNITS: [(&str, u128); 8] = [
    ("d", 86_400_000_000_000),
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("µs", 1_000),
    ("ns", 1),
];

/// Why a text is not a duration.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum DurationError {
    /// There is nothing but white space.
    Empty,
    /// It starts with a minus sign.
    Negative,
    /// A number was expected here.
    NumberExpected(String),
    /// A number has no unit behind it.
    UnitMissing(String),
    /// No unit has this name; perhaps the other one was meant.
    UnitUnknown(String, Option<&'static str>),
    /// The second unit is not smaller than the first.
    OrderWrong(String, String),
    /// Only the last part may have a fraction.
    FractionInside(String),
    /// It is longer than a `Duration` can be.
    TooLong,
}

/// So much of a text is shown, and nothing of it that would act on a terminal.
const SHOWN_CHARS_MAX: usize = 40;

fn shown(text: &str) -> String {
    let mut shown: String = text.chars().take(SHOWN_CHARS_MAX).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown.escape_debug().collect()
}

impl fmt::Display for DurationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DurationError::Empty => write!(f, "it is empty"),
            DurationError::Negative => write!(f, "it is negative"),
            DurationError::NumberExpected(found) => {
                write!(f, "a number is expected where `{}` stands", shown(found))
            }
            DurationError::UnitMissing(number) => {
                let number = shown(number);
                write!(f, "`{number}` has no unit (did you mean `{number}s`?)")
            }
            DurationError::UnitUnknown(unit, Some(meant)) => {
                write!(
                    f,
                    "`{}` is not a unit (did you mean `{meant}`?)",
                    shown(unit)
                )
            }
            DurationError::UnitUnknown(unit, None) => write!(
                f,
                "`{}` is not a unit (there are d, h, m, s, ms, us, ns)",
                shown(unit)
            ),
            DurationError::OrderWrong(first, second) => {
                write!(
                    f,
                    "`{second}` stands behind `{first}` (from the largest unit to the smallest, each once)"
                )
            }
            DurationError::FractionInside(number) => {
                let number = shown(number);
                write!(f, "only the last part may have a fraction, not `{number}`")
            }
            DurationError::TooLong => write!(f, "it is longer than 500 billion years"),
        }
    }
}

impl std::error::Error for DurationError {}

/// Reads a duration; rounds up to the nanosecond.
///
/// # Errors
///
/// A [`DurationError`] that says what is wrong with the text.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use wheel_runtime::duration;
///
/// assert_eq!(duration::parse("1h30m"), Ok(Duration::from_secs(5400)));
/// assert_eq!(duration::format(Duration::from_secs(5400)), "1h30m");
/// ```
pub fn parse(text: &str) -> Result<Duration, DurationError> {
    let mut rest = text.trim();
    if rest.is_empty() {
        return Err(DurationError::Empty);
    }
    if rest.starts_with(['-', '\u{2212}']) {
        return Err(DurationError::Negative);
    }
    if rest == "0" {
        return Ok(Duration::ZERO);
    }
    let mut total_ns: u128 = 0;
    let mut last: Option<(&str, u128)> = None;
    while !rest.is_empty() {
        let (number, behind) = split_while(rest, |c| c.is_ascii_digit() || c == '.');
        let (unit, behind) = split_while(behind.trim_start(), char::is_alphabetic);
        if number.is_empty()
            || number.starts_with('.')
            || number.ends_with('.')
            || number.matches('.').count() > 1
        {
            let found: String = rest.chars().take_while(|c| !c.is_whitespace()).collect();
            return Err(DurationError::NumberExpected(found));
        }
        if unit.is_empty() {
            return Err(DurationError::UnitMissing(number.to_owned()));
        }
        let unit_ns = find_unit(unit)?;
        if let Some((last_unit, last_ns)) = last
            && unit_ns >= last_ns
        {
            return Err(DurationError::OrderWrong(
                last_unit.to_owned(),
                unit.to_owned(),
            ));
        }
        rest = behind.trim_start();
        if number.contains('.') && !rest.is_empty() {
            return Err(DurationError::FractionInside(number.to_owned()));
        }
        total_ns = total_ns
            .checked_add(part_ns(number, unit_ns)?)
            .ok_or(DurationError::TooLong)?;
        last = Some((unit, unit_ns));
    }
    let seconds = u64::try_from(total_ns / 1_000_000_000).map_err(|_| DurationError::TooLong)?;
    Ok(Duration::new(seconds, (total_ns % 1_000_000_000) as u32))
}

/// Writes a duration the way it is read: `1h30m`, `4.5s`, `750ms`.
pub fn format(duration: Duration) -> String {
    let mut rest_ns = duration.as_nanos();
    let mut text = String::new();
    for (name, unit_ns) in UNITS.into_iter().filter(|(name, _)| *name != "µs") {
        if rest_ns < unit_ns {
            continue;
        }
        let whole = rest_ns / unit_ns;
        rest_ns %= unit_ns;
        if unit_ns > SECOND_NS {
            text.push_str(&format!("{whole}{name}"));
            continue;
        }
        // From the second on, the rest is a fraction of the unit, which ends the text.
        let digits = unit_ns.ilog10() as usize;
        let fraction = if digits == 0 {
            String::new()
        } else {
            format!(".{rest_ns:0digits$}")
        };
        let fraction = fraction.trim_end_matches('0').trim_end_matches('.');
        text.push_str(&format!("{whole}{fraction}{name}"));
        return text;
    }
    if text.is_empty() {
        "0s".to_owned()
    } else {
        text
    }
}

fn part_ns(number: &str, unit_ns: u128) -> Result<u128, DurationError> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let whole: u128 = whole.parse().map_err(|_| DurationError::TooLong)?;
    let whole_ns = whole.checked_mul(unit_ns).ok_or(DurationError::TooLong)?;
    // From the last digit to the first, each a tenth of what stands in front of it, so that any
    // number of digits is read exactly.
    let (mut fraction_ns, mut beyond) = (0, false);
    for digit in fraction.bytes().rev() {
        let tenths = u128::from(digit - b'0') * unit_ns + fraction_ns;
        fraction_ns = tenths / 10;
        beyond |= !tenths.is_multiple_of(10);
    }
    whole_ns
        .checked_add(fraction_ns + u128::from(beyond))
        .ok_or(DurationError::TooLong)
}

fn find_unit(unit: &str) -> Result<u128, DurationError> {
    if let Some((_, unit_ns)) = UNITS.into_iter().find(|(name, _)| *name == unit) {
        return Ok(unit_ns);
    }
    let meant = match unit.to_lowercase().as_str() {
        "d" | "day" | "days" => Some("d"),
        "h" | "hr" | "hrs" | "hour" | "hours" => Some("h"),
        "m" | "min" | "mins" | "minute" | "minutes" => Some("m"),
        "s" | "sec" | "secs" | "second" | "seconds" => Some("s"),
        "ms" | "msec" | "msecs" | "milli" | "millis" | "millisecond" | "milliseconds" => Some("ms"),
        "us" | "μs" | "usec" | "micro" | "micros" | "microsecond" | "microseconds" => Some("us"),
        "ns" | "nsec" | "nano" | "nanos" | "nanosecond" | "nanoseconds" => Some("ns"),
        _ => None,
    };
    Err(DurationError::UnitUnknown(unit.to_owned(), meant))
}

fn split_while(text: &str, wanted: impl Fn(char) -> bool) -> (&str, &str) {
    let end = text.find(|c| !wanted(c)).unwrap_or(text.len());
    text.split_at(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_write_is_read() {
        for (text, ns) in [
            ("500ms", 500_000_000),
            ("3s", 3_000_000_000),
            ("1h30m", 5_400_000_000_000),
            ("1h 30m", 5_400_000_000_000),
            ("1.5s", 1_500_000_000),
            (" 2 d ", 172_800_000_000_000),
            ("7us", 7_000),
            ("7µs", 7_000),
            ("1s1ns", 1_000_000_001),
            ("0", 0),
            ("0s", 0),
        ] {
            assert_eq!(parse(text).map(|d| d.as_nanos()), Ok(ns), "{text}");
        }
    }

    #[test]
    fn a_part_of_a_nanosecond_rounds_up() {
        assert_eq!(parse("0.1ns"), Ok(Duration::from_nanos(1)));
        assert_eq!(parse("1.0000000001s"), Ok(Duration::new(1, 1)));
        assert_eq!(
            parse("1.0000000000000000000000000001s"),
            Ok(Duration::new(1, 1))
        );
        assert_eq!(
            parse("0.333333333333333333d"),
            Ok(Duration::from_secs(28_800))
        );
        // However many digits there are, by no more than that part.
        assert_eq!(
            parse("0.0000000000040000000301m"),
            Ok(Duration::from_nanos(1))
        );
        assert_eq!(
            parse("0.99999999999999999999999d"),
            Ok(Duration::from_secs(86_400))
        );
        assert_eq!(
            parse("0.0000000000115740740740740740740d"),
            Ok(Duration::from_nanos(1_000))
        );
    }

    #[test]
    fn a_wrong_text_says_what_is_wrong() {
        assert_eq!(parse(""), Err(DurationError::Empty));
        assert_eq!(parse("  "), Err(DurationError::Empty));
        assert_eq!(parse("-3s"), Err(DurationError::Negative));
        assert_eq!(parse("30"), Err(DurationError::UnitMissing("30".into())));
        assert_eq!(parse("1h30"), Err(DurationError::UnitMissing("30".into())));
        assert_eq!(
            parse("3 sec"),
            Err(DurationError::UnitUnknown("sec".into(), Some("s")))
        );
        assert_eq!(
            parse("3S"),
            Err(DurationError::UnitUnknown("S".into(), Some("s")))
        );
        assert_eq!(
            parse("3parsec"),
            Err(DurationError::UnitUnknown("parsec".into(), None))
        );
        assert_eq!(
            parse("1m1h"),
            Err(DurationError::OrderWrong("m".into(), "h".into()))
        );
        assert_eq!(
            parse("1s1s"),
            Err(DurationError::OrderWrong("s".into(), "s".into()))
        );
        assert_eq!(
            parse("1.5h30m"),
            Err(DurationError::FractionInside("1.5".into()))
        );
        for text in [
            "soon", "ms", ".5s", "5.s", "1..5s", "1.2.3s", "3s,", "+3s", "３s", "1s \u{0}",
        ] {
            assert!(
                matches!(parse(text), Err(DurationError::NumberExpected(_))),
                "{text}"
            );
        }
    }

    #[test]
    fn what_is_wrong_is_shown_short_and_without_control_characters() {
        for text in [
            "\0",
            "1\u{7}",
            "5\u{e000}x",
            &"x".repeat(5_000),
            &"1.".repeat(5_000),
        ] {
            let told = parse(text).unwrap_err().to_string();
            assert!(!told.contains(char::is_control), "{told:?}");
            assert!(told.len() < 200, "{told:?}");
        }
    }

    #[test]
    fn what_does_not_fit_is_an_error_and_the_longest_fits() {
        assert_eq!(parse("18446744073709551615s999999999ns"), Ok(Duration::MAX));
        for text in [
            "18446744073709551616s",
            "99999999999999999999999999999999999999999s",
            "340282366920938463463374607431768211455d",
        ] {
            assert_eq!(parse(text), Err(DurationError::TooLong), "{text}");
        }
    }

    #[test]
    fn what_is_written_is_read_back() {
        for ns in [
            0,
            1,
            999,
            1_001,
            1_500_000_000,
            60_000_000_001,
            5_400_000_000_000,
            u64::MAX,
        ] {
            let duration = Duration::from_nanos(ns);
            assert_eq!(
                parse(&format(duration)),
                Ok(duration),
                "{}",
                format(duration)
            );
        }
        let texts = [
            0,
            1_500,
            750_000_000,
            4_500_000_000,
            60_500_000_000,
            5_400_000_000_000,
        ];
        let texts = texts.map(|ns| format(Duration::from_nanos(ns)));
        assert_eq!(texts, ["0s", "1.5us", "750ms", "4.5s", "1m500ms", "1h30m"]);
    }
}
