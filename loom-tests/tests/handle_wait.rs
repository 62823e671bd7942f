//! handle-wait: somebody waits for a task, for all runs or for a token while that comes about. The
//! waiter returns, and sees what was done.

use std::sync::Arc;
use std::time::Duration;

use wheel_loom_tests::Note;
use wheel_loom_tests::shop::Shop;
use wheel_runtime::{CancelOutcome, CancelToken, TaskState};
use wheel_sync::{model, rest_unexplored, thread};

/// What a handler writes and a waiter reads.
fn note() -> (Arc<Note>, Arc<Note>) {
    let note = Arc::new(Note::default());
    (Arc::clone(&note), note)
}

#[test]
fn a_waiter_returns_when_the_task_has_ended() {
    model("handle-wait", || {
        let (writes, reads) = note();
        let (shop, task, job) = Shop::with_a_queued_run(move |_| writes.write(3));
        let worker = thread::spawn(move || drop(job.run()));
        assert_eq!(task.wait(), TaskState::Succeeded);
        assert_eq!(reads.read(), 3);
        worker.join().unwrap();
        rest_unexplored();
        shop.stats_when_idle();
    });
}

#[test]
fn a_waiter_returns_when_the_task_is_cancelled() {
    model("handle-wait, cancelled", || {
        let (shop, task, job) = Shop::with_a_queued_run(|_| ());
        let other = task.clone();
        let canceller = thread::spawn(move || other.cancel());
        assert_eq!(task.wait(), TaskState::Cancelled);
        assert_eq!(canceller.join().unwrap(), CancelOutcome::Cancelled);
        rest_unexplored();
        drop(job);
        shop.stats_when_idle();
    });
}

#[test]
fn who_waits_for_the_last_task_returns_and_sees_what_it_did() {
    model("handle-wait, no task left", || {
        let (writes, reads) = note();
        let (shop, task, job) = Shop::with_a_queued_run(move |_| writes.write(3));
        let worker = thread::spawn(move || drop(job.run()));
        assert!(shop.scheduler.wait_empty_timeout(Duration::MAX));
        assert_eq!(reads.read(), 3);
        worker.join().unwrap();
        rest_unexplored();
        assert_eq!(task.wait(), TaskState::Succeeded);
        shop.stats_when_idle();
    });
}

#[test]
fn a_waiter_returns_when_its_token_is_set() {
    model("handle-wait, token", || {
        let ((writes, reads), token) = (note(), CancelToken::new());
        let other = token.clone();
        let canceller = thread::spawn(move || {
            writes.write(3);
            other.cancel();
        });
        assert!(token.wait_timeout(Duration::MAX));
        assert_eq!(reads.read(), 3);
        canceller.join().unwrap();
    });
}

#[test]
fn who_looks_at_a_token_that_is_set_sees_what_came_before() {
    model("handle-wait, look at a token", || {
        let ((writes, reads), token) = (note(), CancelToken::new());
        let other = token.clone();
        let canceller = thread::spawn(move || {
            writes.write(3);
            other.cancel();
        });
        if token.is_cancelled() {
            assert_eq!(reads.read(), 3);
        }
        canceller.join().unwrap();
    });
}
