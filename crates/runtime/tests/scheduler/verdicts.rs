//! What a handler may say about the end of an attempt.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use wheel_runtime::{Context, Outcome, Overlap, Retry, TaskState};

use crate::bed::{Bed, ms};

#[test]
fn a_panic_is_tried_again() {
    let bed = Bed::inline();
    let builder = bed
        .scheduler
        .task("x")
        .after(ms(1))
        .retry(Retry::fixed(ms(1)));
    let handler = |run: &Context| assert_eq!(run.attempt(), 3, "too early");
    let task = builder.run(handler).unwrap();
    bed.clock.run_for(ms(10));
    assert_eq!(task.wait(), TaskState::Succeeded);
    assert_eq!(
        (task.info().retried, bed.scheduler.stats().panicked),
        (2, 2)
    );
    assert!(
        task.info()
            .last_error
            .is_some_and(|error| error.starts_with("panicked: "))
    );
}

#[test]
fn a_permanent_failure_is_not_tried_again() {
    let bed = Bed::inline();
    let outcome = || Outcome::Permanent("no such mailbox".into());
    let retried = bed
        .scheduler
        .task("retried")
        .after(ms(1))
        .retry(Retry::fixed(ms(1)));
    let retried = retried.run(move |_| outcome()).unwrap();
    let plain = bed
        .scheduler
        .task("plain")
        .after(ms(1))
        .run(move |_| outcome())
        .unwrap();
    bed.clock.run_for(ms(10));
    assert_eq!(
        (retried.wait(), plain.wait()),
        (TaskState::Dead, TaskState::Failed)
    );
    let stats = bed.scheduler.stats();
    assert_eq!(
        (stats.runs, stats.failed, stats.retried, stats.dead_letters),
        (2, 2, 0, 1)
    );
}

#[test]
fn a_handler_says_when_it_is_to_be_tried_again() {
    let bed = Bed::inline();
    let record = bed.record();
    let note = record.note("try");
    let handler = move |run: &Context| {
        note(run);
        Outcome::RetryAfter(ms(70), "too many requests".into())
    };
    let retry = Retry::fixed(ms(10)).max_delay(ms(10)).max_attempts(3);
    let task = bed.tried(retry, handler);
    let plain = bed.scheduler.task("plain").after(ms(10));
    let plain = plain
        .run(|_| Outcome::RetryAfter(ms(1), "busy".into()))
        .unwrap();
    bed.clock.run_for(ms(1000));
    assert_eq!(record.times("try"), [10, 80, 150]);
    assert_eq!(task.wait(), TaskState::Dead);
    // Without a policy there is one attempt.
    assert_eq!((plain.wait(), plain.info().runs), (TaskState::Failed, 1));
}

#[test]
fn a_snooze_is_no_failure_uses_up_no_attempt_and_needs_no_policy() {
    let bed = Bed::inline();
    let record = bed.record();
    let (calls, note) = (AtomicU32::new(0), record.note("try"));
    let handler = move |run: &Context| {
        note(run);
        assert_eq!((run.run(), run.last_error()), (1, None));
        match (calls.fetch_add(1, Ordering::Relaxed), run.attempt()) {
            (0..20, 1) => Outcome::Snooze(ms(100)),
            (20, 1) => Outcome::Snooze(Duration::ZERO),
            (21, 1) => Outcome::Success,
            other => panic!("{other:?}"),
        }
    };
    let task = bed.scheduler.task("x").after(ms(100)).run(handler).unwrap();
    bed.clock.run_for(ms(2100));
    // A snooze of nothing is one of a tick.
    assert_eq!(task.info().state, TaskState::Retrying);
    bed.clock.run_for(ms(1));
    assert_eq!(task.wait(), TaskState::Succeeded);
    assert_eq!(record.len(), 22);
    let stats = bed.scheduler.stats();
    assert_eq!(
        (stats.runs, stats.snoozed, stats.retried, stats.failed),
        (1, 21, 0, 0)
    );
}

#[test]
fn what_was_snoozed_does_not_count_for_max_elapsed() {
    let bed = Bed::inline();
    let calls = AtomicU32::new(0);
    let handler = move |_: &Context| match calls.fetch_add(1, Ordering::Relaxed) {
        0 => Outcome::Snooze(ms(10_000)),
        _ => Outcome::Failure("no".into()),
    };
    let retry = Retry::fixed(ms(10))
        .max_attempts(u32::MAX)
        .max_elapsed(ms(35));
    let task = bed
        .scheduler
        .task("x")
        .after(ms(10))
        .retry(retry)
        .run(handler)
        .unwrap();
    bed.clock.run_for(ms(20_000));
    assert_eq!(task.wait(), TaskState::Dead);
    let letter = &bed.scheduler.dead_letters().list()[0];
    assert_eq!(letter.last.attempts, 4);
    assert_eq!(
        letter
            .last
            .at
            .duration_since(letter.last.first_start)
            .unwrap(),
        ms(10_030)
    );
}

#[test]
fn a_handler_may_end_its_recurring_task() {
    let bed = Bed::inline();
    let handler = |run: &Context| match run.run() {
        3 => Outcome::Cancel,
        _ => Outcome::Success,
    };
    let task = bed
        .scheduler
        .task("poll")
        .every(ms(10))
        .run(handler)
        .unwrap();
    bed.clock.run_for(ms(100));
    assert_eq!(task.wait(), TaskState::Cancelled);
    let (info, stats) = (task.info(), bed.scheduler.stats());
    assert_eq!((info.runs, info.succeeded, info.next_in), (3, 3, None));
    assert_eq!(
        (stats.succeeded, stats.cancelled, stats.scheduled),
        (3, 1, 0)
    );
    assert!(bed.scheduler.get("poll").is_none());
}

#[test]
fn who_says_that_there_is_nothing_more_to_do_abandons_the_runs_beside_it_that_wait() {
    let bed = Bed::inline();
    let task = bed
        .scheduler
        .task("x")
        .every(ms(10))
        .overlap(Overlap::Allow { max: 3 });
    let task = task
        .retry(Retry::fixed(ms(1_000)))
        .run(|run: &Context| match run.run() {
            1 => Outcome::Failure("no paper".into()),
            2 => Outcome::Snooze(ms(1_000)),
            _ => Outcome::Cancel,
        });
    let task = task.unwrap();
    bed.clock.run_for(ms(30));
    assert_eq!(task.wait(), TaskState::Cancelled);
    let stats = bed.scheduler.stats();
    assert_eq!((stats.runs, stats.succeeded, stats.abandoned), (3, 1, 2));
    assert_eq!((stats.retrying, stats.queued), (0, 0));
    bed.clock.run_for(ms(2_000));
    assert_eq!(bed.scheduler.stats().runs, 3);
}
