//! Clocks that go back, jump, freeze and suspend, under both doors.
//!
//! A monotonic clock may not go back, but machines were seen whose clock did. It is taken at its
//! word: what is set counts from the reading of that moment, and fires when a reading reaches it.
//! The wall clock steps as it likes, before 1970 as well.

mod doors;
mod sequences;

use std::time::Duration;

use wheel_sync::Arc;

use super::{ClockJumpKind, ManualClock};
use crate::{EventKind, OnConflict};
use doors::{Bare, Door, Log, Named};
use sequences::any_sequence_of_clock_events_fires_each_timer_once_at_the_first_look;

const HOUR: Duration = Duration::from_secs(3600);
const YEAR: Duration = Duration::from_secs(365 * 86_400);

const fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// A test for each door.
macro_rules! for_each_door {
    ($($test:ident)+) => {
        mod bare {
            $(#[test] fn $test() { super::$test::<super::Bare>(); })+
        }
        mod named {
            $(#[test] fn $test() { super::$test::<super::Named>(); })+
        }
    };
}

for_each_door! {
    a_monotonic_clock_that_goes_back_makes_nothing_early
    what_is_inserted_while_the_clock_is_back_is_on_time
    a_monotonic_clock_that_goes_back_is_counted_once_for_each_step
    a_clock_that_stands_still_fires_nothing
    a_jump_of_an_hour_fires_what_it_passes_once
    a_suspended_machine_delays_what_follows_the_monotonic_clock_only
    any_sequence_of_clock_events_fires_each_timer_once_at_the_first_look
}

fn open<D: Door>() -> (ManualClock, D, Log) {
    let (clock, log) = (ManualClock::new(), Log::default());
    let door = D::open(&clock, &log);
    (clock, door, log)
}

fn a_monotonic_clock_that_goes_back_makes_nothing_early<D: Door>() {
    let (clock, mut door, log) = open::<D>();
    clock.advance(HOUR);
    door.after(1, ms(10));
    door.at(2, clock.wall() + ms(20));
    clock.go_back(HOUR);
    assert_eq!(clock.now(), Duration::ZERO);
    clock.run_for(ms(19));
    assert!(
        log.lock().is_empty(),
        "the reading that they wait for has not come"
    );
    clock.run_for(ms(1));
    assert_eq!(*log.lock(), [2], "the wall clock has not gone back");
    clock.run_for(HOUR - ms(11));
    assert_eq!(*log.lock(), [2]);
    clock.run_for(ms(1));
    assert_eq!(*log.lock(), [2, 1]);
    assert_eq!(door.pending(), 0);
}

fn what_is_inserted_while_the_clock_is_back_is_on_time<D: Door>() {
    let (clock, mut door, log) = open::<D>();
    clock.advance(HOUR + ms(1));
    for step in [HOUR, ms(1), Duration::from_nanos(1)] {
        clock.go_back(step);
        door.after(1, ms(10));
        door.after(2, ms(10));
        assert!(door.cancel(2));
        door.after(3, ms(40));
        assert!(door.reset(3, ms(20)));
        clock.run_for(ms(9));
        assert!(log.lock().is_empty(), "{step:?} back");
        clock.run_for(ms(2));
        assert_eq!(*log.lock(), [1], "{step:?} back");
        clock.run_for(ms(8));
        assert_eq!(*log.lock(), [1], "{step:?} back");
        clock.run_for(ms(2));
        assert_eq!(*log.lock(), [1, 3], "{step:?} back");
        log.lock().clear();
    }
}

fn a_monotonic_clock_that_goes_back_is_counted_once_for_each_step<D: Door>() {
    let (clock, mut door, log) = open::<D>();
    // A driver that had nothing to look for would not know how late it was.
    door.after(0, HOUR);
    clock.advance(HOUR);
    for steps in 1..=5 {
        clock.go_back(ms(500));
        for number in 0..10 {
            door.after(number, ms(1 + number));
        }
        clock.run_for(ms(400));
        assert_eq!(door.clock_jumps(), steps);
        assert_eq!(log.lock().len() as u64, 1 + 10 * steps);
    }
}

fn a_clock_that_stands_still_fires_nothing<D: Door>() {
    let (clock, mut door, log) = open::<D>();
    clock.advance(ms(5));
    door.after(1, Duration::from_nanos(1));
    door.at(2, clock.wall() + ms(1));
    door.after(3, Duration::ZERO);
    for _ in 0..100 {
        clock.advance(Duration::ZERO);
    }
    assert_eq!(*log.lock(), [3]);
    clock.run_for(ms(1));
    assert_eq!(log.lock().len(), 3);
}

fn a_jump_of_an_hour_fires_what_it_passes_once<D: Door>() {
    let (clock, mut door, log) = open::<D>();
    let wall = clock.wall();
    for number in 0..50 {
        door.after(number, ms(1 + number * 100_000));
        door.at(50 + number, wall + ms(1 + number * 100_000));
    }
    clock.advance(HOUR);
    assert_eq!(log.lock().len(), 72, "36 of each kind are due within it");
    clock.advance(HOUR);
    clock.advance(HOUR);
    let mut fired = std::mem::take(&mut *log.lock());
    fired.sort_unstable();
    assert_eq!(fired, Vec::from_iter(0..100));
    let jumps = door.clock_jumps();
    assert_eq!(jumps, 0, "the clocks have not moved against each other");
}

/// While the machine sleeps, the wall clock goes on and the monotonic clock does not.
fn a_suspended_machine_delays_what_follows_the_monotonic_clock_only<D: Door>() {
    let (clock, mut door, log) = open::<D>();
    door.after(1, ms(600_000));
    door.at(2, clock.wall() + ms(600_000));
    clock.advance(ms(300_000));
    clock.set_wall(clock.wall() + HOUR);
    assert_eq!(*log.lock(), [2]);
    assert_eq!(door.clock_jumps(), 1);
    clock.run_for(ms(299_999));
    assert_eq!(*log.lock(), [2], "ten minutes awake are not over");
    clock.run_for(ms(1));
    assert_eq!(*log.lock(), [2, 1]);
}

#[test]
fn a_monotonic_clock_that_goes_back_is_told_to_who_listens() {
    let (clock, mut door, _) = open::<Named>();
    door.after(0, HOUR);
    clock.advance(HOUR);
    let mut events = door.scheduler.events();
    clock.go_back(ms(20));
    door.after(1, ms(1));
    clock.run_for(ms(10));
    let told = std::iter::from_fn(|| events.try_recv().ok());
    let jumps = told.filter_map(|event| match event.kind {
        EventKind::ClockJumped { jump } => Some((jump.kind, jump.by)),
        _ => None,
    });
    let wanted = [(ClockJumpKind::MonotonicBack, ms(20))];
    assert_eq!(jumps.collect::<Vec<_>>(), wanted);
}

#[test]
fn a_grid_goes_on_when_the_monotonic_clock_has_caught_up() {
    let (clock, door, log) = open::<Named>();
    let ticks = Arc::clone(&log);
    let (now, task) = (clock.clone(), door.scheduler.task("grid"));
    let note = move |_: &crate::Context| ticks.lock().push(now.now().as_millis() as u64);
    let task = task.on_conflict(OnConflict::Refuse).every(ms(100));
    let task = task.run(note).unwrap();
    clock.run_for(ms(350));
    clock.go_back(ms(200));
    clock.run_for(ms(300));
    assert_eq!(
        *log.lock(),
        [100, 200, 300, 400],
        "no point of the grid comes twice"
    );
    clock.go_back(HOUR);
    clock.run_for(ms(600));
    assert_eq!(log.lock()[4..], [500, 600]);
    assert_eq!((task.info().missed, task.info().skipped), (0, 0));
}

#[test]
fn a_pause_counts_from_the_end_of_the_run_by_the_clock_of_that_moment() {
    let (clock, door, log) = open::<Named>();
    let (times, now) = (Arc::clone(&log), clock.clone());
    let note = move |_: &crate::Context| times.lock().push(now.now().as_millis() as u64);
    door.scheduler.every_after(ms(100), note).unwrap();
    clock.advance(HOUR);
    clock.go_back(HOUR - ms(50));
    clock.run_for(ms(100));
    assert_eq!(
        log.lock().len(),
        1,
        "set at an hour, for a tenth of a second later"
    );
    clock.advance(HOUR);
    clock.run_for(ms(150));
    assert_eq!(log.lock()[1..], [3_600_150, 3_600_250]);
}
