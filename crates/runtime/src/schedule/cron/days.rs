//! Which days of a month an expression names: day of month and day of week, together.
//!
//! A month is a mask, bit n for its day n. Both fields give one, and what the expression says about
//! two restricted fields puts them together.

use jiff::civil::Date;

/// Both day fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Days {
    /// Bits 1 to 31.
    pub(super) of_month: u32,
    /// Bit n: the day that is n days before the last one (`L-n`).
    pub(super) before_last: u32,
    /// Bits 1 to 31: the weekday nearest to that day (`15W`).
    pub(super) nearest: u32,
    /// The last weekday of the month (`LW`).
    pub(super) last_weekday: bool,
    /// Bits 0 to 6, from Sunday.
    pub(super) of_week: u8,
    /// For each day of the week, bits 1 to 5: the second Friday (`FRI#2`).
    pub(super) nth: [u8; 7],
    /// Bits 0 to 6: the last Friday (`5L`).
    pub(super) last_of_week: u8,
    pub(super) both: Both,
}

/// What holds when both fields say something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Both {
    /// A day must have both: one of the fields begins with `*`.
    Must,
    /// Either is enough: both are restricted.
    May,
}

const SUNDAY: u32 = 0;
const SATURDAY: u32 = 6;

/// A month: how long it is, and on which day of the week it begins.
#[derive(Clone, Copy)]
struct Month {
    len: u32,
    begins_on: u32,
}

impl Days {
    pub(super) fn none(both: Both) -> Days {
        Days {
            of_month: 0,
            before_last: 0,
            nearest: 0,
            last_weekday: false,
            of_week: 0,
            nth: [0; 7],
            last_of_week: 0,
            both,
        }
    }

    /// The days of the month that `first` is the first of.
    pub(super) fn in_month(&self, first: Date) -> u32 {
        let month = Month {
            len: first.days_in_month().unsigned_abs().into(),
            begins_on: first
                .weekday()
                .to_sunday_zero_offset()
                .unsigned_abs()
                .into(),
        };
        let (of_month, of_week) = (self.by_month(month), self.by_week(month));
        match self.both {
            Both::Must => of_month & of_week,
            Both::May => of_month | of_week,
        }
    }

    fn by_month(&self, month: Month) -> u32 {
        let mut days = self.of_month & month.all();
        for n in bits(self.before_last).filter(|n| *n < month.len) {
            days |= 1 << (month.len - n);
        }
        for day in bits(self.nearest).filter(|day| *day <= month.len) {
            days |= 1 << month.weekday_nearest_to(day);
        }
        if self.last_weekday {
            days |= 1 << month.weekday_nearest_to(month.len);
        }
        days
    }

    fn by_week(&self, month: Month) -> u32 {
        // Seven bits, turned so that bit 0 is the day of the week of the 1st.
        let week = u64::from(self.of_week);
        let week = (week >> month.begins_on | week << (7 - month.begins_on)) & 0x7f;
        let weeks = week | week << 7 | week << 14 | week << 21 | week << 28;
        let mut days = (weeks << 1) as u32 & month.all();
        if self.last_of_week == 0 && self.nth == [0; 7] {
            return days;
        }
        for (weekday, nth) in (0_u32..).zip(self.nth) {
            let first = 1 + (weekday + 7 - month.begins_on) % 7;
            let wanted = bits(nth.into()).map(|n| first + 7 * (n - 1));
            for day in wanted.filter(|day| *day <= month.len) {
                days |= 1 << day;
            }
            if self.last_of_week & 1 << weekday != 0 {
                days |= 1 << (first + (month.len - first) / 7 * 7);
            }
        }
        days
    }
}

impl Month {
    fn all(self) -> u32 {
        ((1 << self.len) - 1) << 1
    }

    fn day_of_week(self, day: u32) -> u32 {
        (self.begins_on + day - 1) % 7
    }

    /// The day itself if it is Monday to Friday, else the nearest one that is, within the month.
    fn weekday_nearest_to(self, day: u32) -> u32 {
        match self.day_of_week(day) {
            SATURDAY if day == 1 => day + 2,
            SATURDAY => day - 1,
            SUNDAY if day == self.len => day - 2,
            SUNDAY => day + 1,
            _ => day,
        }
    }
}

/// The numbers of the bits that are set, from the lowest.
pub(super) fn bits(mut mask: u32) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let lowest = (mask != 0).then(|| mask.trailing_zeros());
        mask &= mask.wrapping_sub(1);
        lowest
    })
}
