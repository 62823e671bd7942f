//! What only some schedules have: a window, jitter, an occurrence that is owed. In a box of its own,
//! so that the others do not grow.
//!
//! ```text
//!  point (nominal) --window: within?--> --jitter--> due, which is armed
//! ```

use std::time::{Duration, SystemTime};

use super::rhythm::{Due, Reading, Rhythm};
use crate::policy::{Draws, Jitter};
use crate::schedule::Window;

/// No point is spread up to the next one: it stays a tick before, the longest there is.
const DISTANCE: Duration = Duration::from_millis(1);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) rhythm: Rhythm,
    pub(super) window: Window,
    pub(super) spread: Option<Spread>,
    /// The point for which something is armed.
    pub(super) nominal: Due,
    /// What is armed is no point of this schedule.
    pub(super) owed: Option<Owed>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spread {
    pub(super) jitter: Jitter,
    pub(super) draws: Draws,
}

/// An occurrence of the schedule before, whose instant had come when it was replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Owed {
    pub(super) nominal: SystemTime,
    /// The first point of this schedule.
    pub(super) then: Due,
}

impl Frame {
    /// `point` if it lies in the window as the clocks stand now, else the first one that does.
    pub(super) fn within(&self, point: Due, reading: Reading) -> Option<Due> {
        let by_wall = |at: SystemTime| reading.when_wall_reads(at, point);
        let (begin, end) = (self.window.not_before, self.window.not_after);
        let point = match begin.map(by_wall) {
            Some(begin) if point < begin => self.rhythm.first_from(begin)?,
            _ => point,
        };
        let is_behind = end.map(by_wall).is_some_and(|end| point > end);
        (!is_behind).then_some(point)
    }

    /// The last instant of the window, or the reading, whichever comes first.
    pub(super) fn end_by(&self, reading: Due, clocks: Reading) -> Due {
        let end = self.window.not_after;
        match end.map(|end| clocks.when_wall_reads(end, reading)) {
            Some(end) if end < reading => end,
            _ => reading,
        }
    }

    /// When what is for `point` is due; the calendar calls it `nominal`.
    pub(super) fn due_of(&self, point: Due, nominal: SystemTime) -> Due {
        let Some(Spread { jitter, draws }) = self.spread else {
            return point;
        };
        let next = self.rhythm.after(point);
        let room = next.map_or(Duration::MAX, |next| {
            next.since(point).saturating_sub(DISTANCE)
        });
        point.after(jitter.offset(room, draws, nominal))
    }
}
