//! doors: whole timers and schedulers, with their driver thread, in the smallest scenarios.

use std::sync::Arc;
use std::time::Duration;

use wheel_loom_tests::jobs::{Gate, Jobs};
use wheel_loom_tests::{Note, Seen};
use wheel_runtime::{
    InlineExecutor, ManualClock, Schedule, Scheduler, TaskHandle, TaskState, Timers, TriggerOutcome,
};
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

/// A scheduler whose handlers run on its driver thread, which sleeps, and a task that is due after
/// a millisecond and counts itself.
fn pending_task(jobs: &Jobs) -> (ManualClock, Scheduler, TaskHandle) {
    let counted = jobs.clone();
    unexplored(|| {
        let clock = ManualClock::new();
        let builder = Scheduler::builder().clock(clock.clone());
        let scheduler = builder.executor(InlineExecutor).build().unwrap();
        let task = scheduler.after(MS, move |_| counted.count());
        clock.advance(Duration::ZERO);
        (clock, scheduler, task.unwrap())
    })
}

#[test]
fn an_occurrence_that_meets_a_trigger_does_not_end_the_schedule() {
    model("doors, busy task", || {
        let jobs = Jobs::new();
        let counted = jobs.clone();
        let (clock, scheduler, task) = unexplored(|| {
            let clock = ManualClock::new();
            let builder = Scheduler::builder().clock(clock.clone());
            let scheduler = builder.executor(InlineExecutor).build().unwrap();
            let task = scheduler.every(MS * 2, move |_| counted.count());
            assert!(scheduler.after(MS, |_| ()).is_ok());
            clock.advance(Duration::ZERO);
            (clock, scheduler, task.unwrap())
        });
        let (other, id) = (scheduler.clone(), task.id().to_owned());
        // Holds the lock of the task when the driver finds it due, or comes before or behind it.
        // Loom changes threads under a lock only at an atomic that races: that is the count of
        // runs, at the end of the other run.
        let trigger = thread::spawn(move || other.trigger(&id));
        clock.advance(MS);
        clock.advance(MS);
        let triggered = trigger.join().unwrap() == TriggerOutcome::Triggered;
        rest_unexplored();
        clock.advance(Duration::ZERO);
        let info = task.info();
        // The occurrence ran, or was left out beside the triggered run.
        assert_eq!(info.runs + info.skipped, 1 + u64::from(triggered));
        clock.advance(MS * 2);
        assert_eq!(task.info().runs, info.runs + 1);
        assert_eq!(jobs.ran() as u64, info.runs + 1);
        assert!(scheduler.shutdown(Duration::MAX).is_ok());
    });
}

#[test]
fn an_occurrence_and_a_new_schedule_have_one_winner() {
    let seen = Seen::default();
    let sees = seen.clone();
    model("doors, reschedule or fire", move || {
        let jobs = Jobs::new();
        let (clock, scheduler, task) = pending_task(&jobs);
        let (other, id) = (scheduler.clone(), task.id().to_owned());
        let later = MS * 20;
        let mover = thread::spawn(move || other.reschedule(&id, Schedule::after(later)));
        clock.advance(MS);
        let moved = mover.join().unwrap().is_ok();
        rest_unexplored();
        let before = jobs.ran();
        // It comes again if the new schedule holds: it was not due, or its run was going.
        clock.advance(later);
        assert_eq!(jobs.ran() - before, usize::from(moved));
        assert!(moved || before == 1);
        sees.note(usize::from(moved));
        assert_eq!(task.wait(), TaskState::Succeeded);
        assert!(scheduler.shutdown(Duration::MAX).is_ok());
    });
    seen.all(2);
}
