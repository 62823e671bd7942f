//! Timers that are set and stay: due at random within an hour, in an engine that was empty.
//!
//! The driver runs after every 1,024 of them, and its time is taken apart from the caller's. The
//! engine pays for its memory as it grows; that is part of what a user sees, so nothing is warmed
//! up.

use super::HOUR_TICKS;
use crate::measure::{Random, Sample, Stopwatch, Took, figure};
use crate::{Contestant, Tick, Time};

const BATCH: u64 = 1024;

/// Fills an engine with `count` timers: the caller's time and the driver's.
pub fn fill<C: Contestant>(count: u64) -> (Took, Took) {
    let mut random = Random::new(7);
    let mut engine = C::new(Time::Usual);
    let mut keys = Vec::with_capacity(usize::try_from(count).expect("as many as fit"));
    let (mut callers, mut drivers) = (Took::default(), Took::default());
    let mut now = 0;
    let mut left = count;
    while left > 0 {
        let batch = BATCH.min(left);
        let inserting = Stopwatch::start();
        for index in 0..batch {
            let due = Tick::new(now + 1_000 + random.below(HOUR_TICKS - 1_000));
            keys.push(engine.insert(due, (left, index)));
        }
        callers += inserting.read();
        now += 1;
        let driving = Stopwatch::start();
        engine.advance(Tick::new(now));
        drivers += driving.read();
        left -= batch;
    }
    drop((engine, keys));
    (callers, drivers)
}

pub(super) fn run<C: Contestant>(pending: u64) -> Result<Sample, String> {
    let (callers, drivers) = fill::<C>(pending);
    let caller = callers.own.as_nanos() as f64 / pending as f64;
    let driver = drivers.own.as_nanos() as f64 / pending as f64;
    Ok(Sample::new()
        .with(figure::NS_PER_OP, caller)
        .with(figure::MOPS, 1e3 / caller)
        .with(
            figure::WALL_NS_PER_OP,
            callers.wall.as_nanos() as f64 / pending as f64,
        )
        .with(figure::DRIVER_NS_PER_OP, driver)
        .with(figure::WITH_DRIVER_NS_PER_OP, caller + driver))
}
