//! What an engine holds, by the resident memory of the process.
//!
//! At rest: so many timers due within an hour, the keys that the user keeps not counted, except
//! that a future is the timer and not a key to it. In a storm: two threads set and cancel timeouts
//! of 30 s to 31 s as fast as they can, 1,024 open each, while the driver ticks in real time; the
//! most that was resident above what there was before. A full run has two storms more: timeouts of
//! one length, and of 30 s to an hour. The storms are at a million only.

use std::time::Duration;

use super::held::Held;
use super::threads::{OPEN, storm};
use super::{Effort, HOUR_TICKS};
use crate::measure::{Random, Sample, figure, forget_peak, resident_bytes};
use crate::{Contestant, Tick, Time, Workload};

const UNKNOWN: &str = "resident memory cannot be read on this system";
const STORM_THREADS: usize = 2;
const STORM_AT: u64 = 1_000_000;

pub(super) fn run<C: Contestant>(pending: u64, effort: Effort) -> Result<Sample, String> {
    let rest = at_rest::<C>(pending).ok_or(UNKNOWN)?;
    let sample = Sample::new().with(figure::BYTES_PER_TIMER, rest);
    // A storm does not depend on what is pending besides.
    let storms = pending == STORM_AT && C::left_out(Workload::MtJitter).is_none();
    if !storms || !forget_peak() {
        return Ok(sample);
    }
    let time = effort.pick(Duration::from_millis(300), Duration::from_secs(1));
    // The most that two threads make resident whose timeouts are so far apart at most.
    let held = |sample: Sample, spread_ms, peak, of_w5| {
        let held = Held::look();
        let storm = storm(C::share(STORM_THREADS), spread_ms, time);
        let sample = held.until_now::<C>(&storm, sample, of_w5);
        let bytes = sample.get(figure::PEAK_BYTES).unwrap_or(0.0);
        sample.with(peak, bytes)
    };
    let sample = match effort {
        Effort::Quick => sample,
        Effort::Full => {
            let fixed = held(sample, 1, "storm_fixed_peak_bytes", figure::FIXED_OF_W5);
            let wide = HOUR_TICKS - 30_000;
            held(fixed, wide, "storm_wide_peak_bytes", figure::WIDE_OF_W5)
        }
    };
    let mut sample = held(sample, 1_000, figure::STORM_PEAK_BYTES, figure::OF_W5);
    let peak = sample.figures.remove(figure::PEAK_BYTES).unwrap_or(0.0);
    let each = peak / (STORM_THREADS * OPEN) as f64;
    Ok(sample.with(figure::STORM_BYTES_PER_TIMER, each))
}

fn at_rest<C: Contestant>(count: u64) -> Option<f64> {
    // Threads and statics that an engine starts once are not the timers'.
    let mut engine = C::new(Time::Usual);
    let first = engine.insert(Tick::new(HOUR_TICKS), (0, 0));
    let mut random = Random::new(1);
    let mut keys = Vec::with_capacity(usize::try_from(count).ok()?);
    let before = resident_bytes()?;
    for index in 0..count {
        let due = Tick::new(10_000 + random.below(HOUR_TICKS));
        keys.push(engine.insert(due, (index, index)));
    }
    engine.advance(Tick::new(0));
    let held = resident_bytes()?.saturating_sub(before) as f64;
    let kept = (keys.len() * size_of::<C::Key>()) as f64;
    std::mem::forget((engine, keys, first));
    let is_timer_itself = matches!(C::NAME, "async_io");
    let counted = if is_timer_itself { held } else { held - kept };
    Some(counted / count as f64)
}
