//! A run that fails, and is tried again.

use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use wheel_runtime::{CancelOutcome, Context, Retry, RetryJitter, SubmitError, TaskState};

use crate::bed::{Bed, gate, ms};

/// Fails in its first attempts, and then succeeds.
pub(crate) fn fails(times: u32) -> impl Fn(&Context) -> Result<(), String> + Send + Sync + 'static {
    move |run| match run.attempt() {
        attempt if attempt <= times => Err(format!("attempt {attempt}")),
        _ => Ok(()),
    }
}

#[test] // RB-04
fn a_run_has_as_many_attempts_as_it_may_and_then_is_dead_once() {
    let bed = Bed::inline();
    let record = bed.record();
    let (note, retry) = (record.note("try"), Retry::fixed(ms(5)).max_attempts(6));
    let fail = move |run: &Context| {
        note(run);
        Err("no paper")
    };
    let task = bed
        .scheduler
        .task("print")
        .after(ms(10))
        .retry(retry)
        .run(fail)
        .unwrap();
    bed.clock.run_for(ms(50 * 25));
    assert_eq!(record.times("try"), [10, 15, 20, 25, 30, 35]);
    let (info, stats) = (task.info(), bed.scheduler.stats());
    assert_eq!(info.state, TaskState::Dead);
    assert_eq!(
        (info.runs, info.failed, info.retried, info.dead),
        (1, 1, 5, 1)
    );
    assert_eq!(
        (stats.runs, stats.failed, stats.retried, stats.dead),
        (1, 1, 5, 1)
    );
    assert_eq!((stats.retrying, stats.dead_letters), (0, 1));
    let letters = bed.scheduler.dead_letters().list();
    assert_eq!((letters.len(), letters[0].last.attempts), (1, 6));
}

#[test]
fn attempts_follow_the_back_off_and_count_from_the_end_of_the_last_one() {
    let bed = Bed::workers(1);
    let record = bed.record();
    let ((gate, keeper), note) = (gate(), record.note("try"));
    let handler = move |run: &Context| {
        note(run);
        keeper.pass(run);
        fails(3)(run)
    };
    let task = bed.tried(Retry::linear(ms(10)), handler);
    bed.clock.advance(ms(10));
    for wait in [10, 20, 30] {
        gate.wait_started();
        bed.clock.advance(ms(7)); // So long does an attempt take.
        gate.open();
        bed.settle();
        assert_eq!(task.info().state, TaskState::Retrying);
        assert_eq!(task.info().next_in, Some(ms(wait)));
        assert_eq!(bed.scheduler.stats().retrying, 1);
        bed.clock.advance(ms(wait));
    }
    gate.wait_started();
    gate.open();
    assert_eq!(task.wait(), TaskState::Succeeded);
    assert_eq!(record.times("try"), [10, 27, 54, 91]);
    let info = task.info();
    assert_eq!(
        (info.runs, info.succeeded, info.failed, info.retried),
        (1, 1, 0, 3)
    );
    assert_eq!(info.last_error.as_deref(), Some("attempt 3"));
    assert_eq!(bed.scheduler.stats().early, 0);
}

#[test]
fn each_attempt_has_the_run_the_nominal_instant_and_the_key_of_the_first() {
    let bed = Bed::inline();
    type Seen = (
        u64,
        u32,
        SystemTime,
        SystemTime,
        String,
        Option<String>,
        Duration,
    );
    let seen: Arc<Mutex<Vec<Seen>>> = Arc::default();
    let sees = Arc::clone(&seen);
    let start = bed.clock.wall();
    let handler = move |run: &Context| {
        sees.lock().unwrap().push((
            run.run(),
            run.attempt(),
            run.nominal(),
            run.due(),
            run.idempotency_key(),
            run.last_error().map(str::to_owned),
            run.lateness(),
        ));
        fails(2)(run)
    };
    let builder = bed
        .scheduler
        .task("x")
        .every(ms(100))
        .retry(Retry::fixed(ms(20)));
    let _task = builder.run(handler).unwrap();
    bed.clock.run_for(ms(200));
    let seen = seen.lock().unwrap();
    let key = |at: SystemTime| {
        let since = at.duration_since(SystemTime::UNIX_EPOCH).unwrap();
        format!("x@{}.{:09}", since.as_secs(), since.subsec_nanos())
    };
    let first = start + ms(100);
    let attempt = |number: u32| {
        let error = (number > 1).then(|| format!("attempt {}", number - 1));
        let due = first + ms(20) * (number - 1);
        (1, number, first, due, key(first), error, Duration::ZERO)
    };
    assert_eq!(seen[..3], [attempt(1), attempt(2), attempt(3)]);
    let second = start + ms(200);
    let next = (2, 1, second, second, key(second), None, Duration::ZERO);
    assert_eq!(seen[3..], [next]);
}

#[test]
fn a_run_that_waits_for_another_attempt_is_going_for_the_overlap_rule_and_the_grid_stays() {
    let bed = Bed::inline();
    let record = bed.record();
    let note = record.note("try");
    let handler = move |run: &Context| {
        note(run);
        if run.run() == 1 {
            fails(2)(run)
        } else {
            Ok(())
        }
    };
    let builder = bed
        .scheduler
        .task("x")
        .every(ms(10))
        .retry(Retry::fixed(ms(17)));
    let task = builder.run(handler).unwrap();
    bed.clock.run_for(ms(70));
    // Tried at 10, 27 and 44; left out at 20, 30 and 40.
    assert_eq!(record.times("try"), [10, 27, 44, 50, 60, 70]);
    let info = task.info();
    assert_eq!((info.runs, info.skipped, info.retried), (4, 3, 2));
}

#[test]
fn a_count_counts_runs_and_a_pause_counts_from_the_end_of_a_run() {
    let bed = Bed::inline();
    let record = bed.record();
    let note = record.note("try");
    let handler = move |run: &Context| {
        note(run);
        fails(1)(run)
    };
    let builder = bed.scheduler.task("x").every_after(ms(100)).count(2);
    let task = builder.retry(Retry::fixed(ms(10))).run(handler).unwrap();
    bed.clock.run_for(ms(1000));
    assert_eq!(record.times("try"), [100, 110, 210, 220]);
    assert_eq!(task.info().state, TaskState::Succeeded);
}

#[test]
fn a_recurring_task_goes_on_after_a_dead_run() {
    let bed = Bed::inline();
    let builder = bed.scheduler.task("x").every(ms(100));
    let retry = Retry::fixed(ms(10)).max_attempts(2);
    let task = builder.retry(retry).run(|_| Err("no")).unwrap();
    bed.clock.run_for(ms(103));
    // The next attempt, and not the next occurrence.
    assert_eq!(task.info().next_in, Some(ms(7)));
    bed.clock.run_for(ms(247));
    let info = task.info();
    assert_eq!((info.state, info.attempt), (TaskState::Scheduled, 0));
    assert_eq!((info.runs, info.dead, info.retried), (3, 3, 3));
    assert_eq!(bed.scheduler.dead_letters().list().len(), 3);
}

#[test]
fn whoever_panics_in_a_policy_ends_the_retries_and_is_counted() {
    let bed = Bed::inline();
    let policies = [
        Retry::custom(|_| panic!("of the test")),
        Retry::fixed(ms(1)).retry_if(|_| panic!("of the test")),
    ];
    for (index, retry) in policies.into_iter().enumerate() {
        let task = bed.scheduler.unnamed().after(ms(1)).retry(retry);
        let task = task.run(|_| Err("no")).unwrap();
        bed.clock.run_for(ms(10));
        assert_eq!(task.wait(), TaskState::Dead);
        let stats = bed.scheduler.stats();
        assert_eq!(
            (stats.hooks_panicked, stats.panicked),
            (index as u64 + 1, 0)
        );
    }
}

#[test]
fn jitter_is_the_same_for_the_same_seed_only() {
    let times = |seed| {
        let bed = Bed::with(|builder| builder.executor(wheel_runtime::InlineExecutor).seed(seed));
        let record = bed.record();
        for id in ["a", "b"] {
            let note = record.note(id);
            let retry = Retry::fixed(ms(1000))
                .jitter(RetryJitter::Full)
                .max_attempts(4);
            let builder = bed.scheduler.task(id).after(ms(1)).retry(retry);
            let handler = move |run: &Context| {
                note(run);
                Err("no")
            };
            builder.run(handler).unwrap();
        }
        bed.clock.run_for(ms(5000));
        (record.times("a"), record.times("b"))
    };
    let (a, b) = times(7);
    assert_eq!((a.len(), b.len()), (4, 4));
    assert_ne!(a, b);
    assert_eq!(times(7), (a.clone(), b));
    assert_ne!(times(8).0, a);
}

#[test]
fn a_delay_without_end_is_never_over_and_can_be_cancelled() {
    let bed = Bed::inline();
    let retry = Retry::exponential(Duration::MAX / 2).max_attempts(5);
    let task = bed.scheduler.task("x").after(ms(1)).retry(retry);
    let task = task.run(|_| Err("no")).unwrap();
    bed.clock.run_for(Duration::from_secs(86_400));
    let info = task.info();
    assert_eq!(
        (info.state, info.next_in, info.next_due),
        (TaskState::Retrying, None, None)
    );
    assert_eq!(task.cancel(), CancelOutcome::Cancelled);
}

#[test]
fn a_policy_that_is_not_possible_is_refused_by_name() {
    let bed = Bed::inline();
    let refused = |retry: Retry| {
        let builder = bed.scheduler.task("x").after(ms(1)).retry(retry);
        builder.run(|_| ()).unwrap_err()
    };
    let fixed = Retry::fixed(ms(1));
    for (retry, field) in [
        (fixed.clone().max_attempts(0), "retry.max_attempts"),
        (Retry::exponential(ms(1)).factor(0.5), "retry.factor"),
        (fixed.clone().max_delay(Duration::ZERO), "retry.max_delay"),
        (fixed.max_elapsed(Duration::ZERO), "retry.max_elapsed"),
    ] {
        let error = refused(retry);
        assert!(!error.may_succeed_later());
        match error {
            SubmitError::Policy(error) => assert_eq!(error.field(), field, "{error}"),
            other => panic!("{other}"),
        }
    }
    assert!(bed.scheduler.get("x").is_none());
}
