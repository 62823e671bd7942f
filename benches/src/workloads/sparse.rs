//! An hour in which nothing is due, with every timer more than an hour away.
//!
//! The hour in one call, as an engine sees it that sleeps until something is due, from 5 fresh
//! engines; and ticked through one by one, as one sees it that cannot.

use std::time::Instant;

use super::HOUR_TICKS;
use crate::measure::{Random, Sample, Stopwatch, figure, median};
use crate::{Contestant, Tick, Time};

const CALLS: usize = 5;

fn fill<C: Contestant>(count: u64) -> (C, Vec<C::Key>) {
    let mut random = Random::new(3);
    let mut engine = C::new(Time::ByHand);
    let due = |random: &mut Random| Tick::new(HOUR_TICKS + 1_000 + random.below(20 * HOUR_TICKS));
    let keys = (0..count)
        .map(|index| engine.insert(due(&mut random), (index, 0)))
        .collect();
    engine.advance(Tick::new(0));
    (engine, keys)
}

/// Several engines in one process: tokio's stays entered, so each is left as it is.
pub(super) fn run<C: Contestant>(pending: u64) -> Result<Sample, String> {
    let mut calls = Vec::new();
    let mut early = 0;
    for _ in 0..CALLS {
        let (mut engine, keys) = fill::<C>(pending);
        let started = Instant::now();
        early += engine.advance(Tick::new(HOUR_TICKS));
        calls.push(started.elapsed().as_nanos() as f64);
        std::mem::forget((engine, keys));
    }
    let (mut engine, keys) = fill::<C>(pending);
    let watch = Stopwatch::start();
    for now in 1..=HOUR_TICKS {
        early += engine.advance(Tick::new(now));
    }
    let ticked = watch.read().own;
    std::mem::forget((engine, keys));
    if early > 0 {
        return Err(format!("{early} fired that were not due"));
    }
    let call = median(&calls).unwrap_or(0.0);
    Ok(Sample::new().with(figure::NS_PER_OP, call).with(
        figure::EMPTY_TICK_NS,
        ticked.as_nanos() as f64 / HOUR_TICKS as f64,
    ))
}
