//! Runs whose handlers are futures, and that are told to stop, or are in the way.

use std::future::pending;
use std::sync::mpsc::channel;
use std::time::Duration;

use wheel_runtime::{CancelOutcome, Context, Overlap, StopReason, TaskState};

use super::by_hand::{ByHand, Guard, polls};
use crate::bed::{Bed, HANG, ms};

#[test]
fn a_future_whose_time_is_over_is_dropped_at_its_next_poll_for_which_it_is_woken() {
    let (bed, hand) = (Bed::inline(), ByHand::default());
    let (sent, dropped) = channel();
    let handler = move |run: Context| {
        let guard = Guard(sent.clone());
        async move {
            let _guard = guard;
            let _run = run;
            pending::<()>().await;
        }
    };
    let task = bed.scheduler.task("x").after(ms(1)).timeout(ms(5));
    let task = task.run_async(handler, hand.spawner()).unwrap();
    bed.clock.advance(ms(1));
    assert!(hand.poll().is_pending());
    bed.clock.advance(ms(4));
    assert_eq!(hand.woken(), 0);
    bed.clock.advance(ms(1));
    assert_eq!(task.wait_timeout(HANG), Some(TaskState::TimedOut));
    assert_eq!(
        task.info().last_error.as_deref(),
        Some("timed out after 5ms")
    );
    let hung = bed.scheduler.hung();
    assert_eq!((hung.len(), hung[0].is_replaced), (1, false));
    assert_eq!(hand.woken(), 1);
    assert!(dropped.try_recv().is_err(), "not by the driver");
    assert!(hand.poll().is_ready());
    dropped.recv_timeout(HANG).unwrap();
    assert!(bed.scheduler.hung().is_empty());
    bed.scheduler.shutdown(HANG).unwrap();
}

#[test]
fn a_future_on_workers_whose_time_is_over_is_woken_and_no_worker_is_replaced() {
    let (bed, hand) = (Bed::workers(1), ByHand::default());
    let task = bed.scheduler.task("x").after(ms(1)).timeout(ms(5));
    let task = task.run_async(|_| pending::<()>(), hand.spawner()).unwrap();
    bed.clock.advance(ms(1));
    hand.wait_for(1);
    assert!(hand.poll().is_pending());
    bed.clock.advance(ms(5));
    assert_eq!(task.wait_timeout(HANG), Some(TaskState::TimedOut));
    bed.settle();
    assert_eq!(hand.woken(), 1);
    assert!(!bed.scheduler.hung()[0].is_replaced);
    assert!(hand.poll().is_ready());
    bed.scheduler.shutdown(HANG).unwrap();
}

#[test]
fn a_future_that_is_ready_when_its_time_is_over_is_over_time() {
    let (bed, hand) = (Bed::inline(), ByHand::default());
    let task = bed.scheduler.task("x").after(ms(1)).timeout(ms(5));
    let task = task.run_async(|_| polls(0), hand.spawner()).unwrap();
    bed.clock.advance(ms(1));
    bed.clock.advance(ms(50));
    assert!(hand.poll().is_ready());
    assert_eq!(task.wait_timeout(HANG), Some(TaskState::TimedOut));
    bed.settle();
}

#[test]
fn a_cancelled_run_goes_on_until_its_future_is_done_and_may_await_that() {
    let (bed, hand) = (Bed::inline(), ByHand::default());
    let handler = |run: Context| async move {
        run.token().cancelled().await;
        assert_eq!(run.stop_reason(), Some(StopReason::Cancelled));
        Err("stopped half-way")
    };
    let task = bed.scheduler.task("x").every(ms(1));
    let task = task.run_async(handler, hand.spawner()).unwrap();
    bed.clock.advance(ms(1));
    assert!(hand.poll().is_pending());
    assert_eq!(task.cancel(), CancelOutcome::Running);
    assert_eq!(hand.woken(), 1);
    assert!(hand.poll().is_ready());
    assert_eq!(task.wait_timeout(HANG), Some(TaskState::Cancelled));
    bed.settle();
}

#[test]
fn a_cancelled_future_whose_time_is_over_is_woken_and_dropped_as_well() {
    let (bed, hand) = (Bed::inline(), ByHand::default());
    let task = bed.scheduler.task("x").after(ms(1)).timeout(ms(5));
    let task = task.run_async(|_| pending::<()>(), hand.spawner()).unwrap();
    bed.clock.advance(ms(1));
    assert!(hand.poll().is_pending());
    assert_eq!(task.cancel(), CancelOutcome::Running);
    assert!(
        hand.poll().is_pending(),
        "its token is set, and that is all"
    );
    let woken = hand.woken();
    bed.clock.advance(ms(5));
    assert_eq!(hand.woken(), woken + 1);
    assert!(hand.poll().is_ready());
    assert!(bed.scheduler.hung().is_empty());
    bed.settle();
}

#[test]
fn an_occurrence_meets_a_future_that_is_pending_as_a_run_that_goes() {
    for (overlap, started) in [(Overlap::Skip, 1), (Overlap::Allow { max: 3 }, 3)] {
        let (bed, hand) = (Bed::inline(), ByHand::default());
        let task = bed.scheduler.task("x").every(ms(10)).overlap(overlap);
        let task = task.run_async(|_| polls(0), hand.spawner()).unwrap();
        for _ in 0..5 {
            bed.clock.advance(ms(10));
        }
        assert_eq!(task.info().runs, started);
        for _ in 0..started {
            assert!(hand.poll().is_ready());
        }
        bed.clock.advance(ms(10));
        assert_eq!(task.info().runs, started + 1);
        assert!(hand.poll().is_ready());
        let _ = task.cancel();
        bed.settle();
    }
}

#[test]
fn a_shutdown_waits_for_futures_within_its_grace_and_names_those_it_leaves() {
    let (bed, hand) = (Bed::workers(1), ByHand::default());
    let add = || {
        let task = bed.scheduler.unnamed().after(ms(1));
        task.run_async(|_| polls(1), hand.spawner()).unwrap()
    };
    let (_ends, left) = (add(), add());
    bed.clock.advance(ms(1));
    hand.wait_for(2);
    assert!(hand.poll().is_pending());
    assert!(hand.poll().is_ready());
    let late = bed.scheduler.shutdown(Duration::ZERO).unwrap_err();
    let cut: Vec<_> = late
        .report
        .cut
        .iter()
        .map(|task| task.id.as_str())
        .collect();
    assert_eq!(cut.len(), 1);
    assert!(left.info().state == TaskState::Running || left.id() != cut[0]);
    assert!(hand.poll().is_pending());
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| bed.scheduler.shutdown(HANG));
        assert!(hand.poll().is_ready());
        waits.join().unwrap().unwrap();
    });
}
