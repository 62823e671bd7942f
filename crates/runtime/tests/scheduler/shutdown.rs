//! How a scheduler starts and ends.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

use wheel_runtime::{
    CancelOutcome, Context, InlineExecutor, ManualClock, Scheduler, SubmitError, TaskState,
};

use crate::bed::{Bed, HANG, gate, ms};

#[test]
fn impossible_numbers_are_refused_with_what_would_be_right() {
    let cases = [
        (Scheduler::builder().workers(0), "workers", "1 to 1024"),
        (Scheduler::builder().workers(1025), "workers", "1 to 1024"),
        (
            Scheduler::builder().queue_capacity(0),
            "queue_capacity",
            "1 to 16777216",
        ),
        (
            Scheduler::builder().queue_capacity(usize::MAX),
            "queue_capacity",
            "1 to 16777216",
        ),
        (Scheduler::builder().max_tasks(0), "max_tasks", "at least 1"),
    ];
    for (builder, what, right) in cases {
        let error = builder.build().unwrap_err().to_string();
        assert!(error.contains(what) && error.contains(right), "{error}");
    }
    assert!(Scheduler::builder().tick(ms(2)).build().is_err());
}

#[test] // SD-01
fn shutdown_twice_and_from_two_threads_returns() {
    let bed = Bed::workers(2);
    bed.scheduler.after(ms(5), |_| ()).unwrap();
    std::thread::scope(|scope| {
        let other = scope.spawn(|| bed.scheduler.shutdown(HANG).unwrap());
        let mine = bed.scheduler.shutdown(HANG).unwrap();
        let pending = mine.pending.len() + other.join().unwrap().pending.len();
        assert_eq!(pending, 1, "reported once");
    });
    assert!(bed.scheduler.shutdown(HANG).unwrap().pending.is_empty());
    let refused = bed.scheduler.after(ms(1), |_| ()).unwrap_err();
    assert_eq!(refused, SubmitError::ShuttingDown);
}

#[test] // SD-03
fn what_did_not_run_is_named_and_cancelled() {
    let bed = Bed::inline();
    let record = bed.record();
    let tasks: Vec<_> = (0..5)
        .map(|n| {
            let task = bed.scheduler.task(format!("t{n}")).after(ms(5_000 - n));
            task.run(record.note("never")).unwrap()
        })
        .collect();
    let report = bed.scheduler.shutdown(HANG).unwrap();
    let named: Vec<_> = report.pending.iter().map(|task| task.id.as_str()).collect();
    assert_eq!(named, ["t4", "t3", "t2", "t1", "t0"], "in due order");
    bed.clock.advance(ms(10_000));
    assert_eq!(record.len(), 0);
    for task in tasks {
        assert_eq!(task.cancel(), CancelOutcome::NotFound);
        assert_eq!(task.wait(), TaskState::Cancelled);
    }
}

#[test] // SD-05
fn a_run_that_is_going_ends_within_the_grace() {
    let bed = Bed::workers(1);
    let (gate, keeper) = gate();
    let finished = Arc::new(AtomicBool::new(false));
    let flag = finished.clone();
    let handler = move |context: &Context| {
        keeper.pass(context);
        assert!(!context.is_cancelled());
        flag.store(true, Ordering::SeqCst);
    };
    let task = bed.scheduler.after(ms(1), handler).unwrap();
    bed.clock.advance(ms(1));
    gate.wait_started();
    let queued = bed
        .scheduler
        .task("queued")
        .after(ms(1))
        .run(|_| ())
        .unwrap();
    bed.clock.advance(ms(1));
    std::thread::scope(|scope| {
        let shutdown = scope.spawn(|| bed.scheduler.shutdown(HANG));
        assert_eq!(queued.wait_timeout(HANG), Some(TaskState::Cancelled));
        assert!(!shutdown.is_finished(), "it waits for the run");
        gate.open();
        let report = shutdown.join().unwrap().unwrap();
        assert_eq!(report.queued.len(), 1);
        assert_eq!(report.queued[0].id, "queued");
        assert!(report.cut.is_empty());
    });
    assert!(finished.load(Ordering::SeqCst));
    assert_eq!(task.wait(), TaskState::Succeeded);
}

#[test]
fn a_run_beyond_the_grace_is_named_and_told_to_stop() {
    let bed = Bed::workers(1);
    let (sent, started) = channel();
    let handler = move |context: &Context| {
        sent.send(()).unwrap();
        context.token().wait_timeout(HANG);
    };
    let task = bed
        .scheduler
        .task("long")
        .every(ms(10))
        .run(handler)
        .unwrap();
    bed.scheduler
        .task("later")
        .after(ms(100))
        .run(|_| ())
        .unwrap();
    bed.clock.advance(ms(10));
    started.recv_timeout(HANG).unwrap();
    let timeout = bed.scheduler.shutdown(Duration::ZERO).unwrap_err();
    assert!(timeout.to_string().contains("long"), "{timeout}");
    assert_eq!(timeout.report.cut.len(), 1);
    assert_eq!(timeout.report.pending.len(), 1);
    assert_eq!(task.wait_timeout(HANG), Some(TaskState::Cancelled));
    bed.scheduler.shutdown(HANG).unwrap();
}

#[test] // SD-07
fn dropping_the_scheduler_ends_a_slow_recurring_task() {
    let bed = Bed::workers(1);
    let (gate, keeper) = gate();
    let handler = move |context: &Context| keeper.pass(context);
    let task = bed.scheduler.every(ms(10), handler).unwrap();
    bed.clock.advance(ms(10));
    gate.wait_started();
    let Bed { clock, scheduler } = bed;
    drop(scheduler);
    clock.advance(ms(100));
    gate.open();
    assert_eq!(task.wait_timeout(HANG), Some(TaskState::Cancelled));
    clock.advance(ms(100));
    assert_eq!(task.info().runs, 1);
}

#[test] // SD-08
fn dropping_a_handle_does_not_cancel() {
    let bed = Bed::inline();
    let record = bed.record();
    drop(bed.scheduler.every(ms(5), record.note("x")).unwrap());
    bed.clock.run_for(ms(20));
    assert_eq!(record.len(), 4);
}

#[test] // SD-10
fn a_handler_that_keeps_adding_is_told_so_and_ends() {
    let bed = Bed::workers(2);
    let (sent, started) = channel();
    let scheduler = bed.scheduler.clone();
    let handler = move |_: &Context| {
        sent.send(()).unwrap();
        loop {
            if let Err(refused) = scheduler.after(ms(1), |_| ()) {
                assert_eq!(refused, SubmitError::ShuttingDown);
                break;
            }
        }
    };
    let task = bed.scheduler.after(ms(1), handler).unwrap();
    bed.clock.advance(ms(1));
    started.recv_timeout(HANG).unwrap();
    bed.scheduler.shutdown(HANG).unwrap();
    assert_eq!(task.wait_timeout(HANG), Some(TaskState::Succeeded));
    assert_eq!(bed.scheduler.stats().scheduled, 0);
}

#[test] // SD-11
fn start_and_shutdown_in_a_row_never_block() {
    for _ in 0..1_000 {
        let bed = Bed::workers(2);
        std::thread::scope(|scope| {
            scope.spawn(|| drop(bed.scheduler.after(ms(1), |_| ())));
            scope.spawn(|| bed.scheduler.shutdown(HANG).unwrap());
        });
        bed.scheduler.shutdown(HANG).unwrap();
    }
}

#[test] // SD-13
fn shutdown_and_the_last_drop_inside_a_handler_do_not_wait_for_themselves() {
    for inline in [false, true] {
        let bed = match inline {
            true => Bed::inline(),
            false => Bed::workers(2),
        };
        let clock: ManualClock = bed.clock.clone();
        let (sent, done) = channel();
        let slot = std::sync::Mutex::new(Some(bed.scheduler.clone()));
        let handler = move |_: &Context| {
            let scheduler = slot.lock().unwrap().take().unwrap();
            let report = scheduler.shutdown(HANG);
            sent.send(report.map(|report| report.pending.len()))
                .unwrap();
            drop(scheduler);
        };
        let task = bed.scheduler.after(ms(1), handler).unwrap();
        bed.scheduler.after(ms(5), |_| ()).unwrap();
        drop(bed);
        clock.advance(ms(1));
        assert_eq!(done.recv_timeout(HANG).unwrap(), Ok(1));
        assert_eq!(task.wait_timeout(HANG), Some(TaskState::Succeeded));
    }
}

#[test]
fn the_last_drop_inside_a_handler_ends_the_rest() {
    let bed = Bed::workers(1);
    let clock = bed.clock.clone();
    let slot = std::sync::Mutex::new(Some(bed.scheduler.clone()));
    let handler = move |_: &Context| drop(slot.lock().unwrap().take());
    let dropper = bed.scheduler.after(ms(1), handler).unwrap();
    let rest = bed.scheduler.after(ms(5), |_| ()).unwrap();
    drop(bed);
    clock.advance(ms(1));
    assert!(dropper.wait_timeout(HANG).is_some());
    assert_eq!(rest.wait_timeout(HANG), Some(TaskState::Cancelled));
}

#[test] // CK-03
fn a_shutdown_in_the_middle_of_a_jump_ends_what_is_left_of_it() {
    let day = Duration::from_secs(86_400);
    let bed = Bed::inline();
    let record = bed.record();
    bed.scheduler.every(ms(10), record.note("tick")).unwrap();
    let inside = bed.scheduler.clone();
    let (sent, done) = channel();
    let handler = move |_: &Context| sent.send(inside.shutdown(Duration::ZERO)).unwrap();
    bed.scheduler.after(day, handler).unwrap();
    bed.scheduler.after(day * 2, record.note("never")).unwrap();
    bed.clock.advance(day * 3650);
    let report = done.recv_timeout(HANG).unwrap().unwrap();
    assert_eq!(report.pending.len() + report.queued.len(), 2);
    bed.clock.advance(day);
    assert_eq!(record.names(), ["tick"]);
}

#[test] // SD-14
fn shutdown_after_a_recurring_task_was_removed() {
    let bed = Bed::workers(1);
    let week = Duration::from_secs(7 * 86_400);
    for id in ["a", "b"] {
        bed.scheduler.task(id).every(week).run(|_| ()).unwrap();
    }
    assert_eq!(bed.scheduler.cancel("a"), CancelOutcome::Cancelled);
    let report = bed.scheduler.shutdown(HANG).unwrap();
    assert_eq!(report.pending.len(), 1);
}

#[test]
fn what_tasks_held_is_dropped_by_the_shutdown() {
    for executor in [false, true] {
        let bed = match executor {
            true => Bed::with(|builder| builder.executor(InlineExecutor)),
            false => Bed::workers(1),
        };
        let held = Arc::new(());
        for delay in [1, 2, 3] {
            let held = held.clone();
            let handler = move |_: &Context| drop(held.clone());
            bed.scheduler.every(ms(delay), handler).unwrap();
        }
        bed.jump(ms(2));
        bed.scheduler.shutdown(HANG).unwrap();
        assert_eq!(Arc::strong_count(&held), 1);
    }
}

#[test]
fn a_shutdown_inside_one_run_waits_for_the_others() {
    let bed = Bed::workers(2);
    let (gate, keeper) = gate();
    let other = move |context: &Context| keeper.pass(context);
    let other = bed.scheduler.after(ms(1), other).unwrap();
    bed.clock.advance(ms(1));
    gate.wait_started();
    let scheduler = bed.scheduler.clone();
    let order = Arc::new(AtomicUsize::new(0));
    let seen = order.clone();
    let (sent, done) = channel();
    let handler = move |_: &Context| {
        scheduler.shutdown(HANG).unwrap();
        sent.send(seen.load(Ordering::SeqCst)).unwrap();
    };
    bed.scheduler.after(ms(1), handler).unwrap();
    bed.clock.advance(ms(1));
    while bed.scheduler.after(ms(9), |_| ()).err() != Some(SubmitError::ShuttingDown) {
        std::thread::yield_now();
    }
    assert!(done.try_recv().is_err(), "it waits for the other run");
    order.store(1, Ordering::SeqCst);
    gate.open();
    assert_eq!(done.recv_timeout(HANG), Ok(1));
    assert_eq!(other.wait(), TaskState::Succeeded);
}
