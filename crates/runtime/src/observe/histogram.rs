//! Durations counted against fixed bounds, as dashboards want them: what can be added up over
//! processes, where a percentile cannot.
//!
//! Any thread counts and any thread reads, without a lock. Relaxed throughout: these are counts for
//! people, and publish nothing. [O64]

use std::fmt;
use std::time::Duration;

use wheel_sync::atomic::Ordering;
use wheel_sync::counting::AtomicU64;

const fn micros(n: u64) -> Duration {
    Duration::from_micros(n)
}

/// The upper bounds of all buckets but the last one.
const BOUNDS: [Duration; 20] = [
    micros(100),
    micros(250),
    micros(500),
    micros(1_000),
    micros(2_500),
    micros(5_000),
    micros(10_000),
    micros(25_000),
    micros(50_000),
    micros(100_000),
    micros(250_000),
    micros(500_000),
    micros(1_000_000),
    micros(2_500_000),
    micros(5_000_000),
    micros(10_000_000),
    micros(30_000_000),
    micros(60_000_000),
    micros(300_000_000),
    micros(1_800_000_000),
];

/// And that one, which has no bound.
const BUCKETS: usize = BOUNDS.len() + 1;

/// How many durations were not longer than each of some bounds.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use wheel_runtime::{InlineExecutor, ManualClock, Scheduler};
///
/// let clock = ManualClock::new();
/// let scheduler = Scheduler::builder().clock(clock.clone()).executor(InlineExecutor).build()?;
/// scheduler.after(Duration::from_millis(20), |_| ())?;
/// clock.run_for(Duration::from_millis(20));
/// let start_delay = scheduler.stats().start_delay;
/// assert_eq!(start_delay.count(), 1);
/// // It was not late at all.
/// assert_eq!(start_delay.buckets().next(), Some((Duration::from_micros(100), 1)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Histogram {
    /// Each without those below it.
    counts: [u64; BUCKETS],
    sum: Duration,
}

impl Histogram {
    /// The bounds: from 100 us to half an hour.
    pub const BOUNDS: &'static [Duration] = &BOUNDS;

    /// How many were measured.
    pub fn count(&self) -> u64 {
        self.counts.iter().fold(0, |sum, n| sum.wrapping_add(*n))
    }

    /// All of them together. Of delays and lags within 1 %, as they are counted in groups.
    pub fn sum(&self) -> Duration {
        self.sum
    }

    /// Each bound, and how many were not longer, those below it included. Who was longer than the
    /// last bound is in [`count`](Histogram::count) alone.
    pub fn buckets(&self) -> impl Iterator<Item = (Duration, u64)> {
        let until_here = |sum: &mut u64, (bound, count): (&Duration, &u64)| {
            *sum = sum.wrapping_add(*count);
            Some((*bound, *sum))
        };
        BOUNDS.iter().zip(&self.counts).scan(0, until_here)
    }

    /// So many more that took as long.
    pub(crate) fn add(&mut self, took: Duration, times: u64) {
        self.counts[bucket_of(nanos_of(took))] += times;
        let nanos = took.as_nanos().saturating_mul(times.into());
        let nanos = u64::try_from(nanos).unwrap_or(u64::MAX);
        self.sum = self.sum.saturating_add(Duration::from_nanos(nanos));
    }

    /// Those of `other` as well.
    pub(crate) fn merge(&mut self, other: &Histogram) {
        for (count, more) in self.counts.iter_mut().zip(other.counts) {
            *count = count.wrapping_add(more);
        }
        self.sum = self.sum.saturating_add(other.sum);
    }

    /// What came since `before`: each bound and how many more, those that are longer than all of them
    /// at the last one.
    #[cfg(feature = "metrics")]
    pub(crate) fn since(&self, before: &Histogram) -> impl Iterator<Item = (Duration, u64)> {
        let more = self.counts.into_iter().zip(before.counts);
        let more = more.map(|(now, before)| now.saturating_sub(before));
        let bounds = BOUNDS.iter().chain(BOUNDS.last()).copied();
        bounds.zip(more).filter(|(_, more)| *more > 0)
    }
}

impl fmt::Debug for Histogram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Histogram")
            .field("count", &self.count())
            .field("sum", &self.sum)
            .finish_non_exhaustive()
    }
}

/// The same in nanoseconds, to be compared quickly.
const BOUNDS_NS: [u64; BOUNDS.len()] = {
    let mut bounds = [0; BOUNDS.len()];
    let mut n = 0;
    while n < bounds.len() {
        bounds[n] = BOUNDS[n].as_nanos() as u64;
        n += 1;
    }
    bounds
};

/// The first bucket for which so many nanoseconds are not too long.
fn bucket_of(nanos: u64) -> usize {
    BOUNDS_NS.partition_point(|bound| *bound < nanos)
}

fn nanos_of(took: Duration) -> u64 {
    u64::try_from(took.as_nanos()).unwrap_or(u64::MAX)
}

/// Counts durations on any thread, for a [`Histogram`].
#[derive(Default)]
pub(crate) struct Durations {
    counts: [AtomicU64; BUCKETS],
    /// 584 years.
    sum_ns: AtomicU64,
}

impl Durations {
    /// Adds one. Does not block, does not allocate.
    pub(crate) fn record(&self, took: Duration) {
        let nanos = nanos_of(took);
        self.counts[bucket_of(nanos)].fetch_add(1, Ordering::Relaxed);
        self.sum_ns.fetch_add(nanos, Ordering::Relaxed);
    }

    pub(crate) fn read(&self) -> Histogram {
        let mut counts = [0; BUCKETS];
        for (read, count) in counts.iter_mut().zip(&self.counts) {
            *read = count.load(Ordering::Relaxed);
        }
        Histogram {
            counts,
            sum: Duration::from_nanos(self.sum_ns.load(Ordering::Relaxed)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_counts_at_every_bound_that_it_does_not_exceed() {
        let durations = Durations::default();
        for took in [micros(0), micros(100), micros(101), micros(1_800_000_001)] {
            durations.record(took);
        }
        let read = durations.read();
        let buckets: Vec<u64> = read.buckets().map(|(_, count)| count).collect();
        assert_eq!(buckets[..3], [2, 3, 3]);
        assert_eq!(buckets.last(), Some(&3), "one is longer than all bounds");
        assert_eq!((read.count(), read.sum()), (4, micros(1_800_000_202)));
    }

    #[test]
    fn bounds_go_up_and_what_is_merged_adds_up() {
        assert!(BOUNDS.is_sorted());
        let mut one = Histogram::default();
        one.add(micros(5), 3);
        let mut other = Histogram::default();
        other.add(micros(300), 2);
        one.merge(&other);
        assert_eq!((one.count(), one.sum()), (5, micros(615)));
        assert_eq!(one.buckets().nth(1), Some((micros(250), 3)));
    }
}
