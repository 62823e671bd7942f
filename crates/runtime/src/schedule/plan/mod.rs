//! A schedule pinned to an instant, and the arithmetic of what is due next.
//!
//! ```text
//!  grid:   first      +p        +2p       +3p       +4p
//!            |---------|---------|---------|---------|
//!                      armed               ^ now
//!
//!  occur(armed, now): nominal +2p, missed 1, next +3p
//! ```
//!
//! Three layers: points (`rhythm.rs`, with `calendar.rs` and `aligned.rs` for those of the wall
//! clock), what bounds and moves them (`frame.rs`), and what is found at a look (`look.rs`).

mod make;
mod look;

mod frame;

mod rhythm;
mod calendar;
mod aligned;

use std::iter::successors;
use std::time::SystemTime;

use crate::clock::{Moment, checked_wall_of, unix_nanos};
use frame::{Frame, Owed};
#[cfg(test)]
use look::{Found, Occurrence};
pub(crate) use rhythm::Due;
use rhythm::{Reading, Rhythm};

use super::Window;

/// From this on the wall clock has been set. Less than that comes of reading two clocks one after the
/// other; that they run at different rates the system sees to.
const STEP_NS: u128 = 500_000_000;

/// A schedule that knows when it began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    body: Body,
    anchor: Anchor,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Body {
    Plain(Rhythm),
    Framed(Box<Frame>),
}

/// The same instant by both clocks, to name monotonic instants by the calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Anchor {
    now: Moment,
    wall: SystemTime,
}

// One is in each task. What only some need is in the frame.
#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Plan>() <= 48);

impl Plan {
    /// What is due after a run has ended at `now`, if that was not known before. Once its window is
    /// over, nothing is, and the run that has ended was the last one.
    pub(crate) fn after_end(
        &mut self,
        now: Moment,
        wall: impl FnOnce() -> SystemTime,
    ) -> Option<Due> {
        let Rhythm::AfterEnd { pause } = *self.rhythm() else {
            return None;
        };
        let next = Due::Monotonic(now.after(pause));
        let wall = self.wall_for(next, wall);
        self.arm(next, self.reading(now, wall))
    }

    /// What is due next after a time in which nothing was to run: on the same grid, or by the same
    /// calendar, and in the future. What had been `armed` before, if anything was, is due as it was
    /// if that is still ahead; else nothing up to now comes any more.
    ///
    /// `None`: nothing is left. Of a single instant that has passed nothing is, and that is for the
    /// caller to judge.
    pub(crate) fn next_from(
        &mut self,
        armed: Option<Due>,
        now: Moment,
        wall: SystemTime,
    ) -> Option<Due> {
        let reading = self.reading(now, wall);
        if let Rhythm::AfterEnd { .. } = self.rhythm() {
            let ahead = armed.filter(|armed| !reading.has_reached(*armed));
            return ahead.or_else(|| self.after_end(now, || wall));
        }
        let Some(mut armed) = armed else {
            let next = self.rhythm().first_after(reading)?;
            return self.arm(next, reading);
        };
        // Twice, if it is followed by the first point of a schedule that came later.
        while reading.has_reached(armed) {
            armed = self.look(armed, reading).next?;
        }
        Some(armed)
    }

    /// The plan in the place of `old`, for which `armed` waited, and what is due first. An occurrence
    /// whose instant has come, and which only its jitter or a busy driver held up, is owed: it is
    /// still due when it was, once, and this schedule follows. Not if one of the two is for a single
    /// instant: then that one is moved.
    pub(crate) fn in_place_of(
        mut self,
        old: &Plan,
        armed: Option<Due>,
        first: Due,
        (now, wall): (Moment, SystemTime),
    ) -> (Plan, Due) {
        let reading = self.reading(now, wall);
        let Some(armed) = armed.filter(|_| !self.is_once() && !old.is_once()) else {
            return (self, first);
        };
        let nominal = match old.frame().map(|frame| (frame.owed, frame.nominal)) {
            Some((Some(owed), _)) => owed.nominal,
            Some((None, point)) if reading.has_reached(point) => old.calendar(point),
            None if reading.has_reached(armed) => old.calendar(armed),
            _ => return (self, first),
        };
        let frame = self.framed(first);
        let then = frame.nominal;
        frame.owed = Some(Owed { nominal, then });
        (self, armed)
    }

    /// The nominal instants in [`from`, `to`) that the schedule has, one after the other, whether
    /// past or to come, within its window. A grid goes on to both sides. `None` if it has no
    /// instants that are known beforehand: once, or counted from the end of each run.
    pub(crate) fn between(
        &self,
        from: SystemTime,
        to: SystemTime,
    ) -> Option<impl Iterator<Item = SystemTime> + use<'_>> {
        let rhythm = self.rhythm();
        if !rhythm.has_grid() {
            return None;
        }
        let window = self.frame().map_or(Window::default(), |frame| frame.window);
        let from = window.not_before.map_or(from, |begin| begin.max(from));
        let end = window.not_after;
        let instants = successors(self.instant_from(from), |at| self.instant_after(*at));
        Some(instants.take_while(move |at| *at < to && end.is_none_or(|end| *at <= end)))
    }

    /// The nominal instant of what is due first or next, and then of all that follow, as if every
    /// run took no time.
    pub(crate) fn following(&self, point: Due) -> Option<Due> {
        let next = match *self.rhythm() {
            Rhythm::AfterEnd { pause } => point.after(pause),
            _ => self.rhythm().after(point)?,
        };
        self.within(next, self.reading(self.anchor.now, self.anchor.wall))
    }

    /// The point for which what is armed first or next is armed.
    pub(crate) fn point(&self, armed: Due) -> Due {
        self.frame().map_or(armed, |frame| frame.nominal)
    }

    /// Whether there is one occurrence only.
    pub(crate) fn is_once(&self) -> bool {
        matches!(self.rhythm(), Rhythm::Once(_))
    }

    /// Whether it was made for one occurrence, and is not one whose last occurrence has come.
    pub(crate) fn is_single(&self) -> bool {
        matches!(self.rhythm(), Rhythm::Once(due) if *due != Due::NEVER)
    }

    /// Whether its points are known before a run has ended.
    pub(crate) fn has_grid(&self) -> bool {
        self.rhythm().has_grid()
    }

    /// What the calendar says about `due`; what it cannot say is the instant at which the plan was
    /// made.
    pub(crate) fn calendar(&self, due: Due) -> SystemTime {
        self.anchor.calendar(due)
    }

    /// `point`, or the first one after it that the window has, is the one to come: when it is due.
    /// `None`: none is left, and what was found due was the last one.
    fn arm(&mut self, point: Due, reading: Reading) -> Option<Due> {
        let Some(point) = self.within(point, reading) else {
            self.end();
            return None;
        };
        let nominal = self.calendar(point);
        match &mut self.body {
            Body::Plain(_) => Some(point),
            Body::Framed(frame) => {
                frame.nominal = point;
                Some(frame.due_of(point, nominal))
            }
        }
    }

    /// The reading of the wall clock that a look at `due` needs: a plain schedule of the monotonic
    /// clock needs none.
    fn wall_for(&self, due: Due, wall: impl FnOnce() -> SystemTime) -> SystemTime {
        match (&self.body, due) {
            (Body::Plain(_), Due::Monotonic(_)) => self.anchor.wall,
            _ => wall(),
        }
    }

    fn reading(&self, now: Moment, wall: SystemTime) -> Reading {
        let steady = self.calendar(Due::Monotonic(now));
        let has_been_set = unix_nanos(steady).abs_diff(unix_nanos(wall)) >= STEP_NS;
        Reading {
            now,
            wall,
            steady_wall: if has_been_set { wall } else { steady },
        }
    }

    /// Nothing comes any more.
    fn end(&mut self) {
        self.body = Body::Plain(Rhythm::Once(Due::NEVER));
    }

    fn within(&self, point: Due, reading: Reading) -> Option<Due> {
        match self.frame() {
            None => Some(point),
            Some(frame) => frame.within(point, reading),
        }
    }

    fn rhythm(&self) -> &Rhythm {
        match &self.body {
            Body::Plain(rhythm) => rhythm,
            Body::Framed(frame) => &frame.rhythm,
        }
    }

    fn frame(&self) -> Option<&Frame> {
        match &self.body {
            Body::Plain(_) => None,
            Body::Framed(frame) => Some(frame),
        }
    }

    /// With a frame, in which `first` is armed if there was none.
    fn framed(&mut self, first: Due) -> &mut Frame {
        if let Body::Plain(rhythm) = &self.body {
            self.body = Body::Framed(Box::new(Frame {
                rhythm: rhythm.clone(),
                window: Window::default(),
                spread: None,
                nominal: first,
                owed: None,
            }));
        }
        match &mut self.body {
            Body::Framed(frame) => frame,
            Body::Plain(_) => unreachable!("it has just been given one"),
        }
    }

    /// The first nominal instant at or after `from`.
    fn instant_from(&self, from: SystemTime) -> Option<SystemTime> {
        match self.rhythm() {
            Rhythm::Wall(points) => points.first_from(from),
            Rhythm::Grid { first, period } if *first != Moment::NEVER => {
                let (from, period) = (unix_nanos(from), period.as_nanos() as i128);
                let phase = unix_nanos(self.calendar(Due::Monotonic(*first)));
                checked_wall_of(from + (phase - from).rem_euclid(period))
            }
            _ => None,
        }
    }

    /// The nominal instant after `at`, which is one.
    fn instant_after(&self, at: SystemTime) -> Option<SystemTime> {
        match self.rhythm() {
            Rhythm::Wall(points) => points.next_after(at),
            Rhythm::Grid { period, .. } => at.checked_add(*period),
            _ => None,
        }
    }
}

impl Anchor {
    fn calendar(&self, due: Due) -> SystemTime {
        match due {
            Due::Wall(at) => at,
            Due::Monotonic(due) => {
                let (ahead, behind) = (due.since(self.now), self.now.since(due));
                let at = self.wall.checked_add(ahead);
                at.and_then(|at| at.checked_sub(behind))
                    .unwrap_or(self.wall)
            }
        }
    }
}

#[cfg(test)]
mod tests;
