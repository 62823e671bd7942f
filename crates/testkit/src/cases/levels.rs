//! The turns of the levels, and jumps over them.

use super::{DAY, HOUR, MINUTE, SECOND, Scene, YEAR};
use crate::stream::Setup;
use crate::subject::Subject;

/// OV-07: once the wheel was older than its span, a near timer picked a level that does not exist.
///
/// # Panics
///
/// When the engine is wrong.
pub fn an_engine_older_than_its_span_takes_near_timers<S: Subject>(build: impl Fn(&Setup) -> S) {
    for age in [DAY - 1, 2 * DAY - 1, (1 << 36) - 1, (1 << 40) - 1] {
        let mut scene = Scene::at(0, &build);
        scene.advance(age);
        let dues = [1, 2, 10].map(|ticks| age + ticks);
        for due in dues {
            scene.add(due);
        }
        scene.walk(age + 20);
        scene.assert_fired_exactly(&dues);
    }
}

/// OV-07: with a far timer pending, the driver slept for years when the uptime crossed a boundary.
///
/// # Panics
///
/// When the engine is wrong.
pub fn a_far_timer_does_not_hide_the_next_second<S: Subject>(build: impl Fn(&Setup) -> S) {
    let powers = [20, 24, 30, 31, 32, 36, 40, 48].map(|bits| 1_u64 << bits);
    for boundary in [MINUTE, HOUR, DAY, 2 * DAY, 3 * DAY, YEAR]
        .into_iter()
        .chain(powers)
    {
        let start = boundary - 5 * SECOND - 7;
        for age in [start, 0] {
            let mut scene = Scene::at(age, &build);
            scene.advance(start);
            for far in [start + 2 * DAY, start + 2 * YEAR, u64::MAX - 1] {
                scene.add(far);
            }
            let mut due = start + SECOND;
            scene.add(due);
            let mut visits = 0;
            while due < boundary + 5 * SECOND {
                // As a driver does that sleeps until `next_due`.
                let next = scene.subject.next_due().expect("timers are pending");
                assert!(next > scene.now && next <= due, "{next} at {}", scene.now);
                visits += 1;
                if !scene.advance(next).is_empty() {
                    assert_eq!(scene.now, due);
                    due += SECOND;
                    scene.add(due);
                }
            }
            assert!(visits < 60, "ten seconds took {visits} visits");
            assert_eq!(scene.subject.pending(), 4);
        }
    }
}

const BEFORE_THE_TURN: u64 = DAY - 10;

fn around_the_turn() -> [u64; 7] {
    [5, 10, 20, SECOND, DAY - 1, DAY, DAY + 1].map(|ticks| BEFORE_THE_TURN + ticks)
}

/// LV-01: short timers went into a slot of the top level that had passed already.
///
/// # Panics
///
/// When the engine is wrong.
pub fn timers_around_the_turn_of_the_span_are_exact<S: Subject>(build: impl Fn(&Setup) -> S) {
    let dues = around_the_turn();
    let mut scene = Scene::at(0, build);
    scene.advance(BEFORE_THE_TURN);
    for due in dues {
        scene.add(due);
    }
    scene.walk_around(&dues);
    scene.walk_around(&[2 * DAY, 3 * DAY]);
    scene.assert_fired_exactly(&dues);
}

/// LV-01: cancelling any of them first takes that one out and no other.
///
/// # Panics
///
/// When the engine is wrong.
pub fn timers_around_the_turn_of_the_span_can_be_cancelled<S: Subject>(
    build: impl Fn(&Setup) -> S,
) {
    let dues = around_the_turn();
    for cancelled in dues {
        let mut scene = Scene::at(0, &build);
        scene.advance(BEFORE_THE_TURN);
        let keys = dues.map(|due| scene.add(due));
        for (due, key) in dues.into_iter().zip(keys) {
            if due == cancelled {
                assert_eq!(scene.subject.cancel(key), Some(due));
                assert_eq!(scene.subject.cancel(key), None);
            }
        }
        for due in dues {
            let expected: &[u64] = if due == cancelled { &[] } else { &[due] };
            assert!(scene.now == due - 1 || scene.advance(due - 1).is_empty());
            assert_eq!(scene.advance(due), expected);
        }
    }
}

/// LV-03: entries of the coarse slot that had just become current were not delivered after a jump.
///
/// # Panics
///
/// When the engine is wrong.
pub fn a_jump_into_a_coarse_slot_delivers_what_is_due_in_it<S: Subject>(
    build: impl Fn(&Setup) -> S,
) {
    for unit in [0, MINUTE, HOUR, DAY, 3 * DAY] {
        let dues = [60_001, 64_999, 65_000, 65_001].map(|ticks| unit + ticks);
        let mut scene = Scene::at(0, &build);
        for due in dues {
            scene.add(due);
        }
        assert_eq!(scene.advance(unit + 65_000), dues[..3]);
        assert_eq!(scene.advance(unit + 65_001), dues[3..]);
    }
}

/// LV-07: one poll handled one tick, so that after a stall due timers waited for many polls.
///
/// # Panics
///
/// When the engine is wrong.
pub fn one_call_after_a_stall_delivers_everything_in_order<S: Subject>(
    build: impl Fn(&Setup) -> S,
) {
    let mut scene = Scene::at(0, &build);
    for due in [5_000, 5, 500, 50] {
        scene.add(due);
    }
    assert_eq!(scene.advance(6_000), [5, 50, 500, 5_000]);

    // The same over every level and beyond.
    let dues = [
        3,
        999,
        SECOND,
        MINUTE - 1,
        MINUTE + 1,
        HOUR,
        HOUR + 59 * MINUTE,
        DAY - 1,
        DAY,
        2 * DAY,
        YEAR,
    ];
    let mut scene = Scene::at(0, build);
    for due in dues.into_iter().rev() {
        scene.add(due);
    }
    assert_eq!(scene.advance(2 * YEAR), dues);
}

/// LV-09: the gap between the runs of a timer that is added anew each time grew after a minute.
///
/// # Panics
///
/// When the engine is wrong.
pub fn a_timer_that_is_added_again_and_again_does_not_drift<S: Subject>(
    build: impl Fn(&Setup) -> S,
) {
    for (gap, runs) in [(10 * SECOND, 30), (SECOND, 200)] {
        // At the start, and over the turn of an hour.
        for start in [0, HOUR - 45 * SECOND] {
            let mut scene = Scene::at(start, &build);
            scene.after(gap);
            let mut ran = 0;
            while ran < runs {
                let fired = scene.advance(scene.now + 1);
                if !fired.is_empty() {
                    ran += 1;
                    assert_eq!(
                        scene.now,
                        start + ran * gap,
                        "run {ran} of one each {gap} ticks"
                    );
                    scene.after(gap);
                }
            }
        }
    }
}

/// LV-11: a delay of one full turn, added while the pointer is on the last slot, was out of range.
///
/// # Panics
///
/// When the engine is wrong.
pub fn a_full_turn_from_the_last_slot_is_exact<S: Subject>(build: impl Fn(&Setup) -> S) {
    let last_slots = [
        SECOND - 1,
        MINUTE - SECOND,
        MINUTE - 1,
        HOUR - MINUTE,
        HOUR - 1,
        DAY - HOUR,
        DAY - 1,
    ];
    for pointer in last_slots {
        let mut scene = Scene::at(0, &build);
        scene.advance(pointer);
        let mut dues = Vec::new();
        for turn in [SECOND, MINUTE, HOUR, DAY] {
            dues.extend([turn - 1, turn, turn + 1].map(|ticks| pointer + ticks));
        }
        for &due in dues.iter().rev() {
            scene.add(due);
        }
        for &due in &dues {
            scene.advance(due - 1);
            scene.advance(due);
        }
        scene.assert_fired_exactly(&dues);
    }
}

/// CK-03: a jump was walked one period at a time, and could not be ended.
///
/// # Panics
///
/// When the engine is wrong.
pub fn a_jump_costs_what_is_due_and_not_what_passed<S: Subject>(build: impl Fn(&Setup) -> S) {
    for jump in [DAY, 10 * YEAR, 1_000_000 * YEAR] {
        let mut scene = Scene::at(0, &build);
        for due in [10, SECOND, jump + 5] {
            scene.add(due);
        }
        // By single steps, so that the work can be counted: two fire, and the others move a level
        // at a time.
        let mut calls = 0;
        while scene.step(jump, 1).more {
            calls += 1;
            assert!(
                calls < 40,
                "a jump of {jump} ticks over two timers takes more than {calls} steps"
            );
        }
        // Calls that were cut need not fire in order between them.
        scene.fired.sort_unstable();
        assert_eq!(scene.fired, [(jump, 10), (jump, SECOND)]);
        assert_eq!(scene.advance(jump + 5), [jump + 5]);
    }

    // Closing in the middle of it.
    let mut scene = Scene::at(0, &build);
    for due in 1..=100 {
        scene.add(due * MINUTE);
    }
    assert!(scene.step(YEAR, 10).more);
    let (fired, returned) = (scene.fired.len(), scene.subject.close().len());
    assert_eq!(fired + returned, 100);
    assert!(fired <= 10);
}

/// A clock that went back made what was set from then on due at once.
///
/// # Panics
///
/// When the engine is wrong.
pub fn time_that_goes_back_makes_nothing_early_or_twice<S: Subject>(build: impl Fn(&Setup) -> S) {
    for latest in [SECOND, HOUR, DAY + 5, 1 << 40] {
        let mut scene = Scene::at(0, &build);
        scene.advance(latest);
        scene.add(latest + 10);
        let back = latest - 500;
        assert!(scene.advance(back).is_empty());
        scene.add(back + 10);
        let next = scene.subject.next_due();
        assert_eq!(next, Some(back + 10), "the driver looks when it is due");
        assert!(scene.advance(back + 9).is_empty());
        assert_eq!(scene.advance(back + 10), [back + 10]);

        // Reset and cancel, to ticks that have been before.
        let keys = [back + 50, back + 60].map(|due| scene.add(due));
        assert_eq!(scene.subject.cancel(keys[0]), Some(back + 50));
        let moved = scene.subject.reset(keys[1], back + 40);
        assert!(moved.is_some());
        let mut fired = Vec::new();
        for now in back + 11..back + 100 {
            let log = &mut |due, _| fired.push((now, due));
            scene.subject.advance(now, usize::MAX, log);
        }
        assert_eq!(fired, [(back + 40, back + 40)]);

        // It goes back again, before what was due has all been delivered.
        let crowd = latest + 20;
        for _ in 0..20 {
            scene.add(crowd);
        }
        assert!(scene.advance(latest + 9).is_empty());
        assert_eq!(scene.advance(latest + 10), [latest + 10]);
        scene.fired.clear();
        while scene.fired.len() < 7 {
            assert!(scene.step(crowd, 7).more);
        }
        let delivered = scene.fired.len();
        assert!(scene.advance(latest).is_empty(), "not due by this clock");
        assert_eq!(scene.advance(crowd).len(), 20 - delivered);
        assert_eq!(scene.subject.pending(), 0);
        assert_eq!(scene.subject.next_due(), None);
    }
}
