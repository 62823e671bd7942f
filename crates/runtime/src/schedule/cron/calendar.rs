//! An expression on the calendar: the next date and time of day that it names, in no zone at all.
//!
//! Each field is a mask, so that the next value of a field is the next bit of a word. Months are
//! looked at one after the other, each in constant time, and the search ends with a year that is
//! given: the days of the calendar come again after 400 years.

use jiff::civil::{Date, DateTime, Time};

use super::days::Days;

/// The days of the week fall on the same dates again after so many years.
pub(super) const CYCLE_YEARS: i16 = 400;
/// The last year of the calendar.
pub(super) const LAST_YEAR: i16 = 9999;

/// What an expression of fields means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Calendar {
    pub(super) seconds: u64,
    pub(super) minutes: u64,
    pub(super) hours: u64,
    pub(super) days: Days,
    pub(super) months: u64,
    /// `None`: every year.
    pub(super) years: Option<Box<Years>>,
    /// The minute or the hour field begins with `*`.
    pub(super) follows_real_time: bool,
}

const FIRST_YEAR: u16 = 1970;
const YEAR_WORDS: usize = 126;

/// Years from 1970 to 9999, a bit for each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Years([u64; YEAR_WORDS]);

impl Years {
    pub(super) fn none() -> Years {
        Years([0; YEAR_WORDS])
    }

    pub(super) fn add(&mut self, year: u16) {
        let index = usize::from(year - FIRST_YEAR);
        self.0[index / 64] |= 1 << (index % 64);
    }

    /// The first one at or after `year`.
    fn first_from(&self, year: i16) -> Option<i16> {
        let from = usize::try_from(i32::from(year) - i32::from(FIRST_YEAR)).unwrap_or(0);
        let mut mask = u64::MAX << (from % 64);
        for (word, bits) in self.0.iter().enumerate().skip(from / 64) {
            if bits & mask != 0 {
                let index = word * 64 + (bits & mask).trailing_zeros() as usize;
                return i16::try_from(index + usize::from(FIRST_YEAR)).ok();
            }
            mask = u64::MAX;
        }
        None
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = i16> {
        std::iter::successors(self.first_from(0), |year| self.first_from(year + 1))
    }
}

impl Calendar {
    /// Whether no year has such a day.
    pub(super) fn never_fires(&self) -> bool {
        let fires_in = |year| (1..=12).any(|month| self.days_of(year, month) != 0);
        match &self.years {
            None => !(2000..2000 + CYCLE_YEARS).any(fires_in),
            Some(years) => {
                let mut seen = [false; CYCLE_YEARS as usize];
                let mut new_ones = years.iter().filter(|year| {
                    let of_cycle = usize::from(year.unsigned_abs()) % seen.len();
                    !std::mem::replace(&mut seen[of_cycle], true)
                });
                !new_ones.any(fires_in)
            }
        }
    }

    /// The last year in which a search that begins in `year` looks.
    pub(super) fn last_year(&self, year: i16) -> i16 {
        match self.years {
            None => LAST_YEAR.min(year.saturating_add(CYCLE_YEARS + 1)),
            Some(_) => LAST_YEAR,
        }
    }

    /// The first second at or after `from` that the expression names, up to the end of `last_year`.
    pub(super) fn first_from(&self, from: DateTime, last_year: i16) -> Option<DateTime> {
        let (mut year, mut month, day) = (from.year(), from.month(), from.day().unsigned_abs());
        let mut days = self.days_of(year, month);
        if days & 1 << day != 0
            && let Some(time) = self.time_from(from.time())
        {
            return Some(from.date().to_datetime(time));
        }
        // From the day after `from` on; behind the 31st there is none.
        days &= u32::MAX.checked_shl(u32::from(day) + 1).unwrap_or(0);
        while days == 0 {
            (year, month) = self.month_after(year, month)?;
            if year > last_year {
                return None;
            }
            days = self.days_of(year, month);
        }
        let date = Date::new(year, month, days.trailing_zeros() as i8);
        let date = date.expect("a day of its month");
        Some(date.to_datetime(self.first_time()))
    }

    pub(super) fn has_day(&self, date: Date) -> bool {
        self.days_of(date.year(), date.month()) & 1 << date.day() != 0
    }

    /// The days that it names in a month, bit n for its day n.
    pub(super) fn days_of(&self, year: i16, month: i8) -> u32 {
        if self.months & 1 << month == 0 || !self.has_year(year) {
            return 0;
        }
        let first = Date::new(year, month, 1);
        self.days.in_month(first.expect("a year of the calendar"))
    }

    fn has_year(&self, year: i16) -> bool {
        let years = self.years.as_deref();
        years.is_none_or(|years| years.first_from(year) == Some(year))
    }

    /// The next month that it may name a day in.
    fn month_after(&self, year: i16, month: i8) -> Option<(i16, i8)> {
        if let Some(month) = bit_from(self.months, month.unsigned_abs() + 1)
            && self.has_year(year)
        {
            return Some((year, month as i8));
        }
        let year = match &self.years {
            None => year + 1,
            Some(years) => years.first_from(year + 1)?,
        };
        Some((year, self.months.trailing_zeros() as i8))
    }

    /// The first time of day that it names.
    pub(super) fn first_time(&self) -> Time {
        time(first(self.hours), first(self.minutes), first(self.seconds))
    }

    /// The first time of day at or after `from` that it names.
    fn time_from(&self, from: Time) -> Option<Time> {
        let (hour, minute, second) = parts(from);
        if self.hours & 1 << hour != 0 {
            if self.minutes & 1 << minute != 0
                && let Some(second) = bit_from(self.seconds, second)
            {
                return Some(time(hour, minute, second));
            }
            if let Some(minute) = bit_from(self.minutes, minute + 1) {
                return Some(time(hour, minute, first(self.seconds)));
            }
        }
        let hour = bit_from(self.hours, hour + 1)?;
        Some(time(hour, first(self.minutes), first(self.seconds)))
    }
}

/// The number of the first bit that is set.
fn first(mask: u64) -> u8 {
    mask.trailing_zeros() as u8
}

/// The number of the first bit from `from` on that is set.
fn bit_from(mask: u64, from: u8) -> Option<u8> {
    let left = mask & u64::MAX.checked_shl(from.into()).unwrap_or(0);
    (left != 0).then(|| left.trailing_zeros() as u8)
}

pub(super) fn parts(time: Time) -> (u8, u8, u8) {
    let part = i8::unsigned_abs;
    (part(time.hour()), part(time.minute()), part(time.second()))
}

fn time(hour: u8, minute: u8, second: u8) -> Time {
    let time = Time::new(hour as i8, minute as i8, second as i8, 0);
    time.expect("values of their fields")
}
