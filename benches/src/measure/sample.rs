//! What one run of one cell has found: figures by name, and a distribution if it has one.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

/// The names of figures. What a table does not know is printed by its name.
pub mod figure {
    /// CPU time of the thread per operation; where there are several threads, the wall's time for
    /// all of them together.
    pub const NS_PER_OP: &str = "ns_per_op";
    /// The same by the wall's clock, where `ns_per_op` is CPU time of the one thread.
    pub const WALL_NS_PER_OP: &str = "wall_ns_per_op";
    /// CPU time of the process per operation: with the engine's own threads.
    pub const CPU_NS_PER_OP: &str = "cpu_ns_per_op";
    /// The driver's part, apart from the caller's.
    pub const DRIVER_NS_PER_OP: &str = "driver_ns_per_op";
    /// Both together.
    pub const WITH_DRIVER_NS_PER_OP: &str = "with_driver_ns_per_op";
    /// Million operations per second.
    pub const MOPS: &str = "mops";
    /// Resident bytes per pending timer.
    pub const BYTES_PER_TIMER: &str = "bytes_per_timer";
    /// The most that a storm added to what was resident.
    pub const STORM_PEAK_BYTES: &str = "storm_peak_bytes";
    /// The same per timer that was open.
    pub const STORM_BYTES_PER_TIMER: &str = "storm_bytes_per_timer";
    /// Single advances.
    pub const TICK_P999: &str = "tick_ns.p999";
    /// Single advances.
    pub const TICK_P9999: &str = "tick_ns.p9999";
    /// Single advances.
    pub const TICK_MAX: &str = "tick_ns.max";
    /// Against the asked instant; below 0 is early.
    pub const LATE_P50: &str = "lateness_us.p50";
    /// Against the asked instant.
    pub const LATE_P99: &str = "lateness_us.p99";
    /// Against the asked instant.
    pub const LATE_P999: &str = "lateness_us.p999";
    /// Against the asked instant.
    pub const LATE_MAX: &str = "lateness_us.max";
    /// Timers that fired before the asked instant.
    pub const EARLY: &str = "early";
    /// By how much the earliest was early.
    pub const EARLIEST_US: &str = "earliest_us";
    /// CPU time of the process while waiting and firing.
    pub const CPU_MS: &str = "cpu_ms";
    /// What one empty tick of an hour costs, ticked one by one.
    pub const EMPTY_TICK_NS: &str = "empty_tick_ns";
    /// Timers that fired after one that was asked for later, of a hundred.
    pub const OUT_OF_ORDER: &str = "out_of_order_pct";
    /// Switches of threads in a second in which nothing is due.
    pub const WAKE_UPS: &str = "wake_ups_per_s";
    /// CPU time of such a second.
    pub const IDLE_CPU: &str = "cpu_us_per_s";
    /// The most that was resident besides what had been before.
    pub const PEAK_BYTES: &str = "peak_bytes";
    /// The longest from the end of a driver's pass to the end of the next.
    pub const ABSENCE_MS: &str = "driver_away_ms";
    /// What a storm made resident, against what W5 allows it.
    pub const OF_W5: &str = "storm_of_w5";
    /// The same of a storm of timeouts of one length.
    pub const FIXED_OF_W5: &str = "storm_fixed_of_w5";
    /// The same of a storm of timeouts of up to an hour.
    pub const WIDE_OF_W5: &str = "storm_wide_of_w5";
    /// The driver's part of an entry that it takes from the intake and places.
    pub const PLACED_NS: &str = "placed_ns";
    /// Of one that it moves to a finer level.
    pub const CASCADED_NS: &str = "cascaded_ns";
    /// Of one that it fires.
    pub const FIRED_NS: &str = "fired_ns";
    /// Of one that was cancelled before it had a place, and is freed.
    pub const FREED_NS: &str = "freed_ns";
    /// Of a future with a limit that is pending once.
    pub const PENDING_ONCE_NS: &str = "pending_once_ns";

    /// Those that two runs are compared by: no figure twice under two names, and less is better
    /// in all of them.
    pub const COMPARED: &[&str] = &[
        NS_PER_OP,
        DRIVER_NS_PER_OP,
        BYTES_PER_TIMER,
        STORM_PEAK_BYTES,
        "storm_fixed_peak_bytes",
        "storm_wide_peak_bytes",
        TICK_P999,
        TICK_P9999,
        LATE_P50,
        LATE_P99,
        EARLY,
        OUT_OF_ORDER,
        CPU_MS,
        EMPTY_TICK_NS,
        WAKE_UPS,
        IDLE_CPU,
        PLACED_NS,
        CASCADED_NS,
        FIRED_NS,
        FREED_NS,
        PENDING_ONCE_NS,
        "sleep_set_ns",
        "sleep_drop_ns",
        "over_pool",
        "next_tick_late_us",
        "start_ms.p99",
        "insert_s",
        "insert_mb",
        "p99_of_best",
        "threads_used",
    ];
}

/// One run of one cell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// By name.
    pub figures: BTreeMap<String, f64>,
    /// Points of a distribution: percent, and the value below which so many are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub curve: Vec<(f64, f64)>,
}

impl Sample {
    /// A sample with nothing in it.
    pub fn new() -> Sample {
        Sample::default()
    }

    /// With one figure more.
    #[must_use]
    pub fn with(mut self, name: &str, value: f64) -> Sample {
        self.figures.insert(name.to_owned(), value);
        self
    }

    /// One of the figures.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.figures.get(name).copied()
    }
}

/// An empty distribution of up to 100 s, to a thousandth.
pub fn nanoseconds() -> Histogram<u64> {
    Histogram::new_with_bounds(1, 100_000_000_000, 3).expect("these bounds are possible")
}

/// The percents at which a distribution is drawn.
const PERCENTS: [f64; 15] = [
    0.0, 1.0, 5.0, 10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95, 99.99, 100.0,
];

/// The points of a distribution of nanoseconds, in microseconds.
pub fn curve_of(histogram: &Histogram<u64>) -> Vec<(f64, f64)> {
    let at = |percent: f64| histogram.value_at_percentile(percent) as f64 / 1e3;
    PERCENTS
        .iter()
        .map(|&percent| (percent, at(percent)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_survives_the_way_from_one_process_to_another() {
        let mut sample = Sample::new().with(figure::NS_PER_OP, 12.5);
        sample.curve = vec![(50.0, 3.0)];
        let line = serde_json::to_string(&sample).unwrap();
        assert!(!line.contains('\n'), "one line: {line}");
        assert_eq!(serde_json::from_str::<Sample>(&line).unwrap(), sample);
    }
}
