//! What a task is due by, as the file says it, and what the runtime makes of that.

use std::fmt;
use std::time::{Duration, Instant, SystemTime};

use wheel_runtime::{Cron, Zone};

use crate::duration;

/// What a task is due by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Schedule {
    pub(crate) kind: Kind,
    /// How often it is to run at most; without end if nothing is said.
    pub(crate) count: Option<u64>,
    pub(crate) not_before: Option<SystemTime>,
    pub(crate) not_after: Option<SystemTime>,
}

/// Which of the keys it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Once, this long after `wheel` has read the file; or after the others, if it has to wait for
    /// some.
    After(Duration),
    /// Once, at this instant of the wall clock.
    At(SystemTime),
    /// Once, when `wheel` is started.
    Start,
    /// Once, as soon as the others that it depends on have ended.
    Upstream,
    /// Again and again on a fixed grid.
    Every { period: Duration, start: Start },
    /// Again and again when the wall clock of a zone says so.
    Cron { cron: Box<Cron>, zone: Zone },
}

/// Where a grid begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Start {
    OnePeriodOn,
    Now,
    At(SystemTime),
    /// With the clock on the wall, of a zone if there is one.
    Aligned(Option<Zone>),
}

/// Before what a program must not be started, said apart from the scheduler.
#[derive(Debug, Clone)]
pub(crate) enum Floor {
    /// The n-th run is that of the n-th instant of a grid, or of a later one.
    Grid {
        first: Instant,
        period: Option<Duration>,
    },
    /// The wall clock shows it.
    Wall(SystemTime),
    /// The wall clock shows what the run is for.
    Nominal,
}

impl Schedule {
    pub(crate) fn once(kind: Kind) -> Schedule {
        Schedule {
            kind,
            count: Some(1),
            not_before: None,
            not_after: None,
        }
    }

    /// When `wheel` is started, as cron has it.
    pub(crate) fn at_start() -> Schedule {
        Schedule::once(Kind::Start)
    }

    /// Without end, by an expression in a zone.
    pub(crate) fn by_calendar(cron: Box<Cron>, zone: Zone) -> Schedule {
        Schedule {
            count: None,
            ..Schedule::once(Kind::Cron { cron, zone })
        }
    }

    /// Whether it is due more than once.
    pub(crate) fn recurs(&self) -> bool {
        matches!(self.kind, Kind::Every { .. } | Kind::Cron { .. })
    }

    /// Whether its instants are those of the wall clock, whenever it begins.
    pub(crate) fn follows_wall_clock(&self) -> bool {
        match &self.kind {
            Kind::Cron { .. } | Kind::At(_) => true,
            Kind::Every { start, .. } => matches!(start, Start::Aligned(_)),
            Kind::After(_) | Kind::Start | Kind::Upstream => false,
        }
    }

    /// What the runtime is told, but for the count.
    pub(crate) fn asked(&self) -> wheel_runtime::Schedule {
        use wheel_runtime::Schedule;
        let schedule = match &self.kind {
            Kind::After(delay) => Schedule::after(*delay),
            Kind::At(instant) => Schedule::at(*instant),
            Kind::Start | Kind::Upstream => Schedule::after(Duration::ZERO),
            Kind::Every { period, start } => {
                let grid = Schedule::every(*period);
                match start {
                    Start::OnePeriodOn => grid,
                    Start::Now => grid.start_now(),
                    Start::At(start) => grid.start_at(*start),
                    Start::Aligned(None) => grid.aligned(),
                    Start::Aligned(Some(zone)) => grid.aligned().timezone(zone.clone()),
                }
            }
            Kind::Cron { cron, zone } => Schedule::cron(Cron::clone(cron)).timezone(zone.clone()),
        };
        self.in_window(schedule)
    }

    fn in_window(&self, schedule: wheel_runtime::Schedule) -> wheel_runtime::Schedule {
        let schedule = match self.not_before {
            Some(begin) => schedule.not_before(begin),
            None => schedule,
        };
        match self.not_after {
            Some(end) => schedule.not_after(end),
            None => schedule,
        }
    }

    /// The same for a task that takes the place of one that was due `rest` after `then`, which is `ago`:
    /// a grid and a delay go on as they were.
    pub(crate) fn going_on(
        &self,
        (rest, then): (Duration, SystemTime),
        ago: Duration,
    ) -> wheel_runtime::Schedule {
        use wheel_runtime::Schedule;
        let schedule = match &self.kind {
            Kind::After(_) => return Schedule::after(rest.saturating_sub(ago)),
            Kind::Every { period, .. } if !self.follows_wall_clock() => {
                match then.checked_add(rest) {
                    Some(next) => Schedule::every(*period).start_at(next),
                    None => Schedule::every(*period),
                }
            }
            _ => return self.asked(),
        };
        self.in_window(schedule)
    }

    /// The floor of [`going_on`](Schedule::going_on).
    pub(crate) fn floor_in(&self, rest: Duration) -> Floor {
        let period = match &self.kind {
            Kind::After(_) => None,
            Kind::Every { period, .. } if !self.follows_wall_clock() => Some(*period),
            _ => return self.floor(),
        };
        // The instant goes by way of the wall clock, which counts in smaller parts than it shows.
        let rest = rest.saturating_sub(Duration::from_millis(1));
        match Instant::now().checked_add(rest) {
            Some(first) => Floor::Grid { first, period },
            None => Floor::Wall(SystemTime::UNIX_EPOCH),
        }
    }

    /// Whether an instant is left after this one, whatever the count. `last` is what the last run was
    /// for.
    pub(crate) fn goes_on_after(&self, now: SystemTime, last: Option<SystemTime>) -> bool {
        match &self.kind {
            Kind::After(_) | Kind::At(_) | Kind::Start | Kind::Upstream => true,
            Kind::Every { period, .. } if !self.follows_wall_clock() => {
                let next = last.and_then(|last| last.checked_add(*period));
                self.not_after
                    .is_none_or(|end| now < end && next.is_none_or(|next| next <= end))
            }
            Kind::Every { .. } | Kind::Cron { .. } => self.asked().occurrences(now).is_ok(),
        }
    }

    /// For a task that is handed over right after this call.
    pub(crate) fn floor(&self) -> Floor {
        let (now, wall) = (Instant::now(), SystemTime::now());
        let (delay, period) = match &self.kind {
            Kind::After(delay) => (*delay, None),
            Kind::Start | Kind::Upstream => (Duration::ZERO, None),
            Kind::At(instant) => return Floor::Wall(*instant),
            Kind::Every { period, start } => match start {
                Start::OnePeriodOn => (*period, Some(*period)),
                // An anchor of the past keeps its phase: where that lies is not said again here.
                Start::At(start) => (
                    start.duration_since(wall).unwrap_or_default(),
                    Some(*period),
                ),
                Start::Now => (Duration::ZERO, Some(*period)),
                Start::Aligned(_) => return Floor::Nominal,
            },
            Kind::Cron { .. } => return Floor::Nominal,
        };
        match now.checked_add(delay) {
            Some(first) => Floor::Grid { first, period },
            // It is never due.
            None => Floor::Wall(SystemTime::UNIX_EPOCH),
        }
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::After(delay) => return write!(f, "after {}", duration::format(*delay)),
            Kind::At(instant) => {
                return match jiff::Timestamp::try_from(*instant) {
                    Ok(instant) => write!(f, "at {instant}"),
                    Err(_) => write!(f, "at an instant out of range"),
                };
            }
            Kind::Start => return f.write_str("@reboot"),
            Kind::Upstream => return write!(f, "at once"),
            Kind::Every { period, start } => {
                write!(f, "every {}", duration::format(*period))?;
                match start {
                    Start::Aligned(None) => write!(f, " aligned")?,
                    Start::Aligned(Some(zone)) => write!(f, " aligned in {zone}")?,
                    Start::OnePeriodOn | Start::Now | Start::At(_) => {}
                }
            }
            Kind::Cron { cron, zone } => write!(f, "cron {cron} in {zone}")?,
        }
        self.count.map_or(Ok(()), |count| write!(f, " x{count}"))
    }
}
