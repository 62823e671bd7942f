//! Large numbers, small numbers, and rounding.

use super::{MINUTE, SECOND, Scene, YEAR};
use crate::stream::Setup;
use crate::subject::Subject;

/// OV-06: a 32-bit tick counter made the scheduler stop.
///
/// # Panics
///
/// When the engine is wrong.
pub fn timers_are_exact_where_a_counter_would_wrap<S: Subject>(build: impl Fn(&Setup) -> S) {
    let mut wraps = vec![(1 << 63) - (1 << 20), u64::MAX - 100];
    wraps.extend([31, 32, 36, 40, 42, 48, 53, 63].map(|bits| 1_u64 << bits));
    for wrap in wraps {
        // An engine that starts there, and one that has come a long way.
        for start in [wrap - 10, 0] {
            let mut scene = Scene::at(start, &build);
            scene.advance(wrap - 10);
            let dues = [5, 9, 10, 11, 30].map(|ticks| wrap - 10 + ticks);
            for due in dues {
                scene.add(due);
            }
            scene.walk(wrap + 40);
            scene.assert_fired_exactly(&dues);

            scene.after(7);
            scene.walk(wrap + 50);
            assert_eq!(
                scene.fired.last(),
                Some(&(wrap + 47, wrap + 47)),
                "later timers keep working"
            );
        }
    }
}

/// OV-11: the first delay was cut to 32 bits.
///
/// # Panics
///
/// When the engine is wrong.
pub fn a_first_delay_beyond_31_bits_is_exact<S: Subject>(build: impl Fn(&Setup) -> S) {
    for delay in [1 << 31, (1 << 31) + (1 << 30)] {
        let mut scene = Scene::at(0, &build);
        scene.add(delay);
        assert!(scene.advance(delay - 1).is_empty());
        for period in 0..4 {
            let due = delay + period * SECOND;
            assert!(scene.advance(due - 1).is_empty());
            assert_eq!(scene.advance(due), [due]);
            scene.after(SECOND);
        }
    }
}

/// EA-03: an exact multiple of the tick was rounded up by one more.
///
/// # Panics
///
/// When the engine is wrong.
pub fn a_multiple_of_a_turn_is_not_rounded_up<S: Subject>(build: impl Fn(&Setup) -> S) {
    let dues = [1, 2, 10, SECOND, MINUTE];
    let mut scene = Scene::at(0, build);
    for due in dues {
        scene.add(due);
    }
    scene.walk(MINUTE + 5);
    scene.assert_fired_exactly(&dues);
}

/// ZP-03: a timer that was due in the past fired ten seconds later.
///
/// # Panics
///
/// When the engine is wrong.
pub fn the_past_fires_at_the_next_advance<S: Subject>(build: impl Fn(&Setup) -> S) {
    for now in [2 * YEAR, 2 * YEAR + 999, 1 << 40] {
        let mut scene = Scene::at(now, &build);
        for due in [now, now - 46, now - YEAR, 0] {
            scene.add(due);
            let next = scene.subject.next_due();
            assert!(
                next.is_some_and(|next| next <= now),
                "something is due, next_due is {next:?}"
            );
            assert_eq!(scene.advance(now), [due], "at {now}");
        }
        // And when time moves on before anybody looks.
        for due in [now - 1, 0] {
            scene.add(due);
        }
        let mut fired = scene.advance(now + 1);
        fired.sort_unstable();
        assert_eq!(fired, [0, now - 1]);
    }
}

/// OV-01, OV-05: the longest delay wrapped and fired at once, or panicked.
///
/// # Panics
///
/// When the engine is wrong.
pub fn what_is_due_at_the_end_of_time_stays_pending<S: Subject>(build: impl Fn(&Setup) -> S) {
    let mut scene = Scene::at(0, build);
    let never = scene.add(u64::MAX);
    let hardly = scene.add(u64::MAX - 1);
    scene.add(10);
    assert!(scene.advance(9).is_empty());
    assert_eq!(scene.advance(10), [10]);
    assert!(scene.advance(100 * YEAR).is_empty());
    assert!(scene.subject.next_due().is_some());
    assert_eq!(scene.subject.pending(), 2);
    assert_eq!(scene.subject.cancel(never), Some(u64::MAX));
    let hardly = scene
        .subject
        .reset(hardly, u64::MAX)
        .expect("it is pending");
    assert!(scene.advance(u64::MAX - 1).is_empty());
    assert_eq!(scene.subject.cancel(hardly), Some(u64::MAX - 1));
    assert_eq!(scene.subject.pending(), 0);
}
