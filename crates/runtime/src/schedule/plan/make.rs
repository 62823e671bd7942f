//! A schedule that is asked for is checked and pinned to an instant.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::aligned::Aligned;
use super::calendar::Calendar;
use super::frame::{Frame, Spread};
use super::rhythm::{Due, Points, Reading, Rhythm};
use super::{Anchor, Body, Plan};
use crate::clock::{Moment, duration_of};
use crate::policy::{Draws, Jitter};
use crate::schedule::{AskedZone, Base, Cron, Schedule, ScheduleError, Start, Window, Zone};

const DAY: Duration = Duration::from_secs(86_400);

impl Schedule {
    /// Pins it to now: the plan, and what is due first. What it spreads depends on `draws`.
    pub(crate) fn plan(
        &self,
        now: Moment,
        wall: SystemTime,
        draws: Draws,
    ) -> Result<(Plan, Due), ScheduleError> {
        let reading = Reading {
            now,
            wall,
            steady_wall: wall,
        };
        let (rhythm, first) = self.rhythm(reading)?;
        let window = self.checked_window(&rhythm)?;
        let jitter = self.checked_jitter()?;
        let anchor = Anchor { now, wall };
        if window.is_whole_time() && jitter.is_none() {
            let body = Body::Plain(rhythm);
            return Ok((Plan { body, anchor }, first));
        }
        let spread = jitter.map(|jitter| Spread { jitter, draws });
        let mut frame = Box::new(Frame {
            rhythm,
            window,
            spread,
            nominal: first,
            owed: None,
        });
        let first = frame.within(first, reading);
        frame.nominal = first.ok_or(ScheduleError::NothingInWindow {
            not_before: window.not_before,
            not_after: window.not_after,
        })?;
        let due = frame.due_of(frame.nominal, anchor.calendar(frame.nominal));
        let body = Body::Framed(frame);
        Ok((Plan { body, anchor }, due))
    }

    /// As `plan`, of a single instant with nothing that bounds or moves it: that is always possible.
    pub(crate) fn plan_single(&self, now: Moment, wall: SystemTime) -> Plan {
        let planned = self.plan(now, wall, Draws::default());
        planned.expect("a single instant is always possible").0
    }

    /// Its points, and the first of them from now on, whatever the window.
    fn rhythm(&self, reading: Reading) -> Result<(Rhythm, Due), ScheduleError> {
        let zone = self.checked_zone()?;
        let Reading { now, wall, .. } = reading;
        match (&self.base, self.start) {
            (&Base::After(delay), Start::OnePeriodOn) => {
                let due = Due::Monotonic(now.after(delay));
                Ok((Rhythm::Once(due), due))
            }
            (&Base::At(at), Start::OnePeriodOn) => Ok((Rhythm::Once(Due::Wall(at)), Due::Wall(at))),
            (&Base::Every(period), start) => grid(period, start, zone, reading),
            (Base::EveryAfter(Duration::ZERO), _) => Err(ScheduleError::ZeroPeriod),
            (&Base::EveryAfter(pause), Start::OnePeriodOn) => {
                let first = Due::Monotonic(now.after(pause));
                Ok((Rhythm::AfterEnd { pause }, first))
            }
            (&Base::EveryAfter(pause), Start::Now) => {
                Ok((Rhythm::AfterEnd { pause }, Due::Monotonic(now)))
            }
            (Base::Cron(expression), start) => {
                let expression = expression.as_ref().as_ref();
                let cron = expression.map_err(|error| ScheduleError::Cron(error.clone()))?;
                match cron.period() {
                    Some(period) => grid(period, start, zone, reading),
                    None if start == Start::OnePeriodOn => calendar(cron, zone, wall),
                    None => Err(ScheduleError::StartNotPossible),
                }
            }
            (Base::After(_) | Base::At(_) | Base::EveryAfter(_), _) => {
                Err(ScheduleError::StartNotPossible)
            }
        }
    }

    fn checked_zone(&self) -> Result<Option<Zone>, ScheduleError> {
        let Some(asked) = self.zone.as_ref().map(AskedZone::as_ref) else {
            return Ok(None);
        };
        let follows_clock_of_zone = match self.base {
            Base::Cron(_) => true,
            Base::Every(_) => self.start == Start::Aligned,
            Base::After(_) | Base::At(_) | Base::EveryAfter(_) => false,
        };
        if !follows_clock_of_zone {
            return Err(ScheduleError::ZoneNotPossible);
        }
        let zone = asked.as_ref();
        zone.map(|zone| Some(zone.clone()))
            .map_err(|error| ScheduleError::Zone(error.clone()))
    }

    fn checked_window(&self, rhythm: &Rhythm) -> Result<Window, ScheduleError> {
        let window = self.window;
        if !window.is_whole_time() && matches!(rhythm, Rhythm::Once(_)) {
            return Err(ScheduleError::WindowNotPossible);
        }
        match (window.not_before, window.not_after) {
            (Some(not_before), Some(not_after)) if not_after < not_before => {
                Err(ScheduleError::EmptyWindow {
                    not_before,
                    not_after,
                })
            }
            _ => Ok(window),
        }
    }

    fn checked_jitter(&self) -> Result<Option<Jitter>, ScheduleError> {
        match self.jitter.map(Jitter::length) {
            Some(length) if length > Jitter::LONGEST => Err(ScheduleError::JitterTooLong(length)),
            Some(Duration::ZERO) | None => Ok(None),
            Some(_) => Ok(self.jitter),
        }
    }
}

fn grid(
    period: Duration,
    start: Start,
    zone: Option<Zone>,
    reading: Reading,
) -> Result<(Rhythm, Due), ScheduleError> {
    if period.is_zero() {
        return Err(ScheduleError::ZeroPeriod);
    }
    let now = reading.now;
    let first = match start {
        Start::OnePeriodOn => now.after(period),
        Start::Now => now,
        Start::At(start) => now.after(until_grid_point(start, period, reading.wall)),
        Start::Aligned => return aligned(period, zone, reading.wall),
    };
    Ok((Rhythm::Grid { first, period }, Due::Monotonic(first)))
}

fn aligned(
    period: Duration,
    zone: Option<Zone>,
    wall: SystemTime,
) -> Result<(Rhythm, Due), ScheduleError> {
    if zone.is_some() && !DAY.as_nanos().is_multiple_of(period.as_nanos()) {
        return Err(ScheduleError::PeriodNotOfDay(period));
    }
    let points = Points::Aligned(Aligned::new(period, zone));
    // A period that goes beyond all instants of the wall clock.
    let first = points.next_after(wall).map_or(Due::NEVER, Due::Wall);
    Ok((Rhythm::Wall(Arc::new(points)), first))
}

fn calendar(
    cron: &Cron,
    zone: Option<Zone>,
    wall: SystemTime,
) -> Result<(Rhythm, Due), ScheduleError> {
    let (cron, zone) = (cron.clone(), zone.unwrap_or(Zone::UTC));
    let Some(first) = cron.next_after(wall, &zone) else {
        return Err(ScheduleError::NeverDue(Box::new(cron), zone));
    };
    let points = Points::Calendar(Calendar { cron, zone });
    Ok((Rhythm::Wall(Arc::new(points)), Due::Wall(first)))
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
