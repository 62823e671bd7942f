//! rearm-or-reap and rearm-or-rearm: an inserter re-arms a vacant entry while the driver frees it,
//! or two inserters hold a hint to the same one. One step decides: a re-armed entry is never freed,
//! a freed one never re-armed.

use wheel_core::{Config, Driver, Tick, Wheel};
use wheel_loom_tests::{Census, Note, Value, advance, ids_of, with_a_placed_timer};
use wheel_sync::{Arc, model, thread};

/// A wheel with an entry that is vacant, placed at tick 1, and remembered by this thread.
fn with_a_vacant_entry(census: &Census) -> (Wheel<Value>, Driver<Value>) {
    let (wheel, driver, key) = with_a_placed_timer(1, census.value(0));
    drop(wheel.cancel(key).unwrap());
    (wheel, driver)
}

#[test]
fn an_entry_is_rearmed_or_freed() {
    model("rearm-or-reap", || {
        let census = Census::default();
        let (wheel, mut driver) = with_a_vacant_entry(&census);
        let driving = thread::spawn(move || {
            let fired = advance(&mut driver, 1).len();
            (driver, fired)
        });
        let key = wheel.insert(Tick::new(2), census.value(1)).unwrap();
        let (mut driver, early) = driving.join().unwrap();
        assert_eq!(early, 0, "due at 2, fired at 1");
        assert_eq!(wheel.len(), 1);
        let fired = advance(&mut driver, 3);
        assert_eq!(fired.len(), 1, "the timer is neither lost nor doubled");
        assert_eq!(fired[0].key, key);
        drop(fired);
        assert_eq!(census.alive(), 0);
        assert!(wheel.is_empty());
    });
}

#[test]
fn a_rearmed_timer_that_is_cancelled_again_leaves_once() {
    model("rearm-or-reap, cancel", || {
        let census = Census::default();
        let (wheel, mut driver) = with_a_vacant_entry(&census);
        let driving = thread::spawn(move || {
            let fired = advance(&mut driver, 2).len();
            (driver, fired)
        });
        let key = wheel.insert(Tick::new(2), census.value(1)).unwrap();
        let cancelled = usize::from(wheel.cancel(key).is_some());
        let (mut driver, fired) = driving.join().unwrap();
        let late = advance(&mut driver, 9).len();
        assert_eq!(cancelled + fired + late, 1);
        assert_eq!(census.alive(), 0);
        assert_eq!(driver.next_due(), None);
    });
}

#[test]
fn an_entry_is_rearmed_or_freed_at_the_intake() {
    model("rearm-or-reap, intake", || {
        let census = Census::default();
        let (wheel, mut driver) = Config::new().build();
        let key = wheel.insert(Tick::new(1), census.value(0)).unwrap();
        drop(wheel.cancel(key).unwrap());
        let driving = thread::spawn(move || {
            let fired = advance(&mut driver, 1).len();
            (driver, fired)
        });
        let key = wheel.insert(Tick::new(2), census.value(1)).unwrap();
        let (mut driver, early) = driving.join().unwrap();
        assert_eq!(early, 0, "due at 2, fired at 1");
        let fired = advance(&mut driver, 3);
        assert_eq!(fired.len(), 1, "the timer is neither lost nor doubled");
        assert_eq!(fired[0].key, key);
        drop(fired);
        assert_eq!(census.alive(), 0);
        assert_eq!(driver.next_due(), None);
    });
}

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
        assert_eq!(census.alive(), 0);
    });
}

#[test]
fn what_was_written_before_a_reset_is_visible_where_the_value_fires() {
    model("reset-or-fire, hand-over", || {
        let census = Census::default();
        let (wheel, mut driver, key) = with_a_placed_timer(1, census.value(1));
        let note = Arc::new(Note::default());
        let resetter = {
            let (wheel, note) = (wheel.clone(), Arc::clone(&note));
            thread::spawn(move || {
                note.write(1);
                wheel.reset(key, Tick::new(2)).is_some()
            })
        };
        let fired = advance(&mut driver, 2);
        if fired.iter().any(|timer| timer.due == Tick::new(2)) {
            assert_eq!(note.read(), 1);
        }
        resetter.join().unwrap();
    });
}

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
        assert_eq!(census.alive(), 0);
    });
}
