//! What is told about failures, and what goes on around every attempt.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use wheel_runtime::{
    CancelOutcome, Context, Failure, InlineExecutor, Outcome, Retry, Scheduler, TaskState,
};

use crate::bed::{Bed, ms};

type Log = Arc<Mutex<Vec<String>>>;

fn log(log: &Log, line: impl Into<String>) {
    log.lock().unwrap().push(line.into());
}

#[test]
fn on_failure_tells_of_each_attempt_and_on_dead_of_the_last_one() {
    let bed = Bed::inline();
    let told: Log = Arc::default();
    let (failures, deaths) = (Arc::clone(&told), Arc::clone(&told));
    let builder = bed
        .scheduler
        .task("print")
        .after(ms(1))
        .retry(Retry::linear(ms(5)).max_attempts(3));
    let builder = builder.on_failure(move |failure: &Failure| {
        let Failure {
            task,
            run,
            attempt,
            error,
            next_in,
            ..
        } = failure;
        log(
            &failures,
            format!("{task} {run}.{attempt} {error} {next_in:?}"),
        );
    });
    let builder = builder.on_dead(move |letter| {
        log(
            &deaths,
            format!(
                "{} {} {}",
                letter.task, letter.last.gave_up, letter.last.error
            ),
        );
    });
    builder
        .run(|run| Err(format!("e{}", run.attempt())))
        .unwrap();
    bed.clock.run_for(ms(100));
    let told = told.lock().unwrap();
    assert_eq!(
        *told,
        [
            "print 1.1 e1 Some(5ms)",
            "print 1.2 e2 Some(10ms)",
            "print 1.3 e3 None",
            "print out of attempts e3",
        ]
    );
}

#[test]
fn on_failure_needs_no_policy_and_success_tells_nobody() {
    let bed = Bed::inline();
    let told: Log = Arc::default();
    for id in ["fails", "succeeds", "snoozes"] {
        let tells = Arc::clone(&told);
        let builder = bed.scheduler.task(id).after(ms(1));
        let builder = builder.on_failure(move |failure| log(&tells, failure.error.clone()));
        let handler = |run: &Context| match run.id() {
            "fails" => Outcome::Failure("no".into()),
            "succeeds" => Outcome::Success,
            _ => Outcome::Snooze(ms(10)),
        };
        builder
            .on_dead(|_| panic!("nobody is dead"))
            .run(handler)
            .unwrap();
    }
    bed.clock.run_for(ms(100));
    assert_eq!(*told.lock().unwrap(), ["no"]);
    assert_eq!(bed.scheduler.stats().hooks_panicked, 0);
}

#[test]
fn a_panic_in_a_hook_is_counted_and_changes_nothing() {
    let bed = Bed::inline();
    let builder = bed
        .scheduler
        .task("x")
        .after(ms(1))
        .retry(Retry::fixed(ms(5)).max_attempts(2));
    let builder = builder
        .on_failure(|_| panic!("of the test"))
        .on_dead(|_| panic!("of the test"));
    let task = builder.run(|_| Err("no")).unwrap();
    bed.clock.run_for(ms(100));
    assert_eq!(task.wait(), TaskState::Dead);
    let stats = bed.scheduler.stats();
    assert_eq!(
        (stats.hooks_panicked, stats.panicked, stats.dead_letters),
        (3, 0, 1)
    );
    assert_eq!((stats.running, stats.retrying), (0, 0));
}

#[test]
fn hooks_may_do_what_handlers_may() {
    let bed = Bed::workers(2);
    let told: Log = Arc::default();
    let (other, tells) = (bed.scheduler.clone(), Arc::clone(&told));
    let on_dead = move |letter: &wheel_runtime::DeadLetter| {
        log(&tells, format!("{:?}", other.get("x").is_some()));
        if letter.replays < 2 {
            other.dead_letters().replay(letter.id).unwrap();
        } else {
            let fallback = Arc::clone(&tells);
            other
                .task("x")
                .after(ms(0))
                .run(move |_| log(&fallback, "fallback"))
                .unwrap();
        }
    };
    let builder = bed
        .scheduler
        .task("x")
        .after(ms(1))
        .retry(Retry::fixed(ms(5)).max_attempts(1));
    builder.on_dead(on_dead).run(|_| Err("no")).unwrap();
    bed.clock.advance(ms(1));
    bed.settle();
    bed.settle();
    assert_eq!(
        *told.lock().unwrap(),
        ["false", "false", "false", "fallback"]
    );
    bed.scheduler.shutdown(Duration::ZERO).unwrap();
}

#[test]
fn what_hooks_capture_is_dropped_when_the_task_has_ended() {
    let bed = Bed::inline();
    let held = Arc::new(());
    let (one, two, three) = (Arc::clone(&held), Arc::clone(&held), Arc::clone(&held));
    let retry = Retry::fixed(ms(5)).retry_if(move |_| Arc::strong_count(&one) > 0);
    let builder = bed.scheduler.task("x").after(ms(1)).retry(retry);
    let builder = builder.on_failure(move |_| drop(Arc::clone(&two)));
    let task = builder
        .on_dead(move |_| drop(Arc::clone(&three)))
        .run(|run| match run.attempt() {
            1 => Err("no"),
            _ => Ok(()),
        });
    let task = task.unwrap();
    bed.clock.run_for(ms(100));
    assert_eq!(task.wait(), TaskState::Succeeded);
    // The handle keeps nothing of the user's.
    assert_eq!(Arc::strong_count(&held), 1);
}

#[test]
fn a_task_may_hold_any_number_of_values_whose_drop_panics() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("of the test");
        }
    }
    let bed = Bed::inline();
    let [a, b, c, d, e] = [Bomb, Bomb, Bomb, Bomb, Bomb];
    let retry = Retry::custom(move |_| {
        let _held = &a;
        ms(5)
    });
    let retry = retry.retry_if(move |_| {
        let _held = &b;
        true
    });
    let builder = bed.scheduler.task("x").after(ms(100)).retry(retry);
    let builder = builder.on_failure(move |_| {
        let _held = &c;
    });
    let builder = builder.on_dead(move |_| {
        let _held = &d;
    });
    let task = builder.run(move |_| {
        let _held = &e;
    });
    let task = task.unwrap();
    assert_eq!(task.cancel(), CancelOutcome::Cancelled);
    assert_eq!(task.wait(), TaskState::Cancelled);
}

#[test]
fn interceptors_go_around_every_attempt_the_first_one_outermost() {
    let calls: Log = Arc::default();
    let (outer, inner) = (Arc::clone(&calls), Arc::clone(&calls));
    let bed = Bed::with(|builder| {
        let builder = builder.executor(InlineExecutor).around(move |run, go_on| {
            log(&outer, format!("outer {}.{}", run.id(), run.attempt()));
            let outcome = go_on();
            log(&outer, format!("outer {outcome:?}"));
            outcome
        });
        builder.around(move |_, go_on| {
            log(&inner, "inner");
            go_on()
        })
    });
    let handler = |run: &Context| match run.attempt() {
        1 => Err("no"),
        2 => panic!("of the test"),
        _ => Ok(()),
    };
    let task = bed
        .scheduler
        .task("x")
        .after(ms(1))
        .retry(Retry::fixed(ms(5)));
    let task = task.run(handler).unwrap();
    bed.clock.run_for(ms(100));
    assert_eq!(task.wait(), TaskState::Succeeded);
    let calls = calls.lock().unwrap();
    assert_eq!(
        *calls,
        [
            "outer x.1",
            "inner",
            "outer Failure(\"no\")",
            "outer x.2",
            "inner",
            "outer Failure(\"panicked: of the test\")",
            "outer x.3",
            "inner",
            "outer Success",
        ]
    );
    assert_eq!(bed.scheduler.stats().panicked, 1);
}

#[test]
fn an_interceptor_may_judge_a_run_itself_and_its_panic_is_one_of_the_run() {
    let bed = Bed::with(|builder| {
        builder
            .executor(InlineExecutor)
            .around(|run, go_on| match run.id() {
                "stopped" => Outcome::Permanent("not today".into()),
                "panics" => panic!("of the test"),
                _ => go_on(),
            })
    });
    let add = |id: &str| {
        let never = |run: &Context| assert_eq!(run.id(), "goes on");
        bed.scheduler.task(id).after(ms(1)).run(never).unwrap()
    };
    let tasks = ["stopped", "panics", "goes on"].map(add);
    bed.clock.run_for(ms(10));
    let errors = tasks.map(|task| task.info().last_error);
    let wanted = [Some("not today"), Some("panicked: of the test"), None];
    assert_eq!(errors, wanted.map(|error| error.map(str::to_owned)));
    assert_eq!(bed.scheduler.stats().panicked, 1);
    let debug = format!("{:?}", Scheduler::builder().around(|_, go_on| go_on()));
    assert!(debug.contains("around: 1"), "{debug}");
}
