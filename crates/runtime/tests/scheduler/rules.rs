//! What is done when runs fail again and again.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use wheel_runtime::{Context, Outcome, Reaction, RepeatedFailure, Retry, TaskBuilder, TaskState};

use crate::bed::{Bed, gate, ms};

type Log = Arc<Mutex<Vec<String>>>;

/// An event that notes the run, the row and the error.
fn notes(log: &Log) -> Reaction {
    let log = Arc::clone(log);
    Reaction::event(move |failure: &RepeatedFailure| {
        let RepeatedFailure {
            task,
            run,
            in_a_row,
            error,
            ..
        } = failure;
        log.lock()
            .unwrap()
            .push(format!("{task} {run}: {in_a_row} {error}"));
    })
}

fn every_10_ms(bed: &Bed) -> TaskBuilder<'_> {
    bed.scheduler.task("x").every(ms(10))
}

/// Fails in the runs of which this is true.
fn fails_in(is_failing: impl Fn(u64) -> bool) -> impl Fn(&Context) -> Result<(), &'static str> {
    move |run| match is_failing(run.run()) {
        true => Err("no"),
        false => Ok(()),
    }
}

#[test]
fn an_event_is_raised_from_the_nth_failure_in_a_row_on_until_a_success() {
    let bed = Bed::inline();
    let log: Log = Arc::default();
    let task = every_10_ms(&bed).on_repeated_failure(2, notes(&log));
    task.run(fails_in(|run| run != 4)).unwrap();
    bed.clock.run_for(ms(65));
    assert_eq!(
        *log.lock().unwrap(),
        ["x 2: 2 no", "x 3: 3 no", "x 6: 2 no"]
    );
}

#[test]
fn a_run_that_is_tried_again_counts_once_it_is_given_up() {
    let bed = Bed::inline();
    let log: Log = Arc::default();
    let task = every_10_ms(&bed).retry(Retry::fixed(ms(1)).max_attempts(3));
    let task = task.on_repeated_failure(1, notes(&log));
    let has_slept = AtomicBool::new(false);
    let handler = move |run: &Context| match (run.run(), run.attempt()) {
        (1, 1 | 2) => Outcome::Failure("tried again".into()),
        (1, _) => Outcome::Success,
        (2, 1) if !has_slept.swap(true, Ordering::Relaxed) => Outcome::Snooze(ms(1)),
        (_, attempt) => Outcome::Failure(format!("attempt {attempt}")),
    };
    task.run(handler).unwrap();
    bed.clock.run_for(ms(39));
    assert_eq!(
        *log.lock().unwrap(),
        ["x 2: 1 attempt 3", "x 3: 2 attempt 3"]
    );
}

#[test]
fn archive_cancels_the_task_and_keeps_its_dead_letters() {
    let bed = Bed::inline();
    let task = every_10_ms(&bed).retry(Retry::fixed(ms(1)).max_attempts(1));
    let task = task.on_repeated_failure(3, Reaction::archive());
    let task = task.run(fails_in(|_| true)).unwrap();
    bed.clock.run_for(ms(100));
    assert_eq!((task.wait(), task.info().runs), (TaskState::Cancelled, 3));
    assert_eq!(bed.scheduler.dead_letters().list().len(), 3);
    assert!(bed.scheduler.get("x").is_none());
}

#[test]
fn on_workers_nothing_is_idle_before_the_rules_have_been_followed() {
    let bed = Bed::workers(2);
    let task = every_10_ms(&bed).on_repeated_failure(2, Reaction::archive());
    let task = task.run(fails_in(|_| true)).unwrap();
    bed.walk(2, ms(10));
    assert_eq!(task.info().state, TaskState::Cancelled);
}

#[test]
fn a_fallback_stands_in_from_the_nth_failure_on_until_the_handler_succeeds() {
    let bed = Bed::inline();
    let (log, record) = (Log::default(), bed.record());
    let instead = record.clone();
    let fallback = Reaction::fallback(move |run: &Context| {
        instead.add(&format!("{}.{}", run.run(), run.attempt()));
    });
    let task = every_10_ms(&bed).on_repeated_failure(2, fallback);
    let task = task.on_repeated_failure(3, notes(&log));
    let task = task.run(fails_in(|run| run != 4)).unwrap();
    bed.clock.run_for(ms(65));
    assert_eq!(record.names(), ["2.1", "3.1", "6.1"]);
    // Runs 1 and 5 failed; the fallback's success does not end the row.
    assert_eq!((task.info().failed, task.info().succeeded), (2, 4));
    assert_eq!(*log.lock().unwrap(), ["x 3: 3 no"]);
}

#[test]
fn a_fallback_comes_after_the_last_attempt_and_a_run_that_it_saves_is_not_dead() {
    let bed = Bed::inline();
    let record = bed.record();
    let instead = record.clone();
    let retry = Retry::fixed(ms(5)).max_attempts(3);
    let task = bed.scheduler.task("x").after(ms(10)).retry(retry);
    let fallback = Reaction::fallback(move |_: &Context| instead.add("fallback"));
    let task = task.on_repeated_failure(1, fallback);
    let handler = record.note("handler");
    let task = task.run(move |run: &Context| {
        handler(run);
        Err("no")
    });
    bed.clock.run_for(ms(100));
    assert_eq!(record.times("handler"), [10, 15, 20]);
    assert_eq!(record.times("fallback"), [20]);
    assert_eq!(task.unwrap().wait(), TaskState::Succeeded);
    assert!(bed.scheduler.dead_letters().list().is_empty());
}

#[test]
fn a_fallback_that_fails_leaves_the_run_failed_with_both_errors() {
    let bed = Bed::inline();
    for (id, panics) in [("fails", false), ("panics", true)] {
        let fallback = Reaction::fallback(move |_: &Context| match panics {
            true => std::panic::resume_unwind(Box::new("nor this")),
            false => Err("nor this"),
        });
        let retry = Retry::fixed(ms(1)).max_attempts(2);
        let task = bed.scheduler.task(id).after(ms(1)).retry(retry);
        let task = task.on_repeated_failure(1, fallback);
        let task = task.run(|_| Err("not that")).unwrap();
        bed.clock.run_for(ms(50));
        assert_eq!(task.wait(), TaskState::Dead);
        let error = task.info().last_error.unwrap();
        let said = if panics {
            "panicked: nor this"
        } else {
            "nor this"
        };
        assert_eq!(error, format!("not that; the fallback: {said}"));
        assert_eq!(task.info().retried, 1);
    }
}

#[test]
fn a_cancelled_run_has_no_fallback_and_does_not_count() {
    let bed = Bed::workers(1);
    let (gate, keeper) = gate();
    let log: Log = Arc::default();
    let task = every_10_ms(&bed).on_repeated_failure(1, notes(&log));
    let task = task.on_repeated_failure(1, Reaction::fallback(|_: &Context| ()));
    let task = task.run(move |run: &Context| {
        keeper.pass(run);
        Err("was asked to stop")
    });
    bed.clock.advance(ms(10));
    gate.wait_started();
    let task = task.unwrap();
    let _ = task.cancel();
    gate.open();
    bed.settle();
    assert_eq!((task.info().failed, task.info().succeeded), (1, 0));
    assert!(log.lock().unwrap().is_empty());
}

#[test]
fn a_panic_in_an_event_is_counted_and_changes_nothing() {
    let bed = Bed::inline();
    let event = Reaction::event(|_| std::panic::resume_unwind(Box::new("of the test")));
    let task = every_10_ms(&bed).on_repeated_failure(1, event);
    let task = task.on_repeated_failure(2, Reaction::archive());
    let task = task.run(fails_in(|_| true)).unwrap();
    bed.clock.run_for(ms(50));
    assert_eq!((task.wait(), task.info().runs), (TaskState::Cancelled, 2));
    assert_eq!(bed.scheduler.stats().hooks_panicked, 2);
}

#[test]
fn a_rule_about_no_failures_is_refused() {
    let bed = Bed::inline();
    let task = every_10_ms(&bed).on_repeated_failure(0, Reaction::archive());
    let error = task.run(|_| ()).unwrap_err();
    let text = "on_repeated_failure: 0 failures is not possible: at least 1";
    assert_eq!(error.to_string(), text);
}

#[test]
fn what_rules_hold_is_dropped_when_the_task_has_ended() {
    let bed = Bed::inline();
    let held = Arc::new(());
    let (in_event, in_fallback) = (Arc::clone(&held), Arc::clone(&held));
    let event = Reaction::event(move |_| drop(Arc::clone(&in_event)));
    let fallback = Reaction::fallback(move |_: &Context| drop(Arc::clone(&in_fallback)));
    let task = bed
        .scheduler
        .task("x")
        .after(ms(1))
        .on_repeated_failure(1, event);
    let task = task
        .on_repeated_failure(1, fallback)
        .run(|_| Err("no"))
        .unwrap();
    bed.clock.run_for(Duration::from_secs(1));
    assert!(task.wait().has_ended());
    assert_eq!(Arc::strong_count(&held), 1);
}

#[cfg(feature = "serde")]
mod of_a_kind {
    use super::*;
    use wheel_runtime::Kind;

    #[test]
    fn all_tasks_of_a_kind_are_in_one_row() {
        let bed = Bed::inline();
        let log: Log = Arc::default();
        let kind = Kind::new("call", |_: &Context, fails: bool| match fails {
            true => Err("no"),
            false => Ok(()),
        });
        let kind = kind.on_repeated_failure(2, notes(&log));
        bed.scheduler.register_kind(kind).unwrap();
        for (after, fails) in [(1, true), (2, true), (3, false), (4, true), (5, true)] {
            let task = bed.scheduler.task(format!("{after}")).after(ms(after));
            task.kind("call", &fails).submit().unwrap();
        }
        bed.clock.run_for(ms(50));
        assert_eq!(*log.lock().unwrap(), ["2 1: 2 no", "5 1: 2 no"]);
    }

    #[test]
    fn archive_at_a_kind_cancels_the_task_whose_run_it_was() {
        let bed = Bed::inline();
        let kind = Kind::new("call", |_: &Context, (): ()| Err("no"));
        let kind = kind.on_repeated_failure(3, Reaction::archive());
        bed.scheduler.register_kind(kind).unwrap();
        let task = |id, ms_each| {
            let task = bed.scheduler.task(id).every(ms(ms_each)).kind("call", &());
            task.submit().unwrap()
        };
        let (often, seldom) = (task("often", 10), task("seldom", 25));
        bed.clock.run_for(ms(26));
        // At 10 and 20, and the third one at 25.
        assert!(seldom.info().state.has_ended() && !often.info().state.has_ended());
        bed.clock.run_for(ms(5));
        assert!(often.info().state.has_ended());
    }

    #[test]
    fn a_fallback_of_a_kind_gets_the_payload() {
        let bed = Bed::inline();
        let record = bed.record();
        let instead = record.clone();
        let kind = Kind::new("send", |_: &Context, _: String| Err("no server"));
        let kind = kind.fallback_after(2, move |_: &Context, to: String| instead.add(&to));
        bed.scheduler.register_kind(kind).unwrap();
        for (n, to) in ["a", "b", "c"].into_iter().enumerate() {
            let task = bed
                .scheduler
                .task(to)
                .after(ms(n as u64 + 1))
                .kind("send", to);
            task.submit().unwrap();
        }
        bed.clock.run_for(ms(50));
        assert_eq!(record.names(), ["b", "c"]);
        assert_eq!(
            (
                bed.scheduler.stats().failed,
                bed.scheduler.stats().succeeded
            ),
            (1, 2)
        );
    }
}

#[test]
fn a_policy_is_asked_once_for_each_attempt_with_a_fallback_too() {
    let bed = Bed::inline();
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let retry = Retry::custom(move |_| {
        count.fetch_add(1, Ordering::Relaxed);
        ms(5)
    });
    let task = bed.scheduler.task("x").after(ms(10));
    let task = task.retry(retry.max_attempts(4));
    let task = task.on_repeated_failure(1, Reaction::fallback(|_: &Context| ()));
    let task = task.run(|_| Err("no")).unwrap();
    bed.clock.run_for(ms(100));
    assert_eq!(task.wait(), TaskState::Succeeded);
    assert_eq!((task.info().retried, asked.load(Ordering::Relaxed)), (3, 3));
}
