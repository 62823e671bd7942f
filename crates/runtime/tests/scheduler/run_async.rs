//! Tasks whose handlers are futures: poll by poll on a runtime that is moved by hand, and on real
//! ones.

use std::future::{pending, poll_fn, ready};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Mutex, PoisonError};
use std::task::{Context as PollContext, Poll, Wake, Waker};
use std::time::Duration;

use wheel_runtime::{
    CancelOutcome, Context, Outcome, Overlap, Retry, RunFuture, Scheduler, StopReason, TaskState,
    Timers,
};

use crate::bed::{Bed, HANG, ms};

/// Holds runs until the test polls or drops them.
#[derive(Clone, Default)]
struct ByHand {
    runs: Arc<Mutex<Vec<RunFuture>>>,
    woken: Arc<Woken>,
}

#[derive(Default)]
struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(self: Arc<Woken>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl ByHand {
    fn spawner(&self) -> impl Fn(RunFuture) + Send + Sync + 'static {
        let runs = Arc::clone(&self.runs);
        move |run| {
            runs.lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(run)
        }
    }

    /// Waits until so many runs are here.
    fn wait_for(&self, count: usize) {
        let start = std::time::Instant::now();
        while self.runs.lock().unwrap().len() < count {
            assert!(start.elapsed() < HANG, "no run comes");
            std::thread::yield_now();
        }
    }

    /// Polls the first one, and keeps it if it is pending.
    fn poll(&self) -> Poll<()> {
        let mut run = self.runs.lock().unwrap().remove(0);
        let waker = Waker::from(Arc::clone(&self.woken));
        let polled = Pin::new(&mut run).poll(&mut PollContext::from_waker(&waker));
        if polled.is_pending() {
            self.runs.lock().unwrap().insert(0, run);
        }
        polled
    }

    fn drop_first(&self) {
        let run = self.runs.lock().unwrap().remove(0);
        drop(run);
    }

    fn woken(&self) -> usize {
        self.woken.0.load(Ordering::Relaxed)
    }
}

/// Pending at so many polls.
async fn polls(count: u32) {
    let mut left = count;
    poll_fn(|_| {
        let is_over = left == 0;
        left = left.saturating_sub(1);
        if is_over {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
}

#[test]
fn futures_that_are_pending_hold_no_worker() {
    let (bed, hand) = (Bed::workers(1), ByHand::default());
    let add = |_| {
        let task = bed.scheduler.unnamed().after(ms(1));
        task.run_async(|_| polls(1), hand.spawner()).unwrap()
    };
    let tasks: Vec<_> = (0..10).map(add).collect();
    let plain = bed.scheduler.after(ms(2), |_| ()).unwrap();
    bed.clock.advance(ms(2));
    assert_eq!(plain.wait_timeout(HANG), Some(TaskState::Succeeded));
    hand.wait_for(10);
    assert!(!bed.scheduler.wait_idle_timeout(Duration::ZERO), "they go");
    for task in tasks {
        assert_eq!(task.info().state, TaskState::Running);
        assert!(hand.poll().is_pending());
        assert!(hand.poll().is_ready());
    }
    bed.settle();
    assert_eq!(bed.scheduler.stats().succeeded, 11);
}

#[test]
fn what_comes_of_a_future_is_what_comes_of_a_handler() {
    let (bed, hand) = (Bed::inline(), ByHand::default());
    let seen = Arc::new(Mutex::new(Vec::new()));
    let sees = Arc::clone(&seen);
    let handler = move |run: Context| {
        sees.lock()
            .unwrap()
            .push((run.attempt(), run.last_error().map(str::to_owned)));
        ready(match run.attempt() {
            1 => Err("busy"),
            2 => panic!("broken"),
            _ => Ok(()),
        })
    };
    let task = bed
        .scheduler
        .task("x")
        .after(ms(1))
        .retry(Retry::fixed(ms(10)));
    let task = task.run_async(handler, hand.spawner()).unwrap();
    bed.clock.advance(ms(1));
    assert!(hand.poll().is_ready());
    assert_eq!(task.info().state, TaskState::Retrying);
    bed.clock.advance(ms(10)); // It panics as it makes its future, which nobody gets.
    bed.clock.advance(ms(10));
    assert!(hand.poll().is_ready());
    assert_eq!(task.wait_timeout(HANG), Some(TaskState::Succeeded));
    let said = |error: &str| Some(error.to_owned());
    let expected = [(1, None), (2, said("busy")), (3, said("panicked: broken"))];
    assert_eq!(*seen.lock().unwrap(), expected);
    assert_eq!(bed.scheduler.stats().panicked, 1);
    bed.settle();
}

#[test]
fn a_panic_of_a_future_is_a_failed_attempt() {
    let (bed, hand) = (Bed::inline(), ByHand::default());
    let task = bed.scheduler.task("x").after(ms(1));
    let handler = |_| poll_fn(|_| -> Poll<()> { panic!("broken") });
    let task = task.run_async(handler, hand.spawner()).unwrap();
    bed.clock.advance(ms(1));
    assert!(hand.poll().is_ready());
    assert_eq!(task.wait_timeout(HANG), Some(TaskState::Failed));
    assert_eq!(task.info().last_error.as_deref(), Some("panicked: broken"));
    bed.settle();
}

#[test]
fn wherever_a_runtime_drops_a_run_the_attempt_has_failed_and_the_next_one_comes() {
    for polled in 0..4 {
        let (bed, hand) = (Bed::inline(), ByHand::default());
        let task = bed.scheduler.task("x").after(ms(1)).concurrency_key("disk");
        let task = task.retry(Retry::fixed(ms(10)).max_attempts(2));
        let task = task.run_async(|_| polls(10), hand.spawner()).unwrap();
        let other = bed.scheduler.task("y").after(ms(2)).concurrency_key("disk");
        let other = other.run(|_| ()).unwrap();
        bed.clock.advance(ms(2));
        assert_eq!(other.info().state, TaskState::Queued, "one at a time");
        for _ in 0..polled {
            assert!(hand.poll().is_pending());
        }
        hand.drop_first();
        let info = task.info();
        let when = if polled == 0 { "began" } else { "was over" };
        let error = format!("the runtime dropped the run before it {when}");
        assert_eq!(info.last_error.as_deref(), Some(&*error));
        assert_eq!(info.state, TaskState::Retrying);
        bed.clock.advance(ms(0));
        assert_eq!(
            other.wait_timeout(HANG),
            Some(TaskState::Succeeded),
            "its place is free"
        );
        bed.clock.advance(ms(10));
        hand.drop_first();
        assert_eq!(task.wait_timeout(HANG), Some(TaskState::Dead));
        bed.settle();
    }
}

#[test]
fn a_spawner_that_panics_or_drops_the_run_fails_the_attempt() {
    let bed = Bed::inline();
    let run = |spawner: fn(RunFuture)| {
        let task = bed.scheduler.unnamed().after(ms(1));
        let task = task.run_async(|_| pending::<()>(), spawner).unwrap();
        bed.clock.advance(ms(1));
        assert_eq!(task.wait_timeout(HANG), Some(TaskState::Failed));
        task.info().last_error.unwrap()
    };
    let error = "the runtime dropped the run before it began";
    assert_eq!(run(drop), error);
    assert_eq!(run(|_| panic!("there is no runtime here")), error);
    assert_eq!(bed.scheduler.stats().hooks_panicked, 1);
    bed.settle();
}

/// Tells when it is dropped.
struct Guard(std::sync::mpsc::Sender<()>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.send(()).unwrap();
    }
}

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

#[test]
fn a_run_that_is_over_is_done_however_often_it_is_polled_and_can_be_dropped() {
    let (bed, hand) = (Bed::inline(), ByHand::default());
    let task = bed.scheduler.task("x").after(ms(1));
    let task = task.run_async(|_| ready(()), hand.spawner()).unwrap();
    bed.clock.advance(ms(1));
    let mut run = hand.runs.lock().unwrap().remove(0);
    assert!(format!("{run:?}").contains("\"x\""));
    let mut cx = PollContext::from_waker(Waker::noop());
    for _ in 0..3 {
        assert!(Pin::new(&mut run).poll(&mut cx).is_ready());
    }
    drop(run);
    assert_eq!(task.wait_timeout(HANG), Some(TaskState::Succeeded));
    assert_eq!(task.info().succeeded, 1);
    bed.settle();
}

#[test]
fn what_the_user_gave_is_dropped_before_the_run_no_longer_counts() {
    let bed = Bed::workers(1);
    let (sent, dropped) = channel();
    let (guard, other) = (Guard(sent.clone()), Guard(sent));
    let handler = move |_| {
        let _ = &guard;
        ready(())
    };
    let spawner = move |run| {
        let _ = &other;
        smol::block_on::<()>(run);
    };
    let task = bed.scheduler.task("x").after(ms(1));
    let task = task.run_async(handler, spawner).unwrap();
    bed.clock.advance(ms(1));
    bed.settle();
    assert_eq!(task.info().state, TaskState::Succeeded);
    assert_eq!(dropped.try_iter().count(), 2);
}

#[test]
fn a_handler_that_snoozes_or_stops_is_obeyed() {
    let (bed, hand) = (Bed::inline(), ByHand::default());
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    let handler = move |_| {
        ready(match counted.fetch_add(1, Ordering::Relaxed) {
            0 => Outcome::Snooze(ms(7)),
            _ => Outcome::Cancel,
        })
    };
    let task = bed.scheduler.task("x").every(ms(10));
    let task = task.run_async(handler, hand.spawner()).unwrap();
    bed.clock.advance(ms(10));
    assert!(hand.poll().is_ready());
    bed.clock.advance(ms(7));
    assert!(hand.poll().is_ready());
    assert_eq!(task.wait_timeout(HANG), Some(TaskState::Cancelled));
    assert_eq!(count.load(Ordering::Relaxed), 2);
    bed.settle();
}

/// Each task fails once, sleeps, and ends; some take too long.
fn on_a_runtime(spawner: impl Fn(RunFuture) + Clone + Send + Sync + 'static) {
    let scheduler = Scheduler::builder().workers(2).build().unwrap();
    let timers = Timers::builder().build().unwrap();
    let add = |index: u32| {
        let timers = timers.clone();
        let handler = move |run: Context| {
            let timers = timers.clone();
            async move {
                if index % 10 == 0 {
                    pending::<()>().await;
                }
                timers.sleep(ms(1)).await.unwrap();
                match run.attempt() {
                    1 => Err("once more"),
                    _ => Ok(()),
                }
            }
        };
        let task = scheduler
            .unnamed()
            .after(ms(1))
            .retry(Retry::fixed(ms(1)).max_attempts(2));
        // Far from what the others take, also on a machine that is busy.
        let task = if index % 10 == 0 {
            task.timeout(ms(30))
        } else {
            task
        };
        task.run_async(handler, spawner.clone()).unwrap()
    };
    let tasks: Vec<_> = (0..200).map(add).collect();
    for (index, task) in tasks.iter().enumerate() {
        let state = if index % 10 == 0 {
            TaskState::Dead
        } else {
            TaskState::Succeeded
        };
        assert_eq!(task.wait_timeout(HANG), Some(state), "{index}");
    }
    scheduler.shutdown(HANG).unwrap();
    assert!(timers.is_empty());
}

#[test]
fn runs_go_under_tokio() {
    let runtime = tokio::runtime::Builder::new_multi_thread().build().unwrap();
    let handle = runtime.handle().clone();
    on_a_runtime(move |run| drop(handle.spawn(run)));
}

#[test]
fn runs_go_under_smol() {
    on_a_runtime(|run| smol::spawn(run).detach());
}

#[test]
fn a_runtime_that_ends_fails_the_runs_that_it_had() {
    let bed = Bed::workers(1);
    let runtime = tokio::runtime::Builder::new_multi_thread().build().unwrap();
    let handle = runtime.handle().clone();
    let (sent, started) = channel();
    let handler = move |_| {
        sent.send(()).unwrap();
        pending::<()>()
    };
    let task = bed.scheduler.task("x").after(ms(1));
    let task = task
        .run_async(handler, move |run| drop(handle.spawn(run)))
        .unwrap();
    bed.clock.advance(ms(1));
    started.recv_timeout(HANG).unwrap();
    drop(runtime);
    assert_eq!(task.wait_timeout(HANG), Some(TaskState::Failed));
    let error = task.info().last_error.unwrap();
    assert!(
        error.starts_with("the runtime dropped the run before it "),
        "{error}"
    );
    bed.settle();
}
