//! Why a schedule is refused.

use std::fmt;
use std::time::{Duration, SystemTime};

use super::window::rfc3339;
use super::{Cron, CronError, Zone, ZoneError};

/// Why a [`Schedule`](crate::Schedule) is refused. Trying again does not help.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ScheduleError {
    /// A task that recurs with a period of zero.
    ZeroPeriod,
    /// `start_now`, `start_at` or `aligned` for a schedule that has no use for it: `start_now` goes
    /// with `every` and `every_after`, `start_at` and `aligned` with `every`.
    StartNotPossible,
    /// The expression of `cron` is wrong.
    Cron(CronError),
    /// There is no such zone.
    Zone(ZoneError),
    /// `timezone` for a schedule that does not follow the clock of a zone: it goes with `cron`, and
    /// with `every` that is `aligned`.
    ZoneNotPossible,
    /// The expression is right, but names no instant after now: its years are over, or its zone skips
    /// it at each change of the clocks.
    NeverDue(Box<Cron>, Zone),
    /// `aligned` in a time zone, by a period that does not divide a day.
    PeriodNotOfDay(Duration),
    /// `not_before` or `not_after` for what is due once: they go with schedules that recur.
    WindowNotPossible,
    /// A window that ends before it begins.
    EmptyWindow {
        /// Where it begins.
        not_before: SystemTime,
        /// Where it ends.
        not_after: SystemTime,
    },
    /// The schedule names no instant from now on that its window has.
    NothingInWindow {
        /// Where the window begins, if it does.
        not_before: Option<SystemTime>,
        /// Where it ends, if it does.
        not_after: Option<SystemTime>,
    },
    /// A jitter of more than 365 days.
    JitterTooLong(Duration),
}

impl fmt::Display for ScheduleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ScheduleError::ZeroPeriod => {
                f.write_str("every: a period of 0 is not possible: it must be longer")
            }
            ScheduleError::StartNotPossible => f.write_str(
                "start: this schedule has no such one: start_now goes with every and every_after, start_at and aligned with every",
            ),
            ScheduleError::Cron(error) => write!(f, "cron: {error}"),
            ScheduleError::Zone(error) => write!(f, "timezone: {error}"),
            ScheduleError::ZoneNotPossible => f.write_str(
                "timezone: this schedule is the same in every time zone: timezone goes with cron, and with every that is aligned",
            ),
            ScheduleError::NeverDue(cron, zone) => write!(
                f,
                "cron: `{cron}` names no instant after now in {zone}: give it later years, or a time that the zone does not skip"
            ),
            ScheduleError::PeriodNotOfDay(period) => write!(
                f,
                "aligned: a period of {} does not divide a day, so it has no place in the days of a time zone: give it one that does, or leave timezone out to count from 1970-01-01T00:00:00Z",
                crate::duration::format(*period)
            ),
            ScheduleError::WindowNotPossible => f.write_str(
                "not_before, not_after: this schedule is due once: they go with every, every_after and cron",
            ),
            ScheduleError::EmptyWindow {
                not_before,
                not_after,
            } => write!(
                f,
                "not_after: {} is before not_before, {}: it must be later",
                rfc3339(*not_after),
                rfc3339(*not_before)
            ),
            ScheduleError::NothingInWindow {
                not_before,
                not_after,
            } => nothing_in(*not_before, *not_after, f),
            ScheduleError::JitterTooLong(length) => write!(
                f,
                "jitter: {} is too long: 365 days at most",
                crate::duration::format(*length)
            ),
        }
    }
}

impl std::error::Error for ScheduleError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ScheduleError::Cron(error) => Some(error),
            ScheduleError::Zone(error) => Some(error),
            _ => None,
        }
    }
}

fn nothing_in(
    begin: Option<SystemTime>,
    end: Option<SystemTime>,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    match (begin.map(rfc3339), end.map(rfc3339)) {
        (Some(begin), Some(end)) => write!(
            f,
            "not_before, not_after: nothing is due any more from {begin} to {end}: another window is needed"
        ),
        (None, Some(end)) => write!(
            f,
            "not_after: nothing is due from now to {end}: it must be later"
        ),
        (Some(begin), None) => write!(
            f,
            "not_before: nothing is due from {begin} on: it must be earlier"
        ),
        (None, None) => f.write_str("nothing is due"),
    }
}
