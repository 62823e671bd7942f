//! The time of an attempt, what becomes of one that is over it, and handlers that hang.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use wheel_runtime::{
    CancelOutcome, Context, Executor, GaveUp, Job, Outcome, Overlap, Retry, StopReason,
    SubmitError, TaskHandle, TaskState,
};

use crate::bed::{Bed, HANG, ms};

/// Handlers that ignore their tokens, until they are let go.
#[derive(Clone)]
struct Stuck {
    let_go: Arc<Mutex<std::sync::mpsc::Receiver<()>>>,
    started: std::sync::mpsc::Sender<u32>,
}

/// The other side.
struct Rescue {
    open: std::sync::mpsc::Sender<()>,
    started: std::sync::mpsc::Receiver<u32>,
}

fn stuck() -> (Rescue, Stuck) {
    let ((open, opened), (sender, started)) = (channel(), channel());
    let let_go = Arc::new(Mutex::new(opened));
    let stuck = Stuck {
        let_go,
        started: sender,
    };
    (Rescue { open, started }, stuck)
}

impl Stuck {
    fn hang(&self, run: &Context) {
        let _ = self.started.send(run.attempt());
        loop {
            // One at a time, so that nobody keeps the lock while another one has been let go.
            if self.let_go.lock().unwrap().try_recv() != Err(std::sync::mpsc::TryRecvError::Empty) {
                return;
            }
            thread::yield_now();
        }
    }
}

impl Rescue {
    fn wait_stuck(&self) -> u32 {
        self.started.recv_timeout(HANG).expect("nobody came")
    }

    fn let_go(&self) {
        self.open.send(()).unwrap();
    }
}

/// Waits until no handler hangs any more.
fn until_all_are_back(bed: &Bed) {
    let patience = std::time::Instant::now();
    while bed.scheduler.stats().hung > 0 {
        assert!(patience.elapsed() < HANG, "they hang");
        thread::yield_now();
    }
}

/// A task "x" that is due at once, with 50 ms for each attempt.
fn limited<F, O>(bed: &Bed, retry: Option<Retry>, handler: F) -> TaskHandle
where
    F: Fn(&Context) -> O + Send + Sync + 'static,
    O: wheel_runtime::IntoOutcome,
{
    let task = bed.scheduler.task("x").after(Duration::ZERO);
    let task = task.timeout(ms(50));
    let task = match retry {
        Some(retry) => task.retry(retry),
        None => task,
    };
    let task = task.run(handler).unwrap();
    bed.clock.advance(Duration::ZERO);
    task
}

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

#[test] // TO-04
fn stuck_handlers_are_timed_out_although_no_worker_is_free() {
    let bed = Bed::workers(2);
    let (rescue, stuck) = stuck();
    let tasks = [0, 1].map(|n| {
        let stuck = stuck.clone();
        let task = bed.scheduler.task(format!("stuck-{n}")).after(ms(0));
        let task = task.timeout(ms(100));
        task.run(move |run: &Context| stuck.hang(run)).unwrap()
    });
    bed.clock.advance(ms(0));
    assert_eq!((rescue.wait_stuck(), rescue.wait_stuck()), (1, 1));
    let waiting = [(); 10].map(|()| bed.scheduler.after(ms(10), |_| ()).unwrap());
    bed.clock.advance(ms(110));
    for task in &tasks {
        // Nobody has let it go.
        assert_eq!(task.wait_timeout(HANG), Some(TaskState::TimedOut));
        let run = task.info().last_run.unwrap();
        assert_eq!((run.state, run.attempt), (TaskState::TimedOut, 1));
    }
    let stats = bed.scheduler.stats();
    assert_eq!((stats.timed_out, stats.failed, stats.hung), (2, 2, 2));
    let hung = bed.scheduler.hung();
    assert_eq!(hung[0].task, "stuck-0");
    assert_eq!((hung[1].run, hung[1].attempt), (1, 1));
    bed.clock.advance(ms(7));
    assert_eq!(bed.scheduler.hung()[0].age, ms(17));
    rescue.let_go();
    rescue.let_go();
    for task in waiting {
        assert_eq!(task.wait_timeout(HANG), Some(TaskState::Succeeded));
    }
    until_all_are_back(&bed);
    assert!(bed.scheduler.hung().is_empty());
}

#[test] // TO-05
fn what_a_handler_says_after_its_time_changes_nothing() {
    let bed = Bed::workers(2);
    let (rescue, stuck) = stuck();
    let handler = move |run: &Context| {
        stuck.hang(run);
        match run.attempt() {
            1 => Ok(()),
            _ => Err("the second one has a say"),
        }
    };
    let task = limited(&bed, Some(Retry::fixed(ms(10)).max_attempts(2)), handler);
    assert_eq!(rescue.wait_stuck(), 1);
    bed.clock.advance(ms(50));
    bed.clock.advance(ms(10));
    assert_eq!(rescue.wait_stuck(), 2);
    assert_eq!(task.info().last_run.unwrap().attempt, 2);
    // Whichever of the two returns first.
    rescue.let_go();
    rescue.let_go();
    assert_eq!(task.wait_timeout(HANG), Some(TaskState::Dead));
    until_all_are_back(&bed);
    let (info, stats) = (task.info(), bed.scheduler.stats());
    assert_eq!(info.last_error.as_deref(), Some("the second one has a say"));
    assert_eq!((info.succeeded, info.failed, info.dead), (0, 1, 1));
    assert_eq!((stats.runs, stats.retried, stats.timed_out), (1, 1, 1));
    assert_eq!(stats.dead_letters, 1);
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
    assert_eq!(timeout, SubmitError::ZeroTime("timeout"));
    let deadline = task().deadline(Duration::ZERO).run(|_| ()).unwrap_err();
    let said = "deadline: 0 is not possible; longer than that, or Duration::MAX for no limit";
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
fn a_task_that_recurs_goes_on_beside_a_handler_that_hangs() {
    let bed = Bed::workers(2);
    let (rescue, stuck) = stuck();
    let task = bed.scheduler.task("x").every(ms(100)).timeout(ms(50));
    let handler = move |run: &Context| {
        if run.run() == 1 {
            stuck.hang(run);
        }
    };
    let task = task.overlap(Overlap::Skip).run(handler).unwrap();
    bed.clock.advance(ms(100));
    rescue.wait_stuck();
    bed.jump(ms(50));
    assert_eq!(task.info().state, TaskState::Scheduled);
    bed.jump(ms(50));
    let info = task.info();
    assert_eq!((info.runs, info.failed, info.succeeded), (2, 1, 1));
    assert_eq!((info.skipped, info.timed_out), (0, 1));
    assert_eq!(info.last_run.unwrap().state, TaskState::Succeeded);
    rescue.let_go();
    until_all_are_back(&bed);
    // What it has returned after all does not touch the record of the later run.
    assert_eq!(task.info(), info);
}

#[test]
fn what_waits_for_the_run_to_end_waits_for_its_time_and_not_for_its_handler() {
    let bed = Bed::workers(2);
    let (rescue, stuck) = stuck();
    let task = bed.scheduler.task("x").every(ms(100)).timeout(ms(150));
    let task = task.overlap(Overlap::QueueOne);
    let handler = move |run: &Context| {
        if run.run() == 1 {
            stuck.hang(run);
        }
    };
    let task = task.run(handler).unwrap();
    bed.clock.advance(ms(100));
    rescue.wait_stuck();
    bed.clock.advance(ms(100));
    assert_eq!(task.info().backlog, 1);
    bed.jump(ms(50));
    assert_eq!((task.info().runs, task.info().succeeded), (2, 1));
    rescue.let_go();
    until_all_are_back(&bed);
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

#[test]
fn a_shutdown_waits_for_handlers_that_hang_and_names_those_that_do_not_return() {
    for returns in [true, false] {
        let bed = Bed::workers(1);
        let (rescue, stuck) = stuck();
        let task = limited(&bed, None, move |run: &Context| stuck.hang(run));
        rescue.wait_stuck();
        bed.clock.advance(ms(50));
        assert_eq!(task.wait_timeout(HANG), Some(TaskState::TimedOut));
        // What the run has left behind does not count as going.
        assert!(bed.scheduler.wait_idle_timeout(HANG));
        if returns {
            rescue.let_go();
            assert!(bed.scheduler.shutdown(HANG).is_ok());
            assert_eq!(bed.scheduler.stats().hung, 0);
        } else {
            let cut = bed.scheduler.shutdown(Duration::ZERO).unwrap_err();
            let named: Vec<&str> = cut.report.cut.iter().map(|task| task.id.as_str()).collect();
            assert_eq!(named, ["x"]);
            rescue.let_go();
        }
    }
}

#[test]
fn a_handler_that_hangs_may_wait_for_all_that_is_going() {
    let bed = Bed::workers(2);
    let (rescue, stuck) = stuck();
    let (sent, waited) = channel();
    let scheduler = bed.scheduler.clone();
    let late = move |run: &Context| {
        stuck.hang(run);
        // Its own run is over, and another one is going.
        sent.send(scheduler.wait_idle_timeout(Duration::ZERO))
            .unwrap();
    };
    limited(&bed, None, late);
    rescue.wait_stuck();
    bed.clock.advance(ms(50));
    let gate = bed.occupy_at_once();
    rescue.let_go();
    assert_eq!(waited.recv_timeout(HANG), Ok(false));
    gate.open();
    bed.settle();
    bed.scheduler.shutdown(HANG).unwrap();
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

#[test]
fn a_handler_that_panics_after_its_time_has_had_its_end() {
    let bed = Bed::workers(1);
    let (rescue, stuck) = stuck();
    let handler = move |run: &Context| -> Outcome {
        stuck.hang(run);
        panic!("too late")
    };
    let task = limited(&bed, None, handler);
    rescue.wait_stuck();
    bed.clock.advance(ms(50));
    rescue.let_go();
    until_all_are_back(&bed);
    let info = task.info();
    assert_eq!(info.state, TaskState::TimedOut);
    assert_eq!(info.last_error.as_deref(), Some("timed out after 50ms"));
}
