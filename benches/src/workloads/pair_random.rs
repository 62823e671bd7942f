//! No pattern to exploit: a random one of all pending is cancelled, and one with a random delay set
//! in its place.
//!
//! Every 1,024 pairs a millisecond has passed and the driver runs, with all its sweeping. Delays
//! are at least 10 s, which no run reaches, so that every cancel finds its timer.

use super::pair_fifo::by_one_thread;
use super::{Effort, HOUR_TICKS};
use crate::measure::{Random, Sample, Stopwatch, Took};
use crate::{Contestant, Tick, Time};

const LEAST_TICKS: u64 = 10_000;
const SEED: u64 = 11;

/// Timers that are pending, and where the run stands.
pub struct Shuffle<C: Contestant> {
    engine: C,
    pending: Vec<C::Key>,
    random: Random,
    now: u64,
    pairs: u64,
}

impl<C: Contestant> Shuffle<C> {
    /// With `pending` timers due within an hour.
    pub fn new(pending: u64) -> Self {
        let mut engine = C::new(Time::Usual);
        let mut random = Random::new(SEED);
        let keys = (0..pending).map(|index| engine.insert(due(0, &mut random), (index, 0)));
        let keys = keys.collect();
        engine.advance(Tick::new(0));
        Shuffle {
            engine,
            pending: keys,
            random,
            now: 0,
            pairs: 0,
        }
    }

    /// The time that so many pairs take.
    ///
    /// # Panics
    ///
    /// If a timer is gone that was not cancelled.
    pub fn pairs(&mut self, count: u64) -> Took {
        let watch = Stopwatch::start();
        for _ in 0..count {
            let index = self.random.below(self.pending.len() as u64);
            let due = due(self.now, &mut self.random);
            let key = self.engine.insert(due, (index, 1));
            let place = usize::try_from(index).expect("an index");
            let old = std::mem::replace(&mut self.pending[place], key);
            assert!(self.engine.cancel(old), "a timer is gone at {}", self.now);
            self.pairs += 1;
            if self.pairs.is_multiple_of(1024) {
                self.now += 1;
                self.engine.advance(Tick::new(self.now));
            }
        }
        watch.read()
    }

    /// Leaves everything as it is; the process ends anyway.
    pub fn leave(self) {
        std::mem::forget((self.engine, self.pending));
    }
}

fn due(now: u64, random: &mut Random) -> Tick {
    Tick::new(now + LEAST_TICKS + random.below(HOUR_TICKS - LEAST_TICKS))
}

pub(super) fn run<C: Contestant>(pending: u64, effort: Effort) -> Result<Sample, String> {
    let pairs = effort.pick(256 * 1024, 1024 * 1024);
    let mut shuffle = Shuffle::<C>::new(pending);
    shuffle.pairs(pairs / 8);
    let sample = by_one_thread(shuffle.pairs(pairs), pairs);
    shuffle.leave();
    Ok(sample)
}
