//! What a handler is told of its time, what it passes down, and what a run carries.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use wheel_runtime::{Context, Retry, StopReason, TaskState};

use crate::bed::{Bed, HANG, ms};

#[test]
fn a_child_has_the_smaller_of_the_two_times() {
    let bed = Bed::inline();
    let wall = bed.clock.wall();
    let task = bed.scheduler.task("x").after(ms(0)).timeout(ms(100));
    let handler = move |run: &Context| {
        assert_eq!(run.deadline(), Some(wall + ms(100)));
        let child = run.child(ms(30));
        assert_eq!(child.deadline(), Some(wall + ms(30)));
        assert_eq!(run.child(ms(300)).time_left(), Some(ms(100)));
        assert_eq!(child.child(ms(40)).time_left(), Some(ms(30)));
        assert_eq!(child.child(Duration::MAX).time_left(), Some(ms(30)));
        assert_eq!(child.child(ms(10)).time_left(), Some(ms(10)));
        let over = run.child(Duration::ZERO);
        assert_eq!(over.stop_reason(), Some(StopReason::TimedOut));
        assert_eq!((child.id(), child.run(), child.attempt()), ("x", 1, 1));
        assert_eq!(child.idempotency_key(), run.idempotency_key());
    };
    let task = task.run(handler).unwrap();
    bed.clock.run_for(ms(0));
    assert_eq!(task.wait(), TaskState::Succeeded);
    // Without a limit of the task, a child has its own.
    let task = bed.scheduler.task("y").after(ms(0)).run(|run: &Context| {
        assert_eq!(run.time_left(), None);
        assert_eq!(run.child(ms(30)).time_left(), Some(ms(30)));
        assert_eq!(run.child(Duration::MAX).time_left(), None);
    });
    bed.clock.run_for(ms(0));
    assert_eq!(task.unwrap().wait(), TaskState::Succeeded);
}

/// A handler that sends what `make` makes of its context, and then waits to be let go.
fn passing_down<F>(
    make: F,
) -> (
    Receiver<Context>,
    Sender<()>,
    impl Fn(&Context) + Send + Sync,
)
where
    F: Fn(&Context) -> Vec<Context> + Send + Sync,
{
    let ((sent, passed), (open, opened)) = (channel(), channel::<()>());
    let opened = Mutex::new(opened);
    let handler = move |run: &Context| {
        make(run)
            .into_iter()
            .for_each(|child| sent.send(child).unwrap());
        let _ = opened.lock().unwrap().recv_timeout(HANG);
    };
    (passed, open, handler)
}

#[test]
fn the_token_of_a_child_is_set_at_its_own_time_and_with_all_above() {
    let bed = Bed::workers(1);
    let (passed, open, handler) = passing_down(|run| {
        let child = run.child(ms(20));
        vec![run.clone(), child.child(ms(50)), child, run.child(ms(50))]
    });
    let task = bed.scheduler.task("x").after(ms(0)).run(handler).unwrap();
    bed.clock.advance(ms(0));
    let next = || passed.recv_timeout(HANG).unwrap();
    let (run, below, child, beside) = (next(), next(), next(), next());
    bed.clock.advance(ms(19));
    assert_eq!((child.stop_reason(), below.stop_reason()), (None, None));
    // On another thread.
    let waiter = thread::spawn(move || child.token().wait_timeout(HANG));
    bed.clock.advance(ms(1));
    assert!(waiter.join().unwrap());
    assert_eq!(below.stop_reason(), Some(StopReason::TimedOut));
    assert_eq!((run.stop_reason(), beside.stop_reason()), (None, None));
    let _ = task.cancel();
    assert_eq!(beside.stop_reason(), Some(StopReason::Cancelled));
    assert_eq!(run.stop_reason(), Some(StopReason::Cancelled));
    open.send(()).unwrap();
    bed.settle();
}

#[test]
fn what_is_passed_down_ends_with_the_handler() {
    let bed = Bed::workers(1);
    let (passed, open, handler) = passing_down(|run| vec![run.child(Duration::MAX), run.clone()]);
    let task = bed.scheduler.task("x").after(ms(0)).run(handler).unwrap();
    bed.clock.advance(ms(0));
    let next = || passed.recv_timeout(HANG).unwrap();
    let (child, run) = (next(), next());
    assert!(!child.is_cancelled());
    let waits = child.clone();
    let waiter = thread::spawn(move || waits.token().wait_timeout(HANG));
    open.send(()).unwrap();
    assert!(waiter.join().unwrap());
    assert_eq!(task.wait_timeout(HANG), Some(TaskState::Succeeded));
    assert_eq!(child.stop_reason(), Some(StopReason::Over));
    // The run itself was not told to stop.
    assert_eq!(run.stop_reason(), None);
    // One that is made afterwards is over already.
    assert_eq!(run.child(ms(5)).stop_reason(), Some(StopReason::Over));
}

#[test]
fn a_child_of_a_run_that_is_over_time_is_told_so() {
    let bed = Bed::workers(1);
    let (passed, open, handler) = passing_down(|run| vec![run.child(Duration::MAX)]);
    let task = bed.scheduler.task("x").after(ms(0)).timeout(ms(50));
    let task = task.run(handler).unwrap();
    bed.clock.advance(ms(0));
    let child = passed.recv_timeout(HANG).unwrap();
    bed.clock.advance(ms(50));
    assert_eq!(child.stop_reason(), Some(StopReason::TimedOut));
    assert_eq!(task.wait_timeout(HANG), Some(TaskState::TimedOut));
    open.send(()).unwrap();
}

#[derive(Debug, PartialEq)]
struct RequestId(u32);

#[derive(Debug, PartialEq)]
struct Customer(&'static str);

#[test]
fn a_run_carries_what_its_task_was_given_and_what_is_added() {
    let bed = Bed::with(|builder| {
        let next = AtomicU32::new(17);
        let builder = builder.executor(wheel_runtime::InlineExecutor);
        builder.around(move |run, go_on| {
            if run.value::<RequestId>().is_none() {
                run.set_value(RequestId(next.fetch_add(1, Ordering::SeqCst)));
            }
            go_on()
        })
    });
    let seen = Arc::new(Mutex::new(Vec::new()));
    let sees = Arc::clone(&seen);
    let task = bed.scheduler.task("x").every(ms(100)).count(2);
    let task = task.value(Customer("Bob")).value(Customer("Ada"));
    let task = task.retry(Retry::fixed(ms(1)));
    let handler = move |run: &Context| {
        let child = run.child(ms(5));
        assert_eq!(child.value::<Customer>(), run.value::<Customer>());
        let request = child.value::<RequestId>().unwrap().0;
        let customer = run.value::<Customer>().unwrap().0;
        sees.lock()
            .unwrap()
            .push((run.attempt(), request, customer));
        if run.attempt() == 1 {
            // What is set below is seen above, and in the next attempt.
            child.set_value(Customer("Eve"));
            assert_eq!(run.value::<Customer>().as_deref(), Some(&Customer("Eve")));
            return Err("no paper");
        }
        Ok(())
    };
    let task = task.run(handler).unwrap();
    bed.clock.run_for(ms(300));
    assert_eq!(task.wait(), TaskState::Succeeded);
    let wanted = [
        (1, 17, "Ada"),
        (2, 17, "Eve"),
        (1, 18, "Ada"),
        (2, 18, "Eve"),
    ];
    assert_eq!(*seen.lock().unwrap(), wanted);
}

#[test]
fn values_outlive_an_attempt_that_is_over_time() {
    let bed = Bed::workers(2);
    let (sent, seen) = channel();
    let task = bed.scheduler.task("x").after(ms(0)).timeout(ms(50));
    let task = task.retry(Retry::fixed(ms(1)).max_attempts(2));
    let handler = move |run: &Context| {
        let found = run.value::<RequestId>().map(|id| id.0);
        run.set_value(RequestId(7));
        sent.send(found).unwrap();
        if run.attempt() == 1 {
            assert!(run.token().wait_timeout(HANG));
        }
    };
    let task = task.run(handler).unwrap();
    bed.clock.advance(ms(0));
    assert_eq!(seen.recv_timeout(HANG), Ok(None));
    bed.clock.advance(ms(50));
    bed.clock.advance(ms(1));
    assert_eq!(seen.recv_timeout(HANG), Ok(Some(7)));
    assert_eq!(task.wait_timeout(HANG), Some(TaskState::Succeeded));
}

/// Asks its task how it stands as it is dropped, which waits for the task's lock; and notes where.
struct Nosy {
    scheduler: wheel_runtime::Scheduler,
    dropped: Sender<String>,
}

impl Drop for Nosy {
    fn drop(&mut self) {
        let _ = self.scheduler.get("x");
        let thread = thread::current().name().unwrap_or("").to_owned();
        let _ = self.dropped.send(thread);
        panic!("as it is dropped");
    }
}

#[test]
fn values_are_dropped_without_a_lock_and_not_on_the_driver() {
    // Over after the first attempt, over time, cancelled between two, shut down between two.
    for way in 0..4 {
        let bed = Bed::with(|builder| builder.workers(1).thread_name("test"));
        let (dropped, drops) = channel();
        let (sent, started) = channel();
        let scheduler = bed.scheduler.clone();
        let handler = move |run: &Context| {
            run.set_value(Nosy {
                scheduler: scheduler.clone(),
                dropped: dropped.clone(),
            });
            sent.send(()).unwrap();
            match way {
                0 => Ok(()),
                1 => {
                    assert!(run.token().wait_timeout(HANG));
                    Ok(())
                }
                _ => Err("no paper"),
            }
        };
        let task = bed.scheduler.task("x").after(ms(0)).timeout(ms(50));
        let task = match way {
            2 | 3 => task.retry(Retry::fixed(Duration::from_secs(9))),
            _ => task,
        };
        let task = task.run(handler).unwrap();
        bed.clock.advance(ms(0));
        started.recv_timeout(HANG).unwrap();
        match way {
            0 => bed.settle(),
            1 => bed.jump(ms(50)),
            2 => {
                bed.settle();
                let _ = task.cancel();
            }
            _ => {
                bed.settle();
                bed.scheduler.shutdown(HANG).unwrap();
            }
        }
        let thread = drops.recv_timeout(HANG).expect("it is dropped");
        assert_ne!(thread, "test-driver", "way {way}");
        bed.scheduler.shutdown(HANG).unwrap();
    }
}
