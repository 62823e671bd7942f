//! push-or-park: an earlier timer is inserted while the driver goes to sleep, and a second one
//! behind it. The driver wakes, or has not slept.

use std::sync::Arc;

use wheel_core::{Config, Driver, Tick};
use wheel_loom_tests::{Alarm, Bed, Census, Value, advance, ids_of};
use wheel_sync::{model, thread};

/// Sleeps as a driver does until something is due by `due`. Loom finds the deadlock if a wake is
/// lost.
fn sleep_until_due_by(driver: &mut Driver<Value>, bed: &Bed, due: u64) {
    while driver.next_due().is_none_or(|next| next > Tick::new(due)) {
        bed.sleep();
    }
}

#[test]
fn an_insert_wakes_a_driver_that_sleeps_for_ever() {
    model("push-or-park", || {
        let (census, bed) = (Census::default(), Arc::new(Bed::default()));
        let (wheel, mut driver) = Config::new().waker(bed.waker()).build();
        let value = census.value(1);
        let inserter = thread::spawn(move || wheel.insert(Tick::new(1), value).is_ok());
        sleep_until_due_by(&mut driver, &bed, 1);
        assert_eq!(advance(&mut driver, 1).len(), 1);
        assert!(inserter.join().unwrap());
        assert_eq!(census.alive(), 0);
    });
}

#[test]
fn the_earlier_of_two_inserts_is_never_hidden_by_the_other() {
    model("push-or-park, two inserts", || {
        let (census, bed) = (Census::default(), Arc::new(Bed::default()));
        let (wheel, mut driver) = Config::new().waker(bed.waker()).build();
        // A batch of free entries for each thread: growing the arena is another model's.
        for id in 10..14 {
            wheel.insert(Tick::new(0), census.value(id)).unwrap();
        }
        assert_eq!(advance(&mut driver, 0).len(), 4);
        let inserters = [(1, 1), (2, 3)].map(|(id, due)| {
            let (wheel, value) = (wheel.clone(), census.value(id));
            thread::spawn(move || wheel.insert(Tick::new(due), value).is_ok())
        });
        // Whichever comes first, the driver must hear of the one that is due at 1.
        sleep_until_due_by(&mut driver, &bed, 1);
        let fired = advance(&mut driver, 1);
        assert_eq!(ids_of(&fired), [1]);
        for inserter in inserters {
            assert!(inserter.join().unwrap());
        }
        let fired = advance(&mut driver, 3);
        assert_eq!(ids_of(&fired), [2]);
    });
}

#[test]
fn when_an_insert_returns_the_driver_was_woken_whatever_others_do() {
    model("push-or-park, woken on return", || {
        let (census, alarm) = (Census::default(), Arc::new(Alarm::default()));
        let (wheel, mut driver) = Config::new().waker(alarm.waker()).build();
        assert_eq!(driver.next_due(), None);
        let (other, value) = (wheel.clone(), census.value(3));
        let inserter = thread::spawn(move || other.insert(Tick::new(3), value).is_ok());
        // The other one may stand still anywhere meanwhile; this one must not rely on it.
        assert!(wheel.insert(Tick::new(1), census.value(1)).is_ok());
        assert!(alarm.has_rung(), "armed on return, but nobody was woken");
        assert!(inserter.join().unwrap());
        assert_eq!(advance(&mut driver, 3).len(), 2);
    });
}

#[test]
fn a_reset_to_an_earlier_tick_wakes_the_driver() {
    model("push-or-park, reset", || {
        let (census, bed) = (Census::default(), Arc::new(Bed::default()));
        let (wheel, mut driver) = Config::new().waker(bed.waker()).build();
        let key = wheel.insert(Tick::new(12), census.value(1)).unwrap();
        assert!(driver.next_due().is_some());
        let resetter = thread::spawn(move || wheel.reset(key, Tick::new(1)).is_some());
        sleep_until_due_by(&mut driver, &bed, 1);
        assert_eq!(advance(&mut driver, 1).len(), 1);
        assert!(resetter.join().unwrap());
        assert_eq!(census.alive(), 0);
        assert!(advance(&mut driver, 20).is_empty());
        assert_eq!(driver.next_due(), None, "the old entry was left behind");
    });
}
