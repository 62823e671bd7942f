//! How many instants an expression names between two others, and the last of them, in time that does
//! not grow with their number: a machine that wakes up after a year has missed 31 million of every
//! second.

use jiff::Timestamp;
use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;

use super::calendar::{Calendar, parts};
use super::next::{SECOND, last_change, local_before, next_change, whole_second};

impl Calendar {
    /// The last instant in (`after`, `until`]. `None`: there is none in it.
    pub(super) fn last_in(
        &self,
        after: Timestamp,
        until: Timestamp,
        zone: &TimeZone,
    ) -> Option<Timestamp> {
        let next = |second: i64| {
            let second = Timestamp::from_second(second).ok()?;
            self.next_after(second, zone).filter(|next| *next <= until)
        };
        // By bisection between a second that has one behind it and one that has none.
        let (mut has, mut has_not) = (whole_second(after)?.as_second(), until.as_second());
        let mut last = next(has)?;
        while has_not - has > 1 {
            let middle = has + (has_not - has) / 2;
            match next(middle) {
                Some(next) => (has, last) = (middle, next),
                None => has_not = middle,
            }
        }
        Some(last)
    }

    /// How many instants there are in (`after`, `until`].
    pub(super) fn count_in(&self, after: Timestamp, until: Timestamp, zone: &TimeZone) -> u64 {
        let first_behind = |at| whole_second(at)?.checked_add(SECOND).ok();
        let (Some(mut from), Some(end)) = (first_behind(after), first_behind(until)) else {
            return 0;
        };
        // Local time that was reached before: what comes again is a second pass.
        let mut reached = self.reached_before(from, zone);
        let mut count = 0;
        while from < end {
            let offset = zone.to_offset(from);
            let next = next_change(from, zone).filter(|change| *change < end);
            let until = next.unwrap_or(end);
            let (begin, stop) = (offset.to_datetime(from), offset.to_datetime(until));
            if self.follows_real_time {
                count += self.count_on_calendar(begin, stop);
            } else {
                // The dates and times of a gap are one instant together, its end, which may have one
                // of its own.
                let gap = self.count_on_calendar(reached, begin) > 0;
                count += u64::from(gap && !self.names(begin));
                count += self.count_on_calendar(begin.max(reached), stop);
                reached = reached.max(stop);
            }
            from = until;
        }
        count
    }

    /// The local time before which everything was due before `from`.
    fn reached_before(&self, from: Timestamp, zone: &TimeZone) -> DateTime {
        let local = zone.to_datetime(from);
        let Some(change) = last_change(from, zone) else {
            return local;
        };
        let reached = local_before(change, zone).unwrap_or(local);
        // At the very end of a gap what lies in the gap is still to come.
        if change == from {
            reached
        } else {
            local.max(reached)
        }
    }

    /// How many dates and times there are from `from` to before `to`.
    fn count_on_calendar(&self, from: DateTime, to: DateTime) -> u64 {
        if from >= to {
            return 0;
        }
        let of_day = |date: Date| u64::from(self.has_day(date));
        let begun = of_day(from.date()) * self.times_before(from.time());
        let last = of_day(to.date()) * self.times_before(to.time());
        self.days_before(from.date(), to.date()) * self.times_of_day() + last - begun
    }

    /// How many days there are from `from` to before `to`.
    fn days_before(&self, from: Date, to: Date) -> u64 {
        let (mut year, mut month) = (from.year(), from.month());
        let mut count = 0;
        let below = |date: Date| (1_u32 << date.day()) - 1;
        loop {
            let mut days = self.days_of(year, month);
            if (year, month) == (from.year(), from.month()) {
                days &= !below(from);
            }
            let is_last = (year, month) == (to.year(), to.month());
            if is_last {
                days &= below(to);
            }
            count += u64::from(days.count_ones());
            if is_last {
                return count;
            }
            (year, month) = if month < 12 {
                (year, month + 1)
            } else {
                (year + 1, 1)
            };
        }
    }

    fn times_of_day(&self) -> u64 {
        ones(self.hours) * ones(self.minutes) * ones(self.seconds)
    }

    /// How many times of day there are before `end`.
    fn times_before(&self, end: Time) -> u64 {
        let (hour, minute, second) = parts(end);
        let below = |mask: u64, value: u8| ones(mask & ((1 << value) - 1));
        let has = |mask: u64, value: u8| mask >> value & 1;
        let seconds = has(self.minutes, minute) * below(self.seconds, second);
        let minutes = below(self.minutes, minute) * ones(self.seconds);
        let in_hour = has(self.hours, hour) * (minutes + seconds);
        below(self.hours, hour) * ones(self.minutes) * ones(self.seconds) + in_hour
    }

    /// Whether it names this date and time.
    fn names(&self, at: DateTime) -> bool {
        let (hour, minute, second) = parts(at.time());
        let has = |mask: u64, value: u8| mask >> value & 1 != 0;
        self.has_day(at.date())
            && has(self.hours, hour)
            && has(self.minutes, minute)
            && has(self.seconds, second)
    }
}

fn ones(mask: u64) -> u64 {
    mask.count_ones().into()
}
