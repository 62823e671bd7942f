//! How late timers are in real time: 10 thousand over 2 s on a machine that is otherwise idle.
//!
//! Against the instant that was asked for, not against what an engine rounds it to. Early firing is
//! a fact to be told, of anyone. So is the order: within a tick an engine may fire in any.

use std::thread;
use std::time::{Duration, Instant};

use super::Effort;
use crate::measure::{Random, Sample, cpu_time, curve_of, figure, nanoseconds};
use crate::{Contestant, Recorder};

const TIMERS: u64 = 10_000;
const SPAN_NS: u64 = 2_000_000_000;
/// So long before the first all are set.
const LEAD: Duration = Duration::from_millis(100);
const LIMIT: Duration = Duration::from_secs(10);

pub(super) fn run<C: Contestant>(variant: &str, effort: Effort) -> Result<Sample, String> {
    let share = effort.pick(4, 1);
    let first = Instant::now() + LEAD;
    let mut random = Random::new(13);
    let asked = (0..TIMERS / share)
        .map(|_| first + Duration::from_nanos(random.below(SPAN_NS / share)))
        .collect();
    let recorder = Recorder::new(asked);
    let cpu = cpu_time();
    let engine = C::fire_at(&recorder, variant);
    while recorder.missing() > 0 {
        if first.elapsed() > LIMIT {
            return Err(format!("{} timers never fired", recorder.missing()));
        }
        thread::sleep(Duration::from_millis(20));
    }
    let cpu = cpu.and_then(|before| Some(cpu_time()? - before));
    std::mem::forget(engine);
    let behind = recorder.out_of_order() as f64 / recorder.asked().len() as f64;
    let sample = of(&recorder.late_ns()).with(figure::OUT_OF_ORDER, behind * 100.0);
    Ok(match cpu {
        Some(cpu) => sample.with(figure::CPU_MS, cpu.as_secs_f64() * 1e3),
        None => sample,
    })
}

/// A histogram knows no numbers below 0, so what was early is counted, and stands as 0 in it.
fn of(late_ns: &[i64]) -> Sample {
    let mut late = nanoseconds();
    for &ns in late_ns {
        late.saturating_record(u64::try_from(ns).unwrap_or(0));
    }
    let early = late_ns.iter().filter(|&&ns| ns < 0);
    let earliest = late_ns.iter().copied().min().unwrap_or(0).min(0);
    let at = |quantile| late.value_at_quantile(quantile) as f64 / 1e3;
    let mut sample = Sample::new()
        .with(figure::LATE_P50, at(0.5))
        .with(figure::LATE_P99, at(0.99))
        .with(figure::LATE_P999, at(0.999))
        .with(figure::LATE_MAX, late.max() as f64 / 1e3)
        .with(figure::EARLY, early.count() as f64)
        .with(figure::EARLIEST_US, -earliest as f64 / 1e3);
    sample.curve = curve_of(&late);
    sample
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_early_is_counted_and_not_late() {
        let sample = of(&[-500_000, 1_000_000, 2_000_000, 3_000_000]);
        assert_eq!(sample.get(figure::EARLY), Some(1.0));
        assert_eq!(sample.get(figure::EARLIEST_US), Some(500.0));
        let max = sample.get(figure::LATE_MAX).unwrap();
        assert!((2_990.0..3_010.0).contains(&max), "{max}");
    }
}
