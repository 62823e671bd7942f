//! Cancel and its three answers.

use std::sync::Arc;
use std::time::Duration;

use wheel_runtime::{CancelOutcome, Context, TaskFilter, TaskState};

use crate::bed::{Bed, HANG, gate, ms, size};

#[test]
fn cancel_before_it_is_due_means_it_never_runs() {
    let bed = Bed::inline();
    let record = bed.record();
    let task = bed.scheduler.task("x").after(ms(10));
    let task = task.run(record.note("x")).unwrap();
    bed.clock.run_for(ms(9));
    assert_eq!(bed.scheduler.cancel("x"), CancelOutcome::Cancelled);
    bed.clock.run_for(ms(100));
    assert_eq!(record.len(), 0);
    assert_eq!(task.wait(), TaskState::Cancelled);
    assert_eq!(bed.scheduler.cancel("x"), CancelOutcome::NotFound);
}

#[test]
fn cancel_of_a_queued_run_means_it_never_starts() {
    let bed = Bed::workers(1);
    let record = bed.record();
    let (gate, keeper) = gate();
    let busy = move |context: &Context| keeper.pass(context);
    bed.scheduler.after(ms(1), busy).unwrap();
    let task = bed.scheduler.task("x").after(ms(2));
    let task = task.run(record.note("x")).unwrap();
    bed.clock.advance(ms(5));
    gate.wait_started();
    assert_eq!(task.info().state, TaskState::Queued);
    assert_eq!(bed.scheduler.cancel("x"), CancelOutcome::Cancelled);
    gate.open();
    bed.settle();
    assert_eq!(record.len(), 0);
    assert_eq!(task.info().state, TaskState::Cancelled);
}

#[test] // CA-01
fn cancel_after_the_run_says_not_found_and_the_state_stays() {
    let bed = Bed::inline();
    let task = bed.scheduler.after(ms(1), |_| ()).unwrap();
    bed.clock.run_for(ms(1));
    assert_eq!(task.cancel(), CancelOutcome::NotFound);
    assert_eq!(task.info().state, TaskState::Succeeded);
    assert_eq!(task.cancel(), CancelOutcome::NotFound);
}

#[test] // CA-03
fn cancel_during_a_recurring_run_lets_it_end_and_starts_no_other() {
    let bed = Bed::workers(2);
    let (gate, keeper) = gate();
    let handler = move |context: &Context| keeper.pass(context);
    let task = bed.scheduler.task("x").every(ms(10)).run(handler).unwrap();
    bed.clock.advance(ms(10));
    assert_eq!(gate.wait_started(), 1);
    assert_eq!(bed.scheduler.cancel("x"), CancelOutcome::Running);
    assert_eq!(task.info().state, TaskState::Running);
    assert_eq!(task.cancel(), CancelOutcome::Running);
    bed.clock.advance(ms(50));
    gate.open();
    bed.settle();
    bed.walk(20, ms(10));
    assert_eq!(task.info().runs, 1);
    assert_eq!(task.wait(), TaskState::Cancelled);
}

#[test] // CA-05
fn a_handler_cancels_its_neighbours_of_the_same_tick() {
    let bed = Bed::workers(1);
    let record = bed.record();
    let (scheduler, first) = (bed.scheduler.clone(), record.clone());
    let (sent, answers) = std::sync::mpsc::channel();
    let canceller = move |_: &Context| {
        first.add("a");
        for id in ["b", "c"] {
            sent.send((id, scheduler.cancel(id))).unwrap();
        }
    };
    bed.scheduler
        .task("a")
        .after(ms(10))
        .run(canceller)
        .unwrap();
    for id in ["b", "c"] {
        let task = bed.scheduler.task(id).after(ms(10));
        task.run(record.note(id)).unwrap();
    }
    bed.jump(ms(20));
    let answers: Vec<_> = answers.try_iter().collect();
    assert_eq!(answers.len(), 2, "the first one has run");
    for (id, answer) in answers {
        let has_run = !record.times(id).is_empty();
        assert_eq!(answer == CancelOutcome::Cancelled, !has_run, "{id}");
    }
    assert_eq!(bed.scheduler.stats().runs as usize, record.len());
    assert_eq!(bed.scheduler.stats().scheduled, 0);
}

#[test] // CA-07
fn a_running_handler_sees_the_cancel_and_its_id_is_free_for_a_new_task() {
    let bed = Bed::workers(1);
    let record = bed.record();
    let (gate, keeper) = gate();
    let (scheduler, again) = (bed.scheduler.clone(), record.clone());
    let handler = move |context: &Context| {
        keeper.pass(context);
        let seen = if context.is_cancelled() {
            "cancelled"
        } else {
            "not"
        };
        again.add(seen);
        let task = scheduler.task("x").after(ms(10));
        task.run(again.note("new")).unwrap();
    };
    let old = bed.scheduler.task("x").after(ms(1)).run(handler).unwrap();
    bed.clock.advance(ms(1));
    gate.wait_started();
    assert_eq!(bed.scheduler.cancel("x"), CancelOutcome::Running);
    gate.open();
    assert_eq!(old.wait(), TaskState::Cancelled);
    bed.jump(ms(10));
    assert_eq!(record.names(), ["cancelled", "new"]);
}

#[test]
fn a_run_that_waits_on_its_token_ends_when_it_is_cancelled() {
    let bed = Bed::workers(1);
    let waits = |context: &Context| match context.token().wait_timeout(HANG) {
        true => Ok(()),
        false => Err("nobody cancelled"),
    };
    let task = bed.scheduler.after(ms(1), waits).unwrap();
    bed.clock.advance(ms(1));
    while task.info().state != TaskState::Running {
        std::thread::yield_now();
    }
    assert_eq!(task.cancel(), CancelOutcome::Running);
    assert_eq!(task.wait_timeout(HANG), Some(TaskState::Cancelled));
    assert_eq!(task.info().succeeded, 1);
}

#[test] // MG-01
fn what_a_cancelled_task_held_is_dropped_at_once() {
    let bed = Bed::inline();
    let payload = Arc::new([0_u8; 1024]);
    let mut handles = Vec::new();
    for _ in 0..size(100_000, 1_000_000) {
        let held = payload.clone();
        let handler = move |_: &Context| assert_eq!(held.len(), 1024);
        let once = bed.scheduler.after(Duration::from_secs(3600), handler);
        assert_eq!(once.as_ref().unwrap().cancel(), CancelOutcome::Cancelled);
        handles.push(once.unwrap());
    }
    assert_eq!(Arc::strong_count(&payload), 1, "handles keep nothing");
    assert!(bed.scheduler.tasks(&TaskFilter::all()).is_empty());
}

#[test]
fn what_a_finished_task_held_is_dropped_although_its_handle_lives() {
    let bed = Bed::workers(1);
    let payload = Arc::new(());
    let held = payload.clone();
    let task = bed.scheduler.after(ms(1), move |_| drop(held.clone()));
    bed.jump(ms(1));
    assert_eq!(task.unwrap().wait(), TaskState::Succeeded);
    assert_eq!(Arc::strong_count(&payload), 1);
}

#[test] // MG-03
fn a_limit_of_tasks_is_exact() {
    let bed = Bed::with(|builder| builder.workers(1).max_tasks(1_000));
    let add = |id: usize| {
        let task = bed.scheduler.task(id.to_string());
        task.after(ms(10)).run(|_| ())
    };
    (0..1_000).for_each(|id| drop(add(id).unwrap()));
    let full = add(1_000).unwrap_err();
    assert_eq!(full, wheel_runtime::SubmitError::Full);
    assert!(full.may_succeed_later());
    assert_eq!(bed.scheduler.cancel("17"), CancelOutcome::Cancelled);
    add(1_000).unwrap();
    assert!(add(1_001).is_err());
    bed.jump(ms(10));
    assert_eq!(bed.scheduler.stats().runs, 1_000);
    add(1_001).unwrap();
}

#[test] // MG-05
fn cancel_of_all_leaves_nothing_also_from_inside_a_handler() {
    let bed = Bed::workers(1);
    for n in 0..100 {
        let task = bed.scheduler.task(format!("early-{n}"));
        task.after(ms(5)).run(|_| ()).unwrap();
    }
    let cancel_all = |scheduler: &wheel_runtime::Scheduler| {
        for task in scheduler.tasks(&TaskFilter::all()) {
            let _ = scheduler.cancel(&task.id);
        }
    };
    cancel_all(&bed.scheduler);
    assert_eq!(bed.scheduler.stats().scheduled, 0);
    for n in 0..100_u64 {
        bed.scheduler.after(ms(1 + n), |_| ()).unwrap();
    }
    let inside = bed.scheduler.clone();
    let canceller = move |_: &Context| cancel_all(&inside);
    bed.scheduler.after(ms(50), canceller).unwrap();
    bed.walk(50, ms(1));
    bed.jump(ms(1_000));
    let stats = bed.scheduler.stats();
    assert_eq!((stats.scheduled, stats.queued, stats.running), (0, 0, 0));
    assert!(bed.scheduler.wait_empty_timeout(HANG));
}

#[test] // MG-06
fn cancelled_tasks_do_not_become_due() {
    let bed = Bed::inline();
    let record = bed.record();
    let tasks: Vec<_> = (0..10_000)
        .map(|n| {
            bed.scheduler
                .after(ms(5 + n % 495), record.note("x"))
                .unwrap()
        })
        .collect();
    let cancelled = tasks
        .iter()
        .filter(|task| task.cancel() == CancelOutcome::Cancelled);
    assert_eq!(cancelled.count(), 10_000);
    bed.clock.run_for(ms(2_000));
    assert_eq!(record.len(), 0);
    assert_eq!(bed.scheduler.stats().cancelled, 10_000);
}
