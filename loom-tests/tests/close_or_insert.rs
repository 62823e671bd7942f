//! close-or-insert: close while a thread inserts, re-arms, resets or cancels. The value is refused
//! or returned as unfired, never lost.

use wheel_core::{Config, Tick};
use wheel_loom_tests::{Census, with_a_placed_timer};
use wheel_sync::{model, thread};

#[test]
fn an_insert_is_refused_or_its_value_comes_back_at_close() {
    model("close-or-insert", || {
        let census = Census::default();
        let (wheel, driver) = Config::new().build();
        let values = [1, 2].map(|id| census.value(id));
        let inserter = {
            let wheel = wheel.clone();
            // The second one must not re-arm what the first one has left behind.
            thread::spawn(move || {
                let refused = values.map(|value| wheel.insert(Tick::new(1), value).is_err());
                refused.into_iter().filter(|refused| *refused).count()
            })
        };
        let unfired = driver.close().count();
        let refused = inserter.join().unwrap();
        assert_eq!(unfired + refused, 2);
        assert_eq!(census.alive(), 0);
        assert!(wheel.is_empty());
    });
}

#[test]
fn a_rearm_is_refused_or_its_value_comes_back_at_close() {
    model("close-or-insert, re-arm", || {
        let census = Census::default();
        let (wheel, driver, key) = with_a_placed_timer(1, census.value(0));
        drop(wheel.cancel(key));
        let closing = thread::spawn(move || driver.close().count());
        let refused = wheel.insert(Tick::new(2), census.value(1)).is_err();
        let unfired = closing.join().unwrap();
        assert_eq!(unfired + usize::from(refused), 1);
        assert_eq!(census.alive(), 0);
    });
}

#[test]
fn a_reset_to_earlier_loses_no_value_at_close() {
    model("close-or-insert, reset", || {
        let census = Census::default();
        let (wheel, driver, key) = with_a_placed_timer(5, census.value(1));
        let resetter = {
            let wheel = wheel.clone();
            thread::spawn(move || wheel.reset(key, Tick::new(1)).is_some())
        };
        assert_eq!(driver.close().count(), 1, "every timer was pending");
        resetter.join().unwrap();
        assert_eq!(census.alive(), 0);
        assert!(wheel.is_empty());
    });
}

#[test]
fn a_reset_that_meets_a_close_leaves_the_timer_to_a_cancel() {
    model("close-or-insert, reset and cancel", || {
        let census = Census::default();
        let (wheel, driver, key) = with_a_placed_timer(5, census.value(1));
        let resetter = {
            let wheel = wheel.clone();
            thread::spawn(move || wheel.reset(key, Tick::new(1)))
        };
        let canceller = {
            let wheel = wheel.clone();
            thread::spawn(move || usize::from(wheel.cancel(key).is_some()))
        };
        let unfired = driver.close().count();
        let cancelled = canceller.join().unwrap();
        assert_eq!(unfired + cancelled, 1, "lost, or returned twice");
        if let Some(key) = resetter.join().unwrap() {
            assert!(wheel.cancel(key).is_none());
        }
        assert_eq!(census.alive(), 0);
        assert!(wheel.is_empty());
    });
}

#[test]
fn a_cancel_and_a_close_have_one_winner() {
    model("close-or-insert, cancel", || {
        let census = Census::default();
        let (wheel, driver) = Config::new().build();
        let key = wheel.insert(Tick::new(5), census.value(1)).unwrap();
        let canceller = thread::spawn(move || usize::from(wheel.cancel(key).is_some()));
        let unfired = driver.close().count();
        assert_eq!(unfired + canceller.join().unwrap(), 1);
        assert_eq!(census.alive(), 0);
    });
}

#[test]
fn a_close_an_insert_and_a_cancel_account_for_every_value() {
    model("close-or-insert, three parties", || {
        let census = Census::default();
        let (wheel, driver, key) = with_a_placed_timer(5, census.value(1));
        let inserter = {
            let (wheel, value) = (wheel.clone(), census.value(2));
            thread::spawn(move || usize::from(wheel.insert(Tick::new(1), value).is_err()))
        };
        let canceller = {
            let wheel = wheel.clone();
            thread::spawn(move || usize::from(wheel.cancel(key).is_some()))
        };
        let unfired = driver.close().count();
        let (refused, cancelled) = (inserter.join().unwrap(), canceller.join().unwrap());
        assert_eq!(unfired + refused + cancelled, 2);
        assert_eq!(census.alive(), 0);
        assert!(wheel.is_empty());
    });
}

#[test]
fn a_driver_that_is_dropped_closes_and_drops_every_value() {
    model("close-or-insert, dropped", || {
        let census = Census::default();
        let (wheel, driver, key) = with_a_placed_timer(5, census.value(1));
        let resetter = {
            let (wheel, value) = (wheel.clone(), census.value(2));
            thread::spawn(move || {
                let moved = wheel.reset(key, Tick::new(9)).is_some();
                (moved, wheel.insert(Tick::new(1), value).is_err())
            })
        };
        drop(driver);
        let (_, refused) = resetter.join().unwrap();
        assert_eq!(census.alive(), 0, "refused: {refused}");
        assert!(wheel.is_empty());
        assert!(
            wheel.insert(Tick::new(1), census.value(3)).is_err(),
            "it is closed"
        );
    });
}

#[test]
fn what_is_left_of_a_close_is_taken_out_when_it_is_dropped() {
    model("close-or-insert, unfired dropped", || {
        let census = Census::default();
        let (wheel, driver) = Config::new().build();
        let keys = [1, 2, 3].map(|id| wheel.insert(Tick::new(5), census.value(id)).unwrap());
        let canceller = {
            let wheel = wheel.clone();
            thread::spawn(move || usize::from(wheel.cancel(keys[2]).is_some()))
        };
        let mut unfired = driver.close();
        let first = usize::from(unfired.next().is_some());
        drop(unfired);
        assert_eq!(first, 1);
        canceller.join().unwrap();
        assert_eq!(census.alive(), 0);
        assert!(wheel.is_empty());
    });
}
