//! The waiters by promise, each kind that this system has.

use std::time::SystemTime;

use wheel_sync::thread;

use super::*;
use crate::clock::{ClockSource, SystemClock};

const FOREVER: Until = Until {
    moment: Moment::NEVER,
    exact: None,
    wall_ms: None,
};

/// Runs `check` with each kind of waiter on each kind of clock.
fn with_each(spin: Duration, check: impl Fn(&Clock, Arc<Line>, Waiter)) {
    for source in [
        ClockSource::Monotonic,
        ClockSource::Boottime,
        ClockSource::MonotonicRaw,
    ] {
        let clock = Clock::from(SystemClock::with_source(source));
        let (line, waiter) = open(&clock, spin);
        check(&clock, line, waiter);
        let (line, waiter) = open_portable(spin);
        check(&clock, line, waiter);
    }
}

#[test]
fn a_ring_before_the_sleep_is_kept() {
    with_each(Duration::ZERO, |clock, line, mut waiter| {
        waiter.begin();
        line.ring();
        waiter.wait(clock, FOREVER);
    });
}

#[test]
fn a_ring_during_the_sleep_ends_it() {
    with_each(Duration::ZERO, |clock, line, mut waiter| {
        thread::scope(|scope| {
            scope.spawn(|| waiter.wait(clock, FOREVER));
            thread::yield_now();
            line.ring();
        });
    });
}

#[test]
fn a_sleep_ends_by_itself_and_not_early() {
    for spin in [Duration::ZERO, Duration::from_micros(500)] {
        with_each(spin, |clock, _line, mut waiter| {
            let until = clock.now().after(Duration::from_millis(3));
            let asked = Until {
                moment: until,
                exact: (!spin.is_zero()).then_some(until),
                wall_ms: None,
            };
            while clock.now() < until {
                waiter.wait(clock, asked);
            }
            assert!(!waiter.wait(clock, asked), "what is past needs no sleep");
        });
    }
}

#[test]
fn a_sleep_ends_when_the_wall_clock_gets_there() {
    with_each(Duration::ZERO, |clock, _line, mut waiter| {
        let due = wall::ms_ceil(SystemTime::now() + Duration::from_millis(5));
        let asked = Until {
            moment: Moment::NEVER,
            exact: None,
            wall_ms: Some(due),
        };
        while wall::ms_ceil(clock.wall()) < due {
            waiter.wait(clock, asked);
        }
    });
}

#[test]
fn an_alarm_that_nobody_needs_any_more_does_not_disturb_the_next_sleep() {
    with_each(Duration::ZERO, |clock, _line, mut waiter| {
        let soon = wall::ms_ceil(clock.wall() + Duration::from_millis(2));
        let asked = Until {
            moment: clock.now().after(Duration::from_micros(100)),
            exact: None,
            wall_ms: Some(soon),
        };
        waiter.wait(clock, asked);
        let begun = clock.now();
        let asked = Until {
            moment: begun.after(Duration::from_millis(20)),
            exact: None,
            wall_ms: None,
        };
        waiter.wait(clock, asked);
        // By the raw clock a sleep is shorter by an eighth than what is to pass, and the kernel's
        // clock may be slewed.
        let slept = clock.now().since(begun);
        assert!(
            slept >= Duration::from_millis(15),
            "it ended after {slept:?}"
        );
    });
}
