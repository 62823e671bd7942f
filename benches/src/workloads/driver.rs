//! The driver's own limit: what it takes for an entry that it places, moves, fires or frees.
//!
//! One driver serves all threads, so this is where a wheel ends. Each step is measured alone, on
//! timers that are made for it, at ticks of a millisecond:
//!
//! - placed: due at random within an hour, all taken from the intake in one call;
//! - moved: due within the third minute, so that all are moved from minutes to seconds while the
//!   second minute goes by tick by tick, and those of its first second once more; the empty part
//!   of a tick is in it;
//! - fired: due within the second second, so that they are placed where they fire;
//! - freed: cancelled before the driver has come by, and met at the intake.
//!
//! Timers are set in the order of their entries and due at random, so that the driver meets memory
//! as it does in use.

use std::hint::black_box;

use wheel_core::{Budget, Config, Driver, Wheel};

use super::HOUR_TICKS;
use crate::measure::{Random, Sample, Stopwatch, figure};
use crate::{Tick, Value};

const SECOND: u64 = 1_000;
const MINUTE: u64 = 60 * SECOND;

/// A wheel with `count` timers on its intake, due at random from `first` on, within `span`.
fn on_the_intake(count: u64, first: u64, span: u64) -> (Wheel<Value>, Driver<Value>) {
    let (wheel, driver) = Config::new().build();
    let mut random = Random::new(19);
    for index in 0..count {
        let due = Tick::new(first + random.below(span));
        wheel.insert(due, (index, 0)).expect("it has no limit");
    }
    (wheel, driver)
}

/// What so many ticks in turn have fired and moved, and CPU time in nanoseconds.
fn go_on(driver: &mut Driver<Value>, ticks: std::ops::RangeInclusive<u64>) -> (u64, u64, f64) {
    let (mut fired, mut moved) = (0, 0);
    let watch = Stopwatch::start();
    for now in ticks {
        let progress = driver.advance(Tick::new(now), Budget::UNLIMITED, |timer| {
            black_box(timer.value);
        });
        fired += progress.fired as u64;
        moved += progress.moved as u64;
    }
    (fired, moved, watch.read().own.as_nanos() as f64)
}

/// The time for each of `count`, if the driver has done what it was to do.
fn each(what: &str, done: u64, count: u64, took: f64) -> Result<f64, String> {
    if done == count {
        return Ok(took / count as f64);
    }
    Err(format!("{done} of {count} were {what}"))
}

pub(super) fn run(count: u64) -> Result<Sample, String> {
    let (wheel, mut driver) = on_the_intake(count, SECOND, HOUR_TICKS - SECOND);
    let (_, moved, took) = go_on(&mut driver, 0..=0);
    let placed = each("placed", moved, count, took)?;
    std::mem::forget((wheel, driver));

    let (wheel, mut driver) = on_the_intake(count, 2 * MINUTE, MINUTE);
    go_on(&mut driver, 0..=MINUTE - 1);
    let (fired, moved, took) = go_on(&mut driver, MINUTE..=2 * MINUTE - 1);
    if fired > 0 {
        return Err(format!("{fired} fired early"));
    }
    let cascaded = took / moved.max(1) as f64;
    if moved < count {
        return Err(format!("{moved} of {count} were moved"));
    }
    std::mem::forget((wheel, driver));

    let (wheel, mut driver) = on_the_intake(count, SECOND, SECOND);
    go_on(&mut driver, 0..=SECOND - 1);
    let (done, _, took) = go_on(&mut driver, SECOND..=2 * SECOND);
    let fired = each("fired", done, count, took)?;
    std::mem::forget((wheel, driver));

    let (wheel, mut driver) = Config::new().build();
    let mut random = Random::new(23);
    let keys: Vec<_> = (0..count)
        .map(|index| {
            let due = Tick::new(SECOND + random.below(HOUR_TICKS));
            wheel.insert(due, (index, 0)).expect("it has no limit")
        })
        .collect();
    for key in keys {
        black_box(wheel.cancel(key));
    }
    let (_, moved, took) = go_on(&mut driver, 0..=0);
    let freed = each("freed", moved, count, took)?;
    std::mem::forget((wheel, driver));

    Ok(Sample::new()
        .with(figure::NS_PER_OP, placed + cascaded + fired)
        .with(figure::PLACED_NS, placed)
        .with(figure::CASCADED_NS, cascaded)
        .with(figure::FIRED_NS, fired)
        .with(figure::FREED_NS, freed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_step_is_measured_on_every_timer() {
        let sample = run(5_000).unwrap();
        for name in [
            figure::PLACED_NS,
            figure::CASCADED_NS,
            figure::FIRED_NS,
            figure::FREED_NS,
        ] {
            assert!(sample.get(name).is_some_and(|ns| ns > 0.0), "{name}");
        }
    }

    #[test]
    fn a_step_that_was_not_done_on_all_is_no_figure() {
        assert_eq!(each("fired", 10, 10, 50.0), Ok(5.0));
        assert!(each("fired", 9, 10, 50.0).is_err());
    }
}
