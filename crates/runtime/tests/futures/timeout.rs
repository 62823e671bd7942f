//! A future with a time limit.

use std::error::Error;
use std::future::{Ready, pending, poll_fn, ready};
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use wheel_runtime::{ManualClock, Timers};

use crate::bed::{MS, Task, timers};

#[test]
fn what_is_ready_at_its_first_poll_never_meets_the_engine() {
    let (_clock, timers) = timers();
    let task = Task::default();
    for limit in [Duration::ZERO, MS, Duration::MAX] {
        let mut timeout = timers.timeout(limit, ready(7));
        assert_eq!(task.poll(&mut timeout), Poll::Ready(Ok(7)));
        assert_eq!((timers.len(), task.wakers()), (0, 0));
    }
    timers.shutdown();
    let mut timeout = timers.timeout(MS, ready(7));
    assert_eq!(task.poll(&mut timeout), Poll::Ready(Ok(7)));
}

#[test]
fn what_is_pending_when_its_time_is_over_has_failed() {
    let (clock, timers) = timers();
    let (task, mut timeout) = (Task::default(), timers.timeout(10 * MS, pending::<()>()));
    assert!(task.poll(&mut timeout).is_pending());
    clock.advance(9 * MS);
    assert!(task.poll(&mut timeout).is_pending());
    clock.advance(MS);
    assert_eq!((task.woken(), timers.len()), (1, 0));
    let Poll::Ready(Err(error)) = task.poll(&mut timeout) else {
        panic!("its time is over")
    };
    assert!(error.is_elapsed() && !error.is_closed() && !error.is_full());
    assert_eq!(error.to_string(), "the time limit has passed");
    assert!(error.source().is_none());
}

#[test]
fn a_limit_of_zero_lets_nothing_wait() {
    let (_clock, timers) = timers();
    let mut timeout = timers.timeout(Duration::ZERO, pending::<()>());
    let Poll::Ready(Err(error)) = Task::default().poll(&mut timeout) else {
        panic!("there is no time")
    };
    assert!(error.is_elapsed());
    assert_eq!(timers.stats().fired, 0);
}

/// Ready at the second poll.
fn pending_once() -> Pin<Box<dyn Future<Output = u32> + Send>> {
    let mut polls = 0;
    Box::pin(poll_fn(move |_| {
        polls += 1;
        if polls == 2 {
            Poll::Ready(polls)
        } else {
            Poll::Pending
        }
    }))
}

#[test]
fn what_is_done_in_time_takes_its_timer_along_whoever_keeps_it() {
    let (clock, timers) = timers();
    let (task, mut timeout) = (Task::default(), timers.timeout(MS, pending_once()));
    assert!(task.poll(&mut timeout).is_pending());
    assert_eq!(timers.len(), 1);
    assert_eq!(task.poll(&mut timeout), Poll::Ready(Ok(2)));
    assert_eq!((timers.len(), task.wakers()), (0, 0));
    clock.advance(MS);
    assert_eq!(task.woken(), 0);
}

#[test]
fn what_is_ready_in_the_very_poll_in_which_its_time_is_over_is_ready() {
    let (clock, timers) = timers();
    let (task, mut timeout) = (Task::default(), timers.timeout(MS, pending_once()));
    assert!(task.poll(&mut timeout).is_pending());
    clock.advance(5 * MS);
    assert_eq!(task.poll(&mut timeout), Poll::Ready(Ok(2)));
}

#[test]
fn no_limit_waits_for_the_future_alone() {
    let (clock, timers) = timers();
    let task = Task::default();
    let mut timeout = timers.timeout(Duration::MAX, pending_once());
    assert!(task.poll(&mut timeout).is_pending());
    clock.advance(Duration::from_secs(86_400 * 365));
    assert_eq!(task.woken(), 0);
    assert_eq!(task.poll(&mut timeout), Poll::Ready(Ok(2)));
    assert!(timers.is_empty());
}

#[test]
fn who_waits_is_told_that_nobody_keeps_the_time_any_more() {
    let (_clock, timers) = timers();
    let task = Task::default();
    let mut waits = timers.timeout(MS, pending::<()>());
    assert!(task.poll(&mut waits).is_pending());
    timers.shutdown();
    assert_eq!(task.woken(), 1);
    let mut late = timers.timeout(MS, pending::<()>());
    for timeout in [&mut waits, &mut late] {
        let Poll::Ready(Err(error)) = task.poll(timeout) else {
            panic!("nobody keeps the time")
        };
        assert!(error.is_closed() && !error.is_elapsed());
        let why = error.source().unwrap().to_string();
        assert_eq!(why, "the timers were shut down");
    }
}

#[test]
fn a_limit_for_which_there_is_no_place_is_an_error_and_not_for_ever() {
    let builder = Timers::builder().clock(ManualClock::new()).max_timers(1);
    let timers = builder.build().unwrap();
    let task = Task::default();
    let mut first = timers.timeout(MS, pending::<()>());
    assert!(task.poll(&mut first).is_pending());
    let mut second = timers.timeout(MS, pending::<()>());
    let Poll::Ready(Err(error)) = task.poll(&mut second) else {
        panic!("there is one place")
    };
    assert!(error.is_full() && !error.is_elapsed());
    drop(first);
    assert!(
        task.poll(&mut timers.timeout(MS, pending::<()>()))
            .is_pending()
    );
}

#[test]
fn the_future_comes_back_without_its_limit() {
    let (_clock, timers) = timers();
    let task = Task::default();
    let mut timeout = timers.timeout(MS, pending_once());
    assert!(task.poll(&mut timeout).is_pending());
    assert!(task.poll(timeout.get_mut()).is_ready());
    drop(timeout.into_inner());
    assert!(timers.is_empty());
    let plain: Ready<u8> = timers.timeout(MS, ready(1)).into_inner();
    assert_eq!(plain.into_inner(), 1);
}

#[test]
fn the_time_runs_from_the_first_poll_that_leaves_the_future_pending() {
    let (clock, timers) = timers();
    let task = Task::default();
    let mut timeout = timers.timeout(10 * MS, pending::<()>());
    assert_eq!(timeout.due(), None);
    clock.advance(50 * MS);
    let now = timers.now();
    assert!(task.poll(&mut timeout).is_pending());
    assert_eq!(timeout.due(), Some(now + 10 * MS));
    clock.advance(5 * MS);
    assert!(task.poll(&mut timeout).is_pending());
    assert_eq!(
        timeout.due(),
        Some(now + 10 * MS),
        "later polls do not move it"
    );
    clock.advance(5 * MS);
    assert!(task.poll(&mut timeout).is_ready());
}

#[test]
fn no_limit_takes_no_timer_and_no_end() {
    let (clock, timers) = timers();
    let (task, mut timeout) = (
        Task::default(),
        timers.timeout(Duration::MAX, pending::<()>()),
    );
    assert!(task.poll(&mut timeout).is_pending());
    assert_eq!(timers.len(), 0);
    clock.advance(MS * 1_000_000);
    timers.shutdown();
    assert!(task.poll(&mut timeout).is_pending());
}
