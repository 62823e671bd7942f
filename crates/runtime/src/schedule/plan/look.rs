//! What was armed has come, and is looked at: which points are due by now, and which is next.
//!
//! ```text
//!  jitter:   n0 ..... due      n1 .. due       n2 ......... due
//!                      armed                        ^ now
//!
//!  occur: nominal n1, due that of n0, missed 1, next that of n2
//! ```
//!
//! Points keep their order when they are spread, so of those that have come only the latest may not
//! be due yet. Nothing here takes longer for more points that were missed.

use std::time::{Duration, SystemTime};

use super::rhythm::{Due, Reading, Rhythm};
use super::{Body, Plan};
use crate::clock::Moment;

/// What is to be done about something that was found due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Occurrence {
    /// What the schedule says about the run: the latest of the occurrences that it stands for.
    pub(crate) nominal: SystemTime,
    /// The earliest of them, from which lateness counts; with its jitter.
    pub(crate) due: SystemTime,
    /// How many further occurrences it stands for.
    pub(crate) missed: u64,
    /// What is due next, if that is known before the run has ended.
    pub(crate) next: Option<Due>,
}

/// All that was found due, each by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FoundDue {
    /// The latest ones, as many as were asked for, the oldest first.
    pub(crate) found: Vec<Found>,
    /// How many older ones there are.
    pub(crate) dropped: u64,
    /// What is due next, if that is known before the run has ended.
    pub(crate) next: Option<Due>,
}

/// One of several occurrences that were found due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) nominal: SystemTime,
    /// With its jitter.
    pub(crate) due: SystemTime,
    /// By how much that has passed, by the clock that it follows.
    pub(crate) late: Duration,
}

/// Points that are due together.
pub(super) struct Look {
    first: Due,
    latest: Due,
    /// How many there are after the first one.
    missed: u64,
    /// When the point after the latest one is due.
    pub(super) next: Option<Due>,
    /// What is for the first one is no point of this schedule: its nominal instant.
    owed: Option<SystemTime>,
}

impl Plan {
    /// What was `armed` is looked at, as the clocks read now. One run stands for all that is found
    /// due with it. The wall clock is read only where it has a say.
    pub(crate) fn occur(
        &mut self,
        armed: Due,
        now: Moment,
        wall: impl FnOnce() -> SystemTime,
    ) -> Occurrence {
        let anchor = self.anchor;
        if let Body::Plain(Rhythm::Once(_)) = self.body {
            // Most tasks run once, and have nothing to look for.
            let at = anchor.calendar(armed);
            return Occurrence {
                nominal: at,
                due: at,
                missed: 0,
                next: None,
            };
        }
        // Before the look: after the last one there is no plan to ask.
        let wall = self.wall_for(armed, wall);
        let look = self.look(armed, self.reading(now, wall));
        Occurrence {
            nominal: look.owed.unwrap_or_else(|| anchor.calendar(look.latest)),
            due: anchor.calendar(armed),
            missed: look.missed,
            next: look.next,
        }
    }

    /// As `occur`, for runs of their own: the latest `max` occurrences that are found due, and how
    /// many more there were. Its work and memory grow with `max` only.
    pub(crate) fn found_due(
        &mut self,
        armed: Due,
        now: Moment,
        wall: SystemTime,
        max: usize,
    ) -> FoundDue {
        let reading = self.reading(now, wall);
        // The points before the look, which may be the last one.
        let before = self.clone();
        let look = self.look(armed, reading);
        let total = look.missed.saturating_add(1);
        let dropped = total.saturating_sub(max as u64);
        let late = |due: Due| reading.by_clock_of(due).since(due);
        let mut found = Vec::new();
        if dropped < total {
            let back = look.missed - dropped;
            let mut point = before.rhythm().nth_before(look.latest, back, look.first);
            loop {
                let nominal = look.owed.unwrap_or_else(|| before.calendar(point));
                let due = match before.frame() {
                    _ if point == look.first => armed,
                    Some(frame) => frame.due_of(point, nominal),
                    None => point,
                };
                found.push(Found {
                    nominal,
                    due: before.calendar(due),
                    late: late(due),
                });
                if point == look.latest {
                    break;
                }
                let Some(next) = before.rhythm().after(point) else {
                    break;
                };
                point = next;
            }
        }
        FoundDue {
            found,
            dropped,
            next: look.next,
        }
    }

    pub(super) fn look(&mut self, armed: Due, reading: Reading) -> Look {
        if let Body::Framed(frame) = &mut self.body
            && let Some(owed) = frame.owed.take()
        {
            let next = self.arm(owed.then, reading);
            return Look {
                first: armed,
                latest: armed,
                missed: 0,
                next,
                owed: Some(owed.nominal),
            };
        }
        let first = self.point(armed);
        let (latest, missed) = self.latest_due(first, reading);
        let next = match self.rhythm().after(latest) {
            Some(next) => self.arm(next, reading),
            None => {
                if self.rhythm().has_grid() {
                    // The last one there is.
                    self.end();
                }
                None
            }
        };
        Look {
            first,
            latest,
            missed,
            next,
            owed: None,
        }
    }

    /// The latest point that is due, and how many there are after `first`, which is.
    fn latest_due(&self, first: Due, reading: Reading) -> (Due, u64) {
        let by_now = reading.by_clock_of(first);
        let rhythm = self.rhythm();
        let Some(frame) = self.frame() else {
            return rhythm.last_in(first, by_now).unwrap_or((first, 0));
        };
        let until = frame.end_by(by_now, reading);
        match rhythm.last_in(first, until) {
            None => (first, 0),
            Some((last, missed)) if frame.due_of(last, self.calendar(last)) <= by_now => {
                (last, missed)
            }
            // Its jitter holds it up, and no other one.
            Some((last, missed)) => {
                let latest = rhythm.nth_before(last, 1, first);
                (latest, missed.saturating_sub(1))
            }
        }
    }
}
