//! What becomes of runs that find the queue full.

use std::time::Duration;

use wheel_runtime::{OnFull, Priority, Retry, TaskState};

use crate::bed::{Bed, ms};

fn bed(on_full: OnFull) -> Bed {
    Bed::with(|builder| builder.workers(1).queue_capacity(3).on_full(on_full))
}

#[test]
fn by_default_nothing_is_left_out() {
    let bed = bed(OnFull::Wait);
    let record = bed.record();
    let busy = bed.occupy_worker();
    for n in 0..10 {
        bed.scheduler.after(ms(n + 1), record.note("x")).unwrap();
    }
    bed.clock.advance(ms(10));
    busy.open();
    bed.settle();
    assert_eq!(record.len(), 10);
    let stats = bed.scheduler.stats();
    assert_eq!((stats.rejected, stats.displaced), (0, 0));
}

#[test]
fn reject_leaves_out_what_comes_last_and_says_so() {
    let bed = bed(OnFull::Reject);
    let record = bed.record();
    let busy = bed.occupy_worker();
    let tasks: Vec<_> = (1..=5)
        .map(|n| {
            let task = bed.scheduler.task(n.to_string()).after(ms(n));
            task.run(record.note(&n.to_string())).unwrap()
        })
        .collect();
    bed.clock.advance(ms(5));
    busy.open();
    bed.settle();
    assert_eq!(record.names(), ["1", "2", "3"]);
    assert_eq!(tasks[4].wait(), TaskState::Skipped);
    assert_eq!(tasks[4].info().skipped, 1);
    let stats = bed.scheduler.stats();
    assert_eq!((stats.rejected, stats.skipped, stats.queued), (2, 2, 0));
}

#[test]
fn drop_oldest_leaves_out_what_was_due_first_of_the_lowest_class() {
    let bed = bed(OnFull::DropOldest);
    let record = bed.record();
    let busy = bed.occupy_worker();
    for (name, after, class) in [
        ("high", 1, Priority::High),
        ("b", 2, Priority::Normal),
        ("c", 3, Priority::Normal),
        ("low", 5, Priority::Low),
        ("d", 4, Priority::Normal),
    ] {
        let task = bed.scheduler.task(name).after(ms(after)).priority(class);
        task.run(record.note(name)).unwrap();
    }
    bed.clock.advance(ms(5));
    busy.open();
    bed.settle();
    assert_eq!(record.names(), ["high", "c", "d"]);
    let stats = bed.scheduler.stats();
    assert_eq!((stats.displaced, stats.skipped), (2, 2));
}

#[test]
fn a_recurring_task_goes_on_after_it_was_left_out() {
    for on_full in [OnFull::Reject, OnFull::DropOldest] {
        let bed = bed(on_full);
        let record = bed.record();
        for name in ["a", "b", "c", "d", "e"] {
            let task = bed.scheduler.task(name).every(ms(10));
            task.run(record.note(name)).unwrap();
        }
        let busy = bed.occupy_worker();
        bed.clock.advance(ms(10));
        busy.open();
        bed.settle();
        assert_eq!(record.len(), 3, "{on_full:?}");
        // One at a time now.
        let short = bed.scheduler.stats();
        assert_eq!(short.scheduled, 5, "{on_full:?}");
        bed.scheduler.shutdown(Duration::ZERO).unwrap();
    }
}

#[test]
fn an_attempt_that_is_left_out_has_failed_and_the_policy_decides() {
    let bed = bed(OnFull::Reject);
    let record = bed.record();
    let noted = record.clone();
    let task = bed.scheduler.task("x").after(Duration::ZERO);
    let task = task
        .retry(Retry::fixed(ms(5)).max_attempts(3))
        .run(move |run| {
            noted.add(&run.attempt().to_string());
            match run.attempt() {
                1 => Err("no paper"),
                _ => Ok(()),
            }
        });
    let task = task.unwrap();
    bed.settle();
    let busy = bed.occupy_worker();
    for _ in 0..3 {
        bed.scheduler.after(ms(1), |_| ()).unwrap();
    }
    bed.clock.advance(ms(5));
    busy.open();
    bed.settle();
    bed.jump(ms(5));
    assert_eq!(record.names(), ["1", "3"]);
    assert_eq!(task.info().succeeded, 1);
}
