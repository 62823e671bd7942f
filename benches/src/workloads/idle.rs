//! Nothing to do: timers that are all over an hour away, and nobody who sets or cancels any.
//!
//! An engine that sleeps until the next timer is due does not go on a core at all. Counted are the
//! switches of all threads but the one that looks on, which sleeps too, and their CPU time.

use std::thread;
use std::time::{Duration, Instant};

use crate::measure::{Random, Sample, Stopwatch, cpu_time, figure, switches_of_others};
use crate::{Contestant, Recorder};

const HOUR: Duration = Duration::from_secs(3600);
/// The timers lie within so many times that after the first.
const HOURS: u64 = 23;
/// What setting them has left to do is done by then.
const SETTLE: Duration = Duration::from_millis(300);
const WATCHED: Duration = Duration::from_secs(2);
const UNKNOWN: &str = "switches of threads cannot be read on this system";

pub(super) fn run<C: Contestant>(timers: u64) -> Result<Sample, String> {
    watch::<C>(timers, HOUR, WATCHED)
}

/// The first timer is so long away.
fn watch<C: Contestant>(timers: u64, away: Duration, watched: Duration) -> Result<Sample, String> {
    let first = Instant::now() + away;
    let mut random = Random::new(17);
    let span_ms = HOURS * u64::try_from(away.as_millis()).expect("some hours");
    let asked: Vec<Instant> = (0..timers)
        .map(|_| first + Duration::from_millis(random.below(span_ms)))
        .collect();
    let recorder = Recorder::new(asked);
    let engine = C::fire_at(&recorder, "");
    thread::sleep(SETTLE);

    let switches = switches_of_others().ok_or(UNKNOWN)?;
    let cpu = cpu_time().ok_or(UNKNOWN)?;
    let own = Stopwatch::start();
    thread::sleep(watched);
    let took = own.read();
    // The reading between the two clocks is the watcher's own, some microseconds in all.
    let cpu = (cpu_time().ok_or(UNKNOWN)? - cpu).saturating_sub(took.own);
    let switches = switches_of_others()
        .ok_or(UNKNOWN)?
        .saturating_sub(switches);
    let pending = recorder.missing() as u64;
    std::mem::forget(engine);
    if pending != timers {
        return Err(format!("{} fired that were not due", timers - pending));
    }
    let seconds = took.wall.as_secs_f64();
    Ok(Sample::new()
        .with(figure::WAKE_UPS, switches as f64 / seconds)
        .with(figure::IDLE_CPU, cpu.as_secs_f64() * 1e6 / seconds))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::contestants::WheelAndDriver;

    /// The tests around it have threads of their own, so the counts themselves say nothing here.
    #[test]
    fn far_timers_stay_pending_and_are_watched() {
        let sample = watch::<WheelAndDriver>(1_000, HOUR, Duration::from_millis(10)).unwrap();
        assert!(sample.get(figure::WAKE_UPS).is_some());
        assert!(sample.get(figure::IDLE_CPU).is_some());
    }

    #[test]
    fn an_engine_that_fires_meanwhile_was_not_idle() {
        let soon = Duration::from_millis(1);
        let watched = || watch::<WheelAndDriver>(10, soon, Duration::from_millis(10));
        // On a busy machine they may not come to fire in time.
        let fired = (0..20).find_map(|_| watched().err());
        assert!(fired.is_some_and(|error| error.ends_with("fired that were not due")));
    }
}
