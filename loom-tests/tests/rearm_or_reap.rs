//! rearm-or-reap: an insert re-arms a vacant entry while the driver or a sweep frees it. One step
//! decides: a re-armed entry is never freed, a freed one never re-armed.

use wheel_core::{Config, Driver, Tick, Wheel};
use wheel_loom_tests::{Census, Value, advance, assert_at_rest, ids_of, with_a_placed_timer};
use wheel_overflow::FarHeap;
use wheel_sync::{model, thread};

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
        assert_at_rest(&mut driver, &census);
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
        assert_at_rest(&mut driver, &census);
    });
}

/// Two timers are cancelled; the first one's visit comes to nothing, so that a sweep frees the
/// second, unless it is armed again meanwhile.
fn a_sweep_meets_a_rearm(config: Config, far: u64) {
    let census = Census::default();
    let (wheel, mut driver) = config.build();
    let keys = [1, far].map(|due| wheel.insert(Tick::new(due), census.value(0)).unwrap());
    assert!(advance(&mut driver, 0).is_empty());
    for key in keys {
        drop(wheel.cancel(key).unwrap());
    }
    let driving = thread::spawn(move || {
        assert!(advance(&mut driver, 1).is_empty());
        driver
    });
    let key = wheel.insert(Tick::new(far), census.value(7)).unwrap();
    let mut driver = driving.join().unwrap();
    assert!(advance(&mut driver, far - 1).is_empty());
    let fired = advance(&mut driver, far);
    assert_eq!(ids_of(&fired), [7], "the timer is neither lost nor doubled");
    assert_eq!(fired[0].key, key);
    drop(fired);
    assert!(advance(&mut driver, far + 1).is_empty());
    assert_at_rest(&mut driver, &census);
}

#[test]
fn an_entry_is_rearmed_or_swept() {
    model("rearm-or-reap, sweep", || {
        a_sweep_meets_a_rearm(Config::new(), 9)
    });
}

#[test]
fn a_far_entry_is_rearmed_or_swept() {
    model("rearm-or-reap, sweep of the overflow", || {
        a_sweep_meets_a_rearm(Config::new().overflow(FarHeap::new()), 40);
    });
}

#[test]
fn an_entry_is_rearmed_or_freed_while_another_thread_inserts() {
    model("rearm-or-reap, three threads", || {
        let census = Census::default();
        let (wheel, mut driver) = with_a_vacant_entry(&census);
        let driving = thread::spawn(move || {
            assert!(advance(&mut driver, 1).is_empty());
            driver
        });
        let inserter = {
            let (wheel, value) = (wheel.clone(), census.value(2));
            thread::spawn(move || wheel.insert(Tick::new(2), value).is_ok())
        };
        wheel.insert(Tick::new(2), census.value(1)).unwrap();
        assert!(inserter.join().unwrap());
        let mut driver = driving.join().unwrap();
        let mut fired = advance(&mut driver, 2);
        fired.extend(advance(&mut driver, 3));
        assert_eq!(ids_of(&fired), [1, 2]);
        drop(fired);
        assert_at_rest(&mut driver, &census);
    });
}
