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
