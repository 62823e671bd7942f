//! Limits together with what else happens to a task: triggers, schedules, dead letters, shutdowns.

use std::time::Duration;

use wheel_runtime::{Retry, Schedule, Scheduler, TriggerOutcome};

use crate::bed::{Bed, Gate, gate, ms};

/// A run has the key `k` until the gate is opened.
fn hold_key(bed: &Bed) -> Gate {
    let (held, keeper) = gate();
    let task = bed.scheduler.task("a").after(Duration::ZERO);
    let task = task.concurrency_key("k");
    task.run(move |run| keeper.pass(run)).unwrap();
    held.wait_started();
    held
}

#[test]
fn a_trigger_waits_for_the_key_like_any_other_run() {
    let bed = Bed::workers(2);
    let record = bed.record();
    let held = hold_key(&bed);
    let task = bed.scheduler.task("b").after(Duration::from_secs(3600));
    task.concurrency_key("k").run(record.note("b")).unwrap();
    assert_eq!(bed.scheduler.trigger("b"), TriggerOutcome::Triggered);
    bed.clock.advance(ms(1));
    assert_eq!(record.len(), 0);
    held.open();
    bed.settle();
    assert_eq!(record.names(), ["b"]);
}

#[test]
fn a_new_schedule_takes_back_a_run_that_waits_for_its_key() {
    let bed = Bed::workers(2);
    let record = bed.record();
    let held = hold_key(&bed);
    let task = bed.scheduler.task("b").after(ms(1)).concurrency_key("k");
    task.run(record.note("b")).unwrap();
    bed.clock.advance(ms(2));
    bed.scheduler
        .reschedule("b", Schedule::after(ms(10)))
        .unwrap();
    held.open();
    bed.settle();
    assert_eq!(record.len(), 0);
    bed.jump(ms(10));
    assert_eq!(record.times("b"), [12]);
}

#[test]
fn a_dead_run_is_replayed_under_the_limits_of_its_task() {
    let bed = Bed::workers(2);
    let task = bed.scheduler.task("x").after(ms(1)).concurrency_key("k");
    let retry = Retry::fixed(ms(1)).max_attempts(1);
    let task = task.retry(retry).run(|run| {
        if run.last_error().is_some() {
            Ok(())
        } else {
            Err("no paper")
        }
    });
    task.unwrap();
    bed.jump(ms(1));
    let held = hold_key(&bed);
    let letter = bed.scheduler.dead_letters().list()[0].id;
    let replayed = bed.scheduler.dead_letters().replay(letter).unwrap();
    bed.clock.advance(ms(1));
    assert_eq!(bed.scheduler.stats().running, 1);
    held.open();
    bed.settle();
    assert_eq!(replayed.info().succeeded, 1);
}

#[test]
fn a_shutdown_names_what_waits_at_the_gate_and_waits_for_nobody_there() {
    let bed = Bed::workers(2);
    let (held, keeper) = gate();
    for n in 0..3 {
        let keeper = keeper.clone();
        let task = bed.scheduler.task(format!("{n}")).after(Duration::ZERO);
        let task = task.concurrency_key("k");
        task.run(move |run| keeper.pass(run)).unwrap();
    }
    held.wait_started();
    bed.clock.advance(ms(1));
    held.open();
    held.wait_started();
    held.open();
    held.wait_started();
    let task = bed.scheduler.task("waits").after(Duration::ZERO);
    task.concurrency_key("k").run(|_| ()).unwrap();
    bed.clock.advance(ms(1));
    held.open();
    // Whether the last one has gone by then or not, the shutdown ends.
    let report = bed.scheduler.shutdown(crate::bed::HANG).unwrap();
    assert!(report.queued.len() <= 1, "{report:?}");
}

#[test]
fn keys_are_forgotten() {
    // By its effect: a key of which nothing is left has no memory of its number, nor of its tokens.
    let bed = Bed::inline();
    let record = bed.record();
    let limit = wheel_runtime::RateLimit::new(1, ms(100)).key("api");
    for at in [1, 500] {
        let task = bed.scheduler.unnamed().after(ms(at));
        task.rate_limit(limit.clone())
            .run(record.note("x"))
            .unwrap();
    }
    bed.clock.run_for(ms(600));
    assert_eq!(record.times("x"), [1, 500]);
}

#[test]
fn dropping_the_scheduler_with_runs_at_the_gate_ends() {
    let (held, keeper) = gate();
    let scheduler = Scheduler::builder().workers(1).build().unwrap();
    for n in 0..3 {
        let keeper = keeper.clone();
        let task = scheduler.task(format!("{n}")).after(Duration::ZERO);
        let task = task.concurrency_key("k");
        task.run(move |run| keeper.pass(run)).unwrap();
    }
    held.wait_started();
    drop(scheduler);
    held.open();
}
