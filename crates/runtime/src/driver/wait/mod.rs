//! How a driver sleeps, and how others wake it.
//!
//! [`Line`] is what other threads hold: the stop flag and the bell. [`Waiter`] is what the driver
//! holds. A ring is sticky: one that comes before the sleep ends that sleep at once.
//!
//! A checker of models knows nothing of descriptors: under one the portable kind is all there is.

#[cfg(all(target_os = "linux", not(wheel_model)))]
mod event;
mod park;

use std::sync::Arc;
use std::task::Wake;
use std::time::Duration;

use wheel_sync::atomic::{AtomicBool, Ordering};

use super::wall;
use crate::clock::{Clock, ManualClock, Moment, Seat};
#[cfg(all(target_os = "linux", not(wheel_model)))]
use event::{EventBell, EventWaiter};
use park::{ParkBell, ParkWaiter};

/// When a driver that nobody rings wants to get up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Until {
    pub(super) moment: Moment,
    /// To this instant it wants to be there, and spins through the last stretch before.
    pub(super) exact: Option<Moment>,
    /// By the wall clock, counted as in `wall.rs`, if something follows that.
    pub(super) wall_ms: Option<u64>,
}

impl Until {
    /// When to wake up, by the monotonic clock, for a driver that spins through `spin`.
    fn wake_at(&self, spin: Duration) -> Moment {
        let exact = self.exact.map_or(Moment::NEVER, |exact| exact.before(spin));
        self.moment.min(exact)
    }

    /// The last stretch before the exact instant, if that comes before anything else: waits there
    /// without sleeping, unless there is news. Who wakes up before it has news as well.
    fn spin_through(&self, clock: &Clock, spin: Duration, has_news: impl Fn() -> bool) {
        let Some(exact) = self.exact else { return };
        let stretch = exact.before(spin)..exact.min(self.moment);
        while stretch.contains(&clock.now()) && !has_news() {
            std::hint::spin_loop();
        }
    }
}

/// The line to a driver, from any thread.
pub(super) struct Line {
    stopped: AtomicBool,
    bell: Bell,
}

enum Bell {
    #[cfg(all(target_os = "linux", not(wheel_model)))]
    Event(Arc<EventBell>),
    Park(Arc<ParkBell>),
    Manual(ManualClock, u64),
}

/// The driver's end. Only the driver thread uses it.
pub(super) struct Waiter(Way);

enum Way {
    #[cfg(all(target_os = "linux", not(wheel_model)))]
    Event(EventWaiter),
    Park(ParkWaiter),
    Manual(Seat),
}

/// A line and its waiter, of the best kind that the clock and the system offer.
pub(super) fn open(clock: &Clock, spin: Duration) -> (Arc<Line>, Waiter) {
    if let Some(manual) = clock.as_manual() {
        let seat = manual.take_seat();
        let bell = Bell::Manual(manual.clone(), seat.number());
        return joined(bell, Way::Manual(seat));
    }
    #[cfg(all(target_os = "linux", not(wheel_model)))]
    if let Ok((bell, waiter)) = event::open(clock, spin) {
        return joined(Bell::Event(bell), Way::Event(waiter));
    }
    open_portable(spin)
}

/// The kind that needs nothing but std: for other systems, and where descriptors have run out.
pub(super) fn open_portable(spin: Duration) -> (Arc<Line>, Waiter) {
    let (bell, waiter) = park::open(spin);
    joined(Bell::Park(bell), Way::Park(waiter))
}

fn joined(bell: Bell, way: Way) -> (Arc<Line>, Waiter) {
    let line = Line {
        stopped: AtomicBool::new(false),
        bell,
    };
    (Arc::new(line), Waiter(way))
}

impl Line {
    /// Makes the driver look again, now or before it next sleeps. Does not wait for it.
    pub(super) fn ring(&self) {
        match &self.bell {
            #[cfg(all(target_os = "linux", not(wheel_model)))]
            Bell::Event(bell) => bell.ring(),
            Bell::Park(bell) => bell.ring(),
            Bell::Manual(clock, seat) => clock.wake(*seat),
        }
    }

    /// Tells the driver to end. Can be said any number of times.
    pub(super) fn stop(&self) {
        // Release: what the stopping thread did before is visible to the driver as it ends; pairs
        // with is_stopped. The ring comes after the store, so a driver that sleeps looks again.
        // [O61]
        self.stopped.store(true, Ordering::Release);
        self.ring();
    }

    #[inline]
    pub(super) fn is_stopped(&self) -> bool {
        // Acquire: pairs with stop. [O61]
        self.stopped.load(Ordering::Acquire)
    }
}

impl Wake for Line {
    fn wake(self: Arc<Self>) {
        self.ring();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.ring();
    }
}

impl Waiter {
    /// Called on the driver thread before its first pass.
    pub(super) fn begin(&self) {
        match &self.0 {
            #[cfg(all(target_os = "linux", not(wheel_model)))]
            Way::Event(event) => event.begin(),
            Way::Park(_) => {}
            Way::Manual(seat) => seat.begin(),
        }
    }

    /// Something was due and has been handed over. Who moves a clock by hand may wait for that.
    pub(super) fn note_fired(&self) {
        if let Way::Manual(seat) = &self.0 {
            seat.note_fired();
        }
    }

    /// Sleeps until `until` or a ring; may return early. False if there was no time to sleep at
    /// all.
    pub(super) fn wait(&mut self, clock: &Clock, until: Until) -> bool {
        match &mut self.0 {
            #[cfg(all(target_os = "linux", not(wheel_model)))]
            Way::Event(event) => event.wait(clock, until),
            Way::Park(park) => park.wait(clock, until),
            Way::Manual(seat) => {
                debug_assert!(until.exact.is_none(), "by hand nobody spins");
                seat.sit(until.moment, until.wall_ms.map(wall::nanos_of_ms));
                true
            }
        }
    }
}

#[cfg(test)]
mod tests;
