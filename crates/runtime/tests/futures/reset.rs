//! A sleep that is given another instant.

use std::task::Poll;
use std::time::Duration;

use crate::bed::{MS, Task, timers};

#[test]
fn who_waits_is_woken_at_the_new_instant_and_not_at_the_old_one() {
    for (old, new) in [(10 * MS, 30 * MS), (30 * MS, 10 * MS)] {
        let (clock, timers) = timers();
        let (task, mut sleep) = (Task::default(), timers.sleep(old));
        assert!(task.poll(&mut sleep).is_pending());
        sleep.reset(new);
        assert_eq!(timers.len(), 1);
        clock.advance(new - MS);
        assert_eq!(task.woken(), 0, "{old:?} to {new:?}");
        clock.advance(MS);
        assert_eq!(task.woken(), 1);
        assert_eq!(task.poll(&mut sleep), Poll::Ready(Ok(())));
        clock.advance(100 * MS);
        assert_eq!((task.woken(), timers.len()), (1, 0));
    }
}

#[test]
fn a_sleep_that_nobody_has_polled_is_moved_as_well() {
    let (clock, timers) = timers();
    let (task, mut sleep) = (Task::default(), timers.sleep(MS));
    sleep.reset_until(timers.now() + 5 * MS);
    clock.advance(2 * MS);
    assert!(task.poll(&mut sleep).is_pending());
    clock.advance(3 * MS);
    assert_eq!(task.poll(&mut sleep), Poll::Ready(Ok(())));
}

#[test]
fn a_sleep_that_is_over_waits_again() {
    let (clock, timers) = timers();
    let (task, mut sleep) = (Task::default(), timers.sleep(MS));
    for woken in 1..4 {
        assert!(task.poll(&mut sleep).is_pending());
        clock.advance(MS);
        assert_eq!(task.woken(), woken);
        assert_eq!(task.poll(&mut sleep), Poll::Ready(Ok(())));
        sleep.reset(MS);
        assert!(!sleep.is_done());
    }
}

#[test]
fn a_sleep_that_fired_and_was_not_polled_waits_again() {
    let (clock, timers) = timers();
    let (task, mut sleep) = (Task::default(), timers.sleep(MS));
    assert!(task.poll(&mut sleep).is_pending());
    clock.advance(MS);
    sleep.reset(5 * MS);
    assert_eq!((task.woken(), timers.len()), (1, 0));
    assert!(task.poll(&mut sleep).is_pending(), "not by the old instant");
    clock.advance(5 * MS);
    assert_eq!(task.woken(), 2);
    assert_eq!(task.poll(&mut sleep), Poll::Ready(Ok(())));
}

#[test]
fn a_reset_to_what_is_past_wakes_who_waits() {
    let (clock, timers) = timers();
    clock.advance(10 * MS);
    let (task, mut sleep) = (Task::default(), timers.sleep(Duration::MAX));
    assert!(task.poll(&mut sleep).is_pending());
    sleep.reset(Duration::ZERO);
    clock.advance(Duration::ZERO);
    assert_eq!(task.woken(), 1);
    assert_eq!(task.poll(&mut sleep), Poll::Ready(Ok(())));
}

#[test]
fn a_reset_when_the_engine_is_closed_leaves_nobody_asleep() {
    for to in [MS, Duration::MAX] {
        let (_clock, timers) = timers();
        let (task, mut sleep) = (Task::default(), timers.sleep(9 * MS));
        assert!(task.poll(&mut sleep).is_pending());
        timers.shutdown();
        sleep.reset(to);
        assert_eq!(task.woken(), 1);
        let Poll::Ready(Err(error)) = task.poll(&mut sleep) else {
            panic!("it can never be due")
        };
        assert!(error.is_closed());
    }
}
