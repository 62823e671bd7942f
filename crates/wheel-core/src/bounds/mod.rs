//! What work and memory cost at most, in counts that a test can hold: moves, visits, entries,
//! chunks.
//!
//! Nothing here looks at a clock. These tests stand inside the crate because the counts are nobody
//! else's business: how many entries were ever used, how many chunks the slots hold, what a sweep
//! looks at. Debug builds play a tenth of the size unless `WHEEL_FULL` is set, as `cargo xtask
//! stress` does; the bounds are formulas and the same for both.

mod baseline;
mod budgets;
mod cascades;
mod generations;
mod jumps;
mod kinds;
mod limit;
mod local;
mod seen;
mod storms;
mod vacant_visits;

use std::collections::BTreeSet;

use seen::Seen;

use crate::{Budget, Config, Driver, FarEntry, Fired, Overflow, Progress, Tick, TickLength, Wheel};

/// `large` in release builds or when `WHEEL_FULL` is set, and a tenth of it otherwise.
fn scaled(large: usize) -> usize {
    match cfg!(debug_assertions) && std::env::var_os("WHEEL_FULL").is_none() {
        true => large / 10,
        false => large,
    }
}

/// The finest tick: 10 us.
fn fine() -> TickLength {
    TickLength::new(std::time::Duration::from_micros(10)).expect("it divides a millisecond")
}

/// A wheel with its driver and the tick that it has been advanced to.
struct Rig<T> {
    wheel: Wheel<T>,
    driver: Driver<T>,
    now: u64,
}

impl<T> Rig<T> {
    fn new(config: Config) -> Rig<T> {
        let (wheel, driver) = config.build();
        Rig {
            wheel,
            driver,
            now: 0,
        }
    }

    /// Advances to `now` with no limit, and says what was done. Each timer must be due exactly by
    /// then.
    fn advance(&mut self, now: u64) -> Progress {
        self.now = now;
        let done = self
            .driver
            .advance(Tick::new(now), Budget::UNLIMITED, |timer| {
                assert_eq!(timer.due.get(), now, "fired at another tick than its own");
            });
        assert!(!done.more, "nothing limits this advance");
        done
    }

    /// Advances to `now` with so much at a time, until nothing is left to do. Says how many calls
    /// that took. None of them may touch more than its budget.
    fn advance_by(&mut self, now: u64, budget: usize, mut fire: impl FnMut(Fired<T>)) -> usize {
        self.now = now;
        for calls in 1.. {
            let (tick, few) = (Tick::new(now), Budget::new(budget));
            let before = Seen::by(&self.driver.levels);
            let done = self.driver.advance(tick, few, &mut fire);
            let touched = done.fired + done.moved;
            assert!(touched <= budget, "{touched} touched, {budget} at most");
            before.assert_fits(&self.driver.levels, touched);
            if !done.more {
                return calls;
            }
            assert!(touched > 0, "cut, and nothing was done");
        }
        unreachable!()
    }

    /// The next tick to visit.
    fn next(&mut self) -> Option<u64> {
        self.driver.next_due().map(Tick::get)
    }

    /// Advances from visit to visit until nothing is pending, and shows each visit's work to `see`.
    /// Every timer must fire at its own tick. Returns how many fired.
    fn run_dry(&mut self, mut see: impl FnMut(u64, Progress)) -> usize {
        let mut fired = 0;
        while let Some(next) = self.next() {
            assert!(next > self.now, "visited tick {next} twice");
            let done = self.advance(next);
            fired += done.fired;
            see(next, done);
        }
        fired
    }

    /// Entries that were ever used.
    fn used(&self) -> usize {
        self.driver.engine.arena.used() as usize
    }

    /// Chunks that exist, and chunks that hold items.
    fn chunks(&self) -> (usize, usize) {
        self.driver.levels.pool.chunks()
    }
}

/// The plainest overflow: a sorted set, which a sweep goes through in order.
#[derive(Default)]
struct PlainHeap {
    entries: BTreeSet<(u64, u32)>,
    /// Where the round of the sweep goes on.
    unseen: Option<(u64, u32)>,
}

impl Overflow for PlainHeap {
    fn insert(&mut self, due: Tick, entry: FarEntry) {
        self.entries.insert((due.get(), entry.0));
    }

    fn next_due(&self) -> Option<Tick> {
        self.entries.first().map(|&(due, _)| Tick::new(due))
    }

    fn pop(&mut self) -> Option<(Tick, FarEntry)> {
        let (due, entry) = self.entries.pop_first()?;
        Some((Tick::new(due), FarEntry(entry)))
    }

    fn len(&self) -> usize {
        self.entries.len()
    }

    fn sweep(&mut self, limit: usize, keep: &mut dyn FnMut(FarEntry) -> bool) -> usize {
        let mut from = self.unseen.take().unwrap_or((0, 0));
        for looked in 0..limit {
            let Some(&(due, entry)) = self.entries.range(from..).next() else {
                return looked;
            };
            if !keep(FarEntry(entry)) {
                self.entries.remove(&(due, entry));
            }
            from = (due, entry + 1);
        }
        self.unseen = Some(from);
        limit
    }
}
