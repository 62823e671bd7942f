//! Random expressions, with what they mean spelled out value by value.

use wheel_testkit::Random;

use super::super::super::CronField;
use super::super::super::field::{MONTHS, WEEKDAYS};

/// An expression of five fields.
#[derive(Debug)]
pub(super) struct Expression {
    pub(super) text: String,
    /// Minutes of the day, in order.
    pub(super) times: Vec<i64>,
    pub(super) is_fixed: bool,
    months: Vec<bool>,
    of_month: Vec<OfMonth>,
    of_week: Vec<OfWeek>,
    both_needed: bool,
}

#[derive(Debug)]
enum OfMonth {
    Numbers(Vec<bool>),
    BeforeLast(i64),
    Nearest(i64),
    LastWeekday,
}

#[derive(Debug)]
enum OfWeek {
    Numbers(Vec<bool>),
    Nth(i64, i64),
    Last(i64),
}

/// One day, and what is around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Day {
    pub(super) month: i64,
    pub(super) day: i64,
    /// From 0, Sunday.
    pub(super) weekday: i64,
    /// Days of its month.
    pub(super) len: i64,
}

impl Day {
    /// Whether the day `other` of the same month is Monday to Friday.
    fn is_weekday(self, other: i64) -> bool {
        let weekday = (self.weekday + other - self.day).rem_euclid(7);
        (1..=5).contains(&weekday)
    }
}

impl Expression {
    pub(super) fn random(random: &mut Random) -> Expression {
        let (minute, minutes) = field(CronField::Minute, random, 12);
        let (hour, hours) = field(CronField::Hour, random, 6);
        let (month, months) = field(CronField::Month, random, 2);
        let (day, of_month) = days_of_month(random);
        let (weekday, of_week) = days_of_week(random);
        let times = (0..1440).filter(|time| hours[time / 60] && minutes[time % 60]);
        Expression {
            times: times.map(|time| time as i64).collect(),
            is_fixed: !minute.starts_with('*') && !hour.starts_with('*'),
            months,
            of_month,
            of_week,
            both_needed: day.starts_with('*') || weekday.starts_with('*'),
            text: format!("{minute} {hour} {day} {month} {weekday}"),
        }
    }

    pub(super) fn has_day(&self, day: Day) -> bool {
        let by_month = || self.of_month.iter().any(|part| part.has(day));
        let by_week = || self.of_week.iter().any(|part| part.has(day));
        self.months[day.month as usize]
            && match self.both_needed {
                true => by_month() && by_week(),
                false => by_month() || by_week(),
            }
    }
}

impl OfMonth {
    fn has(&self, at: Day) -> bool {
        match self {
            OfMonth::Numbers(numbers) => numbers[at.day as usize],
            OfMonth::BeforeLast(n) => at.day + n == at.len,
            OfMonth::Nearest(n) => {
                let weekdays = (1..=at.len).filter(|day| at.is_weekday(*day));
                let nearest = weekdays.min_by_key(|day| (day - n).abs());
                *n <= at.len && nearest == Some(at.day)
            }
            OfMonth::LastWeekday => (1..=at.len).rfind(|day| at.is_weekday(*day)) == Some(at.day),
        }
    }
}

impl OfWeek {
    fn has(&self, at: Day) -> bool {
        match self {
            OfWeek::Numbers(numbers) => numbers[at.weekday as usize],
            OfWeek::Nth(weekday, n) => at.weekday == *weekday && (at.day - 1) / 7 + 1 == *n,
            OfWeek::Last(weekday) => at.weekday == *weekday && at.day + 7 > at.len,
        }
    }
}

fn days_of_month(random: &mut Random) -> (String, Vec<OfMonth>) {
    if random.below(5) < 3 {
        let (text, numbers) = field(CronField::DayOfMonth, random, 2);
        return (text, vec![OfMonth::Numbers(numbers)]);
    }
    let parts = (0..random.between(1, 2)).map(|_| match random.below(4) {
        0 => ("LW".to_owned(), OfMonth::LastWeekday),
        1 => {
            let n = random.below(31) as i64;
            (format!("L-{n}"), OfMonth::BeforeLast(n))
        }
        2 => {
            let n = random.between(1, 31) as i64;
            (format!("{n}W"), OfMonth::Nearest(n))
        }
        _ => ("L".to_owned(), OfMonth::BeforeLast(0)),
    });
    let (texts, parts): (Vec<String>, Vec<OfMonth>) = parts.unzip();
    (texts.join(","), parts)
}

fn days_of_week(random: &mut Random) -> (String, Vec<OfWeek>) {
    if random.below(5) < 3 {
        let (text, numbers) = field(CronField::DayOfWeek, random, 2);
        return (text, vec![OfWeek::Numbers(numbers)]);
    }
    let parts = (0..random.between(1, 2)).map(|_| {
        let number = random.below(8);
        let (weekday, name) = (
            (number % 7) as i64,
            name(CronField::DayOfWeek, number, random),
        );
        let n = random.between(1, 5) as i64;
        match random.below(4) {
            0 => (format!("{name}L"), OfWeek::Last(weekday)),
            1 => (format!("{name}#L"), OfWeek::Last(weekday)),
            _ => (format!("{name}#{n}"), OfWeek::Nth(weekday, n)),
        }
    });
    let (texts, parts): (Vec<String>, Vec<OfWeek>) = parts.unzip();
    (texts.join(","), parts)
}

/// A plain field, and for each number whether it is meant. A star by itself comes once in `star`
/// times.
fn field(field: CronField, random: &mut Random, star: u64) -> (String, Vec<bool>) {
    let (first, size) = (u64::from(field.first()), u64::from(field.size()));
    let last = first + size - 1;
    let mut meant = vec![false; (last + 1) as usize];
    if random.one_in(star) {
        meant[first as usize..].fill(true);
        return ("*".to_owned(), meant);
    }
    let mut parts = Vec::new();
    for _ in 0..random.between(1, 3) {
        let from = random.between(first, last);
        // Sunday also by its other number, where a range may end.
        let is_week = field == CronField::DayOfWeek;
        let (a, b) = (name(field, from, random), random.between(first, last));
        let step = random.between(1, size.min(20));
        let mut walk = |mut value: u64, end: u64, step: u64| {
            // On from the first, over the end of the field, to the last of the range.
            for passed in 0.. {
                if passed % step == 0 {
                    meant[value as usize] = true;
                }
                if value == end {
                    break;
                }
                value = if value == last { first } else { value + 1 };
            }
        };
        let end = match b {
            0 if is_week && from > 0 && random.one_in(2) => "7".to_owned(),
            _ => name(field, b, random),
        };
        parts.push(match random.below(6) {
            0 => {
                walk(first, last, step);
                format!("*/{step}")
            }
            1 => {
                walk(from, last, step);
                format!("{a}/{step}")
            }
            2 => {
                walk(from, b, step);
                format!("{a}-{end}/{step}")
            }
            3 => {
                walk(from, b, 1);
                format!("{a}-{end}")
            }
            _ => {
                walk(from, from, 1);
                a
            }
        });
    }
    (parts.join(","), meant)
}

/// A value as it may be written.
fn name(field: CronField, value: u64, random: &mut Random) -> String {
    let names: &[&str] = match field {
        CronField::Month => &MONTHS,
        CronField::DayOfWeek => &WEEKDAYS,
        _ => &[],
    };
    let index = (value - u64::from(field.first())) as usize;
    match names.get(index) {
        Some(name) if random.one_in(4) => (*name).to_owned(),
        Some(name) if random.one_in(4) => name.to_lowercase(),
        _ => value.to_string(),
    }
}
