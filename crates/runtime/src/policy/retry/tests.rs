//! The arithmetic of retries, at its edges and on anything.

use std::time::Duration;

use proptest::prelude::*;

use super::{DELAY_MIN, Decision, Failed, GaveUp, Retry, RetryJitter};
use crate::policy::Draws;

const fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

const HOUR: Duration = Duration::from_secs(3600);

fn failed(attempt: u32) -> Failed<'static> {
    Failed {
        error: "no paper",
        attempt,
        elapsed: Duration::ZERO,
        asked: None,
        draw: 0,
    }
}

#[test] // RB-01
fn an_exponential_delay_grows_to_its_limit_and_stays_there() {
    let retry = Retry::exponential(ms(100)).max_delay(HOUR);
    let mut last = Duration::ZERO;
    for attempt in (1..=2000).chain([u32::MAX]) {
        let delay = retry.delay(attempt);
        assert!(
            delay >= last.max(ms(100)) && delay <= HOUR,
            "{attempt}: {delay:?}"
        );
        assert_eq!(delay == HOUR, attempt >= 17, "{attempt}: {delay:?}");
        last = delay;
    }
    assert_eq!(retry.delay(16), ms(100) * (1 << 15));
}

#[test] // RB-09
fn every_factor_gives_a_delay_or_is_refused() {
    for factor in [10.0, 1.5, 1.0] {
        let retry = Retry::exponential(ms(100)).factor(factor).max_delay(HOUR);
        assert_eq!(retry.check(), Ok(()));
        for attempt in [1, 64, 400, u32::MAX] {
            let delay = retry.delay(attempt);
            assert!(delay >= ms(100) && delay <= HOUR, "{factor}: {delay:?}");
        }
    }
    for factor in [0.5, 0.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let retry = Retry::exponential(ms(100)).factor(factor).max_delay(HOUR);
        assert_eq!(retry.check().unwrap_err().field(), "retry.factor");
        // Nobody runs by it, and it does no harm.
        for attempt in [1, 64, 400, u32::MAX] {
            let delay = retry.delay(attempt);
            assert!(delay >= DELAY_MIN && delay <= HOUR, "{factor}: {delay:?}");
        }
    }
}

#[test] // RB-08
fn jitter_of_the_longest_delays_neither_wraps_nor_panics() {
    let base = Duration::MAX / 2;
    let retry = Retry::exponential(base)
        .factor(3.0)
        .jitter(RetryJitter::Equal);
    for retry in [
        retry.clone().max_attempts(9),
        retry.max_delay(Duration::MAX),
    ] {
        for sample in 0..1_000 {
            let attempt = sample as u32 % 4 + 1;
            let delay = retry.spread(retry.delay(attempt), drawn(sample));
            assert!(delay >= base / 2, "{delay:?}");
        }
        assert_eq!(retry.delay(2), Duration::MAX);
    }
}

#[test]
fn nothing_grows_to_nothing_however_large_the_power_is() {
    let retry = Retry::exponential(Duration::ZERO).factor(1e200);
    assert_eq!([1, 2, 3, u32::MAX].map(|n| retry.delay(n)), [DELAY_MIN; 4]);
}

#[test]
fn a_delay_is_what_its_back_off_says() {
    let delays = |retry: Retry| [1, 2, 3, 4].map(|attempt| retry.delay(attempt));
    assert_eq!(delays(Retry::fixed(ms(10))), [ms(10); 4]);
    assert_eq!(delays(Retry::linear(ms(10))), [10, 20, 30, 40].map(ms));
    assert_eq!(delays(Retry::exponential(ms(10))), [10, 20, 40, 80].map(ms));
    let tripled = Retry::exponential(ms(10)).factor(3.0).max_delay(ms(100));
    assert_eq!(delays(tripled), [10, 30, 90, 100].map(ms));
    let custom = Retry::custom(|attempt| ms(u64::from(attempt * attempt)));
    assert_eq!(delays(custom), [1, 4, 9, 16].map(ms));
    assert_eq!(Retry::linear(Duration::MAX).delay(u32::MAX), Duration::MAX);
    // The first attempt is number 1.
    assert_eq!(Retry::linear(ms(10)).delay(0), ms(10));
}

#[test]
fn attempts_and_time_are_limited_and_the_first_attempt_counts() {
    let retry = Retry::fixed(ms(10)).max_attempts(3).max_elapsed(ms(25));
    assert_eq!(retry.decide(failed(1)), Decision::Again(ms(10)));
    assert_eq!(retry.decide(failed(2)), Decision::Again(ms(10)));
    assert_eq!(
        retry.decide(failed(3)),
        Decision::GiveUp(GaveUp::OutOfAttempts)
    );
    let after = |elapsed| {
        retry.decide(Failed {
            elapsed,
            ..failed(1)
        })
    };
    assert_eq!(after(ms(15)), Decision::Again(ms(10)));
    assert_eq!(after(ms(16)), Decision::GiveUp(GaveUp::OutOfTime));
    assert_eq!(after(Duration::MAX), Decision::GiveUp(GaveUp::OutOfTime));
    let once = Retry::fixed(ms(10)).max_attempts(1);
    assert_eq!(
        once.decide(failed(1)),
        Decision::GiveUp(GaveUp::OutOfAttempts)
    );
}

#[test]
fn what_the_handler_asks_for_beats_the_back_off_but_not_the_limits() {
    let retry = Retry::fixed(ms(10))
        .max_delay(ms(10))
        .jitter(RetryJitter::Full);
    let retry = retry.retry_if(|_| false).max_attempts(3).max_elapsed(HOUR);
    let asks = |attempt, asked| {
        let asked = Some(asked);
        retry.decide(Failed {
            asked,
            ..failed(attempt)
        })
    };
    assert_eq!(asks(1, ms(70)), Decision::Again(ms(70)));
    assert_eq!(asks(1, Duration::ZERO), Decision::Again(DELAY_MIN));
    assert_eq!(asks(3, ms(70)), Decision::GiveUp(GaveUp::OutOfAttempts));
    assert_eq!(asks(1, Duration::MAX), Decision::GiveUp(GaveUp::OutOfTime));
    assert_eq!(
        retry.decide(failed(1)),
        Decision::GiveUp(GaveUp::NotRetryable)
    );
}

#[test]
fn retry_if_is_asked_about_the_error() {
    let retry = Retry::fixed(ms(10)).retry_if(|error| error == "no paper");
    assert_eq!(retry.decide(failed(1)), Decision::Again(ms(10)));
    let other = Failed {
        error: "no ink",
        ..failed(1)
    };
    assert_eq!(retry.decide(other), Decision::GiveUp(GaveUp::NotRetryable));
}

#[test]
fn what_cannot_be_kept_to_is_refused() {
    let retry = Retry::fixed(ms(10));
    let wrong = |retry: Retry| retry.check().unwrap_err().field();
    let attempts = retry.clone().max_attempts(0);
    assert_eq!(wrong(attempts), "retry.max_attempts");
    let delay = retry.clone().max_delay(Duration::from_micros(999));
    assert_eq!(wrong(delay), "retry.max_delay");
    let elapsed = retry.clone().max_elapsed(Duration::ZERO);
    assert_eq!(wrong(elapsed), "retry.max_elapsed");
    assert_eq!(retry.max_delay(DELAY_MIN).check(), Ok(()));
}

#[test]
fn draws_are_spread_evenly() {
    let mean = (0..1_000).map(|n| drawn(n) >> 54).sum::<u64>() / 1_000;
    assert!((470..554).contains(&mean), "{mean}");
}

/// What is drawn with this seed.
fn drawn(seed: u64) -> u64 {
    Draws::of(seed, "x").draw(std::time::SystemTime::UNIX_EPOCH, 1)
}

fn any_duration() -> impl Strategy<Value = Duration> {
    let fine = (any::<u64>(), 0..1_000_000_000_u32).prop_map(|(s, ns)| Duration::new(s, ns));
    let edges = [0, 1, 999_999, 1_000_000, 1_000_001].map(Duration::from_nanos);
    let ends = [Duration::MAX, Duration::MAX / 2];
    prop_oneof![
        fine,
        (0..10_000_000_000_u64).prop_map(Duration::from_nanos),
        proptest::sample::select([edges.as_slice(), ends.as_slice()].concat()),
    ]
}

fn any_retry() -> impl Strategy<Value = Retry> {
    let jitter = prop_oneof![
        Just(None),
        Just(Some(RetryJitter::Full)),
        Just(Some(RetryJitter::Equal)),
    ];
    let factor = prop_oneof![1.0..4.0, 1.0..1e300, Just(1.0)];
    let backoffs = (0..4, any_duration(), factor);
    (backoffs, any_duration(), jitter).prop_map(|((kind, base, factor), max, jitter)| {
        let retry = match kind {
            0 => Retry::fixed(base),
            1 => Retry::linear(base),
            2 => Retry::exponential(base).factor(factor),
            _ => Retry::custom(move |attempt| base / attempt),
        };
        let mut retry = retry.max_delay(max).max_attempts(u32::MAX);
        retry.jitter = jitter;
        retry
    })
}

proptest! {
    #[test]
    fn no_delay_is_below_a_millisecond_or_above_the_limit(
        retry in any_retry(),
        attempt in any::<u32>(),
        draw in any::<u64>(),
    ) {
        let limit = retry.max_delay.max(DELAY_MIN);
        let delay = retry.delay(attempt);
        prop_assert!(delay >= DELAY_MIN && delay <= limit, "{:?}: {:?}", retry, delay);
        let spread = retry.spread(delay, draw);
        prop_assert!(spread >= DELAY_MIN && spread <= delay, "{:?}: {:?}", retry, spread);
        if retry.jitter == Some(RetryJitter::Equal) {
            prop_assert!(spread >= delay / 2);
        }
    }

    #[test]
    fn delays_of_a_growing_back_off_never_shrink(
        base in any_duration(),
        factor in 1.0..8.0_f64,
        attempt in 1..u32::MAX,
    ) {
        for retry in [Retry::linear(base), Retry::exponential(base).factor(factor)] {
            let (delay, next) = (retry.delay(attempt), retry.delay(attempt + 1));
            // A float of many seconds has no nanoseconds left to keep apart.
            let slack = Duration::try_from_secs_f64(delay.as_secs_f64() * 1e-12).unwrap();
            prop_assert!(next.saturating_add(slack) >= delay, "{:?}", retry);
        }
    }

    #[test]
    fn a_decision_keeps_every_limit(
        retry in any_retry(),
        attempts in 1..9_u32,
        attempt in 1..12_u32,
        elapsed in any_duration(),
        limit in any_duration(),
        draw in any::<u64>(),
    ) {
        let retry = retry.max_attempts(attempts).max_elapsed(limit);
        let failed = Failed { attempt, elapsed, draw, ..failed(1) };
        if let Decision::Again(delay) = retry.decide(failed) {
            prop_assert!(attempt < attempts && delay >= DELAY_MIN);
            prop_assert!(elapsed.checked_add(delay).is_some_and(|then| then <= limit)
                || limit == Duration::MAX);
        }
    }
}
