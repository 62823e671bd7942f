//! engine-close: an engine is closed while its driver fires, or while somebody inserts. Every value
//! leaves once: fired, refused, or handed to one of those who close it.

use std::time::Duration;

use wheel_loom_tests::jobs::{Gate, Jobs};
use wheel_loom_tests::{Census, Seen};
use wheel_runtime::{ManualClock, Timers};
use wheel_sync::{model, rest_unexplored, thread, unexplored};

const MS: Duration = Duration::from_millis(1);

/// Timers whose driver sleeps, on a clock that stands still.
fn idle_timers() -> (ManualClock, Timers) {
    unexplored(|| {
        let clock = ManualClock::new();
        let timers = Timers::builder().clock(clock.clone()).build().unwrap();
        clock.advance(Duration::ZERO);
        (clock, timers)
    })
}

#[test]
fn what_is_inserted_while_the_engine_is_closed_is_refused_or_handed_back() {
    let seen = Seen::default();
    let sees = seen.clone();
    model("engine-close, insert", move || {
        let (_clock, timers) = idle_timers();
        let census = Census::default();
        let (other, value) = (timers.clone(), census.value(1));
        let inserter = thread::spawn(move || other.after(MS, move || drop(value)).is_ok());
        let unfired = timers.shutdown();
        let accepted = inserter.join().unwrap();
        rest_unexplored();
        sees.note(unfired);
        assert_eq!(unfired, usize::from(accepted));
        assert_eq!((timers.shutdown(), timers.len()), (0, 0));
        assert_eq!(census.alive(), 0);
    });
    seen.all(2);
}

#[test]
fn what_follows_the_wall_clock_is_refused_or_handed_back_as_well() {
    let seen = Seen::default();
    let sees = seen.clone();
    model("engine-close, wall clock", move || {
        let (clock, timers) = idle_timers();
        let census = Census::default();
        let (other, value, at) = (timers.clone(), census.value(1), clock.wall() + MS);
        let inserter = thread::spawn(move || other.at(at, move || drop(value)).is_ok());
        let unfired = timers.shutdown();
        let accepted = inserter.join().unwrap();
        rest_unexplored();
        sees.note(unfired);
        assert_eq!(unfired, usize::from(accepted));
        assert_eq!((census.alive(), timers.len()), (0, 0));
    });
    seen.all(2);
}

#[test]
fn what_is_due_while_the_engine_is_closed_fires_or_is_handed_back() {
    let seen = Seen::default();
    let sees = seen.clone();
    model("engine-close, fire", move || {
        let (_clock, timers) = idle_timers();
        let census = Census::default();
        let value = census.value(1);
        assert!(timers.after(Duration::ZERO, move || drop(value)).is_ok());
        let unfired = timers.shutdown();
        rest_unexplored();
        sees.note(unfired);
        assert_eq!(timers.stats().fired, 1 - unfired as u64);
        assert_eq!(census.alive(), 0);
    });
    seen.all(2);
}

#[test]
fn of_two_who_close_one_gets_what_never_fired() {
    model("engine-close, two", || {
        let (_clock, timers) = idle_timers();
        let census = Census::default();
        let value = census.value(1);
        assert!(timers.after(MS, move || drop(value)).is_ok());
        let other = timers.clone();
        let closer = thread::spawn(move || other.shutdown());
        let unfired = timers.shutdown() + closer.join().unwrap();
        rest_unexplored();
        assert_eq!((unfired, census.alive()), (1, 0));
    });
}

#[test]
fn a_close_in_a_callback_and_one_outside_lose_nothing() {
    model("engine-close, inside", || {
        let (clock, timers) = idle_timers();
        let (census, gate) = (Census::default(), Gate::new());
        let value = census.value(1);
        assert!(timers.after(MS, move || drop(value)).is_ok());
        let (inside, opens) = (timers.clone(), gate.clone());
        let closes = move || {
            inside.shutdown();
            opens.open();
        };
        assert!(timers.after(Duration::ZERO, closes).is_ok());
        gate.pass();
        timers.shutdown();
        rest_unexplored();
        // Until the driver has gone, too.
        clock.advance(Duration::ZERO);
        assert_eq!((census.alive(), timers.len()), (0, 0));
    });
}

#[test]
fn after_a_close_in_a_callback_no_other_one_is_called() {
    model("engine-close, inside only", || {
        let (clock, timers) = idle_timers();
        let (census, jobs, gate) = (Census::default(), Jobs::new(), Gate::new());
        // Due at once, in one pass or in two.
        for id in [1, 2] {
            let (inside, counted, opens) = (timers.clone(), jobs.clone(), gate.clone());
            let value = census.value(id);
            let closes = move || {
                counted.count();
                inside.shutdown();
                opens.open();
                drop(value);
            };
            // Refused, if the first one has been called by now.
            drop(timers.after(Duration::ZERO, closes));
        }
        gate.pass();
        rest_unexplored();
        // Until the driver has gone, and dropped what it did not call.
        clock.advance(Duration::ZERO);
        assert_eq!((jobs.ran(), census.alive(), timers.len()), (1, 0, 0));
    });
}

#[test]
fn the_last_two_handles_may_be_dropped_at_once() {
    model("engine-close, drop", || {
        let (clock, timers) = idle_timers();
        let census = Census::default();
        let value = census.value(1);
        assert!(timers.after(MS, move || drop(value)).is_ok());
        let other = timers.clone();
        let dropper = thread::spawn(move || drop(other));
        drop(timers);
        dropper.join().unwrap();
        rest_unexplored();
        // Until the driver has gone.
        clock.advance(Duration::ZERO);
        assert_eq!(census.alive(), 0);
    });
}
