//! What a driver still wakes for when every timer was cancelled.

use wheel_testkit::Random;

use super::{PlainHeap, Rig, scaled};
use crate::{Config, Key, Tick};

const HOUR: u64 = 3_600_000;

fn occupied_slots<T>(rig: &Rig<T>) -> usize {
    let rings = rig.driver.levels.rings.iter();
    let occupied = rings.map(|ring| {
        let mut count = 0;
        let mut slot = 0;
        while let Some((found, _)) = ring.occupied_from(slot) {
            (count, slot) = (count + 1, found + 1);
        }
        count
    });
    occupied.sum()
}

fn visits_after_all_were_cancelled(config: Config, timers: usize, first: u64, dues: u64) {
    let mut rig = Rig::new(config);
    let mut random = Random::new(dues);
    let keys: Vec<Key> = (0..timers)
        .map(|_| {
            let due = Tick::new(first + random.below(dues));
            rig.wheel.insert(due, ()).unwrap()
        })
        .collect();
    rig.advance(0);
    let far = rig.driver.levels.far.as_ref().map_or(0, |far| far.len());
    let slots = occupied_slots(&rig) + far.min(1);
    for key in keys {
        assert_eq!(rig.wheel.cancel(key), Some(()));
    }
    let mut visits = 0;
    assert_eq!(rig.run_dry(|_, _| visits += 1), 0);
    assert!(
        visits <= slots,
        "{timers} within {dues} ticks from {first}: {visits} visits for {slots} slots"
    );
    assert_eq!(rig.driver.levels.held, 0);
}

#[test]
fn at_most_one_visit_for_each_occupied_slot_then_none() {
    for timers in [1, 10, 1000, 20_000] {
        for (first, dues) in [
            (1, 1_000),
            (1, 60_000),
            (1, HOUR),
            (5 * HOUR, HOUR),
            (1, 40 * HOUR),
            (1, 100 * HOUR),
        ] {
            visits_after_all_were_cancelled(Config::new(), timers, first, dues);
            let far = Config::new().overflow(PlainHeap::default());
            visits_after_all_were_cancelled(far, timers, first, dues);
        }
    }
}

/// The same for a driver whose calls are cut: it is told to come again at once, and not at each of
/// a thousand ticks.
#[test]
fn a_small_budget_makes_more_calls_and_no_more_visits() {
    let timers = scaled(1_000_000) as u64;
    for (first, dues) in [
        (5 * HOUR, HOUR),
        (5 * HOUR, 1),
        (1, 20 * HOUR),
        (70 * HOUR, 9),
    ] {
        let far = Config::new().overflow(PlainHeap::default());
        let mut rig = Rig::new(far);
        let mut random = Random::new(dues);
        let due = |random: &mut Random| Tick::new(first + random.below(dues));
        let keys: Vec<Key> = (0..timers)
            .map(|_| rig.wheel.insert(due(&mut random), ()).unwrap())
            .collect();
        rig.advance(0);
        let slots = occupied_slots(&rig).max(1);
        for key in keys {
            rig.wheel.cancel(key);
        }
        let (mut visits, mut calls) = (0, 0);
        while let Some(next) = rig.next() {
            visits += 1;
            calls += rig.advance_by(next, 1_024, |_| unreachable!());
        }
        assert!(visits <= slots, "{visits} visits for {slots} slots");
        let most = 2 * timers as usize / 1_024 + visits;
        assert!(calls <= most, "{calls} calls, {most} at most");
        assert_eq!(rig.driver.levels.held, 0);
    }
}

/// Some timers are pending and more vacant entries lie before them: they are swept at the first
/// visits, though they are few.
#[test]
fn a_visit_for_nothing_frees_vacant_entries_that_come_later() {
    let mut rig = Rig::new(Config::new());
    let keys: Vec<Key> = (1..=200)
        .map(|i| rig.wheel.insert(Tick::new(i * 10_000), ()).unwrap())
        .collect();
    for i in 1..=10 {
        rig.wheel.insert(Tick::new(5 * HOUR + i), ()).unwrap();
    }
    rig.advance(0);
    for key in keys {
        rig.wheel.cancel(key);
    }
    let mut visits = 0;
    assert_eq!(rig.run_dry(|_, _| visits += 1), 10);
    assert!(
        visits <= 10 + 4,
        "{visits} visits for 10 timers in one hour slot"
    );
}
