//! doors: whole timers and schedulers, with their driver thread, in the smallest scenarios.

use std::sync::Arc;
use std::time::Duration;

use wheel_loom_tests::jobs::{Gate, Jobs};
use wheel_loom_tests::{Note, Seen};
use wheel_runtime::{InlineExecutor, ManualClock, Scheduler, TaskState, Timers};
use wheel_sync::{model, rest_unexplored, thread, unexplored};

const MS: Duration = Duration::from_millis(1);

#[test]
fn a_timer_wakes_a_driver_that_starts_or_goes_to_sleep() {
    model("doors, insert", || {
        let clock = ManualClock::new();
        let timers = Timers::builder().clock(clock).build().unwrap();
        let (note, gate) = (Arc::new(Note::default()), Gate::new());
        note.write(3);
        let opens = Arc::clone(&gate);
        let callback = move || {
            if note.read() == 3 {
                opens.open();
            }
        };
        assert!(timers.after(Duration::ZERO, callback).is_ok());
        gate.pass();
        rest_unexplored();
        assert_eq!((timers.shutdown(), timers.stats().panics), (0, 0));
    });
}

#[test]
fn a_timer_of_the_wall_clock_wakes_a_driver_that_starts_or_goes_to_sleep() {
    model("doors, wall clock", || {
        let clock = ManualClock::new();
        let timers = Timers::builder().clock(clock.clone()).build().unwrap();
        let gate = Gate::new();
        let opens = Arc::clone(&gate);
        assert!(timers.at(clock.wall(), move || opens.open()).is_ok());
        gate.pass();
        rest_unexplored();
        assert_eq!((timers.shutdown(), timers.stats().panics), (0, 0));
    });
}

#[test]
fn a_cancel_and_a_due_tick_have_one_winner() {
    let seen = Seen::default();
    let sees = seen.clone();
    model("doors, cancel or fire", move || {
        let jobs = Jobs::new();
        let (clock, timers, key) = unexplored(|| {
            let clock = ManualClock::new();
            let timers = Timers::builder().clock(clock.clone()).build().unwrap();
            let counted = jobs.clone();
            let key = timers.after(MS, move || counted.count()).unwrap();
            clock.advance(Duration::ZERO);
            (clock, timers, key)
        });
        let other = timers.clone();
        let canceller = thread::spawn(move || other.cancel(key));
        clock.advance(MS);
        let cancelled = canceller.join().unwrap();
        rest_unexplored();
        sees.note(usize::from(cancelled));
        assert_eq!(jobs.ran(), usize::from(!cancelled));
        assert_eq!((timers.shutdown(), timers.stats().panics), (0, 0));
    });
    seen.all(2);
}

#[test]
fn whoever_moves_the_clock_waits_for_what_others_insert_meanwhile() {
    model("doors, insert and advance", || {
        let jobs = Jobs::new();
        let (clock, timers) = unexplored(|| {
            let clock = ManualClock::new();
            let timers = Timers::builder().clock(clock.clone()).build().unwrap();
            clock.advance(Duration::ZERO);
            (clock, timers)
        });
        let (other, counted) = (timers.clone(), jobs.clone());
        let inserter = thread::spawn(move || other.after(MS, move || counted.count()).is_ok());
        clock.advance(MS);
        assert!(inserter.join().unwrap());
        // Inserted before the step of the clock, it has fired; behind it, it is due after another.
        clock.advance(MS);
        assert_eq!(jobs.ran(), 1);
        rest_unexplored();
        assert_eq!(timers.shutdown(), 0);
    });
}

#[test]
fn who_waits_for_idle_finds_everything_done_that_was_due() {
    model("doors, wait for idle", || {
        let (clock, jobs) = (ManualClock::new(), Jobs::new());
        let builder = Scheduler::builder().clock(clock).executor(InlineExecutor);
        let scheduler = builder.build().unwrap();
        let counted = jobs.clone();
        let task = scheduler.after(Duration::ZERO, move |_| counted.count());
        scheduler.wait_idle();
        assert_eq!(jobs.ran(), 1);
        rest_unexplored();
        assert_eq!(task.unwrap().wait(), TaskState::Succeeded);
        assert!(scheduler.shutdown(Duration::MAX).is_ok());
    });
}

#[test]
fn a_scheduler_with_a_worker_runs_what_is_due() {
    model("doors, worker", || {
        let (clock, jobs) = (ManualClock::new(), Jobs::new());
        let scheduler = unexplored(|| {
            let scheduler = Scheduler::builder().clock(clock.clone()).workers(1);
            let scheduler = scheduler.build().unwrap();
            clock.advance(Duration::ZERO);
            scheduler
        });
        let counted = jobs.clone();
        let task = scheduler.after(Duration::ZERO, move |_| counted.count());
        assert_eq!(task.unwrap().wait(), TaskState::Succeeded);
        assert_eq!(jobs.ran(), 1);
        rest_unexplored();
        assert!(scheduler.shutdown(Duration::MAX).is_ok());
    });
}
