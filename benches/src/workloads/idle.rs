//! Nothing to do: timers that are all over an hour away, and nobody who sets or cancels any.
//!
//! An engine that sleeps until the next timer is due does not go on a core at all. Counted are the
//! switches of all threads but the one that looks on, which sleeps too, and their CPU time.

use std::thread;
use std::time::{Duration, Instant};

use crate::measure::{Random, Sample, Stopwatch, cpu_time, figure, switches_of_others};
use crate::{Contestant, Recorder};

const HOUR: Duration = Duration::from_secs(3600);
/// The timers lie within so many hours after the first.
const HOURS: u64 = 23;
/// What setting them has left to do is done by then.
const SETTLE: Duration = Duration::from_millis(500);
const WATCHED: Duration = Duration::from_secs(3);
const UNKNOWN: &str = "switches of threads cannot be read on this system";

pub(super) fn run<C: Contestant>(timers: u64) -> Result<Sample, String> {
    watch::<C>(timers, WATCHED)
}

fn watch<C: Contestant>(timers: u64, watched: Duration) -> Result<Sample, String> {
    let first = Instant::now() + HOUR;
    let mut random = Random::new(17);
    let span_ms = HOURS * 3_600_000;
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
        return Err(format!("{} fired an hour early", timers - pending));
    }
    let seconds = took.wall.as_secs_f64();
    Ok(Sample::new()
        .with(figure::WAKE_UPS, switches as f64 / seconds)
        .with(figure::IDLE_CPU, cpu.as_secs_f64() * 1e6 / seconds))
}
