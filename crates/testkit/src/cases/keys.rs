//! Reset, cancel, and what is counted.

use super::Scene;
use crate::stream::Setup;
use crate::subject::{Refused, Subject};

/// HD-05: resetting an entry that is due at exactly the present tick, and not yet taken, panicked.
///
/// # Panics
///
/// When the engine is wrong.
pub fn timers_due_right_now_can_be_reset_and_cancelled<S: Subject>(build: impl Fn(&Setup) -> S) {
    for due in [1_000, 60_000, 3_600_000, 86_400_000] {
        let mut scene = Scene::at(0, &build);
        let keys = [due; 3].map(|due| scene.add(due));
        scene.step(due, 1);
        while scene.fired.is_empty() {
            // A budget of one may go into moving them down the levels.
            assert!(scene.step(due, 1).more);
        }
        assert_eq!(scene.fired, [(due, due)]);

        // Nobody promised which of the three came first.
        let later = due + 50;
        let left: Vec<S::Key> = keys
            .into_iter()
            .filter_map(|key| scene.subject.reset(key, later))
            .collect();
        let [reset, cancelled] = left[..] else {
            panic!("of three timers, one fired and {left:?} were reset")
        };
        assert_eq!(scene.subject.cancel(cancelled), Some(due));
        assert_eq!(scene.subject.cancel(cancelled), None);

        let mut fired = Vec::new();
        for now in [due, later - 1, later, later + 100] {
            scene
                .subject
                .advance(now, usize::MAX, &mut |due, _| fired.push((now, due)));
        }
        assert_eq!(fired, [(later, later)]);
        assert_eq!(scene.subject.cancel(reset), None);
    }
}

/// HD-03: an entry that was overdue when it was added kept that mark when it moved to the future.
///
/// # Panics
///
/// When the engine is wrong.
pub fn an_overdue_timer_can_be_moved_and_cancelled<S: Subject>(build: impl Fn(&Setup) -> S) {
    let mut scene = Scene::at(100, build);
    let overdue = scene.add(90);
    let moved = scene
        .subject
        .reset(overdue, 300)
        .expect("nobody has looked yet");
    assert!(scene.advance(110).is_empty());
    assert_eq!(scene.subject.cancel(moved), Some(90));
    let new = scene.add(150);
    assert_eq!(
        scene.subject.cancel(moved),
        None,
        "the old key is not the new timer's"
    );
    assert_eq!(scene.subject.pending(), 1);
    assert!(scene.advance(149).is_empty());
    assert_eq!(scene.advance(150), [150]);
    assert_eq!(scene.subject.cancel(new), None);
    assert!(scene.advance(1_000).is_empty());
}

/// LV-12: moving the earliest timer later left the wheel pointing at the old tick.
///
/// # Panics
///
/// When the engine is wrong.
pub fn the_earliest_timer_can_be_moved_later<S: Subject>(build: impl Fn(&Setup) -> S) {
    let mut scene = Scene::at(0, build);
    let first = scene.add(50);
    scene.add(200);
    assert_eq!(scene.subject.next_due(), Some(50));
    assert!(scene.subject.reset(first, 400).is_some());

    // A driver that sleeps until `next_due`. A wake-up at the old place of the timer is allowed,
    // once.
    let mut visits = Vec::new();
    let mut fired = Vec::new();
    while let Some(next) = scene.subject.next_due() {
        visits.push(next);
        scene
            .subject
            .advance(next, usize::MAX, &mut |due, _| fired.push((next, due)));
    }
    assert_eq!(fired, [(200, 200), (400, 400)]);
    assert!(
        visits.len() <= 3,
        "two timers woke the driver at {visits:?}"
    );
}

/// MG-03: pending timers without a bound exhausted the memory.
///
/// # Panics
///
/// When the engine is wrong.
pub fn the_limit_is_exact<S: Subject>(build: impl Fn(&Setup) -> S) {
    assert!(S::LIMITS, "this engine knows no limit");
    let mut scene = Scene::with_limit(0, Some(1_000), build);
    let keys: Vec<S::Key> = (0..1_000).map(|n| scene.add(60_000 + n)).collect();
    assert_eq!(scene.subject.insert(5, 5), Err(Refused::Full(5)));
    let earlier = scene.subject.reset(keys[0], 10);
    assert!(earlier.is_some(), "a reset needs no room of its own");
    assert_eq!(scene.subject.pending(), 1_000);
    assert_eq!(scene.subject.cancel(keys[500]), Some(60_500));
    scene.add(7);
    assert_eq!(scene.subject.insert(6, 6), Err(Refused::Full(6)));
    assert_eq!(scene.advance(7), [7]);
    assert_eq!(scene.subject.pending(), 999);
    scene.add(100_000);
    assert_eq!(scene.subject.insert(6, 6), Err(Refused::Full(6)));
}

/// MG-05: cancelling everything left the counter above zero.
///
/// # Panics
///
/// When the engine is wrong.
pub fn nothing_is_left_after_everything_was_cancelled<S: Subject>(build: impl Fn(&Setup) -> S) {
    let mut scene = Scene::at(0, build);
    for (from, fire) in [(1, 0), (10_000, 50)] {
        let keys: Vec<S::Key> = (from..from + 100).map(|due| scene.add(due)).collect();
        if fire > 0 {
            assert_eq!(scene.advance(from + fire - 1).len() as u64, fire);
        }
        let cancelled = keys
            .into_iter()
            .filter_map(|key| scene.subject.cancel(key))
            .count();
        assert_eq!(cancelled as u64, 100 - fire);
        assert_eq!(scene.subject.pending(), 0);
    }
    assert!(scene.subject.close().is_empty());
}
