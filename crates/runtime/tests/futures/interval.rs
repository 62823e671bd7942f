//! Ticks on a grid, and what becomes of those that were missed.

use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use wheel_runtime::{Instant, Interval, ManualClock, MissedTicks, SleepError, Timers, ZeroPeriod};

use crate::bed::{MS, Task, timers};

fn tick(task: &Task, interval: &mut Interval) -> Poll<Result<Instant, SleepError>> {
    task.poll(&mut pin!(interval.tick()))
}

/// Ticks as far as there are any, in periods from the start, and how many each says were missed.
fn ticks(task: &Task, interval: &mut Interval, start: Instant) -> Vec<(u32, u64)> {
    let mut seen = Vec::new();
    while let Poll::Ready(at) = tick(task, interval) {
        let since = at.unwrap().since(start);
        let periods = since.as_nanos() / interval.period().as_nanos();
        assert_eq!(
            since.as_nanos() % interval.period().as_nanos(),
            0,
            "off its grid"
        );
        seen.push((periods as u32, interval.missed()));
    }
    seen
}

#[test]
fn ticks_keep_their_grid_however_late_they_are_asked_for() {
    let (clock, timers) = timers();
    let (task, start) = (Task::default(), timers.now());
    let mut interval = timers.interval(10 * MS).unwrap();
    let mut seen = Vec::new();
    for _ in 0..100 {
        seen.append(&mut ticks(&task, &mut interval, start));
        // Sometimes late, and never by a period.
        clock.advance(7 * MS);
    }
    let all: Vec<_> = (1..=69).map(|k| (k, 0)).collect();
    assert_eq!(seen, all);
}

#[test]
fn the_first_tick_comes_after_a_period_or_at_once() {
    let (clock, timers) = timers();
    let (task, start) = (Task::default(), timers.now());
    let mut later = timers.interval(10 * MS).unwrap();
    assert!(tick(&task, &mut later).is_pending());
    let mut now = timers.interval(10 * MS).unwrap().start_now();
    assert_eq!(tick(&task, &mut now), Poll::Ready(Ok(start)));
    assert!(tick(&task, &mut now).is_pending());
    clock.advance(10 * MS);
    assert_eq!(tick(&task, &mut now), Poll::Ready(Ok(start + 10 * MS)));
    assert_eq!(tick(&task, &mut later), Poll::Ready(Ok(start + 10 * MS)));
}

#[test]
fn what_was_missed_is_one_tick_each_tick_or_none() {
    let of = |missed_ticks| {
        let (clock, timers) = timers();
        let (task, start) = (Task::default(), timers.now());
        let interval = timers.interval(10 * MS).unwrap();
        let mut interval = interval.missed_ticks(missed_ticks);
        clock.advance(35 * MS);
        let mut seen = ticks(&task, &mut interval, start);
        assert_eq!(task.woken(), 0);
        clock.advance(5 * MS);
        assert_eq!(task.woken(), 1, "the grid goes on");
        seen.append(&mut ticks(&task, &mut interval, start));
        clock.advance(20 * MS);
        seen.append(&mut ticks(&task, &mut interval, start));
        seen
    };
    assert_eq!(of(MissedTicks::OneTick), [(3, 2), (4, 0), (6, 1)]);
    let each = [(1, 0), (2, 0), (3, 0), (4, 0), (5, 0), (6, 0)];
    assert_eq!(of(MissedTicks::EachTick), each);
    assert_eq!(of(MissedTicks::Skip), [(4, 3)]);
    assert_eq!(MissedTicks::default(), MissedTicks::OneTick);
}

#[test]
fn a_tick_that_is_late_by_less_than_a_period_was_not_missed() {
    let (clock, timers) = timers();
    let (task, start) = (Task::default(), timers.now());
    let mut interval = timers.interval(10 * MS).unwrap();
    interval = interval.missed_ticks(MissedTicks::Skip);
    clock.advance(20 * MS - Duration::from_nanos(1));
    assert_eq!(ticks(&task, &mut interval, start), [(1, 0)]);
}

#[test]
fn to_wait_for_a_tick_of_the_engine_is_not_to_miss_one() {
    let micros = Duration::from_micros;
    for period in [micros(300), micros(500), MS, 10 * MS] {
        let (clock, timers) = timers();
        // The grid begins in the midst of a tick, and each look comes late.
        clock.advance(micros(300));
        let (task, start) = (Task::default(), timers.now());
        let mut interval = timers.interval(period).unwrap();
        interval = interval.missed_ticks(MissedTicks::Skip);
        assert!(tick(&task, &mut interval).is_pending());
        clock.advance(micros(700));
        let mut seen = 0;
        for _ in 0..40 {
            clock.advance(MS);
            seen += ticks(&task, &mut interval, start).len();
        }
        assert!(
            seen >= if period > MS { 4 } else { 40 },
            "{seen} of {period:?}"
        );
    }
}

#[test]
fn a_period_of_nothing_but_a_nanosecond_comes_to_an_end() {
    let (clock, timers) = timers();
    let task = Task::default();
    let mut interval = timers.interval(Duration::from_nanos(1)).unwrap();
    interval = interval.missed_ticks(MissedTicks::Skip);
    clock.advance(MS);
    assert!(tick(&task, &mut interval).is_ready());
}

#[test]
fn a_tick_that_was_not_waited_for_is_not_lost() {
    let (clock, timers) = timers();
    let (task, start) = (Task::default(), timers.now());
    let mut interval = timers.interval(10 * MS).unwrap();
    for k in 1..5 {
        // Each of these futures is dropped, before the tick and when it has come.
        assert!(tick(&task, &mut interval).is_pending());
        drop(interval.tick());
        clock.advance(10 * MS);
        drop(interval.tick());
        assert_eq!(ticks(&task, &mut interval, start), [(k, 0)]);
        assert_eq!(timers.len(), 1);
    }
    drop(interval);
    assert!(timers.is_empty());
}

#[test]
fn a_grid_may_begin_anew() {
    let (clock, timers) = timers();
    let (task, start) = (Task::default(), timers.now());
    let mut interval = timers.interval(10 * MS).unwrap();
    clock.advance(5 * MS);
    interval.reset();
    clock.advance(5 * MS);
    assert!(tick(&task, &mut interval).is_pending());
    clock.advance(5 * MS);
    let at = start + 15 * MS;
    assert_eq!(tick(&task, &mut interval), Poll::Ready(Ok(at)));
}

#[test]
fn a_period_of_zero_is_an_error_and_an_endless_one_never_ticks() {
    let (clock, timers) = timers();
    let refused = timers.interval(Duration::ZERO).unwrap_err();
    assert_eq!(refused, timers.interval(Duration::ZERO).unwrap_err());
    let told = "interval: a period of 0 is not possible: it must be longer";
    assert_eq!(ZeroPeriod::to_string(&refused), told);
    let task = Task::default();
    let mut never = timers.interval(Duration::MAX).unwrap();
    assert!(tick(&task, &mut never).is_pending());
    clock.advance(Duration::from_secs(86_400 * 365));
    assert!(tick(&task, &mut never).is_pending());
    // Of such a grid, all that is to come after the first is never.
    let mut once = timers.interval(Duration::MAX).unwrap().start_now();
    assert!(tick(&task, &mut once).is_ready());
    assert!(tick(&task, &mut once).is_pending());
}

#[test]
fn a_tick_for_which_there_is_no_place_is_an_error_and_the_next_one_tries_again() {
    let clock = ManualClock::new();
    let builder = Timers::builder().clock(clock.clone()).max_timers(1);
    let timers = builder.build().unwrap();
    let (task, start) = (Task::default(), timers.now());
    let mut interval = timers.interval(MS).unwrap();
    let other = timers.after(Duration::MAX, || ()).unwrap();
    let Poll::Ready(Err(full)) = tick(&task, &mut interval) else {
        panic!("there is no place")
    };
    assert!(full.is_full());
    assert!(timers.cancel(other));
    assert!(tick(&task, &mut interval).is_pending());
    clock.advance(MS);
    assert_eq!(tick(&task, &mut interval), Poll::Ready(Ok(start + MS)));
    timers.shutdown();
    let Poll::Ready(Err(closed)) = tick(&task, &mut interval) else {
        panic!("the engine is closed")
    };
    assert!(closed.is_closed());
}
