//! When a single run is told to stop, before the end of `wheel` comes: its time is over, or somebody
//! calls it off. It gets SIGTERM then, and SIGKILL after the grace, as at the end.

use std::time::{Duration, Instant};

use rustix::process::Pid;

use super::groups::{Children, Forced};

/// How often to ask whether a run is called off.
const ASK_EVERY: Duration = Duration::from_millis(20);

/// Why a run was told to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Told {
    TimeOver,
    CalledOff,
}

/// What stops a run.
pub(crate) struct Stops<'a> {
    /// When its time is over.
    pub(crate) until: Option<Instant>,
    /// Whether it is called off, for one that can be.
    pub(crate) is_called_off: Option<&'a dyn Fn() -> bool>,
}

/// How far that has come.
pub(super) struct Stopping<'a> {
    stops: Stops<'a>,
    kill_at: Option<Instant>,
    told: Option<Told>,
}

impl<'a> Stopping<'a> {
    pub(super) fn new(stops: Stops<'a>) -> Stopping<'a> {
        Stopping {
            stops,
            kill_at: None,
            told: None,
        }
    }

    /// Tells the group what it is time for. Returns how long there is nothing to do.
    pub(super) fn look(&mut self, children: &Children, group: Pid) -> Option<Duration> {
        let now = Instant::now();
        if let Some(told) = self.due(now) {
            self.stops = Stops {
                until: None,
                is_called_off: None,
            };
            // Where the end of `wheel` has come first, that sees to the rest.
            if children.stop(group) {
                self.told = Some(told);
                self.kill_at = now.checked_add(children.grace());
            }
        }
        if self.kill_at.is_some_and(|at| at <= now) {
            self.kill_at = None;
            children.force(group, Forced::Killed);
        }
        let times = [self.stops.until, self.kill_at].into_iter().flatten();
        let rest = times.map(|at| at.saturating_duration_since(now));
        let ask = self.stops.is_called_off.map(|_| ASK_EVERY);
        rest.chain(ask).min()
    }

    /// Why it was told, if it was and has not ended by itself before.
    pub(super) fn told(&self, forced: Forced) -> Option<Told> {
        self.told.filter(|_| forced != Forced::No)
    }

    fn due(&self, now: Instant) -> Option<Told> {
        if self.stops.until.is_some_and(|until| until <= now) {
            return Some(Told::TimeOver);
        }
        let is_called_off = self.stops.is_called_off.is_some_and(|ask| ask());
        is_called_off.then_some(Told::CalledOff)
    }
}
