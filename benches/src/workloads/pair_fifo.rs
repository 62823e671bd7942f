//! The usual life of a timeout: set, and cancelled before it fires.
//!
//! A window of 1,024 timeouts of 30 s is open at any time; each step sets one and cancels the
//! oldest. Every 1,024 pairs a millisecond has passed and the driver runs, on the same thread, so
//! its work is in the figure. The other pending timers are due in 16 to 24 hours.

use std::hint::black_box;
use std::time::Duration;

use super::Effort;
use crate::measure::{Sample, Stopwatch, Took, cpu_time, figure};
use crate::{Contestant, Tick, Time};

const WINDOW: usize = 1024;
const TIMEOUT_TICKS: u64 = 30_000;

/// A service with 1,024 open timeouts among all that are pending.
pub struct Service<C: Contestant> {
    engine: C,
    open: Vec<C::Key>,
    /// Kept, as a future that is dropped is a timer cancelled.
    others: Vec<C::Key>,
    oldest: usize,
    now: u64,
}

impl<C: Contestant> Service<C> {
    /// With `pending` timers, 1,024 at least.
    pub fn new(pending: u64) -> Self {
        let mut engine = C::new(Time::Usual);
        let standing = pending.saturating_sub(WINDOW as u64);
        // 16 to 24 hours away, which no run reaches.
        let due = |index| Tick::new(57_600_000 + index * 28_800_000 / standing);
        let others = (0..standing)
            .map(|index| engine.insert(due(index), (index, 0)))
            .collect();
        let open = (0..WINDOW as u64)
            .map(|index| engine.insert(Tick::new(TIMEOUT_TICKS), (index, 0)))
            .collect();
        engine.advance(Tick::new(0));
        Service {
            engine,
            open,
            others,
            oldest: 0,
            now: 0,
        }
    }

    /// Sets one and cancels the oldest.
    ///
    /// # Panics
    ///
    /// If the oldest is not pending any more.
    #[inline]
    pub fn pair(&mut self) {
        let due = Tick::new(self.now + TIMEOUT_TICKS);
        let key = self.engine.insert(due, (black_box(self.now), 1));
        let oldest = std::mem::replace(&mut self.open[self.oldest], key);
        let cancelled = self.engine.cancel(oldest);
        assert!(cancelled, "a timeout is gone at tick {}", self.now);
        self.oldest += 1;
        if self.oldest == WINDOW {
            self.oldest = 0;
            self.now += 1;
            self.engine.advance(Tick::new(self.now));
        }
    }

    /// The time that so many pairs take.
    pub fn pairs(&mut self, count: u64) -> Took {
        let watch = Stopwatch::start();
        for _ in 0..count {
            self.pair();
        }
        watch.read()
    }

    /// Leaves everything as it is; the process ends anyway.
    pub fn leave(self) {
        std::mem::forget((self.engine, self.open, self.others));
    }
}

pub(super) fn run<C: Contestant>(pending: u64, effort: Effort) -> Result<Sample, String> {
    let pairs = effort.pick(512 * 1024, 2048 * 1024);
    let mut service = Service::<C>::new(pending);
    service.pairs(pairs / 4);
    let cpu = cpu_time();
    let took = service.pairs(pairs);
    let sample = by_one_thread(took, pairs);
    let sample = match (cpu, cpu_time()) {
        (Some(before), Some(after)) => {
            let used = (after - before).as_nanos() as f64 / pairs as f64;
            sample.with(figure::CPU_NS_PER_OP, used)
        }
        _ => sample,
    };
    service.leave();
    Ok(sample)
}

/// The sample of `count` operations of one thread.
pub(super) fn by_one_thread(took: Took, count: u64) -> Sample {
    let wall = took.wall.as_nanos() as f64 / count as f64;
    per_op(took.own, count).with(figure::WALL_NS_PER_OP, wall)
}

/// The sample of `count` operations in `took`.
pub(super) fn per_op(took: Duration, count: u64) -> Sample {
    let ns = took.as_nanos() as f64 / count as f64;
    Sample::new()
        .with(figure::NS_PER_OP, ns)
        .with(figure::MOPS, 1e3 / ns)
}
