//! How runs end whose handlers are futures, and what is left of them then.

use std::future::{pending, poll_fn, ready};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::task::{Context as PollContext, Poll, Waker};
use std::time::Duration;

use wheel_runtime::{Context, Outcome, Retry, RunFuture, TaskState};

use super::by_hand::{ByHand, Guard, polls};
use crate::bed::{Bed, HANG, ms};

#[test]
fn futures_that_are_pending_hold_no_worker() {
    let (bed, hand) = (Bed::workers(1), ByHand::default());
    let add = |_| {
        let task = bed.scheduler.unnamed().after(ms(1));
        task.run_async(|_| polls(1), hand.spawner()).unwrap()
    };
    let tasks: Vec<_> = (0..10).map(add).collect();
    let plain = bed.scheduler.after(ms(2), |_| ()).unwrap();
    bed.clock.advance(ms(2));
    assert_eq!(plain.wait_timeout(HANG), Some(TaskState::Succeeded));
    hand.wait_for(10);
    assert!(!bed.scheduler.wait_idle_timeout(Duration::ZERO), "they go");
    for task in tasks {
        assert_eq!(task.info().state, TaskState::Running);
        assert!(hand.poll().is_pending());
        assert!(hand.poll().is_ready());
    }
    bed.settle();
    assert_eq!(bed.scheduler.stats().succeeded, 11);
}

#[test]
fn what_comes_of_a_future_is_what_comes_of_a_handler() {
    let (bed, hand) = (Bed::inline(), ByHand::default());
    let seen = Arc::new(Mutex::new(Vec::new()));
    let sees = Arc::clone(&seen);
    let handler = move |run: Context| {
        sees.lock()
            .unwrap()
            .push((run.attempt(), run.last_error().map(str::to_owned)));
        ready(match run.attempt() {
            1 => Err("busy"),
            2 => panic!("broken"),
            _ => Ok(()),
        })
    };
    let task = bed
        .scheduler
        .task("x")
        .after(ms(1))
        .retry(Retry::fixed(ms(10)));
    let task = task.run_async(handler, hand.spawner()).unwrap();
    bed.clock.advance(ms(1));
    assert!(hand.poll().is_ready());
    assert_eq!(task.info().state, TaskState::Retrying);
    bed.clock.advance(ms(10)); // It panics as it makes its future, which nobody gets.
    bed.clock.advance(ms(10));
    assert!(hand.poll().is_ready());
    assert_eq!(task.wait_timeout(HANG), Some(TaskState::Succeeded));
    let said = |error: &str| Some(error.to_owned());
    let expected = [(1, None), (2, said("busy")), (3, said("panicked: broken"))];
    assert_eq!(*seen.lock().unwrap(), expected);
    assert_eq!(bed.scheduler.stats().panicked, 1);
    bed.settle();
}

#[test]
fn a_panic_of_a_future_is_a_failed_attempt() {
    let (bed, hand) = (Bed::inline(), ByHand::default());
    let task = bed.scheduler.task("x").after(ms(1));
    let handler = |_| poll_fn(|_| -> Poll<()> { panic!("broken") });
    let task = task.run_async(handler, hand.spawner()).unwrap();
    bed.clock.advance(ms(1));
    assert!(hand.poll().is_ready());
    assert_eq!(task.wait_timeout(HANG), Some(TaskState::Failed));
    assert_eq!(task.info().last_error.as_deref(), Some("panicked: broken"));
    bed.settle();
}

#[test]
fn wherever_a_runtime_drops_a_run_the_attempt_has_failed_and_the_next_one_comes() {
    for polled in 0..4 {
        let (bed, hand) = (Bed::inline(), ByHand::default());
        let task = bed.scheduler.task("x").after(ms(1)).concurrency_key("disk");
        let task = task.retry(Retry::fixed(ms(10)).max_attempts(2));
        let task = task.run_async(|_| polls(10), hand.spawner()).unwrap();
        let other = bed.scheduler.task("y").after(ms(2)).concurrency_key("disk");
        let other = other.run(|_| ()).unwrap();
        bed.clock.advance(ms(2));
        assert_eq!(other.info().state, TaskState::Queued, "one at a time");
        for _ in 0..polled {
            assert!(hand.poll().is_pending());
        }
        hand.drop_first();
        let info = task.info();
        let at = if polled == 0 { "began" } else { "was over" };
        let error = format!("the runtime dropped the run before it {at}");
        assert_eq!(info.last_error.as_deref(), Some(&*error));
        assert_eq!(info.state, TaskState::Retrying);
        bed.clock.advance(ms(0));
        assert_eq!(
            other.wait_timeout(HANG),
            Some(TaskState::Succeeded),
            "its place is free"
        );
        bed.clock.advance(ms(10));
        hand.drop_first();
        assert_eq!(task.wait_timeout(HANG), Some(TaskState::Dead));
        bed.settle();
    }
}

#[test]
fn a_spawner_that_panics_or_drops_the_run_fails_the_attempt() {
    let bed = Bed::inline();
    let run = |spawner: fn(RunFuture)| {
        let task = bed.scheduler.unnamed().after(ms(1));
        let task = task.run_async(|_| pending::<()>(), spawner).unwrap();
        bed.clock.advance(ms(1));
        assert_eq!(task.wait_timeout(HANG), Some(TaskState::Failed));
        task.info().last_error.unwrap()
    };
    let error = "the runtime dropped the run before it began";
    assert_eq!(run(drop), error);
    assert_eq!(run(|_| panic!("there is no runtime here")), error);
    assert_eq!(bed.scheduler.stats().hooks_panicked, 1);
    bed.settle();
}

#[test]
fn a_run_that_is_over_is_done_however_often_it_is_polled_and_can_be_dropped() {
    let (bed, hand) = (Bed::inline(), ByHand::default());
    let task = bed.scheduler.task("x").after(ms(1));
    let task = task.run_async(|_| ready(()), hand.spawner()).unwrap();
    bed.clock.advance(ms(1));
    let mut run = hand.runs.lock().unwrap().remove(0);
    assert!(format!("{run:?}").contains("\"x\""));
    let mut cx = PollContext::from_waker(Waker::noop());
    for _ in 0..3 {
        assert!(Pin::new(&mut run).poll(&mut cx).is_ready());
    }
    drop(run);
    assert_eq!(task.wait_timeout(HANG), Some(TaskState::Succeeded));
    assert_eq!(task.info().succeeded, 1);
    bed.settle();
}

#[test]
fn what_the_user_gave_is_dropped_before_the_run_no_longer_counts() {
    let bed = Bed::workers(1);
    let (sent, dropped) = channel();
    let (guard, other) = (Guard(sent.clone()), Guard(sent));
    let handler = move |_| {
        let _ = &guard;
        ready(())
    };
    let spawner = move |run| {
        let _ = &other;
        smol::block_on::<()>(run);
    };
    let task = bed.scheduler.task("x").after(ms(1));
    let task = task.run_async(handler, spawner).unwrap();
    bed.clock.advance(ms(1));
    bed.settle();
    assert_eq!(task.info().state, TaskState::Succeeded);
    assert_eq!(dropped.try_iter().count(), 2);
}

#[test]
fn a_handler_that_snoozes_or_stops_is_obeyed() {
    let (bed, hand) = (Bed::inline(), ByHand::default());
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    let handler = move |_| {
        ready(match counted.fetch_add(1, Ordering::Relaxed) {
            0 => Outcome::Snooze(ms(7)),
            _ => Outcome::Cancel,
        })
    };
    let task = bed.scheduler.task("x").every(ms(10));
    let task = task.run_async(handler, hand.spawner()).unwrap();
    bed.clock.advance(ms(10));
    assert!(hand.poll().is_ready());
    bed.clock.advance(ms(7));
    assert!(hand.poll().is_ready());
    assert_eq!(task.wait_timeout(HANG), Some(TaskState::Cancelled));
    assert_eq!(count.load(Ordering::Relaxed), 2);
    bed.settle();
}
