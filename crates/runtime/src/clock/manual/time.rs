//! The time, and who sits where: what the one mutex guards.

use wheel_sync::thread::ThreadId;

use super::Moment;

pub(super) struct Time {
    pub(super) now: Moment,
    /// What the wall clock said, or would have said, at the origin.
    pub(super) wall_at_origin: i128,
    /// Up to here drivers move the time on, once all of them sit.
    pub(super) goal: Moment,
    /// How often drivers had something due.
    pub(super) fired: u64,
    pub(super) seats: Vec<SeatState>,
    pub(super) next_seat: u64,
}

pub(super) struct SeatState {
    pub(super) number: u64,
    pub(super) thread: Option<ThreadId>,
    pub(super) sitting: bool,
    pub(super) woken: bool,
    pub(super) until: Moment,
}

impl Time {
    pub(super) fn wall(&self) -> i128 {
        self.wall_at_origin + i128::from(self.now.as_nanos())
    }

    pub(super) fn is_driver(&self, thread: ThreadId) -> bool {
        self.seats.iter().any(|seat| seat.thread == Some(thread))
    }

    pub(super) fn is_quiet(&self) -> bool {
        self.seats
            .iter()
            .all(|seat| seat.sitting && !seat.woken && !self.has_reached(seat.until))
    }

    /// When the first driver gets up by itself.
    pub(super) fn next(&self) -> Option<Moment> {
        self.seats.iter().map(|seat| seat.until).min()
    }

    /// All drivers sit: the time goes on to what is next, or to the goal if that is nearer.
    pub(super) fn step_towards_goal(&mut self) {
        let next = self.next().unwrap_or(Moment::NEVER);
        self.now = self.now.max(next.min(self.goal));
    }

    /// The end of time is never reached.
    pub(super) fn has_reached(&self, until: Moment) -> bool {
        until <= self.now && until != Moment::NEVER
    }

    pub(super) fn seat(&mut self, number: u64) -> &mut SeatState {
        let seat = self.seats.iter_mut().find(|seat| seat.number == number);
        seat.expect("a driver keeps its seat until it ends")
    }
}
