//! A breaker at work: attempts of a kind are put off while it is open.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use wheel_runtime::{
    Breaker, BreakerState, Context, Kind, KindInfo, Outcome, RegisterError, Retry, TaskState,
};

use crate::bed::{Bed, Record, gate, ms};

const SECOND: Duration = Duration::from_secs(1);

/// Registers "call", which fails until it is told to succeed. Opens after `failures`, half-open
/// after 30 s.
fn failing(bed: &Bed, failures: u32) -> (Arc<AtomicBool>, Record) {
    let (is_well, record) = (Arc::new(AtomicBool::new(false)), bed.record());
    let (well, notes) = (Arc::clone(&is_well), record.clone());
    let call = move |run: &Context, (): ()| {
        notes.add(run.id());
        match well.load(Ordering::Relaxed) {
            true => Ok(()),
            false => Err("not reachable"),
        }
    };
    let breaker = Breaker::after(failures).half_open_after(SECOND * 30);
    let kind = Kind::new("call", call).breaker(breaker);
    bed.scheduler.register_kind(kind).unwrap();
    (is_well, record)
}

fn info(bed: &Bed) -> KindInfo {
    bed.scheduler.kinds().remove(0)
}

#[test]
fn an_open_breaker_puts_attempts_off_until_it_is_half_open_and_uses_none_up() {
    let bed = Bed::inline();
    let (is_well, record) = failing(&bed, 3);
    let retry = Retry::fixed(SECOND).max_attempts(4);
    let task = bed
        .scheduler
        .task("x")
        .after(SECOND)
        .retry(retry)
        .kind("call", &());
    let task = task.submit().unwrap();
    bed.clock.run_for(SECOND * 3);
    assert_eq!(info(&bed).state, BreakerState::Open);
    assert_eq!(info(&bed).half_open_in, Some(SECOND * 30));
    bed.clock.run_for(SECOND * 20);
    assert_eq!(
        (task.info().state, task.info().attempt),
        (TaskState::Retrying, 4)
    );
    assert_eq!(info(&bed).half_open_in, Some(SECOND * 10));
    is_well.store(true, Ordering::Relaxed);
    bed.clock.run_for(SECOND * 20);
    // The fourth attempt is the probe.
    assert_eq!(record.times("x"), [1_000, 2_000, 3_000, 33_000]);
    assert_eq!(task.wait(), TaskState::Succeeded);
    let info = info(&bed);
    assert_eq!(
        (info.state, info.half_open_in),
        (BreakerState::Closed, None)
    );
    assert_eq!(
        (info.attempts, info.put_off, info.failures_in_a_row),
        (4, 1, 0)
    );
}

#[test]
fn a_probe_that_fails_opens_it_again_and_all_tasks_of_the_kind_wait() {
    let bed = Bed::inline();
    let (is_well, record) = failing(&bed, 2);
    for (id, after) in [("a", 1), ("b", 2), ("c", 3), ("d", 4)] {
        let task = bed
            .scheduler
            .task(id)
            .after(SECOND * after)
            .kind("call", &());
        task.submit().unwrap();
    }
    bed.clock.run_for(SECOND * 40);
    // "c" is the probe at 32 s; "d" waits on.
    assert_eq!(record.times("c"), [32_000]);
    assert!(record.times("d").is_empty());
    is_well.store(true, Ordering::Relaxed);
    bed.clock.run_for(SECOND * 30);
    assert_eq!(record.times("d"), [62_000]);
    let states = bed.scheduler.stats();
    assert_eq!(
        (states.failed, states.succeeded, states.retrying),
        (3, 1, 0)
    );
}

#[test]
fn panics_count_and_other_kinds_do_not() {
    let bed = Bed::inline();
    let panics = |_: &Context, (): ()| -> Outcome { std::panic::resume_unwind(Box::new("no")) };
    let breaker = Breaker::after(2);
    bed.scheduler
        .register_kind(Kind::new("a", panics).breaker(breaker))
        .unwrap();
    bed.scheduler
        .register_kind(Kind::new("b", panics).breaker(breaker))
        .unwrap();
    bed.scheduler
        .task("x")
        .every(ms(10))
        .kind("a", &())
        .submit()
        .unwrap();
    bed.scheduler
        .task("y")
        .after(ms(10))
        .kind("b", &())
        .submit()
        .unwrap();
    bed.clock.run_for(ms(100));
    let states: Vec<_> = bed
        .scheduler
        .kinds()
        .iter()
        .map(|kind| kind.state)
        .collect();
    assert_eq!(states, [BreakerState::Open, BreakerState::Closed]);
    assert_eq!(bed.scheduler.kinds()[0].attempts, 2);
}

#[test]
fn while_a_probe_is_going_no_other_attempt_is_made() {
    let bed = Bed::workers(4);
    let (gate, keeper) = gate();
    let is_well = Arc::new(AtomicBool::new(false));
    let well = Arc::clone(&is_well);
    let call = move |run: &Context, (): ()| {
        if !well.load(Ordering::Relaxed) {
            return Err("no");
        }
        keeper.pass(run);
        Ok(())
    };
    let breaker = Breaker::after(1).half_open_after(SECOND * 30);
    bed.scheduler
        .register_kind(Kind::new("call", call).breaker(breaker))
        .unwrap();
    let task = |id: &str, after| {
        let task = bed
            .scheduler
            .task(id)
            .after(SECOND * after)
            .kind("call", &());
        task.submit().unwrap()
    };
    task("opens", 1);
    bed.jump(SECOND);
    is_well.store(true, Ordering::Relaxed);
    let waits: Vec<_> = (0..3).map(|n| task(&format!("{n}"), 1)).collect();
    bed.jump(SECOND);
    assert_eq!(info(&bed).put_off, 3);
    // Half-open: one of the three is made, the others are put off for a second.
    bed.clock.advance(SECOND * 29);
    gate.wait_started();
    while info(&bed).put_off < 5 {
        std::thread::yield_now();
    }
    assert_eq!(
        (info(&bed).state, info(&bed).attempts),
        (BreakerState::HalfOpen, 2)
    );
    gate.open();
    bed.settle();
    assert_eq!(info(&bed).state, BreakerState::Closed);
    (0..2).for_each(|_| gate.open());
    bed.jump(SECOND);
    assert!(
        waits
            .iter()
            .all(|task| task.info().state == TaskState::Succeeded)
    );
}

#[test]
fn an_attempt_that_began_before_it_opened_decides_nothing_when_it_ends() {
    let bed = Bed::workers(2);
    let (gate, keeper) = gate();
    let call = move |run: &Context, fails: bool| {
        if fails {
            return Err("no");
        }
        keeper.pass(run);
        Ok(())
    };
    let breaker = Breaker::after(1).half_open_after(SECOND * 30);
    bed.scheduler
        .register_kind(Kind::new("call", call).breaker(breaker))
        .unwrap();
    let slow = bed
        .scheduler
        .task("slow")
        .after(SECOND)
        .kind("call", &false)
        .submit()
        .unwrap();
    bed.scheduler
        .task("fails")
        .after(SECOND * 2)
        .kind("call", &true)
        .submit()
        .unwrap();
    bed.clock.advance(SECOND);
    gate.wait_started();
    bed.clock.advance(SECOND);
    while info(&bed).state != BreakerState::Open {
        std::thread::yield_now();
    }
    gate.open();
    bed.settle();
    assert_eq!(slow.wait(), TaskState::Succeeded);
    assert_eq!(info(&bed).state, BreakerState::Open);
}

#[test]
fn a_cancelled_run_that_says_that_it_failed_does_not_count() {
    let bed = Bed::workers(1);
    let (gate, keeper) = gate();
    let call = move |run: &Context, (): ()| {
        keeper.pass(run);
        Err("was asked to stop")
    };
    let kind = Kind::new("call", call).breaker(Breaker::after(1));
    bed.scheduler.register_kind(kind).unwrap();
    let task = bed
        .scheduler
        .task("x")
        .after(ms(1))
        .kind("call", &())
        .submit()
        .unwrap();
    bed.clock.advance(ms(1));
    gate.wait_started();
    let _ = task.cancel();
    gate.open();
    bed.settle();
    assert_eq!(
        (info(&bed).state, info(&bed).failures_in_a_row),
        (BreakerState::Closed, 0)
    );
}

#[test]
fn a_task_that_is_put_off_can_be_cancelled_and_is_named_by_a_shutdown() {
    let bed = Bed::inline();
    failing(&bed, 1);
    for (id, after) in [("opens", 1), ("cancelled", 2), ("named", 2)] {
        let task = bed.scheduler.task(id).after(SECOND * after);
        task.kind("call", &()).submit().unwrap();
    }
    bed.clock.run_for(SECOND * 2);
    assert_eq!(bed.scheduler.stats().retrying, 2);
    let _ = bed.scheduler.cancel("cancelled");
    let report = bed.scheduler.shutdown(Duration::ZERO).unwrap();
    assert_eq!(report.pending.len(), 1);
    assert_eq!(report.pending[0].id, "named");
}

#[test]
fn a_breaker_that_is_not_possible_is_refused_at_registration() {
    let bed = Bed::inline();
    let kind = Kind::new("x", |_: &Context, (): ()| ()).breaker(Breaker::after(0));
    let refused = bed.scheduler.register_kind(kind);
    assert!(
        matches!(refused, Err(RegisterError::Policy(error)) if error.field() == "breaker.after")
    );
}
