//! rearm-or-rearm, the exchange: stacks of hints pass between threads that cancel and threads that insert. No
//! vacant entry is armed twice, and nobody touches a stack that another thread has.

use wheel_core::{Config, Driver, Key, Tick, Wheel};
use wheel_loom_tests::{Census, Value, advance, assert_at_rest, ids_of};
use wheel_sync::{model, thread};

/// A wheel with `count` pending timers, due at 1 and placed.
fn with_timers(census: &Census, count: u32) -> (Wheel<Value>, Driver<Value>, Vec<Key>) {
    let (wheel, mut driver) = Config::new().build();
    let keys = (0..count)
        .map(|id| wheel.insert(Tick::new(1), census.value(id)).unwrap())
        .collect();
    assert!(advance(&mut driver, 0).is_empty());
    (wheel, driver, keys)
}

fn cancel_all(wheel: &Wheel<Value>, keys: &[Key]) {
    for &key in keys {
        drop(wheel.cancel(key).expect("nobody else has the key"));
    }
}

fn insert(wheel: &Wheel<Value>, census: &Census, ids: std::ops::Range<u32>) {
    for id in ids {
        wheel.insert(Tick::new(1), census.value(id)).unwrap();
    }
}

/// All of `ids` fire, each once.
fn fire_all(driver: &mut Driver<Value>, census: &Census, ids: std::ops::Range<u32>) {
    let mut fired = advance(driver, 1);
    fired.extend(advance(driver, 2));
    assert_eq!(ids_of(&fired), ids.collect::<Vec<_>>());
    drop(fired);
    assert_at_rest(driver, census);
}

#[test]
fn a_full_stack_goes_from_one_that_cancels_to_one_that_inserts() {
    model("hint-exchange", || {
        let census = Census::default();
        let (wheel, mut driver, keys) = with_timers(&census, 3);
        let canceller = {
            let wheel = wheel.clone();
            // The third finds a full stack, and hands it over.
            thread::spawn(move || cancel_all(&wheel, &keys))
        };
        insert(&wheel, &census, 10..12);
        canceller.join().unwrap();
        fire_all(&mut driver, &census, 10..12);
    });
}

#[test]
fn a_full_stack_goes_to_one_of_two_that_insert() {
    model("hint-exchange, two inserters", || {
        let census = Census::default();
        let (wheel, mut driver, keys) = with_timers(&census, 3);
        cancel_all(&wheel, &keys);
        let inserters = [10, 11].map(|id| {
            let (wheel, census) = (wheel.clone(), census.clone());
            thread::spawn(move || insert(&wheel, &census, id..id + 1))
        });
        for inserter in inserters {
            inserter.join().unwrap();
        }
        fire_all(&mut driver, &census, 10..12);
    });
}

#[test]
fn two_that_hand_over_get_stacks_of_their_own() {
    model("hint-exchange, two cancellers", || {
        let census = Census::default();
        let (wheel, mut driver, keys) = with_timers(&census, 6);
        let cancellers = [&keys[..3], &keys[3..]].map(|keys| {
            let (wheel, keys) = (wheel.clone(), keys.to_vec());
            thread::spawn(move || cancel_all(&wheel, &keys))
        });
        for canceller in cancellers {
            canceller.join().unwrap();
        }
        insert(&wheel, &census, 10..14);
        fire_all(&mut driver, &census, 10..14);
    });
}
