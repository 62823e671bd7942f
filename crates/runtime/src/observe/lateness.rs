//! How late things were: durations counted in buckets, and the percentiles of them.
//!
//! Lateness goes into log-linear buckets (128 to a power of two, so 0.8 % wide); a snapshot turns
//! them into an hdrhistogram and asks that for percentiles. Any thread records and any thread takes
//! snapshots, without a lock. Relaxed throughout: these are counts for people, and publish nothing.
//! [O64]

use std::time::Duration;

use wheel_sync::atomic::Ordering;
use wheel_sync::counting::AtomicU64;

use super::Histogram;

const SUB_BITS: u32 = 7;
const SUB: usize = 1 << SUB_BITS;
/// Enough for all of a `u64`.
const BUCKETS: usize = (64 - SUB_BITS as usize + 1) * SUB;

/// How late things were, counted from when they were due.
///
/// For [`Timers`](crate::Timers): from the start of the due tick to the call of the callback, or to
/// the hand-over to an executor. What a delay was rounded up by, less than a tick, is no lateness.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Lateness {
    /// How many were measured.
    pub count: u64,
    /// Half of them were not later than this.
    pub p50: Duration,
    /// 99 of 100 were not later than this.
    pub p99: Duration,
    /// The latest of all.
    pub max: Duration,
}

/// Counts durations in buckets.
pub(crate) struct LatenessRecorder {
    buckets: Box<[AtomicU64]>,
    max_ns: AtomicU64,
}

impl LatenessRecorder {
    pub(crate) fn new() -> LatenessRecorder {
        LatenessRecorder {
            buckets: (0..BUCKETS).map(|_| AtomicU64::new(0)).collect(),
            max_ns: AtomicU64::new(0),
        }
    }

    /// Adds one. Does not block, does not allocate.
    pub(crate) fn record(&self, late: Duration) {
        let nanos = u64::try_from(late.as_nanos()).unwrap_or(u64::MAX);
        self.buckets[bucket_of(nanos)].fetch_add(1, Ordering::Relaxed);
        if nanos > self.max_ns.load(Ordering::Relaxed) {
            self.max_ns.fetch_max(nanos, Ordering::Relaxed);
        }
    }

    /// The percentiles until now, rounded up to the end of a bucket. Allocates.
    pub(crate) fn snapshot(&self) -> Lateness {
        LatenessRecorder::snapshot_of(std::slice::from_ref(self))
    }

    /// The same of several together.
    pub(crate) fn snapshot_of(recorders: &[LatenessRecorder]) -> Lateness {
        let mut histogram = hdrhistogram::Histogram::<u64>::new_with_bounds(1, u64::MAX, 2)
            .expect("these bounds are possible");
        let mut max_ns = 0;
        for recorder in recorders {
            for (bucket, count) in recorder.counted() {
                histogram.saturating_record_n(last_of(bucket), count);
            }
            max_ns = recorder.max_ns.load(Ordering::Relaxed).max(max_ns);
        }
        let at = |quantile| Duration::from_nanos(histogram.value_at_quantile(quantile).min(max_ns));
        Lateness {
            count: histogram.len(),
            p50: at(0.50),
            p99: at(0.99),
            max: Duration::from_nanos(max_ns),
        }
    }

    /// Counted against the bounds of a histogram. What is at most 0.8 % beyond a bound is counted at
    /// it, so that what is exactly as long is.
    pub(crate) fn histogram(&self) -> Histogram {
        let mut histogram = Histogram::default();
        for (bucket, count) in self.counted() {
            histogram.add(Duration::from_nanos(first_of(bucket)), count);
        }
        histogram
    }

    /// The buckets that are not empty, and their counts.
    fn counted(&self) -> impl Iterator<Item = (usize, u64)> {
        let counts = self.buckets.iter().enumerate();
        let counts = counts.map(|(bucket, count)| (bucket, count.load(Ordering::Relaxed)));
        counts.filter(|(_, count)| *count > 0)
    }
}

fn bucket_of(value: u64) -> usize {
    let power = (63 - (value | 1).leading_zeros()).max(SUB_BITS);
    let shift = power - SUB_BITS;
    // The leading bit of the shifted value counts one row up, so that the rows follow on.
    (shift as usize) * SUB + (value >> shift) as usize
}

fn last_of(bucket: usize) -> u64 {
    first_of(bucket) + ((1u64 << row_of(bucket)) - 1)
}

fn first_of(bucket: usize) -> u64 {
    let row = row_of(bucket);
    ((bucket - row * SUB) as u64) << row
}

fn row_of(bucket: usize) -> usize {
    (bucket / SUB).saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_falls_into_the_bucket_that_ends_at_or_after_it() {
        let powers = (0..64).map(|power| 1u64 << power);
        for value in powers
            .flat_map(|p| [p - 1, p, p + 1, p + p / 3])
            .chain([u64::MAX])
        {
            let bucket = bucket_of(value);
            assert!(bucket < BUCKETS, "{value} is in bucket {bucket}");
            assert!(
                last_of(bucket) >= value,
                "{value} is beyond bucket {bucket}"
            );
            assert!(
                bucket == 0 || last_of(bucket - 1) < value,
                "{value} belongs below bucket {bucket}"
            );
        }
    }

    #[test]
    fn percentiles_are_within_two_per_cent() {
        let recorder = LatenessRecorder::new();
        for micros in 1..=1000 {
            recorder.record(Duration::from_micros(micros));
        }
        let lateness = recorder.snapshot();
        assert_eq!(lateness.count, 1000);
        assert_eq!(lateness.max, Duration::from_micros(1000));
        let within = |got: Duration, micros: u64| {
            let exact = Duration::from_micros(micros);
            got >= exact && got <= exact + exact / 50
        };
        assert!(within(lateness.p50, 500), "p50 is {:?}", lateness.p50);
        assert!(within(lateness.p99, 990), "p99 is {:?}", lateness.p99);
    }

    #[test]
    fn what_is_as_long_as_a_bound_is_counted_at_it_and_the_sum_is_within_a_hundredth() {
        let recorder = LatenessRecorder::new();
        for bound in Histogram::BOUNDS {
            recorder.record(*bound);
        }
        recorder.record(Duration::from_secs(10_000));
        let histogram = recorder.histogram();
        let counts = histogram.buckets().map(|(_, count)| count);
        assert!(counts.eq(1..=Histogram::BOUNDS.len() as u64));
        let exact = Histogram::BOUNDS.iter().sum::<Duration>() + Duration::from_secs(10_000);
        let sum = histogram.sum();
        assert!(sum <= exact && sum >= exact - exact / 100, "{sum:?}");
    }

    #[test]
    fn nothing_recorded_reads_as_zero() {
        assert_eq!(LatenessRecorder::new().snapshot(), Lateness::default());
    }
}
