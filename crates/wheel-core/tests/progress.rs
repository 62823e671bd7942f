//! What an advance says of itself: `more` when something is left that it was asked for.

use wheel_core::{Budget, Config, Progress, Tick};

const HOUR: u64 = 3_600_000;

fn said(progress: Progress) -> (usize, usize, bool) {
    (progress.moved, progress.fired, progress.more)
}

#[test]
fn an_advance_that_leaves_timers_at_the_intake_says_that_there_is_more() {
    let (wheel, mut driver) = Config::new().build();
    for value in 0..3 {
        wheel.insert(Tick::new(50), value).unwrap();
    }
    for more in [true, true, false] {
        let progress = driver.advance(Tick::new(1), Budget::new(1), |_| ());
        assert_eq!(said(progress), (1, 0, more));
    }
}

#[test]
fn what_the_intake_leaves_of_its_half_of_a_budget_is_there_for_what_is_due() {
    let (wheel, mut driver) = Config::new().build();
    for value in 0..9 {
        wheel.insert(Tick::new(5), value).unwrap();
    }
    driver.advance(Tick::new(0), Budget::UNLIMITED, |_| ());
    wheel.insert(Tick::new(50), 9).unwrap();
    let progress = driver.advance(Tick::new(5), Budget::new(10), |_| ());
    assert_eq!(said(progress), (1, 9, false));
}

/// A sweep looks at four entries for each one placed, so that it ends before as many came anew.
#[test]
fn an_advance_whose_budget_was_too_small_for_the_sweep_says_that_there_is_more() {
    let (wheel, mut driver) = Config::new().build();
    let keys: Vec<_> = (0..10_000)
        .map(|value| wheel.insert(Tick::new(20 * HOUR), value).unwrap())
        .collect();
    driver.advance(Tick::new(0), Budget::UNLIMITED, |_| ());
    for &key in &keys[1_000..] {
        wheel.cancel(key);
    }
    // Earlier than what was cancelled, so that each takes a place of its own.
    let insert = |value| wheel.insert(Tick::new(10 * HOUR), value).unwrap();
    for value in 0..2_300 {
        insert(value);
    }
    let begun = driver.advance(Tick::new(1), Budget::UNLIMITED, |_| ());
    assert!(begun.moved > 4 * 2_300 && !begun.more);
    insert(0);
    for moved in [2, 2, 1] {
        let progress = driver.advance(Tick::new(1), Budget::new(moved), |_| ());
        assert_eq!(said(progress), (moved, 0, moved == 2));
    }
}
