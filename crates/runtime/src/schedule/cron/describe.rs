//! An expression in plain words.
//!
//! The words come from what was understood, not from what was written, so they show what will
//! happen: `22-2` and `0,1,2,22,23` read the same.

use super::calendar::{Calendar, Years};
use super::days::{Both, Days, bits};
use super::field::WEEKDAYS;

/// Of a list so many parts are told.
const PARTS_MAX: usize = 40;
/// More times of day than these are told by hours and minutes.
const TIMES_MAX: u32 = 4;

const MONTH_NAMES: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const WEEKDAY_NAMES: [&str; WEEKDAYS.len()] = [
    "Sunday",
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
];
const NTH_NAMES: [&str; 5] = ["first", "second", "third", "fourth", "fifth"];

pub(super) fn describe(calendar: &Calendar) -> String {
    let mut parts = times(calendar);
    parts.extend(days(&calendar.days));
    if calendar.months.count_ones() < 12 {
        let month = |month: u32| MONTH_NAMES[month as usize - 1].to_owned();
        let months = Values::cyclic(calendar.months, 1, 12).list(month);
        parts.push(format!("in {months}"));
    }
    parts.extend(calendar.years.as_deref().map(years));
    parts.join(", ")
}

fn times(calendar: &Calendar) -> Vec<String> {
    let (seconds, minutes, hours) = (calendar.seconds, calendar.minutes, calendar.hours);
    let times = seconds.count_ones() * minutes.count_ones() * hours.count_ones();
    if times <= TIMES_MAX {
        return vec![format!("at {}", times_of_day(calendar))];
    }
    let on_the_minute = seconds == 1;
    let second = match Even::of(seconds, 60) {
        _ if on_the_minute => None,
        Some(even) => Some(even.of_unit("second")),
        None => Some(format!("at second {}", Values::plain(seconds).list(number))),
    };
    let minute = match Even::of(minutes, 60) {
        Some(Even(1)) if !on_the_minute => None,
        Some(even) => Some(even.of_unit("minute")),
        None if minutes == 1 && on_the_minute => None,
        None => Some(format!("at minute {}", Values::plain(minutes).list(number))),
    };
    let hour = match Even::of(hours, 24) {
        Some(Even(1)) if Even::of(minutes, 60).is_some() => None,
        Some(even) => Some(even.of_unit("hour")),
        None => {
            let list = Values::cyclic(hours, 0, 24).list(|hour| format!("{hour:02}"));
            let unit = if hours.is_power_of_two() {
                "hour"
            } else {
                "hours"
            };
            Some(format!("in the {unit} {list}"))
        }
    };
    // From the unit that is even to those that say where in it.
    if Even::of(minutes, 60).is_none() && Even::of(hours, 24).is_some() {
        hour.into_iter().chain(minute).chain(second).collect()
    } else if minutes == 1 && on_the_minute {
        std::iter::once("on the hour".to_owned())
            .chain(hour)
            .collect()
    } else {
        second.into_iter().chain(minute).chain(hour).collect()
    }
}

fn times_of_day(calendar: &Calendar) -> String {
    let mut times = Vec::new();
    for hour in bits64(calendar.hours) {
        for minute in bits64(calendar.minutes) {
            for second in bits64(calendar.seconds) {
                times.push(match second {
                    0 => format!("{hour:02}:{minute:02}"),
                    _ => format!("{hour:02}:{minute:02}:{second:02}"),
                });
            }
        }
    }
    join(times)
}

fn days(days: &Days) -> Option<String> {
    let all_of_month = days.of_month.count_ones() == 31;
    let all_of_week = days.of_week.count_ones() == 7;
    match days.both {
        Both::Must if all_of_month && all_of_week => None,
        Both::Must if all_of_week => Some(format!("on {}", days_of_month(days))),
        Both::Must if all_of_month => Some(format!("on {}", days_of_week(days))),
        Both::Must => {
            let (month, week) = (days_of_month(days), days_of_week(days));
            Some(format!("on {month} if that is {week}"))
        }
        Both::May if all_of_month || all_of_week => None,
        Both::May => {
            let (month, week) = (days_of_month(days), days_of_week(days));
            Some(format!("on {month} or on {week}"))
        }
    }
}

fn days_of_month(days: &Days) -> String {
    let mut parts = Vec::new();
    if days.of_month != 0 {
        parts.push(format!(
            "the {}",
            Values::plain(days.of_month.into()).list(ordinal)
        ));
    }
    parts.extend(
        bits(days.nearest).map(|day| format!("the weekday nearest to the {}", ordinal(day))),
    );
    parts.extend(bits(days.before_last).map(|n| match n {
        0 => "the last day".to_owned(),
        1 => "the day before the last one".to_owned(),
        n => format!("the {} day before the last one", ordinal(n)),
    }));
    if days.last_weekday {
        parts.push("the last weekday".to_owned());
    }
    format!("{} of the month", join(parts))
}

fn days_of_week(days: &Days) -> String {
    let name = |weekday: u32| WEEKDAY_NAMES[weekday as usize % 7].to_owned();
    let mut parts = Vec::new();
    if days.of_week != 0 {
        // From Monday on, Sunday last.
        let from_monday = u64::from(days.of_week) >> 1 | u64::from(days.of_week & 1) << 6;
        parts.push(Values::cyclic(from_monday << 1, 1, 7).list(name));
    }
    for (weekday, nth) in (0..).zip(days.nth) {
        let nth = bits(nth.into()).map(|n| NTH_NAMES[n as usize - 1]);
        parts.extend(nth.map(|nth| format!("the {nth} {} of the month", name(weekday))));
    }
    let last = bits(days.last_of_week.into());
    parts.extend(last.map(|weekday| format!("the last {} of the month", name(weekday))));
    join(parts)
}

fn years(years: &Years) -> String {
    let years = years.iter().map(|year| u32::from(year.unsigned_abs()));
    format!("in {}", Values(years.collect()).list(number))
}

/// Every n-th value from the first one of the field on, where that is even over its end.
struct Even(u32);

impl Even {
    fn of(mask: u64, size: u32) -> Option<Even> {
        let count = mask.count_ones();
        let step = (count > 1 && size.is_multiple_of(count)).then(|| size / count)?;
        let even = (0..count).all(|n| mask & 1 << (n * step) != 0);
        even.then_some(Even(step))
    }

    fn of_unit(&self, unit: &str) -> String {
        match self.0 {
            1 => format!("every {unit}"),
            step => format!("every {step} {unit}s"),
        }
    }
}

/// The values of a field in the order in which they are told.
struct Values(Vec<u32>);

impl Values {
    fn plain(mask: u64) -> Values {
        Values(bits64(mask).collect())
    }

    /// Of a field that goes on over its end: begins where a run begins.
    fn cyclic(mask: u64, first: u32, size: u32) -> Values {
        let has = |value: u32| mask & 1 << (first + (value - first) % size) != 0;
        let begin = (first..first + size).find(|value| has(*value) && !has(value + size - 1));
        let begin = begin.unwrap_or(first);
        let values = (begin..begin + size).filter(|value| has(*value));
        Values(values.map(|value| first + (value - first) % size).collect())
    }

    fn list(&self, name: impl Fn(u32) -> String) -> String {
        let values = &self.0;
        if let [first, second, .., last] = values[..]
            && values.len() > 4
            && second > first + 1
            && values
                .windows(2)
                .all(|pair| pair[0] + second == pair[1] + first)
        {
            let (first, step, last) = (name(first), second - first, name(last));
            return format!("{first} to {last} in steps of {step}");
        }
        let mut parts = Vec::new();
        let follows = |pair: &[u32]| pair[1] == pair[0] + 1 || pair[1] < pair[0] && pair[1] <= 1;
        let mut rest = &values[..];
        while let Some(first) = rest.first() {
            let run = 1 + rest.windows(2).take_while(|pair| follows(pair)).count();
            if run > 2 {
                parts.push(format!("{} to {}", name(*first), name(rest[run - 1])));
            } else {
                parts.extend(rest[..run].iter().map(|value| name(*value)));
            }
            rest = &rest[run..];
        }
        if parts.len() > PARTS_MAX {
            let more = parts.len() - PARTS_MAX;
            parts.truncate(PARTS_MAX);
            parts.push(format!("{more} more"));
        }
        join(parts)
    }
}

fn number(value: u32) -> String {
    value.to_string()
}

fn ordinal(value: u32) -> String {
    let ending = match (value % 10, value % 100) {
        (1, n) if n != 11 => "st",
        (2, n) if n != 12 => "nd",
        (3, n) if n != 13 => "rd",
        _ => "th",
    };
    format!("{value}{ending}")
}

fn join(mut parts: Vec<String>) -> String {
    let last = parts.pop().unwrap_or_default();
    if parts.is_empty() {
        last
    } else {
        format!("{} and {last}", parts.join(", "))
    }
}

fn bits64(mask: u64) -> impl Iterator<Item = u32> {
    (0..64).filter(move |bit| mask & 1 << bit != 0)
}
