//! What is told of runs whose handlers are futures: the same as of others, in the same order.

use std::future::pending;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context as PollContext, Waker};

use wheel_runtime::{Context, Event, Outcome, Retry, RunFuture, TaskBuilder, TaskState};

use super::by_hand::{ByHand, polls};
use crate::bed::{Bed, HANG, ms};
use crate::events::{all, words};

/// All that can come of an attempt.
fn script() -> impl Fn(&Context) -> Outcome + Send + Sync + 'static {
    let has_snoozed = AtomicBool::new(false);
    move |run| match (run.run(), run.attempt()) {
        (2, 1) => Outcome::Failure("no paper".to_owned()),
        (3, _) => panic!("broken"),
        (4, _) if !has_snoozed.swap(true, Ordering::Relaxed) => Outcome::Snooze(ms(3)),
        (5, _) => Outcome::Cancel,
        _ => Outcome::Success,
    }
}

/// Of a task that is added so, all that is told of it.
fn told(add: impl FnOnce(TaskBuilder<'_>)) -> Vec<Event> {
    let bed = Bed::inline();
    let mut events = bed.scheduler.events();
    let task = bed.scheduler.task("x").name("reports").every(ms(20));
    add(task.retry(Retry::fixed(ms(5)).max_attempts(2)));
    bed.clock.run_for(ms(200));
    bed.settle();
    all(&mut events)
}

#[test]
fn a_future_is_told_of_as_a_handler_that_does_the_same() {
    let plain = told(|task| drop(task.run(script()).unwrap()));
    let at_once = |mut run: RunFuture| {
        let polled = Pin::new(&mut run).poll(&mut PollContext::from_waker(Waker::noop()));
        assert!(polled.is_ready());
    };
    let futures = told(|task| {
        let script = Arc::new(script());
        let handler = move |run: Context| {
            let script = Arc::clone(&script);
            async move { script(&run) }
        };
        drop(task.run_async(handler, at_once).unwrap());
    });
    assert_eq!(futures, plain);
    assert_eq!(
        words(&futures).join(", "),
        "added, started 1.1, finished 1 Succeeded, \
         started 2.1, failed 2.1, started 2.2, finished 2 Succeeded, \
         started 3.1, failed 3.1, started 3.2, finished 3 Dead, dead 3, \
         started 4.1, snoozed 4.1, started 4.1, finished 4 Succeeded, \
         started 5.1, finished 5 Succeeded, ended Cancelled"
    );
}

#[test]
fn what_happens_while_a_future_is_pending_is_told_between_its_start_and_its_end() {
    let (bed, hand) = (Bed::inline(), ByHand::default());
    let mut events = bed.scheduler.events();
    let task = bed.scheduler.task("x").every(ms(10)).count(2);
    let task = task.run_async(|_| polls(1), hand.spawner()).unwrap();
    bed.clock.run_for(ms(10));
    assert!(hand.poll().is_pending());
    bed.clock.run_for(ms(10));
    assert!(hand.poll().is_ready());
    bed.clock.run_for(ms(10));
    hand.drop_first();
    assert_eq!(task.wait_timeout(HANG), Some(TaskState::Failed));
    assert_eq!(
        words(&all(&mut events)).join(", "),
        "added, started 1.1, skipped 1 Overlap, finished 1 Succeeded, \
         started 2.1, finished 2 Failed, ended Failed"
    );
}

#[test]
fn a_future_whose_time_is_over_is_told_of_as_hung_until_it_is_dropped() {
    let (bed, hand) = (Bed::inline(), ByHand::default());
    let mut events = bed.scheduler.events();
    let task = bed.scheduler.task("x").after(ms(1)).timeout(ms(5));
    let task = task.run_async(|_| pending::<()>(), hand.spawner()).unwrap();
    bed.clock.advance(ms(1));
    assert!(hand.poll().is_pending());
    bed.clock.advance(ms(5));
    assert_eq!(task.wait_timeout(HANG), Some(TaskState::TimedOut));
    assert_eq!(
        words(&all(&mut events)).join(", "),
        "added, started 1.1, hung 1.1, finished 1 TimedOut, ended TimedOut"
    );
    assert!(hand.poll().is_ready());
    assert_eq!(words(&all(&mut events)), ["came back 1.1"]);
}
