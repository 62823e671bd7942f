//! rearm-or-rearm: two threads after one vacant entry. A hint is moved and never copied, so it
//! arises only as a hand-over: of two threads that insert one gets the hint, while the canceller
//! that had it goes on and the driver passes the entry.

use wheel_core::{Config, Tick};
use wheel_loom_tests::{Census, advance, assert_at_rest, ids_of};
use wheel_sync::{model, thread};

#[test]
fn a_thread_rearms_what_another_one_has_cancelled() {
    model("rearm-or-rearm, exchange", || {
        let census = Census::default();
        let (wheel, mut driver) = Config::new().build();
        let keys = [0, 1, 2, 3, 4].map(|id| wheel.insert(Tick::new(1), census.value(id)).unwrap());
        let own = wheel.insert(Tick::new(1), census.value(5)).unwrap();
        assert!(advance(&mut driver, 0).is_empty());
        let canceller = {
            let wheel = wheel.clone();
            // Two stacks are full and handed over; for the second it gets what lay there.
            thread::spawn(move || keys.iter().all(|&key| wheel.cancel(key).is_some()))
        };
        // This thread has an empty stack then, to give for a full one.
        drop(wheel.cancel(own).unwrap());
        wheel.insert(Tick::new(2), census.value(6)).unwrap();
        wheel.insert(Tick::new(2), census.value(7)).unwrap();
        wheel.insert(Tick::new(2), census.value(8)).unwrap();
        assert!(canceller.join().unwrap());
        assert_eq!(ids_of(&advance(&mut driver, 2)), [6, 7, 8]);
        assert_at_rest(&mut driver, &census);
    });
}

#[test]
fn two_threads_after_the_same_hints_and_the_driver_leave_each_entry_one_timer() {
    model("rearm-or-rearm, driver", || {
        let census = Census::default();
        let (wheel, mut driver) = Config::new().build();
        let keys = [0, 1, 2].map(|id| wheel.insert(Tick::new(1), census.value(id)).unwrap());
        assert!(advance(&mut driver, 0).is_empty());
        // The third finds a full stack, which goes to the exchange.
        for key in keys {
            drop(wheel.cancel(key).unwrap());
        }
        let inserters = [10, 11].map(|id| {
            let (wheel, value) = (wheel.clone(), census.value(id));
            thread::spawn(move || wheel.insert(Tick::new(2), value).is_ok())
        });
        assert!(advance(&mut driver, 1).is_empty());
        for inserter in inserters {
            assert!(inserter.join().unwrap());
        }
        let mut fired = advance(&mut driver, 2);
        fired.extend(advance(&mut driver, 3));
        assert_eq!(ids_of(&fired), [10, 11]);
        drop(fired);
        assert_at_rest(&mut driver, &census);
    });
}
