//! The overlap policies besides the default one.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use wheel_runtime::{
    CancelOutcome, Context, InlineExecutor, ManualClock, Misfire, Outcome, Overlap, Retry,
    Scheduler, SkipReason, TaskHandle, TaskState,
};

use crate::bed::{Bed, Gate, HANG, gate, ms};

/// A task of every 100 ms whose runs stand at the gate.
fn gated(bed: &Bed, overlap: Overlap) -> (TaskHandle, Gate) {
    let (gate, keeper) = gate();
    let task = bed.scheduler.task("x").every(ms(100)).overlap(overlap);
    let task = task.run(move |run: &Context| keeper.pass(run)).unwrap();
    (task, gate)
}

fn counts(task: &TaskHandle) -> (u64, u64, u64, usize) {
    let info = task.info();
    (info.runs, info.missed, info.skipped, info.backlog)
}

#[test]
fn one_run_follows_and_stands_for_all_that_were_due_meanwhile() {
    let bed = Bed::workers(2);
    let start = bed.clock.wall();
    let (task, gate) = gated(&bed, Overlap::QueueOne);
    for _ in 0..5 {
        bed.clock.advance(ms(100));
    }
    assert_eq!(gate.wait_started(), 1);
    assert_eq!(counts(&task), (1, 0, 0, 1));
    gate.open();
    assert_eq!(gate.wait_started(), 2);
    let run = task.info().last_run.unwrap();
    assert_eq!((run.nominal, run.due), (start + ms(500), start + ms(200)));
    assert_eq!(run.missed, 3);
    gate.open();
    bed.settle();
    assert_eq!(counts(&task), (2, 3, 0, 0));
}

#[test]
fn each_one_follows_up_to_the_limit() {
    let bed = Bed::workers(2);
    let (task, gate) = gated(&bed, Overlap::QueueAll { max: 3 });
    for _ in 0..6 {
        bed.clock.advance(ms(100));
    }
    assert_eq!(gate.wait_started(), 1);
    assert_eq!(counts(&task), (1, 0, 2, 3));
    for run in 2..=4 {
        gate.open();
        assert_eq!(gate.wait_started(), run);
        assert_eq!(bed.scheduler.stats().running, 1);
    }
    gate.open();
    bed.settle();
    assert_eq!(counts(&task), (4, 0, 2, 0));
    assert_eq!(task.info().last_skip, Some(SkipReason::Overlap));
}

#[test]
fn runs_go_beside_each_other_up_to_the_limit() {
    let bed = Bed::workers(4);
    let (task, gate) = gated(&bed, Overlap::Allow { max: 2 });
    bed.clock.advance(ms(100));
    assert_eq!(gate.wait_started(), 1);
    bed.clock.advance(ms(100));
    assert_eq!(gate.wait_started(), 2);
    bed.clock.advance(ms(100));
    assert_eq!(counts(&task), (2, 0, 1, 0));
    gate.open();
    while bed.scheduler.stats().succeeded == 0 {
        std::thread::yield_now();
    }
    assert_eq!(task.info().state, TaskState::Running);
    bed.clock.advance(ms(100));
    assert_eq!(gate.wait_started(), 3);
    assert_eq!(task.cancel(), CancelOutcome::Running);
    gate.open();
    gate.open();
    assert_eq!(task.wait_timeout(HANG), Some(TaskState::Cancelled));
    assert_eq!(task.info().succeeded, 3);
    bed.settle();
    assert_eq!(bed.scheduler.stats().running, 0);
}

#[test]
fn runs_beside_each_other_are_tried_again_each_by_itself() {
    let clock = ManualClock::new();
    let scheduler = Scheduler::builder()
        .clock(clock.clone())
        .executor(InlineExecutor);
    let scheduler = scheduler.build().unwrap();
    let task = scheduler.task("x").every(ms(100)).count(3);
    let task = task.overlap(Overlap::Allow { max: 3 });
    let task = task.retry(Retry::fixed(ms(250)).max_attempts(2));
    let handler = |run: &Context| match (run.run(), run.attempt()) {
        (_, 1) | (2, _) => Outcome::Failure(format!("run {}", run.run())),
        _ => Outcome::Success,
    };
    let task = task.run(handler).unwrap();
    clock.run_for(ms(320));
    assert_eq!(
        (task.info().state, task.info().runs),
        (TaskState::Retrying, 3)
    );
    clock.run_for(ms(400));
    let info = task.info();
    assert_eq!((info.succeeded, info.failed, info.dead), (2, 1, 1));
    assert_eq!(info.retried, 3);
    // It ends as its last run does.
    assert_eq!(info.state, TaskState::Succeeded);
    assert_eq!(scheduler.dead_letters().list()[0].run, 2);
}

#[test]
fn a_run_that_is_going_gives_way_to_the_newest_that_is_due() {
    let bed = Bed::workers(2);
    let start = bed.clock.wall();
    let (gate, keeper) = gate();
    let task = bed.scheduler.task("x").every(ms(100));
    let task = task
        .overlap(Overlap::CancelRunning)
        .retry(Retry::fixed(ms(1)));
    let handler = move |run: &Context| {
        keeper.pass(run);
        assert!(run.token().wait_timeout(HANG) || run.run() > 1);
        Err("stopped")
    };
    let task = task.run(handler).unwrap();
    bed.clock.advance(ms(100));
    assert_eq!(gate.wait_started(), 1);
    bed.clock.advance(ms(100));
    bed.clock.advance(ms(100));
    assert_eq!(counts(&task), (1, 0, 1, 1));
    gate.open();
    assert_eq!(gate.wait_started(), 2);
    let info = task.info();
    assert_eq!(info.last_run.unwrap().nominal, start + ms(300));
    // What was told to stop is not tried again.
    assert_eq!((info.retried, info.failed), (0, 1));
    assert_eq!(task.cancel(), CancelOutcome::Running);
    gate.open();
    assert_eq!(task.wait_timeout(HANG), Some(TaskState::Cancelled));
}

#[test]
fn a_run_that_waits_gives_way_without_having_started() {
    let bed = Bed::workers(1);
    let start = bed.clock.wall();
    let busy = bed.occupy_worker();
    let task = bed.scheduler.task("x").every(ms(100));
    let task = task.overlap(Overlap::CancelRunning).run(|_| ()).unwrap();
    for _ in 0..1_000 {
        bed.clock.advance(ms(100));
    }
    assert!(bed.scheduler.stats().queued <= 1);
    busy.open();
    bed.settle();
    assert_eq!(counts(&task), (1, 0, 999, 0));
    assert_eq!(task.info().last_run.unwrap().nominal, start + ms(100_000));
}

#[test]
fn a_run_that_waits_for_another_attempt_gives_way_at_once() {
    let bed = Bed::inline();
    let task = bed.scheduler.task("x").every(ms(100));
    let task = task
        .overlap(Overlap::CancelRunning)
        .retry(Retry::fixed(Duration::MAX));
    let task = task.run(|run: &Context| match run.run() {
        1 => Err("no paper"),
        _ => Ok(()),
    });
    let task = task.unwrap();
    bed.clock.run_for(ms(100));
    assert_eq!(task.info().state, TaskState::Retrying);
    bed.clock.run_for(ms(100));
    let info = task.info();
    assert_eq!(
        (info.state, info.runs, info.succeeded),
        (TaskState::Scheduled, 2, 1)
    );
    let stats = bed.scheduler.stats();
    assert_eq!((stats.abandoned, stats.retrying), (1, 0));
}

#[test]
fn another_attempt_that_waits_for_a_worker_gives_way_and_stays_that_of_its_own_run() {
    let bed = Bed::workers(1);
    let start = bed.clock.wall();
    let task = bed.scheduler.task("x").every(ms(100));
    let task = task.overlap(Overlap::CancelRunning);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let notes = Arc::clone(&seen);
    let task = task.retry(Retry::fixed(ms(10))).run(move |run: &Context| {
        let line = (run.run(), run.attempt(), run.nominal());
        notes.lock().unwrap().push(line);
        match run.run() {
            1 => Err("no paper"),
            _ => Ok(()),
        }
    });
    let task = task.unwrap();
    bed.jump(ms(100));
    let busy = bed.occupy_worker();
    bed.clock.advance(ms(10));
    assert_eq!(task.info().state, TaskState::Queued);
    bed.clock.advance(ms(90));
    busy.open();
    bed.settle();
    let at = |n| start + ms(n);
    assert_eq!(*seen.lock().unwrap(), [(1, 1, at(100)), (2, 1, at(200))]);
    let (info, stats) = (task.info(), bed.scheduler.stats());
    assert_eq!((info.runs, info.succeeded, info.skipped), (2, 1, 0));
    assert_eq!((stats.abandoned, stats.retrying, stats.queued), (1, 0, 0));
    // That of the busy worker is among them.
    assert_eq!((stats.runs, stats.succeeded), (3, 2));
}

#[test]
fn what_a_run_stood_for_is_left_out_with_it_and_counted_once() {
    let bed = Bed::workers(1);
    let task = bed.scheduler.task("x").every(ms(100));
    let task = task.overlap(Overlap::CancelRunning).run(|_| ()).unwrap();
    let busy = bed.occupy_worker();
    // A run for three waits for the worker; a newer one takes its place.
    bed.clock.advance(ms(300));
    assert_eq!(counts(&task), (0, 0, 0, 0));
    bed.clock.advance(ms(100));
    busy.open();
    bed.settle();
    assert_eq!(counts(&task), (1, 0, 3, 0));
    assert_eq!(bed.scheduler.stats().missed, 0);
}

#[test]
fn a_replay_that_waits_for_a_worker_does_not_give_way_and_keeps_its_instant() {
    let bed = Bed::workers(1);
    let start = bed.clock.wall();
    let task = bed.scheduler.task("x").every(ms(100));
    let task = task.overlap(Overlap::CancelRunning);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let notes = Arc::clone(&seen);
    let retry = Retry::fixed(ms(10)).max_attempts(1);
    let task = task.retry(retry).run(move |run: &Context| {
        notes.lock().unwrap().push(run.nominal());
        match run.run() {
            1 => Err("no paper"),
            _ => Ok(()),
        }
    });
    let task = task.unwrap();
    bed.jump(ms(100));
    let busy = bed.occupy_worker();
    let letter = bed.scheduler.dead_letters().list().remove(0);
    bed.scheduler.dead_letters().replay(letter.id).unwrap();
    bed.clock.advance(ms(100));
    busy.open();
    bed.settle();
    let at = |n| start + ms(n);
    assert_eq!(*seen.lock().unwrap(), [at(100), at(100), at(200)]);
    let info = task.info();
    assert_eq!((info.runs, info.succeeded, info.skipped), (3, 2, 0));
}

#[test]
fn every_occurrence_is_accounted_for_whatever_the_policy() {
    for overlap in [
        Overlap::Skip,
        Overlap::QueueOne,
        Overlap::QueueAll { max: 2 },
        Overlap::Allow { max: 2 },
        Overlap::CancelRunning,
    ] {
        let bed = Bed::workers(3);
        let (task, gate) = gated(&bed, overlap);
        for _ in 0..40 {
            bed.clock.advance(ms(100));
            if bed.scheduler.stats().running > 1 {
                gate.open();
            }
        }
        // Enough for all that may follow.
        (0..50).for_each(|_| gate.open());
        bed.settle();
        let (runs, missed, skipped, backlog) = counts(&task);
        assert_eq!(runs + missed + skipped, 40, "{overlap:?}");
        assert_eq!(backlog, 0);
    }
}

#[test]
fn a_limit_of_runs_holds_whatever_the_policy() {
    for overlap in [
        Overlap::QueueOne,
        Overlap::QueueAll { max: 10 },
        Overlap::Allow { max: 10 },
        Overlap::CancelRunning,
    ] {
        let bed = Bed::workers(3);
        let (gate, keeper) = gate();
        let task = bed
            .scheduler
            .task("x")
            .every(ms(100))
            .count(3)
            .overlap(overlap);
        let task = task.run(move |run: &Context| keeper.pass(run)).unwrap();
        for _ in 0..10 {
            bed.clock.advance(ms(100));
        }
        (0..3).for_each(|_| gate.open());
        bed.settle();
        for _ in 0..10 {
            bed.clock.advance(ms(100));
            bed.settle();
        }
        assert_eq!(task.info().runs, 3, "{overlap:?}");
        assert!(task.info().state.has_ended(), "{overlap:?}");
    }
}

#[test]
fn what_was_missed_does_not_run_after_an_occurrence_that_made_another_run_give_way() {
    let bed = Bed::inline();
    let nominals = Arc::new(Mutex::new(Vec::new()));
    let (noted, begun) = (Arc::clone(&nominals), bed.clock.wall());
    let task = bed.scheduler.task("x").every(ms(10));
    let task = task.misfire(Misfire::FireAll { max: 10 });
    let task = task.overlap(Overlap::CancelRunning);
    let handler = move |run: &Context| {
        let nominal = run.nominal().duration_since(begun).unwrap();
        noted.lock().unwrap().push(nominal.as_millis());
        match nominal == ms(20) {
            true => Outcome::Snooze(ms(1_000)),
            false => Outcome::Success,
        }
    };
    let task = task.run(handler).unwrap();
    // 10, 20 and 30 are found together; the second one waits for its next attempt.
    bed.jump(ms(30));
    bed.jump(ms(10));
    // It has given way to 40, for which the one stands that was missed and had not begun.
    assert_eq!(*nominals.lock().unwrap(), [10, 20, 40]);
    bed.jump(ms(10));
    assert_eq!(*nominals.lock().unwrap(), [10, 20, 40, 50]);
    assert_eq!(task.info().skipped, 1);
}
