//! Even points of the wall clock: the instants at which it shows a multiple of a period.
//!
//! ```text
//!  UTC      the multiples of the period since the Unix epoch
//!  a zone   the instants at which its clock shows a multiple of the period since midnight
//! ```
//!
//! Days of a clock on a wall have 24 hours, whatever passes between two midnights: what its clock
//! skips is left out, and what it shows twice comes twice, as with `*/n` of cron. Between two changes
//! of the clocks local time is even, so all of it is division with a remainder. Instants are
//! nanoseconds since the Unix epoch; in UTC nothing is ever out of range.

use std::time::{Duration, SystemTime};

use crate::clock::{checked_wall_of, unix_nanos};
use crate::schedule::Zone;

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Aligned {
    period: i128,
    /// `None`: UTC, and the period need not divide a day.
    zone: Option<Zone>,
}

impl Aligned {
    /// `period` is not zero.
    pub(super) fn new(period: Duration, zone: Option<Zone>) -> Aligned {
        let period = period.as_nanos() as i128;
        Aligned { period, zone }
    }

    pub(super) fn next_after(&self, at: SystemTime) -> Option<SystemTime> {
        checked_wall_of(self.first_nanos(unix_nanos(at) + 1))
    }

    pub(super) fn first_from(&self, from: SystemTime) -> Option<SystemTime> {
        checked_wall_of(self.first_nanos(unix_nanos(from)))
    }

    pub(super) fn last_in(&self, after: SystemTime, until: SystemTime) -> Option<SystemTime> {
        let last = self.last_nanos(unix_nanos(until));
        let is_in = last > unix_nanos(after);
        is_in.then(|| checked_wall_of(last)).flatten()
    }

    pub(super) fn count_in(&self, after: SystemTime, until: SystemTime) -> u64 {
        let (mut from, until) = (unix_nanos(after) + 1, unix_nanos(until));
        let mut count = 0;
        while from <= until {
            let offset = self.offset_at(from);
            let end = self
                .change_after(from)
                .map_or(until, |change| until.min(change - 1));
            let periods_by = |at: i128| (at + offset).div_euclid(self.period);
            count += periods_by(end) - periods_by(from - 1);
            from = end + 1;
        }
        u64::try_from(count).unwrap_or(u64::MAX)
    }

    fn first_nanos(&self, mut from: i128) -> i128 {
        loop {
            let offset = self.offset_at(from);
            let at = from + (-from - offset).rem_euclid(self.period);
            match self.change_after(from) {
                Some(change) if change <= at => from = change,
                _ => return at,
            }
        }
    }

    fn last_nanos(&self, mut until: i128) -> i128 {
        loop {
            let offset = self.offset_at(until);
            let at = until - (until + offset).rem_euclid(self.period);
            match self.change_by(until) {
                Some(change) if at < change => until = change - 1,
                _ => return at,
            }
        }
    }

    fn offset_at(&self, at: i128) -> i128 {
        self.zone.as_ref().map_or(0, |zone| zone.offset_at(at))
    }

    fn change_after(&self, at: i128) -> Option<i128> {
        self.zone.as_ref()?.change_after(at)
    }

    fn change_by(&self, at: i128) -> Option<i128> {
        self.zone.as_ref()?.change_by(at)
    }
}
