//! Firing: timers due at random within an hour, the clock going on one tick at a time.
//!
//! Only the driver's calls are timed, so the figure is per timer fired and holds its share of empty
//! ticks, of moving timers from coarse to fine levels, and of handing the value over. The longest
//! single call is a workload of its own, because reading the clock around each of 3.6 million
//! ticks would be in the figure.

use std::time::Instant;

use super::HOUR_TICKS;
use super::pair_fifo::by_one_thread;
use crate::measure::{Random, Sample, Stopwatch, Took, figure, nanoseconds};
use crate::{Contestant, Tick, Time};

/// An engine with `count` timers due within an hour, all placed, and their keys.
pub fn fill_hour<C: Contestant>(count: u64) -> (C, Vec<C::Key>) {
    let mut random = Random::new(5);
    let mut engine = C::new(Time::ByHand);
    let keys = (0..count)
        .map(|index| engine.insert(Tick::new(1 + random.below(HOUR_TICKS)), [index, 0]))
        .collect();
    engine.advance(Tick::new(0));
    (engine, keys)
}

/// Goes through the hour; how many fired, and the time.
pub fn fire_tick_by_tick<C: Contestant>(engine: &mut C) -> (u64, Took) {
    let mut fired = 0;
    let watch = Stopwatch::start();
    for now in 1..=HOUR_TICKS {
        fired += engine.advance(Tick::new(now)) as u64;
    }
    (fired, watch.read())
}

fn check(fired: u64, count: u64) -> Result<(), String> {
    if fired == count {
        return Ok(());
    }
    Err(format!("{fired} fired of {count}"))
}

pub(super) fn run<C: Contestant>(pending: u64) -> Result<Sample, String> {
    let (mut engine, keys) = fill_hour::<C>(pending);
    let (fired, took) = fire_tick_by_tick(&mut engine);
    std::mem::forget((engine, keys));
    check(fired, pending)?;
    Ok(by_one_thread(took, pending))
}

pub(super) fn run_tick_max<C: Contestant>(pending: u64) -> Result<Sample, String> {
    let (mut engine, keys) = fill_hour::<C>(pending);
    let mut ticks = nanoseconds();
    let mut fired = 0;
    for now in 1..=HOUR_TICKS {
        let started = Instant::now();
        fired += engine.advance(Tick::new(now)) as u64;
        let took = started.elapsed();
        ticks.saturating_record(u64::try_from(took.as_nanos()).unwrap_or(u64::MAX));
    }
    std::mem::forget((engine, keys));
    check(fired, pending)?;
    let at = |quantile| ticks.value_at_quantile(quantile) as f64;
    Ok(Sample::new()
        .with(figure::NS_PER_OP, ticks.max() as f64)
        .with(figure::TICK_P999, at(0.999))
        .with(figure::TICK_P9999, at(0.9999))
        .with(figure::TICK_MAX, ticks.max() as f64))
}
