//! retry-or-cancel: a run that failed waits for another attempt, or its attempt is just failing,
//! while somebody cancels its task, shuts down, or replays it. The run is tried again,
//! abandoned or named in a report, once, and the counts say which.

use std::time::Duration;

use wheel_loom_tests::Seen;
use wheel_loom_tests::jobs::Jobs;
use wheel_loom_tests::shop::Shop;
use wheel_runtime::{
    CancelOutcome, Context, DeadLetter, Job, Retry, ShutdownReport, TaskHandle, TaskState,
};
use wheel_sync::{model, rest_unexplored, thread, unexplored};

const MS: Duration = Duration::from_millis(1);

/// A shop with a task of two attempts that always fails, and its first attempt, which waits for a
/// worker. The driver sleeps.
fn about_to_fail(jobs: &Jobs) -> (Shop, TaskHandle, Job) {
    let counted = jobs.clone();
    unexplored(|| {
        let shop = Shop::open();
        let fail = move |_: &Context| {
            counted.count();
            Err("no paper")
        };
        let builder = shop.scheduler.task("print").after(Duration::ZERO);
        let task = builder
            .retry(Retry::fixed(MS).max_attempts(2))
            .run(fail)
            .unwrap();
        shop.clock.advance(Duration::ZERO);
        let job = shop.shelf.take().expect("it is due");
        (shop, task, job)
    })
}

/// The same when the first attempt has failed: the second one is due in a tick.
fn retrying(jobs: &Jobs) -> (Shop, TaskHandle) {
    let (shop, task, job) = about_to_fail(jobs);
    unexplored(|| {
        job.run();
        assert_eq!(task.info().state, TaskState::Retrying);
    });
    (shop, task)
}

/// The same when both have: the run is a dead letter.
fn dead(jobs: &Jobs) -> (Shop, DeadLetter) {
    let (shop, task) = retrying(jobs);
    unexplored(|| {
        shop.clock.advance(MS);
        shop.shelf.take().expect("it is due").run();
        assert_eq!(task.wait(), TaskState::Dead);
        let letter = shop.scheduler.dead_letters().list().remove(0);
        (shop, letter)
    })
}

fn named(report: &ShutdownReport) -> usize {
    report.pending.len() + report.queued.len() + report.interrupted.len()
}

#[test]
fn a_cancel_and_the_instant_of_an_attempt_have_one_winner() {
    let seen = Seen::default();
    let sees = seen.clone();
    model("retry-or-cancel", move || {
        let jobs = Jobs::new();
        let (shop, task) = retrying(&jobs);
        let other = task.clone();
        let canceller = thread::spawn(move || other.cancel());
        shop.clock.advance(MS);
        assert_eq!(canceller.join().unwrap(), CancelOutcome::Cancelled);
        rest_unexplored();
        // Cancelled as it waited for its instant, or for a worker.
        let job = shop.shelf.take();
        sees.note(usize::from(job.is_some()));
        drop(job.map(Job::run));
        let stats = shop.stats_when_idle();
        assert_eq!((jobs.ran(), task.wait()), (1, TaskState::Cancelled));
        assert_eq!((stats.runs, stats.abandoned, stats.failed), (1, 1, 0));
        assert_eq!((stats.retrying, stats.cancelled), (0, 1));
    });
    seen.all(2);
}

#[test]
fn a_cancel_meets_an_attempt_that_fails() {
    let seen = Seen::default();
    let sees = seen.clone();
    model("retry-or-cancel, failing", move || {
        let jobs = Jobs::new();
        let (shop, task, job) = about_to_fail(&jobs);
        let worker = thread::spawn(move || drop(job.run()));
        let outcome = task.cancel();
        worker.join().unwrap();
        rest_unexplored();
        shop.clock.advance(MS);
        drop(shop.shelf.take().map(Job::run));
        let stats = shop.stats_when_idle();
        assert_eq!((task.wait(), stats.retrying), (TaskState::Cancelled, 0));
        let came = match (outcome, jobs.ran()) {
            (CancelOutcome::Cancelled, 0) => 0,
            (CancelOutcome::Running, 1) => 1,
            // It waited for its second attempt.
            (CancelOutcome::Cancelled, 1) => 2,
            other => panic!("{other:?}"),
        };
        sees.note(came);
        let counts = [(0, 0, 0), (1, 1, 0), (1, 0, 1)][came];
        assert_eq!((stats.runs, stats.failed, stats.abandoned), counts);
    });
    seen.all(3);
}

#[test]
fn a_shutdown_names_a_run_that_is_failing_or_takes_it_back() {
    let seen = Seen::default();
    let sees = seen.clone();
    model("retry-or-cancel, shutdown", move || {
        let jobs = Jobs::new();
        let (shop, task, job) = about_to_fail(&jobs);
        let worker = thread::spawn(move || drop(job.run()));
        let report = shop.scheduler.shutdown(Duration::MAX).unwrap();
        worker.join().unwrap();
        rest_unexplored();
        assert_eq!(named(&report), 1);
        let kinds = [&report.queued, &report.pending, &report.interrupted];
        sees.note(kinds.iter().position(|kind| !kind.is_empty()).unwrap());
        assert_eq!(task.wait(), TaskState::Cancelled);
        let stats = shop.scheduler.stats();
        assert_eq!((stats.running, stats.queued, stats.retrying), (0, 0, 0));
        assert_eq!(
            (stats.runs, stats.abandoned),
            (jobs.ran() as u64, jobs.ran() as u64)
        );
    });
    seen.all(3);
}

#[test]
fn of_two_who_replay_a_letter_one_does() {
    model("retry-or-cancel, two replays", || {
        let jobs = Jobs::new();
        let (shop, letter) = dead(&jobs);
        let (other, id) = (shop.scheduler.clone(), letter.id);
        let replay = thread::spawn(move || other.dead_letters().replay(id).is_ok());
        let first = shop.scheduler.dead_letters().replay(id).is_ok();
        let second = replay.join().unwrap();
        assert_eq!(usize::from(first) + usize::from(second), 1);
        rest_unexplored();
        shop.run_all();
        shop.clock.advance(MS);
        shop.run_all();
        let stats = shop.stats_when_idle();
        assert_eq!((jobs.ran(), stats.dead, stats.dead_letters), (4, 2, 1));
    });
}

#[test]
fn a_letter_that_is_replayed_in_a_shutdown_is_named_or_stays() {
    let seen = Seen::default();
    let sees = seen.clone();
    model("retry-or-cancel, replay in a shutdown", move || {
        let jobs = Jobs::new();
        let (shop, letter) = dead(&jobs);
        let other = shop.scheduler.clone();
        let shutdown = thread::spawn(move || other.shutdown(Duration::MAX));
        let replayed = shop.scheduler.dead_letters().replay(letter.id);
        let report = shutdown.join().unwrap().unwrap();
        rest_unexplored();
        let stats = shop.scheduler.stats();
        assert_eq!(named(&report), usize::from(replayed.is_ok()));
        assert_eq!(stats.dead_letters, usize::from(replayed.is_err()));
        assert_eq!((stats.queued, stats.running, stats.scheduled), (0, 0, 0));
        assert!(shop.scheduler.wait_empty_timeout(Duration::MAX));
        sees.note(named(&report));
        assert_eq!(jobs.ran(), 2);
    });
    seen.all(2);
}
