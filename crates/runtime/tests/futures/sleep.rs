//! A sleep: when it is done, whom it wakes, and what is left of it in the engine.

use std::pin::pin;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use wheel_runtime::{Executor, InlineExecutor, Job, Pool, Timers};

use crate::bed::{MS, Task, timers};

const DONE: Poll<Result<(), wheel_runtime::SleepError>> = Poll::Ready(Ok(()));

#[test]
fn a_sleep_is_done_in_its_tick_and_never_before() {
    let (clock, timers) = timers();
    let (task, mut sleep) = (Task::default(), timers.sleep(10 * MS));
    assert!(task.poll(&mut sleep).is_pending());
    clock.advance(9 * MS + MS / 2);
    assert_eq!(task.woken(), 0);
    assert!(task.poll(&mut sleep).is_pending());
    clock.advance(MS / 2);
    assert_eq!(task.woken(), 1);
    assert_eq!(task.poll(&mut sleep), DONE);
}

#[test]
fn a_delay_between_two_ticks_is_rounded_up() {
    let (clock, timers) = timers();
    let (task, mut sleep) = (Task::default(), timers.sleep(MS / 3));
    assert!(task.poll(&mut sleep).is_pending());
    clock.advance(MS - Duration::from_nanos(1));
    assert_eq!(task.woken(), 0);
    clock.advance(Duration::from_nanos(1));
    assert_eq!(task.woken(), 1);
    assert_eq!(task.poll(&mut sleep), DONE);
}

#[test]
fn what_is_past_is_done_when_it_is_first_polled_and_never_in_the_engine() {
    let (clock, timers) = timers();
    let task = Task::default();
    assert_eq!(task.poll(&mut timers.sleep(Duration::ZERO)), DONE);
    let (start, mut late) = (timers.now(), timers.sleep(MS));
    clock.advance(2 * MS);
    assert_eq!(task.poll(&mut late), DONE);
    assert_eq!(task.poll(&mut timers.sleep_until(start)), DONE);
    assert_eq!((timers.stats().fired, task.woken()), (0, 0));
}

#[test]
fn the_engine_holds_a_sleep_from_its_first_poll_until_it_is_dropped() {
    let (_clock, timers) = timers();
    let (task, mut sleep) = (Task::default(), timers.sleep(MS));
    assert!(timers.is_empty());
    assert!(task.poll(&mut sleep).is_pending());
    assert_eq!((timers.len(), task.wakers()), (1, 1));
    drop(sleep);
    assert_eq!((timers.len(), task.wakers(), task.woken()), (0, 0, 0));
}

#[test]
fn a_sleep_that_is_due_leaves_nothing_behind() {
    let (clock, timers) = timers();
    let (task, mut sleep) = (Task::default(), timers.sleep(MS));
    assert!(task.poll(&mut sleep).is_pending());
    clock.advance(MS);
    assert_eq!((timers.len(), task.wakers()), (0, 0));
    assert_eq!(task.poll(&mut sleep), DONE);
    drop(sleep);
    assert_eq!(timers.len(), 0);
}

#[test]
fn the_latest_waker_is_woken_and_the_others_are_let_go() {
    let (clock, timers) = timers();
    let tasks = [Task::default(), Task::default(), Task::default()];
    let mut sleep = timers.sleep(MS);
    for task in &tasks {
        assert!(task.poll(&mut sleep).is_pending());
        assert_eq!(timers.len(), 1);
    }
    assert_eq!(tasks.each_ref().map(Task::wakers), [0, 0, 1]);
    clock.advance(MS);
    assert_eq!(tasks.each_ref().map(Task::woken), [0, 0, 1]);
    assert_eq!(tasks[0].poll(&mut sleep), DONE);
}

#[test]
fn polling_again_with_the_same_waker_registers_nothing() {
    let (_clock, timers) = timers();
    let (task, mut sleep) = (Task::default(), timers.sleep(MS));
    for _ in 0..10 {
        assert!(task.poll(&mut sleep).is_pending());
        assert_eq!((timers.len(), task.wakers()), (1, 1));
    }
}

#[test]
fn a_waker_that_changes_keeps_its_place_where_all_places_are_taken() {
    let clock = wheel_runtime::ManualClock::new();
    let builder = Timers::builder().clock(clock.clone()).max_timers(1);
    let timers = builder.build().unwrap();
    let (one, other) = (Task::default(), Task::default());
    let mut first = timers.sleep(MS);
    assert!(one.poll(&mut first).is_pending());
    let mut second = timers.sleep(MS);
    let Poll::Ready(Err(full)) = one.poll(&mut second) else {
        panic!("there is one place")
    };
    assert!(full.is_full() && !full.is_closed());
    assert_eq!(
        one.poll(&mut second),
        Poll::Ready(Err(full)),
        "it is over, until it is reset"
    );
    assert!(other.poll(&mut first).is_pending());
    clock.advance(MS);
    assert_eq!((one.woken(), other.woken()), (0, 1));
    second.reset(MS);
    assert!(one.poll(&mut second).is_pending());
}

#[test]
fn a_sleep_that_was_done_is_done_again_with_the_same_result() {
    let (clock, timers) = timers();
    let (task, mut sleep) = (Task::default(), timers.sleep(MS));
    assert!(task.poll(&mut sleep).is_pending() && !sleep.is_done());
    clock.advance(MS);
    for _ in 0..3 {
        assert_eq!(task.poll(&mut sleep), DONE);
        assert!(sleep.is_done());
    }
    timers.shutdown();
    assert_eq!(task.poll(&mut sleep), DONE);
}

#[test]
fn a_shutdown_wakes_who_sleeps_and_says_so() {
    let (_clock, timers) = timers();
    let task = Task::default();
    let mut sleeps = [timers.sleep(MS), timers.sleep(Duration::MAX)];
    for sleep in &mut sleeps {
        assert!(task.poll(sleep).is_pending());
    }
    let mut later = timers.sleep(MS);
    assert_eq!(timers.shutdown(), 2);
    assert_eq!((task.woken(), task.wakers()), (2, 0));
    for sleep in sleeps.iter_mut().chain([&mut later]) {
        let Poll::Ready(Err(error)) = task.poll(sleep) else {
            panic!("it can never be due")
        };
        assert!(error.is_closed());
    }
}

#[test]
fn a_sleep_that_was_due_before_the_shutdown_is_done() {
    let (clock, timers) = timers();
    let task = Task::default();
    let (mut polled, mut new) = (timers.sleep(MS), timers.sleep(MS));
    assert!(task.poll(&mut polled).is_pending());
    clock.advance(MS);
    timers.shutdown();
    assert_eq!(task.poll(&mut polled), DONE);
    assert_eq!(task.poll(&mut new), DONE);
}

#[test]
fn what_never_comes_is_pending_and_can_be_dropped() {
    let (clock, timers) = timers();
    let task = Task::default();
    for delay in [Duration::MAX, Duration::from_secs(u64::MAX / 2)] {
        let mut sleep = timers.sleep(delay);
        assert!(task.poll(&mut sleep).is_pending());
        clock.advance(Duration::from_secs(100 * 365 * 86_400));
        assert!(task.poll(&mut sleep).is_pending());
        assert_eq!((timers.len(), task.woken()), (1, 0));
    }
    assert!(timers.is_empty());
}

#[test]
fn a_sleep_keeps_its_engine_alive() {
    let timers = Timers::builder().build().unwrap();
    let sleep = timers.sleep(MS);
    drop(timers);
    assert_eq!(smol::block_on(sleep), Ok(()));
}

#[test]
fn a_sleep_may_be_polled_on_another_thread_each_time() {
    let (clock, timers) = timers();
    let (task, mut sleep) = (Task::default(), timers.sleep(MS));
    assert!(task.poll(&mut sleep).is_pending());
    let other = std::thread::spawn(move || {
        let task = Task::default();
        assert!(task.poll(&mut sleep).is_pending());
        (task, sleep)
    });
    let (other, mut sleep) = other.join().unwrap();
    clock.advance(MS);
    assert_eq!((task.woken(), other.woken()), (0, 1));
    assert_eq!(task.poll(&mut sleep), DONE);
}

#[test]
fn a_driver_that_waits_precisely_wakes_nobody_early() {
    let spin = Duration::from_millis(2);
    let timers = Timers::builder().precise_wait(spin).build().unwrap();
    for delay in [MS / 10, MS, 3 * MS] {
        let mut sleep = timers.sleep(delay);
        let due = sleep.due();
        smol::block_on(&mut sleep).unwrap();
        assert!(timers.now() >= due);
    }
}

/// Refuses everything.
struct Refuses;

impl Executor for Refuses {
    fn execute(&self, jobs: &mut Vec<Job>) {
        let _ = jobs;
    }
}

#[test]
fn who_sleeps_is_woken_by_any_executor_also_one_that_refuses() {
    let pool = Arc::new(Pool::builder().workers(1).build().unwrap());
    let executors: [Arc<dyn Executor>; 3] =
        [Arc::new(InlineExecutor), pool.clone(), Arc::new(Refuses)];
    for executor in executors {
        let timers = Timers::builder().executor(executor).build().unwrap();
        assert_eq!(smol::block_on(timers.sleep(MS)), Ok(()));
        timers.shutdown();
    }
    pool.shutdown(Duration::from_secs(20)).unwrap();
}

#[test]
fn a_waker_that_panics_is_counted_and_the_driver_lives_on() {
    struct Panics;
    impl Wake for Panics {
        fn wake(self: Arc<Panics>) {
            panic!("do not wake me");
        }
    }
    let clock = wheel_runtime::ManualClock::new();
    let (sent, told) = channel();
    let builder = Timers::builder().clock(clock.clone());
    let builder = builder.on_panic(move |message| sent.send(message.to_owned()).unwrap());
    let timers = builder.build().unwrap();
    let waker = Waker::from(Arc::new(Panics));
    let task = Task::default();
    let (mut bad, mut closed, mut good) =
        (timers.sleep(MS), timers.sleep(9 * MS), timers.sleep(MS));
    for bad in [&mut bad, &mut closed] {
        let polled = pin!(bad).poll(&mut Context::from_waker(&waker));
        assert!(polled.is_pending());
    }
    assert!(task.poll(&mut good).is_pending());
    clock.advance(MS);
    assert_eq!(told.recv().unwrap(), "do not wake me");
    assert_eq!((task.woken(), timers.stats().panics), (1, 1));
    timers.shutdown();
}

#[test]
fn a_task_that_is_dropped_by_its_waker_on_the_driver_takes_its_sleeps_along() {
    let (clock, timers) = timers();
    /// Holds what a task would, and ends as it is woken.
    struct Holds(std::sync::Mutex<Option<wheel_runtime::Sleep>>);
    impl Wake for Holds {
        fn wake(self: Arc<Holds>) {
            drop(self.0.lock().unwrap().take());
        }
    }
    let holds = Arc::new(Holds(std::sync::Mutex::default()));
    let waker = Waker::from(Arc::clone(&holds));
    let (mut first, mut second) = (timers.sleep(MS), timers.sleep(9 * MS));
    for sleep in [&mut first, &mut second] {
        let polled = pin!(sleep).poll(&mut Context::from_waker(&waker));
        assert!(polled.is_pending());
    }
    *holds.0.lock().unwrap() = Some(second);
    clock.advance(MS);
    assert!(timers.is_empty());
    assert_eq!(Task::default().poll(&mut first), DONE);
}
