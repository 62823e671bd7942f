//! Firing: timers due at random within an hour, the clock going on one tick at a time.
//!
//! Only the driver's calls are timed, so the figure is per timer fired and holds its share of empty
//! ticks, of moving timers from coarse to fine levels, and of handing the value over. The longest
//! single call is a workload of its own, because reading the clock around each of 3.6 million
//! ticks would be in the figure. Time that the thread has no core for is no engine's fault and is
//! taken off; it stands in the JSON as part of `tick_wall_max_ns`.

use std::time::{Duration, Instant};

use super::HOUR_TICKS;
use super::pair_fifo::by_one_thread;
use crate::measure::{Random, Sample, Stopwatch, Took, figure, nanoseconds};
use crate::{Contestant, Tick, Time};

/// An engine with `count` timers due within an hour, all placed, and their keys.
pub fn fill_hour<C: Contestant>(count: u64) -> (C, Vec<C::Key>) {
    let mut random = Random::new(5);
    let mut engine = C::new(Time::ByHand);
    let keys = (0..count)
        .map(|index| engine.insert(Tick::new(1 + random.below(HOUR_TICKS)), (index, 0)))
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
    let mut clock = TickClock::start();
    for now in 1..=HOUR_TICKS {
        fired += engine.advance(Tick::new(now)) as u64;
        ticks.saturating_record(clock.tick_ns());
    }
    std::mem::forget((engine, keys));
    check(fired, pending)?;
    let at = |quantile| ticks.value_at_quantile(quantile) as f64;
    Ok(Sample::new()
        .with(figure::NS_PER_OP, ticks.max() as f64)
        .with(figure::TICK_P999, at(0.999))
        .with(figure::TICK_P9999, at(0.9999))
        .with(figure::TICK_MAX, ticks.max() as f64)
        .with("tick_wall_max_ns", clock.longest.as_nanos() as f64))
}

/// Ticks that are longer than this are looked into.
const SUSPECT: Duration = Duration::from_micros(5);

/// Times each tick by the wall's clock, and takes off what the thread has not had a core for.
///
/// Reading a thread's CPU time takes longer than most ticks, so it is read after suspect ticks
/// only: what the thread was off a core since the last of them is taken to have been in this one,
/// as the short ticks in between left no room for it. Each tick begins where the last ended.
struct TickClock {
    ended: Instant,
    since_suspect: Stopwatch,
    /// The longest by the wall's clock alone.
    longest: Duration,
}

impl TickClock {
    fn start() -> TickClock {
        TickClock {
            since_suspect: Stopwatch::start(),
            ended: Instant::now(),
            longest: Duration::ZERO,
        }
    }

    #[inline]
    fn tick_ns(&mut self) -> u64 {
        let now = Instant::now();
        let took = now.duration_since(std::mem::replace(&mut self.ended, now));
        let own = if took > SUSPECT {
            self.look_into(took)
        } else {
            took
        };
        u64::try_from(own.as_nanos()).unwrap_or(u64::MAX)
    }

    #[cold]
    fn look_into(&mut self, took: Duration) -> Duration {
        self.longest = self.longest.max(took);
        let since = std::mem::replace(&mut self.since_suspect, Stopwatch::start()).read();
        self.ended = Instant::now();
        took.saturating_sub(since.wall.saturating_sub(since.own))
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_tick_is_not_charged_for_what_the_thread_had_no_core_for() {
        let mut clock = TickClock::start();
        std::thread::sleep(Duration::from_millis(40));
        assert!(clock.tick_ns() < 20_000_000);
        assert!(clock.longest >= Duration::from_millis(40));
    }

    #[test]
    fn a_tick_is_charged_for_its_own_work() {
        let mut clock = TickClock::start();
        let watch = Stopwatch::start();
        let mut sum = 0_u64;
        while watch.read().own < Duration::from_millis(10) {
            sum = std::hint::black_box(sum + 1);
        }
        assert!(clock.tick_ns() >= 5_000_000);
    }
}
