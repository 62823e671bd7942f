//! The fields of an expression: what they are called, and which numbers and names they take.

use std::fmt;

/// A field of a cron expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CronField {
    /// 0 to 59; only in expressions of six or seven fields.
    Second,
    /// 0 to 59.
    Minute,
    /// 0 to 23.
    Hour,
    /// 1 to 31.
    DayOfMonth,
    /// 1 to 12, or JAN to DEC.
    Month,
    /// 0 to 7, where 0 and 7 are Sunday, or SUN to SAT.
    DayOfWeek,
    /// 1970 to 9999; only in expressions of seven fields.
    Year,
}

pub(super) const MONTHS: [&str; 12] = [
    "JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC",
];
pub(super) const WEEKDAYS: [&str; 7] = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

impl CronField {
    /// The smallest number that it takes.
    pub(super) fn first(self) -> u16 {
        match self {
            CronField::Second | CronField::Minute | CronField::Hour | CronField::DayOfWeek => 0,
            CronField::DayOfMonth | CronField::Month => 1,
            CronField::Year => 1970,
        }
    }

    /// How many different values it has. Seven for weekdays, although they have eight numbers.
    pub(super) fn size(self) -> u16 {
        match self {
            CronField::Second | CronField::Minute => 60,
            CronField::Hour => 24,
            CronField::DayOfMonth => 31,
            CronField::Month => 12,
            CronField::DayOfWeek => 7,
            CronField::Year => 8030,
        }
    }

    /// The largest number that it takes.
    pub(super) fn last(self) -> u16 {
        let last = self.first() + self.size() - 1;
        if self == CronField::DayOfWeek {
            last + 1
        } else {
            last
        }
    }

    /// Its names, from the value of `first` on.
    pub(super) fn names(self) -> &'static [&'static str] {
        match self {
            CronField::Month => &MONTHS,
            CronField::DayOfWeek => &WEEKDAYS,
            _ => &[],
        }
    }

    /// What would be right, in the words of an error.
    pub(super) fn wanted(self) -> &'static str {
        match self {
            CronField::Second | CronField::Minute => "0 to 59",
            CronField::Hour => "0 to 23",
            CronField::DayOfMonth => "1 to 31, L, L-3, 15W or LW",
            CronField::Month => "1 to 12, or JAN to DEC",
            CronField::DayOfWeek => "0 to 7 where 0 and 7 are Sunday, SUN to SAT, FRI#2 or 5L",
            CronField::Year => "1970 to 9999",
        }
    }
}

impl fmt::Display for CronField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            CronField::Second => "second",
            CronField::Minute => "minute",
            CronField::Hour => "hour",
            CronField::DayOfMonth => "day of month",
            CronField::Month => "month",
            CronField::DayOfWeek => "day of week",
            CronField::Year => "year",
        })
    }
}
