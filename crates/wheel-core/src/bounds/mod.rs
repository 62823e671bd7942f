//! What work and memory cost at most, in counts that a test can hold: moves, visits, entries,
//! chunks.
//!
//! Nothing here looks at a clock. These tests stand inside the crate because the counts are nobody
//! else's business: how many entries were ever used, how many chunks the slots hold, what a sweep
//! looks at. Debug builds play smaller numbers; the bounds are formulas and the same for both.

mod budgets;
mod cascades;
mod generations;
mod limit;
mod local;
mod storms;
mod vacant_visits;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::{Budget, Config, Driver, FarEntry, Overflow, Progress, Tick, Wheel};

/// `large` in release builds, and a fraction of it in debug builds.
const fn scaled(large: usize) -> usize {
    if cfg!(debug_assertions) {
        large / 10
    } else {
        large
    }
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

/// The plainest overflow: a binary heap that a sweep looks through all at once.
#[derive(Default)]
struct PlainHeap(BinaryHeap<Reverse<(u64, u32)>>);

impl Overflow for PlainHeap {
    fn insert(&mut self, due: Tick, entry: FarEntry) {
        self.0.push(Reverse((due.get(), entry.0)));
    }

    fn next_due(&self) -> Option<Tick> {
        self.0.peek().map(|Reverse((due, _))| Tick::new(*due))
    }

    fn pop(&mut self) -> Option<(Tick, FarEntry)> {
        let Reverse((due, entry)) = self.0.pop()?;
        Some((Tick::new(due), FarEntry(entry)))
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn sweep(&mut self, limit: usize, keep: &mut dyn FnMut(FarEntry) -> bool) -> usize {
        let mut seen = 0;
        self.0.retain(|Reverse((_, entry))| {
            seen += 1;
            seen > limit || keep(FarEntry(*entry))
        });
        seen.min(limit)
    }
}
