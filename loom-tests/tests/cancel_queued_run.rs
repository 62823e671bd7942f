//! cancel-queued-run: a run waits for a worker, and is cancelled, given another schedule or refused
//! while a worker starts it. One of the two wins, and the counts say which.

use std::time::Duration;

use wheel_loom_tests::Seen;
use wheel_loom_tests::jobs::Jobs;
use wheel_loom_tests::shop::Shop;
use wheel_runtime::{CancelOutcome, Schedule, TaskState, TriggerOutcome};
use wheel_sync::{model, rest_unexplored, thread};

#[test]
fn a_cancel_and_a_start_have_one_winner() {
    let seen = Seen::default();
    let sees = seen.clone();
    model("cancel-queued-run", move || {
        let jobs = Jobs::new();
        let counted = jobs.clone();
        let (shop, task, job) = Shop::with_a_queued_run(move |_| counted.count());
        let worker = thread::spawn(move || drop(job.run()));
        let outcome = task.cancel();
        worker.join().unwrap();
        rest_unexplored();
        let (outcome, ran, state) = match outcome {
            CancelOutcome::Cancelled => (0, 0, TaskState::Cancelled),
            CancelOutcome::Running => (1, 1, TaskState::Cancelled),
            CancelOutcome::NotFound => (2, 1, TaskState::Succeeded),
            other => panic!("{other:?}"),
        };
        sees.note(outcome);
        let stats = shop.stats_when_idle();
        assert_eq!((jobs.ran(), task.wait()), (ran, state));
        assert_eq!((stats.runs, stats.panicked), (ran as u64, 0));
        assert_eq!(stats.cancelled, u64::from(state == TaskState::Cancelled));
    });
    seen.all(3);
}

#[test]
fn a_new_schedule_and_a_start_have_one_winner() {
    let seen = Seen::default();
    let sees = seen.clone();
    model("cancel-queued-run, reschedule", move || {
        let jobs = Jobs::new();
        let counted = jobs.clone();
        let (shop, task, job) = Shop::with_a_queued_run(move |_| counted.count());
        let worker = thread::spawn(move || drop(job.run()));
        let later = Duration::from_millis(1);
        let moved = shop.scheduler.reschedule(task.id(), Schedule::after(later));
        worker.join().unwrap();
        rest_unexplored();
        let before = jobs.ran();
        // Taken back, or going: it comes again. Over: it does not.
        shop.clock.advance(later);
        shop.run_all();
        assert_eq!(jobs.ran() - before, usize::from(moved.is_ok()));
        assert!(moved.is_ok() || before == 1);
        // Taken back; going; over.
        sees.note(before + usize::from(moved.is_err()));
        let stats = shop.stats_when_idle();
        assert_eq!((stats.runs, stats.panicked), (jobs.ran() as u64, 0));
        assert_eq!(task.wait(), TaskState::Succeeded);
    });
    seen.all(3);
}

#[test]
fn a_cancel_and_a_refusal_end_the_task_once() {
    let seen = Seen::default();
    let sees = seen.clone();
    model("cancel-queued-run, refused", move || {
        let jobs = Jobs::new();
        let counted = jobs.clone();
        let (shop, task, job) = Shop::with_a_queued_run(move |_| counted.count());
        let worker = thread::spawn(move || drop(job));
        let outcome = task.cancel();
        worker.join().unwrap();
        rest_unexplored();
        let (outcome, state) = match outcome {
            CancelOutcome::Cancelled => (0, TaskState::Cancelled),
            CancelOutcome::NotFound => (1, TaskState::Skipped),
            other => panic!("{other:?}"),
        };
        sees.note(outcome);
        let stats = shop.stats_when_idle();
        assert_eq!((jobs.ran(), task.wait()), (0, state));
        assert_eq!(stats.skipped, u64::from(state == TaskState::Skipped));
        assert_eq!(stats.cancelled, u64::from(state == TaskState::Cancelled));
    });
    seen.all(2);
}

#[test]
fn of_two_triggers_one_makes_a_run() {
    model("cancel-queued-run, trigger", || {
        let jobs = Jobs::new();
        let counted = jobs.clone();
        let (shop, task) = wheel_sync::unexplored(|| {
            let shop = Shop::open();
            let hour = Duration::from_secs(3600);
            let task = shop.scheduler.after(hour, move |_| counted.count());
            shop.clock.advance(Duration::ZERO);
            (shop, task.unwrap())
        });
        let (other, id) = (shop.scheduler.clone(), task.id().to_owned());
        let trigger = thread::spawn(move || other.trigger(&id));
        let outcomes = [shop.scheduler.trigger(task.id()), trigger.join().unwrap()];
        rest_unexplored();
        shop.run_all();
        let triggered = |outcome: &&TriggerOutcome| **outcome == TriggerOutcome::Triggered;
        assert_eq!(outcomes.iter().filter(triggered).count(), 1);
        let stats = shop.stats_when_idle();
        assert_eq!((jobs.ran(), task.wait()), (1, TaskState::Succeeded));
        assert_eq!((stats.runs, stats.scheduled), (1, 0));
    });
}
