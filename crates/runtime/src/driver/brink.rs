//! What is due within the stretch that a precise driver spins through: each to its own instant, in
//! the order of those.
//!
//! ```text
//!          tick      tick      tick      tick
//!  --------|---------|---------|---------|----> time
//!          |<- taken out of    |<--spin->|due
//!              the wheel here: the tick in which the spin begins
//! ```
//!
//! A wheel knows ticks only, and what is due between two of them it fires at the second. A driver
//! that waits precisely has each timer placed for the tick in which its spin will begin, takes it
//! from there in time, and keeps it here until its instant has come. The driver thread alone
//! touches it.

use std::collections::BinaryHeap;
use std::time::Duration;

use wheel_core::{Tick, TickLength};

use crate::clock::Moment;
use crate::ranked::Ranked;

/// How an engine gets from an instant to a tick.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placing {
    pub(super) tick: TickLength,
    /// Spin through this last stretch before something is due; zero: fire by ticks.
    pub(super) spin: Duration,
}

impl Placing {
    pub(super) fn is_precise(self) -> bool {
        !self.spin.is_zero()
    }

    /// The tick at which the driver has to look at what is due at `due`.
    pub(super) fn tick_of(self, due: Moment) -> Tick {
        if self.is_precise() && due != Moment::NEVER {
            due.before(self.spin).tick_floor(self.tick)
        } else {
            due.tick_ceil(self.tick)
        }
    }

    /// The same for what comes again and again: once in a tick at most.
    pub(super) fn tick_of_next(self, due: Moment, now: impl FnOnce() -> Moment) -> Tick {
        let at = self.tick_of(due);
        if self.is_precise() && at <= now().tick_floor(self.tick) {
            return due.tick_ceil(self.tick);
        }
        at
    }

    /// Whether `due` is what was asked for of something that fires at the tick `at`. A reset moves
    /// the tick only; then the tick is all that is known.
    pub(super) fn was_asked(self, due: Moment, at: Tick) -> bool {
        let around = due.tick_floor(self.tick)..=due.tick_ceil(self.tick);
        around.contains(&at) || self.tick_of(due) == at
    }

    /// Whether something that fires at the tick `at` has to wait for its instant `due`. If it was
    /// reset to an earlier tick it may look so by accident, and is late by the stretch then.
    pub(super) fn waits_for(self, due: Moment, at: Tick, now: Moment) -> bool {
        let placed = self.tick_of(due);
        self.is_precise() && (placed == at || (placed < at && due > now))
    }
}

/// Values that left the wheel before they were due.
pub(super) struct Brink<T> {
    heap: BinaryHeap<Ranked<Rank, T>>,
    arrivals: u64,
}

/// By the instant, and of the same one first come, first served.
type Rank = (Moment, u64);

impl<T> Brink<T> {
    pub(super) fn new() -> Brink<T> {
        Brink {
            heap: BinaryHeap::new(),
            arrivals: 0,
        }
    }

    pub(super) fn hold(&mut self, due: Moment, value: T) {
        let rank = (due, self.arrivals);
        self.arrivals += 1;
        self.heap.push(Ranked { rank, value });
    }

    /// The earliest, if it is due at `now`, and when it was due.
    pub(super) fn pop_due(&mut self, now: Moment) -> Option<(Moment, T)> {
        if self.next_due()? > now {
            return None;
        }
        self.heap.pop().map(|first| (first.rank.0, first.value))
    }

    pub(super) fn next_due(&self) -> Option<Moment> {
        self.heap.peek().map(|first| first.rank.0)
    }

    pub(super) fn len(&self) -> usize {
        self.heap.len()
    }

    pub(super) fn take_all(&mut self) -> impl Iterator<Item = T> {
        self.heap.drain().map(|held| held.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(nanos: u64) -> Moment {
        Moment::from_nanos(nanos)
    }

    #[test]
    fn what_is_held_comes_in_the_exact_order_of_dues_and_not_early() {
        let mut brink = Brink::new();
        for (due, name) in [(700, "c"), (100, "a"), (700, "d"), (650, "b"), (900, "e")] {
            brink.hold(at(due), name);
        }
        assert_eq!(brink.next_due(), Some(at(100)));
        assert_eq!(brink.pop_due(at(99)), None);
        let due = std::iter::from_fn(|| brink.pop_due(at(700)));
        let due: Vec<_> = due.map(|(_, name)| name).collect();
        assert_eq!(due, ["a", "b", "c", "d"]);
        assert_eq!(brink.take_all().collect::<Vec<_>>(), ["e"]);
        assert_eq!(brink.next_due(), None);
    }

    #[test]
    fn a_precise_driver_looks_before_the_stretch_and_any_other_at_the_tick_behind() {
        let tick = TickLength::MILLISECOND;
        let placing = |micros| Placing {
            tick,
            spin: Duration::from_micros(micros),
        };
        let due = at(5_050_000);
        assert_eq!(placing(0).tick_of(due), Tick::new(6));
        assert_eq!(placing(50).tick_of(due), Tick::new(5));
        assert_eq!(placing(51).tick_of(due), Tick::new(4));
        for micros in [0, 100] {
            assert_eq!(placing(micros).tick_of(Moment::NEVER), Tick::MAX);
        }
    }

    #[test]
    fn what_was_placed_for_its_instant_waits_for_it_and_what_was_reset_does_not() {
        let placing = Placing {
            tick: TickLength::MILLISECOND,
            spin: Duration::from_micros(100),
        };
        let (due, now) = (at(5_050_000), at(4_000_100));
        let placed = placing.tick_of(due);
        assert_eq!(placed, Tick::new(4));
        assert!(placing.waits_for(due, placed, now) && placing.was_asked(due, placed));
        // Reset to later: the old instant has passed. To earlier: it is far away.
        assert!(!placing.waits_for(due, Tick::new(9), at(9_000_000)));
        assert!(!placing.was_asked(due, Tick::new(9)));
        assert!(!placing.waits_for(due, Tick::new(2), at(2_000_000)));
    }

    #[test]
    fn what_comes_again_within_a_tick_comes_at_the_next_one() {
        let placing = Placing {
            tick: TickLength::MILLISECOND,
            spin: Duration::from_micros(100),
        };
        let now = || at(5_200_000);
        assert_eq!(placing.tick_of_next(at(5_200_001), now), Tick::new(6));
        assert_eq!(placing.tick_of_next(at(6_050_000), now), Tick::new(7));
        assert_eq!(placing.tick_of_next(at(7_150_000), now), Tick::new(7));
        assert!(placing.waits_for(at(7_150_000), Tick::new(7), at(7_000_000)));
    }
}
