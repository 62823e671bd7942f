//! Where a driver sits while it has nothing to do, and what it does there: it sleeps, or moves the
//! time on if it is the last one to sit down and there is a goal.

use wheel_sync::thread;

use super::{ManualClock, Moment};

/// The place of one driver at a manual clock; given back when the driver ends, however it ends.
pub(crate) struct Seat {
    pub(super) clock: ManualClock,
    pub(super) number: u64,
}

impl Seat {
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Says which thread sits here; called on it, before its first pass.
    pub(crate) fn begin(&self) {
        let mut time = self.clock.0.time.lock();
        time.seat(self.number).thread = Some(thread::current().id());
    }

    /// Something was due, and has been handed over.
    pub(crate) fn note_fired(&self) {
        self.clock.0.time.lock().fired += 1;
    }

    /// Sits until `until`, or until the wall clock reads `wall_ns`, or until woken.
    pub(crate) fn sit(&self, until: Moment, wall_ns: Option<i128>) {
        let mut time = self.clock.0.time.lock();
        let by_wall = wall_ns.map_or(Moment::NEVER, |wall| {
            let at = wall - time.wall_at_origin;
            Moment::from_nanos(u64::try_from(at.max(0)).unwrap_or(u64::MAX))
        });
        let until = until.min(by_wall);
        let seat = time.seat(self.number);
        seat.sitting = true;
        seat.until = until;
        while !time.seat(self.number).woken && !time.has_reached(until) {
            if time.now < time.goal && time.is_quiet() {
                time.step_towards_goal();
                if time.seats.len() > 1 {
                    self.clock.0.moved.notify_all();
                }
                continue;
            }
            if time.is_quiet() {
                self.clock.0.settled.notify_all();
            }
            time = self.clock.0.moved.wait(time);
        }
        let seat = time.seat(self.number);
        seat.sitting = false;
        seat.woken = false;
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut time = self.clock.0.time.lock();
        time.seats.retain(|seat| seat.number != self.number);
        drop(time);
        self.clock.0.settled.notify_all();
    }
}
