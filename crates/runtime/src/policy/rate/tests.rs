//! When tokens come, to the nanosecond, and which rates are refused.

use super::*;

const MS: u64 = 1_000_000;

fn at(nanos: u64) -> Moment {
    Moment::from_nanos(nanos)
}

fn bucket(limit: &RateLimit) -> Bucket {
    Bucket::new(limit.checked().unwrap())
}

/// When each of `runs` starts that all wait from the beginning has its token.
fn instants(limit: &RateLimit, runs: usize) -> Vec<u64> {
    let mut bucket = bucket(limit);
    let mut now = at(0);
    (0..runs)
        .map(|_| {
            now = now.max(bucket.next());
            bucket.take(now, Duration::from_millis(1));
            now.as_nanos()
        })
        .collect()
}

#[test]
fn tokens_come_at_even_intervals_without_drift() {
    let thirds = instants(&RateLimit::new(3, Duration::from_secs(1)), 3_000_001);
    // Rounded up to a nanosecond each, and after a million seconds still exact.
    assert_eq!(thirds[..4], [0, 333_333_334, 666_666_667, 1_000_000_000]);
    assert_eq!(thirds[3_000_000], 1_000_000 * 1_000_000_000);
}

#[test]
fn a_burst_is_saved_up_and_no_more() {
    let limit = RateLimit::per_second(100.0).burst(3);
    assert_eq!(instants(&limit, 5), [0, 0, 0, 10 * MS, 20 * MS]);
    let mut bucket = bucket(&limit);
    let hour = at(3_600_000 * MS);
    for _ in 0..3 {
        assert!(bucket.has_token(hour));
        bucket.take(hour, Duration::ZERO);
    }
    assert!(!bucket.has_token(hour));
    assert_eq!(bucket.next(), hour.after(Duration::from_millis(10)));
    assert_eq!(bucket.full(), hour.after(Duration::from_millis(30)));
}

#[test]
fn who_is_served_late_does_not_put_off_the_next_one_but_for_a_long_stall() {
    let mut bucket = bucket(&RateLimit::per_second(100.0));
    let slack = Duration::from_millis(1);
    bucket.take(at(0), slack);
    bucket.take(at(10 * MS + 1), slack);
    assert_eq!(bucket.next(), at(20 * MS));
    bucket.take(at(500 * MS), slack);
    assert_eq!(bucket.next(), at(509 * MS), "a stall is not made up for");
}

#[test]
fn another_rate_keeps_what_was_taken() {
    let mut bucket = bucket(&RateLimit::per_second(10.0));
    bucket.take(at(0), Duration::ZERO);
    bucket.set_rate(RateLimit::new(7, Duration::from_secs(1)).checked().unwrap());
    assert_eq!(bucket.next(), at(100 * MS));
}

#[test]
fn the_extremes_neither_wrap_nor_panic() {
    let century = PERIOD_MAX;
    for limit in [
        RateLimit::new(1, century).burst(u32::MAX),
        RateLimit::new(u32::MAX, Duration::from_nanos(1)),
        RateLimit::new(1, century),
        RateLimit::per_second(1e9),
        RateLimit::per_second(1.0 / century.as_secs_f64()),
    ] {
        let mut bucket = bucket(&limit);
        for now in [at(0), at(u64::MAX / 2), at(u64::MAX - 1)] {
            for _ in 0..3 {
                bucket.take(now, Duration::ZERO);
                let _ = (bucket.next(), bucket.full());
            }
        }
    }
}

#[test]
fn rates_that_are_not_possible_are_refused_by_name() {
    let second = Duration::from_secs(1);
    for limit in [
        RateLimit::per_second(f64::NAN),
        RateLimit::per_second(f64::INFINITY),
        RateLimit::per_second(0.0),
        RateLimit::per_second(-1.0),
        RateLimit::per_second(1e10),
        RateLimit::per_second(1e-20),
        RateLimit::new(0, second),
        RateLimit::new(1, Duration::ZERO),
        RateLimit::new(1, Duration::MAX),
        RateLimit::new(1, second).burst(0),
        RateLimit::new(1, second).key(""),
        RateLimit::new(1, second).key("a\nb"),
    ] {
        let error = limit.checked().unwrap_err();
        assert_eq!(error.field(), "rate_limit", "{limit:?}");
    }
}

#[test]
fn a_rate_that_is_no_whole_number_is_never_faster_than_asked() {
    assert_eq!(
        instants(&RateLimit::per_second(2.5), 3),
        [0, 400 * MS, 800 * MS]
    );
    assert_eq!(instants(&RateLimit::per_second(0.3), 2), [0, 3_333_333_334]);
}
