//! The time of a whole run, with all its attempts.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use wheel_runtime::{Context, GaveUp, Outcome, Retry, TaskState};

use crate::bed::{Bed, HANG, ms};

#[test]
fn an_attempt_that_would_be_due_after_the_deadline_is_not_waited_for() {
    let bed = Bed::inline();
    let record = bed.record();
    let noted = record.clone();
    let task = bed.scheduler.task("x").after(ms(10)).deadline(ms(100));
    let task = task.retry(Retry::fixed(ms(40)).max_attempts(9));
    let handler = move |_: &Context| {
        noted.add("x");
        Err("no paper")
    };
    let task = task.run(handler).unwrap();
    bed.clock.run_for(ms(1_000));
    // The fourth would be due 120 ms after the run was.
    assert_eq!(record.times("x"), [10, 50, 90]);
    assert_eq!(task.wait(), TaskState::Dead);
    let letter = bed.scheduler.dead_letters().list().remove(0);
    assert_eq!(letter.last.gave_up, GaveUp::PastDeadline);
    assert_eq!(letter.last.error, "no paper");
    assert_eq!(letter.last.attempts, 3);
}

#[test]
fn an_attempt_that_is_going_at_the_deadline_is_over() {
    let bed = Bed::workers(1);
    let task = bed.scheduler.task("x").after(ms(0)).deadline(ms(100));
    let task = task.timeout(ms(80)).retry(Retry::fixed(ms(10)));
    let left = Arc::new(AtomicU32::new(0));
    let told = Arc::clone(&left);
    let (sent, started) = std::sync::mpsc::channel();
    let handler = move |run: &Context| {
        let ms_left = run.time_left().unwrap().as_millis();
        told.store(u32::try_from(ms_left).unwrap(), Ordering::SeqCst);
        sent.send(()).unwrap();
        assert!(run.token().wait_timeout(HANG));
    };
    let task = task.run(handler).unwrap();
    bed.clock.advance(ms(0));
    started.recv_timeout(HANG).unwrap();
    assert_eq!(left.load(Ordering::SeqCst), 80);
    bed.clock.advance(ms(80));
    bed.clock.advance(ms(10));
    started.recv_timeout(HANG).unwrap();
    // The smaller of the two.
    assert_eq!(left.load(Ordering::SeqCst), 10);
    bed.clock.advance(ms(10));
    assert_eq!(task.wait_timeout(HANG), Some(TaskState::Dead));
    let letter = bed.scheduler.dead_letters().list().remove(0);
    assert_eq!(letter.last.error, "the deadline of 100ms has passed");
    assert_eq!(letter.last.gave_up, GaveUp::PastDeadline);
}

#[test]
fn a_run_that_a_worker_gets_to_after_its_deadline_is_not_begun() {
    for retry in [None, Some(Retry::fixed(ms(1)))] {
        let has_policy = retry.is_some();
        let bed = Bed::workers(1);
        let gate = bed.occupy_at_once();
        let ran = Arc::new(AtomicU32::new(0));
        let counts = Arc::clone(&ran);
        let task = bed.scheduler.task("x").after(ms(10)).deadline(ms(20));
        let task = match retry {
            Some(retry) => task.retry(retry),
            None => task,
        };
        let handler = move |_: &Context| {
            counts.fetch_add(1, Ordering::SeqCst);
        };
        let task = task.run(handler).unwrap();
        bed.clock.advance(ms(30));
        gate.open();
        bed.settle();
        let state = [TaskState::TimedOut, TaskState::Dead][usize::from(has_policy)];
        assert_eq!(task.wait_timeout(HANG), Some(state));
        assert_eq!(ran.load(Ordering::SeqCst), 0);
        let info = task.info();
        assert_eq!((info.runs, info.failed, info.timed_out), (1, 1, 1));
        let said = Some("the deadline of 20ms has passed");
        assert_eq!(info.last_error.as_deref(), said);
        assert_eq!(info.last_run.unwrap().state, state);
        let letters = bed.scheduler.dead_letters().list();
        assert_eq!(letters.len(), usize::from(has_policy));
        for letter in letters {
            assert_eq!(letter.last.gave_up, GaveUp::PastDeadline);
        }
    }
}

#[test]
fn a_run_that_stands_for_several_occurrences_has_the_time_of_the_latest() {
    let bed = Bed::inline();
    let task = bed.scheduler.task("x").every(ms(10)).deadline(ms(5));
    let task = task.run(|_| ()).unwrap();
    bed.clock.advance(ms(1_000));
    let info = task.info();
    assert_eq!((info.runs, info.missed), (1, 99));
    assert_eq!((info.succeeded, info.timed_out), (1, 0));
}

#[test]
fn a_run_that_is_snoozed_beyond_its_deadline_is_over() {
    let bed = Bed::inline();
    let task = bed.scheduler.task("x").after(ms(10)).deadline(ms(100));
    let handler = |_: &Context| Outcome::Snooze(ms(60));
    let task = task.run(handler).unwrap();
    bed.clock.run_for(ms(70));
    assert_eq!(task.wait_timeout(HANG), Some(TaskState::TimedOut));
    let info = task.info();
    let said = Some("the deadline of 100ms has passed");
    assert_eq!(info.last_error.as_deref(), said);
    assert_eq!(info.last_run.unwrap().state, TaskState::TimedOut);
}

#[test]
fn a_run_that_is_replayed_has_all_its_time_again() {
    let bed = Bed::inline();
    let fails = Arc::new(AtomicU32::new(1));
    let still = Arc::clone(&fails);
    let task = bed.scheduler.task("x").after(ms(10)).deadline(ms(20));
    let task = task.retry(Retry::fixed(ms(30)));
    let handler = move |run: &Context| {
        assert_eq!(run.time_left(), Some(ms(20)));
        match still.load(Ordering::SeqCst) {
            0 => Ok(()),
            _ => Err("no paper"),
        }
    };
    let task = task.run(handler).unwrap();
    bed.clock.run_for(ms(1_000));
    assert_eq!(task.wait(), TaskState::Dead);
    fails.store(0, Ordering::SeqCst);
    let letter = bed.scheduler.dead_letters().list().remove(0);
    let again = bed.scheduler.dead_letters().replay(letter.id).unwrap();
    bed.clock.run_for(Duration::from_secs(1));
    assert_eq!(again.wait(), TaskState::Succeeded);
}
