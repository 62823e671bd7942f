//! busy-meets-driver: the driver reaches an entry that a thread is writing. It comes back in the
//! next tick; the timer is neither lost nor early.

use wheel_core::{Budget, Config, Tick};
use wheel_loom_tests::{Census, advance, advance_within, assert_at_rest, with_a_placed_timer};
use wheel_sync::{model, thread};

#[test]
fn a_busy_entry_that_the_driver_meets_is_looked_at_again() {
    model("busy-meets-driver", || {
        let census = Census::default();
        let (wheel, mut driver, key) = with_a_placed_timer(1, census.value(1));
        let resetter = {
            let wheel = wheel.clone();
            thread::spawn(move || wheel.reset(key, Tick::new(2)).is_some())
        };
        let fired = advance(&mut driver, 1).len();
        let moved = resetter.join().unwrap();
        assert_eq!(
            fired,
            usize::from(!moved),
            "fires at the old tick or was moved"
        );
        if moved {
            assert_eq!(driver.next_due(), Some(Tick::new(2)));
        }
        assert_eq!(advance(&mut driver, 2).len(), usize::from(moved));
        assert_at_rest(&mut driver, &census);
    });
}

#[test]
fn a_busy_entry_at_the_intake_gets_a_place() {
    model("busy-meets-driver, intake", || {
        let census = Census::default();
        let (wheel, mut driver) = Config::new().build();
        let key = wheel.insert(Tick::new(1), census.value(1)).unwrap();
        let resetter = {
            let wheel = wheel.clone();
            thread::spawn(move || wheel.reset(key, Tick::new(5)).is_some())
        };
        let fired = advance(&mut driver, 1).len();
        let moved = resetter.join().unwrap();
        assert_eq!(fired, usize::from(!moved));
        assert!(advance(&mut driver, 4).is_empty(), "early");
        assert_eq!(advance(&mut driver, 5).len(), usize::from(moved));
        assert_at_rest(&mut driver, &census);
    });
}

#[test]
fn a_busy_entry_bounds_the_sleep_of_the_driver() {
    model("busy-meets-driver, sleep", || {
        let census = Census::default();
        let (wheel, mut driver) = Config::new().build();
        let key = wheel.insert(Tick::new(12), census.value(1)).unwrap();
        let resetter = {
            let wheel = wheel.clone();
            thread::spawn(move || wheel.reset(key, Tick::new(13)).is_some())
        };
        // Whatever the thread is at, the driver must not sleep for ever, nor beyond the timer.
        let next = driver.next_due().expect("a timer is pending");
        assert!(next <= Tick::new(13), "sleeps until {next}");
        assert!(resetter.join().unwrap());
        let mut fired = advance_within(&mut driver, 12, Budget::new(1)).len();
        assert_eq!(fired, 0, "early");
        fired += advance_within(&mut driver, 13, Budget::new(1)).len();
        assert_eq!(fired, 1);
        assert_at_rest(&mut driver, &census);
    });
}

#[test]
fn two_busy_entries_and_a_cancel_leave_nothing_behind() {
    model("busy-meets-driver, three threads", || {
        let census = Census::default();
        let (wheel, mut driver, first) = with_a_placed_timer(1, census.value(1));
        let resetter = {
            let wheel = wheel.clone();
            thread::spawn(move || usize::from(wheel.reset(first, Tick::new(2)).is_some()))
        };
        let canceller = {
            let wheel = wheel.clone();
            thread::spawn(move || usize::from(wheel.cancel(first).is_some()))
        };
        let early = advance(&mut driver, 1).len();
        let (moved, cancelled) = (resetter.join().unwrap(), canceller.join().unwrap());
        assert_eq!(early + moved + cancelled, 1);
        assert_eq!(advance(&mut driver, 2).len(), moved);
        assert!(advance(&mut driver, 3).is_empty());
        assert_at_rest(&mut driver, &census);
    });
}
