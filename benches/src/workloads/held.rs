//! What a storm of pairs makes resident, and what the wheel may: W5 in bytes.
//!
//! W5: at most twice the timers that are pending, a slack, and so much for each thread; and where
//! timeouts are not of one length, what is set while the driver is away. The driver is taken to be
//! away from the end of one of its passes to the end of the next, at the longest. Resident memory
//! holds the stacks of the threads as well, so there is a fixed part for them.

use super::threads::{OPEN, Storm};
use crate::Contestant;
use crate::measure::{Sample, figure, forget_peak, peak_bytes, resident_bytes};

/// An entry with a value of 16 bytes, its item in a slot and its share of a chunk, and its hint:
/// the table in the README of `wheel-core`.
const ENTRY_BYTES: f64 = 40.0 + 8.3 + 13.0;
/// Entries that a sweep is not begun for, and as many until it has gone round.
const SLACK: f64 = 2.0 * 4096.0;
/// Free entries, unused indices and hints that a thread keeps.
const PER_THREAD: f64 = 3.0 * 64.0 + 1.0;
/// Slots, stacks of threads, and what the allocator keeps for each of them.
const FIXED_BYTES: f64 = 1_048_576.0;

/// What was resident before.
pub(super) struct Held(Option<u64>);

impl Held {
    /// Starts the peak anew.
    pub(super) fn look() -> Held {
        Held(if forget_peak() {
            resident_bytes()
        } else {
            None
        })
    }

    /// `sample` with the peak since then, and as `of_w5` with its ratio to the bound, which is the
    /// wheel's own.
    pub(super) fn until_now<C: Contestant>(
        self,
        storm: &Storm,
        sample: Sample,
        of_w5: &str,
    ) -> Sample {
        let (Some(before), Some(peak)) = (self.0, peak_bytes()) else {
            return sample;
        };
        let held = peak.saturating_sub(before) as f64;
        let sample = sample.with(figure::PEAK_BYTES, held);
        if C::NAME != "wheel" {
            return sample;
        }
        sample
            .with(figure::ABSENCE_MS, storm.absence.as_secs_f64() * 1e3)
            .with(of_w5, held / bound_bytes(storm))
    }
}

fn bound_bytes(storm: &Storm) -> f64 {
    let threads = storm.threads as f64;
    let live = threads * OPEN as f64;
    let rate = storm.pairs as f64 / storm.took.as_secs_f64();
    let meanwhile = if storm.spread_ms > 1 {
        rate * storm.absence.as_secs_f64()
    } else {
        0.0
    };
    let entries = 2.0 * live + SLACK + threads * PER_THREAD + meanwhile;
    entries * ENTRY_BYTES + FIXED_BYTES
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn only_timeouts_of_several_lengths_may_grow_while_the_driver_is_away() {
        let storm = |spread_ms| Storm {
            threads: 2,
            spread_ms,
            pairs: 10_000_000,
            took: Duration::from_secs(1),
            cpu: None,
            absence: Duration::from_millis(5),
        };
        let fixed = bound_bytes(&storm(1));
        assert!((1_048_576.0..2_200_000.0).contains(&fixed), "{fixed}");
        let grown = bound_bytes(&storm(1_000)) - fixed;
        assert!((grown - 50_000.0 * ENTRY_BYTES).abs() < 1.0, "{grown}");
    }
}
