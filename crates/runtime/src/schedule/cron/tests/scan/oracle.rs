//! Three years of a zone, minute by minute of its local time.

use jiff::civil::{Date, date};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};

use super::random::{Day, Expression};

const DAY: i64 = 24 * 60;

/// Three years, in minutes since 1970.
pub(super) struct Years {
    pub(super) begin: i64,
    pub(super) end: i64,
    /// The minutes at which the clocks were changed.
    pub(super) changes: Vec<i64>,
    stretches: Vec<Stretch>,
}

/// Minutes of one local date, one after the other.
struct Stretch {
    /// The first of them.
    minute: i64,
    /// The first and the end, in minutes of the day.
    from: i64,
    to: i64,
    day: Day,
    /// What is before this, in minutes of the day, was there before: a second pass.
    again_until: i64,
    /// Local minutes that were left out right before: their date and minute of the day.
    left_out: Vec<(Day, i64)>,
}

impl Years {
    pub(super) fn of(name: &str, year: i16) -> Years {
        let zone = TimeZone::get(name).unwrap();
        let minute_of = |year| {
            Timestamp::from_second(days_to(date(year, 1, 1)) * DAY * 60)
                .unwrap()
                .as_second()
                / 60
        };
        let (begin, end) = (minute_of(year), minute_of(year + 3));
        let offset = |minute: i64| {
            let seconds = zone
                .to_offset(Timestamp::from_second(minute * 60).unwrap())
                .seconds();
            assert_eq!(seconds % 60, 0, "{name} at {minute}");
            i64::from(seconds) / 60
        };
        let mut years = Years {
            begin,
            end,
            changes: Vec::new(),
            stretches: Vec::new(),
        };
        let (mut minute, mut reached) = (begin, begin + offset(begin));
        while minute < end {
            // As long as the offset stays, and no longer than the hour.
            let (now, hour) = (offset(minute), (minute / 60 + 1) * 60);
            let mut stop = hour.min(end);
            if offset(stop - 1) != now {
                stop = (minute..stop).find(|at| offset(*at) != now).unwrap();
            }
            if minute > begin && offset(minute - 1) != now {
                years.changes.push(minute);
            }
            years.add(minute, stop, now, &mut reached);
            minute = stop;
        }
        years
    }

    fn add(&mut self, begin: i64, end: i64, offset: i64, reached: &mut i64) {
        let left_out = (*reached..begin + offset).map(|at| (day_of(at), at.rem_euclid(DAY)));
        let mut left_out: Vec<(Day, i64)> = left_out.collect();
        let mut minute = begin;
        while minute < end {
            let local = minute + offset;
            let midnight = local - local.rem_euclid(DAY);
            let stop = end.min(midnight + DAY - offset);
            let (from, to) = (local - midnight, stop + offset - midnight);
            let again_until = *reached - midnight;
            let goes_on = self.stretches.last_mut().filter(|last| {
                let is_new = from >= again_until;
                is_new
                    && last.again_until <= last.from
                    && left_out.is_empty()
                    && last.to == from
                    && last.to < DAY
            });
            match goes_on {
                Some(last) => last.to = to,
                None => self.stretches.push(Stretch {
                    minute,
                    from,
                    to,
                    day: day_of(local),
                    again_until,
                    left_out: std::mem::take(&mut left_out),
                }),
            }
            minute = stop;
        }
        *reached = (*reached).max(end + offset);
    }

    /// The minutes at which the expression is due.
    pub(super) fn minutes_of(&self, expression: &Expression) -> Vec<i64> {
        let is_due = |time: i64| expression.times.binary_search(&time).is_ok();
        let mut minutes = Vec::new();
        for stretch in &self.stretches {
            let has_day = expression.has_day(stretch.day);
            let first = has_day && is_due(stretch.from);
            let mut left_out = stretch.left_out.iter();
            if expression.is_fixed
                && !first
                && left_out.any(|(day, time)| is_due(*time) && expression.has_day(*day))
            {
                minutes.push(stretch.minute);
            }
            if !has_day {
                continue;
            }
            let from = match expression.is_fixed {
                true => stretch.from.max(stretch.again_until),
                false => stretch.from,
            };
            let place = |time| expression.times.partition_point(|due| *due < time);
            let times = &expression.times[place(from)..place(stretch.to).max(place(from))];
            minutes.extend(
                times
                    .iter()
                    .map(|time| stretch.minute + time - stretch.from),
            );
        }
        minutes
    }
}

fn days_to(date: Date) -> i64 {
    i64::from(Date::constant(1970, 1, 1).until(date).unwrap().get_days())
}

fn day_of(local_minute: i64) -> Day {
    let days = local_minute.div_euclid(DAY);
    let date = Date::constant(1970, 1, 1) + Span::new().days(days);
    Day {
        month: date.month().into(),
        day: date.day().into(),
        // 1970 began on a Thursday.
        weekday: (days + 4).rem_euclid(7),
        len: date.days_in_month().into(),
    }
}
