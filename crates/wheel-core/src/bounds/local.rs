//! The memory of [`LocalWheel`]: it keeps the same promise as the shared one.

use std::collections::VecDeque;

use wheel_testkit::Random;

use super::scaled;
use crate::sweep::SLACK;
use crate::{Budget, Config, Key, LocalWheel, Tick};

fn advance(wheel: &mut LocalWheel<u64>, now: u64) {
    wheel.advance(Tick::new(now), Budget::UNLIMITED, |_| ());
}

#[test]
fn random_dues_hold_at_most_twice_the_peak_and_a_slack() {
    let live = scaled(100_000);
    for each_tick in [64, 1_000, 5_000] {
        let mut wheel = Config::new().build_local();
        let mut random = Random::new(each_tick as u64);
        let mut keys: Vec<Key> = Vec::new();
        for now in 0..(30 * live / each_tick) as u64 {
            for _ in 0..each_tick {
                let due = Tick::new(now + 20_000 + random.below(3_600_000));
                let key = wheel.insert(due, now).unwrap();
                if keys.len() < live {
                    keys.push(key);
                    continue;
                }
                let at = random.below(live as u64) as usize;
                wheel.cancel(std::mem::replace(&mut keys[at], key));
            }
            advance(&mut wheel, now);
            let bound = 2 * (live + each_tick) + 2 * SLACK;
            let held = wheel.held();
            assert!(
                held <= bound,
                "{each_tick} a tick: {held} entries, {bound} at most"
            );
        }
    }
}

/// Each insert follows a cancel, so the peak of live timers is what there are all the time.
#[test]
fn a_replaced_timer_holds_at_most_twice_the_live_ones_and_a_slack() {
    let live = 10_000;
    let mut wheel = Config::new().build_local();
    let mut random = Random::new(1);
    let mut due = || Tick::new(1_000_000 + random.below(3_600_000));
    let mut keys: Vec<Key> = (0..live).map(|n| wheel.insert(due(), n).unwrap()).collect();
    for now in 0..500 {
        for n in 0..1_000 {
            let at = ((now * 7_919 + n * 104_729) % live) as usize;
            assert!(wheel.cancel(keys[at]).is_some());
            keys[at] = wheel.insert(due(), n).unwrap();
        }
        advance(&mut wheel, now);
        let bound = 2 * live as usize + 2 * SLACK;
        assert!(wheel.held() <= bound, "{} entries", wheel.held());
    }
    assert_eq!(wheel.len(), live as usize);
}

/// Timers of one length, cancelled in bursts, while nobody advances.
#[test]
fn dues_of_one_length_need_no_advance() {
    for burst in [1, 10, 1_000, 10_000] {
        let mut wheel = Config::new().build_local();
        let mut keys = VecDeque::new();
        let live = 1_000;
        for i in 0..scaled(1_000_000) as u64 {
            keys.push_back(wheel.insert(Tick::new(30_000 + i / 100), i).unwrap());
            if keys.len() == live + burst {
                for key in keys.drain(..burst) {
                    assert!(wheel.cancel(key).is_some());
                }
            }
        }
        let bound = 2 * (live + burst) + 64;
        assert!(
            wheel.held() <= bound,
            "bursts of {burst}: {} entries, {bound} at most",
            wheel.held()
        );
    }
}

#[test]
fn after_all_were_cancelled_it_asks_for_one_visit() {
    let mut wheel = Config::new().build_local();
    let keys: Vec<Key> = (1..1_000)
        .map(|i| wheel.insert(Tick::new(i * 50_000), i).unwrap())
        .collect();
    for key in keys {
        assert!(wheel.cancel(key).is_some());
    }
    let next = wheel.next_due().expect("vacant entries are held");
    advance(&mut wheel, next.get());
    assert_eq!(wheel.next_due(), None);
}
