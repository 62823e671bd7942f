//! The arithmetic of what is due next, by itself and against brute force.

mod grid;

mod aligned;
mod window;
mod jitter;
mod found;
mod edited;

use std::time::Duration;

use super::*;
use crate::policy::Draws;
use crate::schedule::{Schedule, ScheduleError};

const MS: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);
const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(86_400);

fn wall() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000)
}

fn at(d: Duration) -> Moment {
    Moment::ZERO.after(d)
}

fn due(d: Duration) -> Due {
    Due::Monotonic(at(d))
}

/// Planned a minute after the origin of the clock.
fn planned(schedule: &Schedule) -> (Plan, Due) {
    schedule
        .plan(at(60 * SECOND), wall(), Draws::of(1, "x"))
        .unwrap()
}

/// What was due at `due` is looked at, at `now`; the wall clock goes as the monotonic one does.
fn look(plan: &mut Plan, due: Moment, now: Moment) -> Occurrence {
    plan.occur(Due::Monotonic(due), now, || wall_at(now))
}

/// What the wall clock reads then, if nobody sets it.
fn wall_at(now: Moment) -> SystemTime {
    wall() + now.since(Moment::ZERO) - 60 * SECOND
}
