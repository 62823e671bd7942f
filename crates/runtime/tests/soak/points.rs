//! The instants that a schedule names, counted without the scheduler: what was due, and what is
//! next.
//!
//! Grids are arithmetic here. What goes by the calendar is listed once from the pure function of the
//! schedule, which tests of its own hold against a scan of every minute.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use wheel_runtime::Schedule;

/// Milliseconds: of the monotonic clock since it began, of the wall clock since 1970. All that the
/// soak does is on whole ones.
pub(crate) type Ms = i64;

pub(crate) const SECOND: Ms = 1_000;
pub(crate) const MINUTE: Ms = 60 * SECOND;
pub(crate) const HOUR: Ms = 60 * MINUTE;
pub(crate) const DAY: Ms = 24 * HOUR;

pub(crate) fn length(ms: Ms) -> Duration {
    Duration::from_millis(u64::try_from(ms).expect("a length is not negative"))
}

pub(crate) fn wall(ms: Ms) -> SystemTime {
    SystemTime::UNIX_EPOCH + length(ms)
}

/// Rounded up, as what is due is.
pub(crate) fn ms_of(length: Duration) -> Ms {
    length.as_nanos().div_ceil(1_000_000) as Ms
}

pub(crate) fn wall_ms(at: SystemTime) -> Ms {
    ms_of(at.duration_since(SystemTime::UNIX_EPOCH).unwrap())
}

/// Which instants a schedule names, by its own clock.
#[derive(Clone, Debug)]
pub(crate) enum Points {
    Once(Ms),
    Grid {
        first: Ms,
        period: Ms,
    },
    /// The next one depends on the end of a run.
    AfterEnd,
    Wall(Arc<Vec<Ms>>),
}

/// A schedule that holds from an instant on.
#[derive(Clone, Debug)]
pub(crate) struct Era {
    pub(crate) points: Points,
    /// When it began, by both clocks.
    pub(crate) now: Ms,
    pub(crate) wall: Ms,
    pub(crate) by_wall: bool,
    /// By the wall clock.
    pub(crate) not_before: Option<Ms>,
    pub(crate) not_after: Option<Ms>,
    pub(crate) has_jitter: bool,
}

impl Era {
    pub(crate) fn has_grid(&self) -> bool {
        matches!(self.points, Points::Grid { .. } | Points::Wall(_))
    }

    pub(crate) fn has_window(&self) -> bool {
        self.not_before.is_some() || self.not_after.is_some()
    }

    /// From the wall clock, as it stood at the beginning, to the clock of the schedule.
    pub(crate) fn own(&self, at: Ms) -> Ms {
        match self.by_wall {
            true => at,
            false => at - self.wall + self.now,
        }
    }

    fn window(&self) -> (Ms, Ms) {
        let begin = self.not_before.map_or(Ms::MIN, |at| self.own(at));
        (begin, self.not_after.map_or(Ms::MAX, |at| self.own(at)))
    }

    /// How many there are from the beginning until `at`, included.
    pub(crate) fn count(&self, at: Ms) -> u64 {
        let (begin, end) = self.window();
        let until = at.min(end);
        match &self.points {
            Points::Once(due) => u64::from(*due <= at),
            Points::AfterEnd => 0,
            Points::Grid { first, period } => {
                let up_to = |at: Ms| match at < *first {
                    true => 0,
                    false => (at - first) / period + 1,
                };
                (up_to(until) - up_to(begin.max(*first) - 1)).max(0) as u64
            }
            Points::Wall(all) => {
                let up_to = |at: Ms| all.partition_point(|point| *point <= at);
                let before = up_to(self.wall.max(begin.saturating_sub(1)));
                up_to(until).saturating_sub(before) as u64
            }
        }
    }

    /// The first one after `at`.
    pub(crate) fn next_after(&self, at: Ms) -> Option<Ms> {
        let (begin, end) = self.window();
        let next = match &self.points {
            Points::Once(due) => Some(*due).filter(|due| *due > at),
            Points::AfterEnd => None,
            Points::Grid { first, period } => {
                let from = (at + 1).max(begin).max(*first);
                Some(first + (from - first + period - 1) / period * period)
            }
            Points::Wall(all) => {
                let after = at.max(self.wall).max(begin.saturating_sub(1));
                all.get(all.partition_point(|point| *point <= after))
                    .copied()
            }
        };
        next.filter(|next| *next <= end)
    }

    /// The latest one until `at`, included, of those that the window has or would have.
    pub(crate) fn last_until(&self, at: Ms) -> Option<Ms> {
        match &self.points {
            Points::Once(_) | Points::AfterEnd => None,
            Points::Grid { first, period } => {
                (at >= *first).then(|| first + (at - first) / period * period)
            }
            Points::Wall(all) => all[..all.partition_point(|point| *point <= at)]
                .last()
                .copied(),
        }
    }

    /// Whether `nominal`, by the wall clock, is one of them: when, by the clock of the schedule.
    /// Where that is not the wall clock, what a window has depends on how that was set meanwhile.
    pub(crate) fn find(&self, nominal: Ms) -> Option<Ms> {
        let at = self.own(nominal);
        let is_one = match &self.points {
            Points::Grid { first, period } => at >= *first && (at - first) % period == 0,
            _ => self.next_after(at - 1) == Some(at),
        };
        is_one.then_some(at)
    }
}

/// The instants of calendars, each listed once.
pub(crate) struct Listed {
    from: Ms,
    to: Ms,
    known: HashMap<String, Arc<Vec<Ms>>>,
}

impl Listed {
    pub(crate) fn new(from: Ms, to: Ms) -> Listed {
        Listed {
            from,
            to,
            known: HashMap::new(),
        }
    }

    pub(crate) fn of(&mut self, schedule: &Schedule) -> Arc<Vec<Ms>> {
        let (from, to) = (self.from, self.to);
        let list = || {
            let all = schedule.occurrences(wall(from)).unwrap().map(wall_ms);
            Arc::new(all.take_while(|at| *at < to).collect())
        };
        let known = self.known.entry(format!("{schedule:?}"));
        Arc::clone(known.or_insert_with(list))
    }
}

/// What the wall clock read.
#[derive(Clone, Debug)]
pub(crate) struct Walls {
    first: Ms,
    /// When it was set, from what and to what.
    steps: Vec<(Ms, Ms, Ms)>,
}

impl Walls {
    pub(crate) fn new(first: Ms) -> Walls {
        let steps = Vec::new();
        Walls { first, steps }
    }

    pub(crate) fn at(&self, now: Ms) -> Ms {
        let step = self.steps.iter().rev().find(|step| step.0 <= now);
        step.map_or(self.first + now, |(at, _, to)| to + now - at)
    }

    pub(crate) fn set(&mut self, now: Ms, to: Ms) {
        self.steps.push((now, self.at(now), to));
    }

    /// The highest reading from `from` until `to`, by the monotonic clock. A step at `from` came
    /// before.
    pub(crate) fn highest(&self, from: Ms, to: Ms) -> Ms {
        let within = self
            .steps
            .iter()
            .filter(|step| step.0 > from && step.0 <= to);
        let seen = within.map(|(_, before, after)| *before.max(after));
        seen.fold(self.at(from).max(self.at(to)), Ms::max)
    }

    pub(crate) fn was_set_since(&self, now: Ms) -> bool {
        self.steps.last().is_some_and(|step| step.0 > now)
    }
}
