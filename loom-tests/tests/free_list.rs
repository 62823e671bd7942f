//! free-list: batches of free entries pass between threads. No entry is handed out twice, and none
//! is lost.

use wheel_core::{Config, Tick};
use wheel_loom_tests::{Census, advance, assert_at_rest, ids_of};
use wheel_sync::{model, thread};

#[test]
fn a_limit_lets_one_of_two_in() {
    model("limit", || {
        let census = Census::default();
        let (wheel, driver) = Config::new().max_timers(1).build();
        let inserter = {
            let (wheel, value) = (wheel.clone(), census.value(1));
            thread::spawn(move || usize::from(wheel.insert(Tick::new(1), value).is_ok()))
        };
        let mine = usize::from(wheel.insert(Tick::new(1), census.value(2)).is_ok());
        assert_eq!(mine + inserter.join().unwrap(), 1);
        assert_eq!(driver.close().count(), 1);
        assert_eq!(census.alive(), 0);
    });
}

#[test]
fn a_batch_that_the_driver_frees_is_used_at_once() {
    model("free-list, give and take", || {
        let census = Census::default();
        let (wheel, mut driver) = Config::new().build();
        for id in [1, 2] {
            wheel.insert(Tick::new(1), census.value(id)).unwrap();
        }
        assert!(advance(&mut driver, 0).is_empty());
        let inserter = {
            let (wheel, value) = (wheel.clone(), census.value(3));
            thread::spawn(move || wheel.insert(Tick::new(2), value).is_ok())
        };
        assert_eq!(advance(&mut driver, 1).len(), 2);
        assert!(inserter.join().unwrap());
        assert_eq!(advance(&mut driver, 2).len(), 1);
        assert_at_rest(&mut driver, &census);
    });
}

#[test]
fn a_batch_that_comes_back_meanwhile_is_not_taken_for_what_it_was() {
    model("free-list, tag", || {
        let census = Census::default();
        let (wheel, mut driver) = Config::new().build();
        for id in 1..=4 {
            wheel.insert(Tick::new(1), census.value(id)).unwrap();
        }
        // Two batches in stock.
        assert_eq!(advance(&mut driver, 1).len(), 4);
        let inserter = {
            let (wheel, values) = (wheel.clone(), [5, 6, 7].map(|id| census.value(id)));
            thread::spawn(move || {
                values
                    .into_iter()
                    .all(|value| wheel.insert(Tick::new(9), value).is_ok())
            })
        };
        // Both are taken, and the upper one is given back while the lower one is in use.
        for (id, due) in [(8, 2), (9, 2), (10, 9)] {
            wheel.insert(Tick::new(due), census.value(id)).unwrap();
        }
        let mut fired = advance(&mut driver, 2).len();
        assert!(inserter.join().unwrap());
        fired += advance(&mut driver, 9).len();
        assert_eq!(
            fired, 6,
            "a timer was lost, so its entry was given out twice"
        );
        assert_at_rest(&mut driver, &census);
    });
}

#[test]
fn a_batch_of_free_entries_goes_to_one_thread() {
    model("free-list", || {
        let census = Census::default();
        let (wheel, mut driver) = Config::new().build();
        for id in [1, 2] {
            wheel.insert(Tick::new(1), census.value(id)).unwrap();
        }
        // The batch of both is in stock, and nothing else.
        assert_eq!(advance(&mut driver, 1).len(), 2);
        let inserter = {
            let (wheel, value) = (wheel.clone(), census.value(3));
            thread::spawn(move || wheel.insert(Tick::new(2), value).unwrap())
        };
        let mine = wheel.insert(Tick::new(2), census.value(4)).unwrap();
        let other = inserter.join().unwrap();
        assert_ne!(mine, other);
        assert_eq!(ids_of(&advance(&mut driver, 2)), [3, 4]);
        assert_at_rest(&mut driver, &census);
    });
}
