//! The time of an attempt, and what becomes of one that is over it.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use wheel_runtime::{
    CancelOutcome, Context, Executor, GaveUp, Job, Overlap, Retry, StopReason, TaskHandle,
    TaskState,
};

use crate::bed::{Bed, HANG, ms};
use crate::hung::{limited, stuck, until_all_are_back};

#[test] // TO-01
fn an_attempt_that_is_over_time_is_tried_again_and_leaves_its_places() {
    let bed = Bed::workers(1);
    let (started, has_started) = channel();
    // Would take long, and stops when it should.
    let handler = move |run: &Context| {
        started.send(()).unwrap();
        match run.attempt() {
            1 => {
                assert!(run.token().wait_timeout(HANG), "nobody tells it");
                assert_eq!(run.stop_reason(), Some(StopReason::TimedOut));
                Err("stopped")
            }
            _ => {
                assert_eq!(run.last_error(), Some("timed out after 50ms"));
                Ok(())
            }
        }
    };
    let task = limited(&bed, Some(Retry::fixed(ms(1)).max_attempts(2)), handler);
    has_started.recv_timeout(HANG).unwrap();
    bed.clock.advance(ms(49));
    assert_eq!(task.info().state, TaskState::Running);
    bed.clock.advance(ms(1));
    assert_eq!(task.info().state, TaskState::Retrying);
    bed.jump(ms(1));
    assert_eq!(task.wait_timeout(HANG), Some(TaskState::Succeeded));
    let (info, stats) = (task.info(), bed.scheduler.stats());
    assert_eq!((info.runs, info.retried, info.timed_out), (1, 1, 1));
    assert_eq!((stats.running, stats.succeeded, stats.failed), (0, 1, 0));
    // And another task has the worker.
    let other = bed.scheduler.after(ms(1), |_| ()).unwrap();
    bed.jump(ms(1));
    assert_eq!(other.wait_timeout(HANG), Some(TaskState::Succeeded));
}

#[test] // OV-03
fn the_longest_duration_is_no_limit() {
    let bed = Bed::inline();
    let clock = bed.clock.clone();
    let task = bed.scheduler.task("x").after(ms(1));
    let task = task.timeout(Duration::MAX).deadline(Duration::MAX);
    let handler = move |run: &Context| {
        assert_eq!((run.deadline(), run.time_left()), (None, None));
        clock.advance(ms(20));
    };
    let task = task.run(handler).unwrap();
    bed.clock.run_for(ms(100));
    assert_eq!(task.wait(), TaskState::Succeeded);
    assert_eq!(bed.scheduler.stats().timed_out, 0);
}

#[test]
fn a_limit_of_zero_is_refused_by_its_name() {
    let bed = Bed::inline();
    let task = || bed.scheduler.task("x").after(ms(1));
    let timeout = task().timeout(Duration::ZERO).run(|_| ()).unwrap_err();
    assert!(timeout.to_string().starts_with("timeout: 0 "), "{timeout}");
    let deadline = task().deadline(Duration::ZERO).run(|_| ()).unwrap_err();
    let said = "deadline: 0 is not possible: longer than that, or Duration::MAX for no limit";
    assert_eq!(deadline.to_string(), said);
    assert!(!deadline.may_succeed_later());
}

#[test]
fn an_attempt_that_returns_when_its_time_is_over_by_the_clock_is_over_time() {
    for (takes, state) in [
        (49, TaskState::Succeeded),
        (50, TaskState::TimedOut),
        (80, TaskState::TimedOut),
    ] {
        let bed = Bed::inline();
        let clock = bed.clock.clone();
        // On the driver itself, which notices nothing meanwhile.
        let task = limited(&bed, None, move |run: &Context| {
            clock.advance(ms(takes));
            assert!(!run.is_cancelled());
        });
        assert_eq!(task.wait(), state, "{takes} ms");
        let run = task.info().last_run.unwrap();
        assert_eq!(run.state, state);
        let took = run.finished.unwrap().duration_since(run.started).unwrap();
        assert_eq!(took, ms(takes));
        bed.clock.run_for(ms(100));
        let stats = bed.scheduler.stats();
        assert_eq!(stats.timed_out, u64::from(state == TaskState::TimedOut));
        assert_eq!(stats.hung, 0);
    }
}

#[test]
fn a_run_that_is_over_time_in_each_attempt_is_a_dead_letter_that_can_be_replayed() {
    let bed = Bed::inline();
    let (clock, slow) = (bed.clock.clone(), Arc::new(AtomicU32::new(2)));
    let is_slow = Arc::clone(&slow);
    let handler = move |_: &Context| {
        let was = is_slow.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1));
        if was.is_ok() {
            clock.advance(ms(60));
        }
    };
    let task = limited(&bed, Some(Retry::fixed(ms(10)).max_attempts(2)), handler);
    bed.clock.run_for(ms(200));
    assert_eq!(task.wait(), TaskState::Dead);
    let letter = bed.scheduler.dead_letters().list().remove(0);
    assert_eq!(letter.last.gave_up, GaveUp::OutOfAttempts);
    assert_eq!(letter.last.error, "timed out after 50ms");
    assert_eq!(letter.last.attempts, 2);
    let again = bed.scheduler.dead_letters().replay(letter.id).unwrap();
    bed.clock.run_for(ms(200));
    assert_eq!(again.wait(), TaskState::Succeeded);
}

#[test]
fn a_dead_letter_of_a_stuck_handler_needs_no_worker() {
    let bed = Bed::workers(1);
    let (rescue, stuck) = stuck();
    let retry = Retry::fixed(ms(10)).max_attempts(1);
    let task = limited(&bed, Some(retry), move |run: &Context| stuck.hang(run));
    rescue.wait_stuck();
    bed.clock.advance(ms(50));
    assert_eq!(task.wait_timeout(HANG), Some(TaskState::Dead));
    assert_eq!(bed.scheduler.dead_letters().list().len(), 1);
    rescue.let_go();
    until_all_are_back(&bed);
}

#[test]
fn what_the_user_has_a_say_in_runs_on_a_worker() {
    let bed = Bed::with(|builder| builder.workers(2).thread_name("test"));
    let (rescue, stuck) = stuck();
    let (calls, called) = channel();
    let note = move |what: &str| {
        let thread = thread::current().name().unwrap_or("").to_owned();
        calls.send((what.to_owned(), thread)).unwrap();
    };
    let [asks, delays, fails, dies] = [(); 4].map(|()| note.clone());
    let retry = Retry::custom(move |_| {
        delays("custom");
        ms(10)
    });
    let retry = retry.max_attempts(2).retry_if(move |error| {
        assert_eq!(error, "timed out after 50ms");
        asks("retry_if");
        true
    });
    let task = bed.scheduler.task("x").after(ms(0)).timeout(ms(50));
    let task = task.retry(retry).on_failure(move |_| fails("on_failure"));
    let task = task.on_dead(move |letter| dies(&letter.last.error));
    let task = task.run(move |run: &Context| stuck.hang(run)).unwrap();
    bed.clock.advance(ms(0));
    assert_eq!(rescue.wait_stuck(), 1);
    bed.jump(ms(50));
    rescue.let_go();
    until_all_are_back(&bed);
    bed.clock.advance(ms(10));
    assert_eq!(rescue.wait_stuck(), 2);
    bed.jump(ms(50));
    assert_eq!(task.wait_timeout(HANG), Some(TaskState::Dead));
    rescue.let_go();
    until_all_are_back(&bed);
    let called: Vec<(String, String)> = called.try_iter().collect();
    let what: Vec<&str> = called.iter().map(|(what, _)| what.as_str()).collect();
    let wanted = ["retry_if", "custom", "on_failure", "on_failure"];
    assert_eq!(what[..4], wanted);
    assert_eq!(what[4..], ["timed out after 50ms"]);
    for (what, thread) in called {
        assert!(thread.starts_with("test-worker"), "{what} on {thread}");
    }
}

#[test]
fn a_cancelled_task_ends_when_the_time_of_its_run_is_over() {
    let bed = Bed::workers(1);
    let (rescue, stuck) = stuck();
    let retry = Retry::fixed(ms(1));
    let task = limited(&bed, Some(retry), move |run: &Context| stuck.hang(run));
    rescue.wait_stuck();
    assert_eq!(task.cancel(), CancelOutcome::Running);
    bed.clock.advance(ms(50));
    assert_eq!(task.wait_timeout(HANG), Some(TaskState::Cancelled));
    let stats = bed.scheduler.stats();
    assert_eq!((stats.timed_out, stats.retried, stats.dead), (1, 0, 0));
    assert_eq!(bed.scheduler.hung().len(), 1);
    rescue.let_go();
    until_all_are_back(&bed);
    assert!(bed.scheduler.shutdown(HANG).is_ok());
}

/// What the first run of a task of every 100 ms is told, after `act` has stopped it.
fn reason_after(act: impl FnOnce(&Bed, &TaskHandle)) -> Option<StopReason> {
    let bed = Bed::workers(1);
    let (sent, reasons) = channel();
    let handler = move |run: &Context| {
        let _ = sent.send(None);
        run.token().wait_timeout(HANG);
        let _ = sent.send(run.stop_reason());
    };
    let task = bed.scheduler.task("x").every(ms(100));
    let task = task.overlap(Overlap::CancelRunning).timeout(ms(150));
    let task = task.run(handler).unwrap();
    bed.clock.advance(ms(100));
    assert_eq!(reasons.recv_timeout(HANG), Ok(None));
    act(&bed, &task);
    let reason = reasons.recv_timeout(HANG).expect("nobody tells it");
    let _ = task.cancel();
    reason
}

#[test]
fn a_run_is_told_why_it_should_stop() {
    let cancelled = reason_after(|_, task| {
        let _ = task.cancel();
    });
    assert_eq!(cancelled, Some(StopReason::Cancelled));
    let gave_way = reason_after(|bed, _| bed.clock.advance(ms(100)));
    assert_eq!(gave_way, Some(StopReason::GaveWay));
    let shut_down = reason_after(|bed, _| drop(bed.scheduler.shutdown(Duration::ZERO)));
    assert_eq!(shut_down, Some(StopReason::ShutDown));
    let timed_out = reason_after(|bed, task| {
        let _ = bed.scheduler.pause(task.id());
        bed.clock.advance(ms(150));
    });
    assert_eq!(timed_out, Some(StopReason::TimedOut));
}

/// Takes runs one by one, and refuses everything once it is told.
#[derive(Default)]
struct Picky {
    refuses: Arc<Mutex<bool>>,
}

impl Executor for Picky {
    fn execute(&self, jobs: &mut Vec<Job>) {
        if *self.refuses.lock().unwrap() {
            jobs.clear();
        }
        for job in jobs.drain(..) {
            thread::spawn(move || job.run());
        }
    }
}

#[test]
fn an_executor_that_refuses_what_is_left_to_do_does_not_lose_the_end_of_a_run() {
    let picky = Picky::default();
    let refuses = Arc::clone(&picky.refuses);
    let bed = Bed::with(|builder| builder.executor(picky));
    let (rescue, stuck) = stuck();
    let (sent, failures) = channel();
    let task = bed.scheduler.task("x").after(ms(0)).timeout(ms(50));
    let task = task.on_failure(move |failure| sent.send(failure.error.clone()).unwrap());
    let task = task.run(move |run: &Context| stuck.hang(run)).unwrap();
    bed.clock.advance(ms(0));
    rescue.wait_stuck();
    *refuses.lock().unwrap() = true;
    bed.clock.advance(ms(50));
    assert_eq!(task.wait_timeout(HANG), Some(TaskState::TimedOut));
    assert_eq!(failures.recv_timeout(HANG).unwrap(), "timed out after 50ms");
    rescue.let_go();
    until_all_are_back(&bed);
}
