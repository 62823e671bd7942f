//! A schedule pinned to an instant, and the arithmetic of what is due next.
//!
//! ```text
//!  grid:   first      +p        +2p       +3p       +4p
//!            |---------|---------|---------|---------|
//!                      due                 ^ now
//!
//!  occur(due, now): nominal +2p, missed 1, next +3p
//! ```

mod calendar;
mod interim;

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::{Base, Schedule, ScheduleError, Start, Zone};
use crate::clock::{Moment, duration_of};
use calendar::Calendar;

/// When something is due, and by which clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Due {
    Monotonic(Moment),
    Wall(SystemTime),
}

/// A schedule that knows when it began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    rhythm: Rhythm,
    /// The same instant by both clocks, to name monotonic instants by the calendar.
    anchor: (Moment, SystemTime),
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Rhythm {
    Once(Due),
    Grid { period: Duration },
    AfterEnd { pause: Duration },
    Calendar(Arc<Calendar>),
}

/// What is to be done about something that was found due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Occurrence {
    /// What the schedule says about the run: the latest of the occurrences that it stands for.
    pub(crate) nominal: SystemTime,
    /// The earliest of them, from which lateness counts.
    pub(crate) due: SystemTime,
    /// How many further occurrences it stands for.
    pub(crate) missed: u64,
    /// What is due next, if that is known before the run has ended.
    pub(crate) next: Option<Due>,
}

impl Schedule {
    /// Pins it to now: the plan, and what is due first.
    pub(crate) fn plan(&self, now: Moment, wall: SystemTime) -> Result<(Plan, Due), ScheduleError> {
        let zone = match &self.zone {
            None => Zone::UTC,
            Some(_) if !matches!(self.base, Base::Cron(_)) => {
                return Err(ScheduleError::ZoneNotPossible);
            }
            Some(zone) => Zone::clone(
                zone.as_ref()
                    .as_ref()
                    .map_err(|error| ScheduleError::Zone(error.clone()))?,
            ),
        };
        let (rhythm, first) = match (&self.base, self.start) {
            (&Base::After(delay), Start::OnePeriodOn) => {
                let due = Due::Monotonic(now.after(delay));
                (Rhythm::Once(due), due)
            }
            (&Base::At(at), Start::OnePeriodOn) => (Rhythm::Once(Due::Wall(at)), Due::Wall(at)),
            (Base::Every(Duration::ZERO) | Base::EveryAfter(Duration::ZERO), _) => {
                return Err(ScheduleError::ZeroPeriod);
            }
            (&Base::Every(period), start) => {
                let first = match start {
                    Start::OnePeriodOn => now.after(period),
                    Start::Now => now,
                    Start::At(start) => now.after(until_grid_point(start, period, wall)),
                };
                (Rhythm::Grid { period }, Due::Monotonic(first))
            }
            (&Base::EveryAfter(pause), Start::OnePeriodOn) => {
                (Rhythm::AfterEnd { pause }, Due::Monotonic(now.after(pause)))
            }
            (&Base::EveryAfter(pause), Start::Now) => {
                (Rhythm::AfterEnd { pause }, Due::Monotonic(now))
            }
            (Base::Cron(expression), start) => {
                let expression = expression.as_ref().as_ref();
                let cron = expression.map_err(|error| ScheduleError::Cron(error.clone()))?;
                if let Some(period) = cron.period() {
                    let every = Schedule::every(period).starting(start);
                    return every.plan(now, wall);
                }
                if start != Start::OnePeriodOn {
                    return Err(ScheduleError::StartNotPossible);
                }
                let (calendar, first) = Calendar::begin(cron, zone, wall)?;
                (Rhythm::Calendar(Arc::new(calendar)), Due::Wall(first))
            }
            (Base::After(_) | Base::At(_) | Base::EveryAfter(_), _) => {
                return Err(ScheduleError::StartNotPossible);
            }
        };
        let anchor = (now, wall);
        Ok((Plan { rhythm, anchor }, first))
    }
}

impl Plan {
    /// What was armed for an instant of the wall clock is looked at when that reads `wall`.
    pub(crate) fn occur_by_wall(&mut self, at: SystemTime, wall: SystemTime) -> Occurrence {
        let occurrence = match &self.rhythm {
            Rhythm::Calendar(calendar) => calendar.occur(at, wall),
            _ => Occurrence::of_one(at),
        };
        if occurrence.next.is_none() {
            // The last one there is.
            self.rhythm = Rhythm::Once(Due::Wall(occurrence.nominal));
        }
        occurrence
    }

    /// What was due at `due` is looked at, at `now`.
    pub(crate) fn occur(&self, due: Moment, now: Moment) -> Occurrence {
        match self.rhythm {
            Rhythm::Once(asked) => Occurrence::of_one(self.calendar(asked)),
            Rhythm::AfterEnd { .. } | Rhythm::Calendar(_) => {
                Occurrence::of_one(self.calendar(Due::Monotonic(due)))
            }
            Rhythm::Grid { period } => {
                let period_ns = period.as_nanos();
                let missed = now.since(due).as_nanos() / period_ns;
                // No more than what has passed since `due`, so it fits.
                let latest = due.after(Duration::from_nanos((missed * period_ns) as u64));
                Occurrence {
                    nominal: self.calendar(Due::Monotonic(latest)),
                    due: self.calendar(Due::Monotonic(due)),
                    missed: missed as u64,
                    next: Some(Due::Monotonic(latest.after(period))),
                }
            }
        }
    }

    /// What is due after a run has ended at `now`, if that was not known before.
    pub(crate) fn after_end(&self, now: Moment) -> Option<Due> {
        match self.rhythm {
            Rhythm::AfterEnd { pause } => Some(Due::Monotonic(now.after(pause))),
            Rhythm::Once(_) | Rhythm::Grid { .. } | Rhythm::Calendar(_) => None,
        }
    }

    /// What is due after a run was given up at `now` and nothing is due otherwise.
    pub(crate) fn resume(&self, now: Moment, wall: SystemTime) -> Option<Due> {
        match &self.rhythm {
            Rhythm::Once(_) => None,
            Rhythm::Grid { period } => Some(Due::Monotonic(now.after(*period))),
            Rhythm::AfterEnd { .. } => self.after_end(now),
            Rhythm::Calendar(calendar) => calendar.next_after(wall).map(Due::Wall),
        }
    }

    /// Whether there is one occurrence only.
    pub(crate) fn is_once(&self) -> bool {
        matches!(self.rhythm, Rhythm::Once(_))
    }

    /// What the calendar says about `due`; what it cannot say is the instant at which the plan was
    /// made.
    pub(crate) fn calendar(&self, due: Due) -> SystemTime {
        match due {
            Due::Wall(at) => at,
            Due::Monotonic(due) => {
                let (moment, wall) = self.anchor;
                let (ahead, behind) = (due.since(moment), moment.since(due));
                let at = wall.checked_add(ahead);
                at.and_then(|at| at.checked_sub(behind)).unwrap_or(wall)
            }
        }
    }
}

impl Occurrence {
    /// One that stands for itself, with nothing after it that is known.
    fn of_one(at: SystemTime) -> Occurrence {
        Occurrence {
            nominal: at,
            due: at,
            missed: 0,
            next: None,
        }
    }
}

/// How long after `wall` the next point of the grid through `start` comes: `start` itself if it is
/// ahead, else the first start + k * period that is later than `wall`.
fn until_grid_point(start: SystemTime, period: Duration, wall: SystemTime) -> Duration {
    match wall.duration_since(start) {
        Err(ahead) => ahead.duration(),
        Ok(passed) => {
            let into_period = passed.as_nanos() % period.as_nanos();
            duration_of(period.as_nanos() - into_period)
        }
    }
}

#[cfg(test)]
mod tests;
