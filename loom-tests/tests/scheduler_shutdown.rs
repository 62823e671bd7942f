//! scheduler-shutdown: a scheduler is shut down while a task is added, is due or runs. Each task
//! runs, is refused or is named in one report, and each caller returns when all of that is done.

use std::sync::Arc;
use std::time::Duration;

use wheel_loom_tests::Seen;
use wheel_loom_tests::jobs::{Gate, Jobs};
use wheel_loom_tests::shop::Shop;
use wheel_runtime::{Context, InlineExecutor, ManualClock, Scheduler, ShutdownReport, TaskState};
use wheel_sync::{Mutex, model, rest_unexplored, thread, unexplored};

const HOUR: Duration = Duration::from_secs(3600);

/// A scheduler whose handlers run on its driver thread, which sleeps.
fn idle_scheduler() -> (ManualClock, Scheduler) {
    unexplored(|| {
        let clock = ManualClock::new();
        let builder = Scheduler::builder().clock(clock.clone());
        let scheduler = builder.executor(InlineExecutor).build().unwrap();
        clock.advance(Duration::ZERO);
        (clock, scheduler)
    })
}

fn named(report: &ShutdownReport) -> usize {
    report.pending.len() + report.queued.len()
}

#[test]
fn of_two_shutdowns_one_reports_the_task() {
    let seen = Seen::default();
    let sees = seen.clone();
    model("scheduler-shutdown, two", move || {
        let (_clock, scheduler) = idle_scheduler();
        let jobs = Jobs::new();
        let counted = jobs.clone();
        let task = scheduler.after(Duration::ZERO, move |_| counted.count());
        let other = scheduler.clone();
        let shutdown = thread::spawn(move || other.shutdown(Duration::MAX));
        let first = scheduler.shutdown(Duration::MAX).unwrap();
        let second = shutdown.join().unwrap().unwrap();
        rest_unexplored();
        let named = named(&first) + named(&second);
        sees.note(named);
        assert_eq!(named + jobs.ran(), 1);
        let ended = [TaskState::Succeeded, TaskState::Cancelled][named];
        assert_eq!(task.unwrap().wait(), ended);
        let stats = scheduler.stats();
        assert_eq!((stats.running, stats.queued, stats.scheduled), (0, 0, 0));
    });
    seen.all(2);
}

#[test]
fn what_is_added_meanwhile_is_refused_or_reported() {
    let seen = Seen::default();
    let sees = seen.clone();
    model("scheduler-shutdown, add", move || {
        let (_clock, scheduler) = idle_scheduler();
        let other = scheduler.clone();
        let adder = thread::spawn(move || other.after(HOUR, |_| ()));
        let report = scheduler.shutdown(Duration::MAX).unwrap();
        let added = adder.join().unwrap();
        rest_unexplored();
        sees.note(named(&report));
        assert_eq!(named(&report), usize::from(added.is_ok()));
        if let Ok(task) = added {
            assert_eq!(task.wait(), TaskState::Cancelled);
        }
        assert!(scheduler.wait_empty_timeout(Duration::MAX));
        assert_eq!(scheduler.stats().scheduled, 0);
    });
    seen.all(2);
}

#[test]
fn a_shutdown_waits_for_a_run_that_is_going_or_takes_it_back() {
    let seen = Seen::default();
    let sees = seen.clone();
    model("scheduler-shutdown, run", move || {
        let jobs = Jobs::new();
        let counted = jobs.clone();
        let (shop, task, job) = Shop::with_a_queued_run(move |_| counted.count());
        let worker = thread::spawn(move || drop(job.run()));
        let report = shop.scheduler.shutdown(Duration::MAX).unwrap();
        // The run that it has not taken back has ended by now.
        assert_eq!(named(&report) + jobs.ran(), 1);
        worker.join().unwrap();
        rest_unexplored();
        sees.note(jobs.ran());
        assert!(task.wait().has_ended());
        let stats = shop.scheduler.stats();
        assert_eq!((stats.running, stats.queued, stats.scheduled), (0, 0, 0));
    });
    seen.all(2);
}

#[test]
fn without_grace_a_run_that_is_going_is_told_to_stop() {
    let seen = Seen::default();
    let sees = seen.clone();
    model("scheduler-shutdown, without grace", move || {
        let jobs = Jobs::new();
        let counted = jobs.clone();
        let handler = move |run: &Context| {
            counted.count();
            // For ever, if nobody says so.
            run.token().wait_timeout(Duration::MAX);
        };
        let (shop, task, job) = Shop::with_a_queued_run(handler);
        let worker = thread::spawn(move || drop(job.run()));
        let cut = match shop.scheduler.shutdown(Duration::ZERO) {
            Ok(report) => {
                assert_eq!(named(&report), 1);
                0
            }
            Err(timeout) => timeout.report.cut.len(),
        };
        worker.join().unwrap();
        rest_unexplored();
        sees.note(cut);
        assert_eq!(jobs.ran(), cut);
        assert_eq!(task.wait(), TaskState::Cancelled);
    });
    seen.all(2);
}

#[test]
fn when_the_last_handle_is_dropped_a_run_that_is_going_is_told_to_stop() {
    model("scheduler-shutdown, drop", || {
        let handler = |run: &Context| {
            run.token().wait_timeout(Duration::MAX);
        };
        let (shop, task, job) = Shop::with_a_queued_run(handler);
        let worker = thread::spawn(move || drop(job.run()));
        drop(shop);
        assert_eq!(task.wait(), TaskState::Cancelled);
        worker.join().unwrap();
    });
}

#[test]
fn a_shutdown_in_a_handler_and_one_outside_both_return() {
    model("scheduler-shutdown, inside", || {
        let (inside, gate) = (Arc::new(Mutex::new(None::<Scheduler>)), Gate::new());
        let (calls, opens) = (Arc::clone(&inside), Arc::clone(&gate));
        let handler = move |_: &Context| {
            let scheduler = calls.lock().take();
            if scheduler.is_some_and(|scheduler| scheduler.shutdown(Duration::MAX).is_ok()) {
                opens.open();
            }
        };
        let (shop, task, job) = Shop::with_a_queued_run(handler);
        *inside.lock() = Some(shop.scheduler.clone());
        let worker = thread::spawn(move || drop(job.run()));
        let report = shop.scheduler.shutdown(Duration::MAX).unwrap();
        worker.join().unwrap();
        rest_unexplored();
        if report.queued.is_empty() {
            gate.pass();
        }
        assert!(task.wait().has_ended());
        drop(inside.lock().take());
    });
}
