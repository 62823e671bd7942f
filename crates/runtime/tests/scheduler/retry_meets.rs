//! A cancel, a new schedule, a trigger, a shutdown and a refusal meet a run that is tried again.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use wheel_runtime::{
    CancelOutcome, Context, Executor, Job, Outcome, Retry, Schedule, TaskState, TriggerOutcome,
};

use crate::bed::{Bed, HANG, gate, ms};
use crate::retry::fails;

#[test]
fn a_cancel_while_a_run_waits_for_another_attempt_ends_it() {
    let bed = Bed::inline();
    let held = Arc::new(());
    let holds = Arc::clone(&held);
    let handler = move |run: &Context| {
        let _ = &holds;
        fails(9)(run)
    };
    let task = bed.tried(Retry::fixed(ms(10)), handler);
    bed.clock.run_for(ms(25));
    assert_eq!(
        (task.info().state, task.info().attempt),
        (TaskState::Retrying, 3)
    );
    assert_eq!(task.cancel(), CancelOutcome::Cancelled);
    assert_eq!(task.cancel(), CancelOutcome::NotFound);
    assert_eq!(Arc::strong_count(&held), 1);
    bed.clock.run_for(ms(100));
    let (info, stats) = (task.info(), bed.scheduler.stats());
    assert_eq!((info.state, info.next_in), (TaskState::Cancelled, None));
    assert_eq!((info.runs, info.retried, info.failed), (1, 2, 0));
    assert_eq!(
        (stats.abandoned, stats.retrying, stats.cancelled),
        (1, 0, 1)
    );
    // Nobody has given it up but the user.
    assert_eq!(stats.dead_letters, 0);
    // The id is free.
    bed.scheduler.task("x").after(ms(1)).run(|_| ()).unwrap();
}

#[test]
fn an_attempt_that_fails_after_a_cancel_is_the_last_and_no_dead_letter() {
    // It would be tried again, or given up; but it is the user who has given it up.
    for attempts in [5, 1] {
        let bed = Bed::workers(1);
        let (gate, keeper) = gate();
        let handler = move |run: &Context| {
            keeper.pass(run);
            Err("stopped")
        };
        let retry = Retry::fixed(ms(1)).max_attempts(attempts);
        let builder = bed.scheduler.task("x").after(ms(1)).retry(retry);
        let task = builder.run(handler).unwrap();
        bed.clock.advance(ms(1));
        gate.wait_started();
        assert_eq!(task.cancel(), CancelOutcome::Running);
        gate.open();
        assert_eq!(task.wait(), TaskState::Cancelled);
        bed.jump(ms(10));
        let stats = bed.scheduler.stats();
        assert_eq!((stats.runs, stats.failed, stats.retried), (1, 1, 0));
        assert_eq!((stats.dead, stats.dead_letters), (0, 0));
    }
}

#[test]
fn a_new_schedule_does_not_touch_a_run_that_has_begun_and_a_trigger_finds_it_busy() {
    let bed = Bed::inline();
    let record = bed.record();
    let note = record.note("try");
    let handler = move |run: &Context| {
        note(run);
        fails(1)(run)
    };
    let task = bed.tried(Retry::fixed(ms(10)), handler);
    bed.clock.run_for(ms(15));
    assert_eq!(bed.scheduler.trigger("x"), TriggerOutcome::Busy);
    bed.scheduler
        .reschedule("x", Schedule::after(ms(85)))
        .unwrap();
    bed.clock.run_for(ms(185));
    // The second run fails at first as well.
    assert_eq!(record.times("try"), [10, 20, 100, 110]);
    assert_eq!(
        (task.info().state, task.info().runs),
        (TaskState::Succeeded, 2)
    );
}

#[test]
fn a_new_schedule_leaves_an_attempt_that_waits_for_a_worker() {
    for (schedule, other) in [
        (Schedule::every(ms(1000)), Schedule::every(ms(500))),
        // A run of such a task is taken back, unless it has begun.
        (Schedule::after(ms(1000)), Schedule::after(ms(500))),
    ] {
        let bed = Bed::workers(1);
        let builder = bed.scheduler.task("x").schedule(schedule);
        let builder = builder.retry(Retry::fixed(ms(10)));
        let task = builder.run(fails(1)).unwrap();
        bed.jump(ms(1000));
        let gate = bed.occupy_worker();
        bed.clock.advance(ms(10));
        assert_eq!(
            (task.info().state, task.info().attempt),
            (TaskState::Queued, 2)
        );
        bed.scheduler.reschedule("x", other).unwrap();
        assert_eq!(task.info().state, TaskState::Queued);
        gate.open();
        bed.settle();
        assert_eq!((task.info().succeeded, task.info().retried), (1, 1));
        assert_eq!(task.info().next_in, Some(ms(500)));
    }
}

#[test]
fn a_shutdown_names_what_waited_for_another_attempt() {
    let bed = Bed::inline();
    let task = bed.tried(Retry::fixed(ms(10)), fails(9));
    bed.clock.run_for(ms(25));
    let report = bed.scheduler.shutdown(Duration::ZERO).unwrap();
    assert_eq!(report.pending.len(), 1);
    let pending = &report.pending[0];
    assert_eq!(
        (pending.id.as_str(), pending.state),
        ("x", TaskState::Retrying)
    );
    assert_eq!((pending.attempt, pending.next_in), (3, Some(ms(5))));
    assert_eq!(pending.last_error.as_deref(), Some("attempt 2"));
    assert!(report.interrupted.is_empty());
    assert_eq!(task.wait(), TaskState::Cancelled);
    assert_eq!(bed.scheduler.stats().abandoned, 1);
}

#[test]
fn a_shutdown_names_what_failed_within_the_grace_and_would_have_been_tried_again() {
    let bed = Bed::workers(2);
    let (gate, keeper) = gate();
    for id in ["fails", "snoozes"] {
        let keeper = keeper.clone();
        let handler = move |run: &Context| {
            keeper.pass(run);
            match run.id() {
                "fails" => Outcome::Failure("no paper".into()),
                _ => Outcome::Snooze(ms(1)),
            }
        };
        let builder = bed
            .scheduler
            .task(id)
            .every(ms(10))
            .retry(Retry::fixed(ms(10)));
        builder.run(handler).unwrap();
    }
    bed.clock.advance(ms(10));
    gate.wait_started();
    gate.wait_started();
    let report = std::thread::scope(|scope| {
        let shutdown = scope.spawn(|| bed.scheduler.shutdown(HANG));
        while bed.scheduler.get("fails").is_some() || bed.scheduler.get("snoozes").is_some() {
            std::thread::yield_now();
        }
        gate.open();
        gate.open();
        shutdown.join().unwrap().unwrap()
    });
    let mut named: Vec<&str> = report.interrupted.iter().map(|task| &*task.id).collect();
    named.sort_unstable();
    assert_eq!(named, ["fails", "snoozes"]);
    // The one that was snoozed would have gone on with its first attempt.
    for task in &report.interrupted {
        let next = if task.id == "fails" { 2 } else { 1 };
        assert_eq!(task.attempt, next, "{}", task.id);
    }
    let states = report.interrupted.iter().map(|task| task.state);
    assert!(states.eq([TaskState::Retrying; 2]));
    assert!(report.pending.is_empty() && report.cut.is_empty());
    assert_eq!(bed.scheduler.stats().abandoned, 2);
    assert_eq!(bed.scheduler.stats().failed, 0);
}

#[test]
fn an_attempt_that_the_executor_refuses_is_a_failed_one() {
    /// Takes the first job, and drops the others.
    struct TakesOne(AtomicU32);
    impl Executor for TakesOne {
        fn execute(&self, jobs: &mut Vec<Job>) {
            for job in jobs.drain(..) {
                if self.0.fetch_add(1, Ordering::Relaxed) == 0 {
                    job.run();
                }
            }
        }
    }
    let bed = Bed::with(|builder| builder.executor(TakesOne(AtomicU32::new(0))));
    let retry = Retry::fixed(ms(10)).max_attempts(3);
    let task = bed.scheduler.task("x").after(ms(10)).retry(retry);
    let task = task.run(|_| Err("no paper")).unwrap();
    bed.clock.run_for(ms(100));
    assert_eq!(task.wait(), TaskState::Dead);
    let letters = bed.scheduler.dead_letters().list();
    assert_eq!(letters[0].last.attempts, 3);
    assert_eq!(letters[0].last.error, "the executor refused the attempt");
    let stats = bed.scheduler.stats();
    assert_eq!(
        (stats.runs, stats.failed, stats.retried, stats.skipped),
        (1, 1, 2, 0)
    );
    assert_eq!((stats.queued, stats.running, stats.retrying), (0, 0, 0));
    bed.settle();
}

#[test]
fn a_replay_that_the_executor_refuses_comes_back_with_its_history() {
    /// Takes so many jobs, and drops the others.
    struct Takes(AtomicU32);
    impl Executor for Takes {
        fn execute(&self, jobs: &mut Vec<Job>) {
            for job in jobs.drain(..) {
                let left = self.0.load(Ordering::Relaxed);
                if left > 0 {
                    self.0.store(left - 1, Ordering::Relaxed);
                    job.run();
                }
            }
        }
    }
    let bed = Bed::with(|builder| builder.executor(Takes(AtomicU32::new(2))));
    let retry = Retry::fixed(ms(10)).max_attempts(2);
    let task = bed.scheduler.task("x").after(ms(10)).retry(retry);
    task.run(|_| Err("no paper")).unwrap();
    bed.clock.run_for(ms(100));
    let letter = bed.scheduler.dead_letters().list().remove(0);
    assert_eq!(letter.last.error, "no paper");
    let again = bed.scheduler.dead_letters().replay(letter.id).unwrap();
    bed.clock.run_for(ms(100));
    assert_eq!(again.wait(), TaskState::Dead);
    assert_eq!((again.info().runs, again.info().failed), (1, 1));
    let letters = bed.scheduler.dead_letters().list();
    assert_eq!((letters.len(), letters[0].id), (1, letter.id));
    assert_eq!(letters[0].last.error, "the executor refused the attempt");
    assert_eq!((letters[0].last.attempts, letters[0].earlier.len()), (2, 1));
    let stats = bed.scheduler.stats();
    assert_eq!(
        (stats.runs, stats.failed, stats.dead, stats.skipped),
        (2, 2, 2, 0)
    );
}
