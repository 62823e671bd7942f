//! stale-key: `cancel` with an old key while the entry is used again. The new timer is untouched.

use wheel_core::{Config, Tick};
use wheel_loom_tests::{Census, advance, assert_at_rest, ids_of, with_a_placed_timer};
use wheel_sync::{model, thread};

#[test]
fn a_key_of_a_cancelled_timer_does_nothing_to_the_next_one_in_its_entry() {
    model("stale-key, re-armed", || {
        let census = Census::default();
        let (wheel, mut driver, old) = with_a_placed_timer(1, census.value(1));
        drop(wheel.cancel(old).unwrap());
        let stale = {
            let wheel = wheel.clone();
            thread::spawn(move || {
                wheel.cancel(old).is_some() || wheel.reset(old, Tick::new(0)).is_some()
            })
        };
        let new = wheel.insert(Tick::new(2), census.value(2)).unwrap();
        assert!(!stale.join().unwrap(), "a stale key did something");
        let fired = advance(&mut driver, 2);
        assert_eq!(fired.len(), 1);
        assert_eq!((fired[0].value.id, fired[0].key), (2, new));
    });
}

#[test]
fn a_key_of_a_fired_timer_does_nothing_to_the_next_one_in_its_entry() {
    model("stale-key, freed", || {
        let census = Census::default();
        let (wheel, mut driver) = Config::new().build();
        // Two, so that a whole batch of free entries comes back.
        let old = [1, 2].map(|id| wheel.insert(Tick::new(1), census.value(id)).unwrap());
        assert_eq!(advance(&mut driver, 1).len(), 2);
        let stale = {
            let wheel = wheel.clone();
            thread::spawn(move || old.iter().any(|&key| wheel.cancel(key).is_some()))
        };
        wheel.insert(Tick::new(2), census.value(3)).unwrap();
        assert!(!stale.join().unwrap(), "a stale key did something");
        let fired = advance(&mut driver, 2);
        assert_eq!(ids_of(&fired), [3]);
        drop(fired);
        assert_at_rest(&mut driver, &census);
    });
}

#[test]
fn a_reset_by_an_old_key_does_not_move_the_next_timer_in_its_entry() {
    model("stale-key, reset to later", || {
        let census = Census::default();
        let (wheel, mut driver, old) = with_a_placed_timer(1, census.value(1));
        drop(wheel.cancel(old).unwrap());
        let stale = {
            let wheel = wheel.clone();
            thread::spawn(move || wheel.reset(old, Tick::new(9)).is_some())
        };
        let new = wheel.insert(Tick::new(2), census.value(2)).unwrap();
        assert!(!stale.join().unwrap(), "a stale key did something");
        let fired = advance(&mut driver, 2);
        assert_eq!(ids_of(&fired), [2], "the new timer was moved");
        assert_eq!((fired[0].due, fired[0].key), (Tick::new(2), new));
        drop(fired);
        assert_at_rest(&mut driver, &census);
    });
}

#[test]
fn old_keys_in_two_threads_do_nothing_while_an_entry_is_used_twice() {
    model("stale-key, two threads", || {
        let census = Census::default();
        let (wheel, mut driver, old) = with_a_placed_timer(1, census.value(1));
        drop(wheel.cancel(old).unwrap());
        let stale = [0, 1].map(|_| {
            let wheel = wheel.clone();
            thread::spawn(move || wheel.cancel(old).is_some())
        });
        let second = wheel.insert(Tick::new(2), census.value(2)).unwrap();
        drop(wheel.cancel(second).unwrap());
        wheel.insert(Tick::new(2), census.value(3)).unwrap();
        for stale in stale {
            assert!(!stale.join().unwrap(), "a stale key did something");
        }
        assert!(wheel.cancel(second).is_none());
        let fired = advance(&mut driver, 2);
        assert_eq!(ids_of(&fired), [3]);
        drop(fired);
        assert_at_rest(&mut driver, &census);
    });
}
