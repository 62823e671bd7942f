//! Handlers that ignore their tokens: what goes on without them, and what becomes of them.

use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use wheel_runtime::{
    Context, IntoOutcome, Outcome, Overlap, PoolSpec, Retry, TaskHandle, TaskState,
};

use crate::bed::{Bed, HANG, ms};

/// Handlers that ignore their tokens, until they are let go.
#[derive(Clone)]
pub(crate) struct Stuck {
    let_go: Arc<Mutex<Receiver<()>>>,
    started: Sender<u32>,
}

/// The other side.
pub(crate) struct Rescue {
    open: Sender<()>,
    started: Receiver<u32>,
}

pub(crate) fn stuck() -> (Rescue, Stuck) {
    let ((open, opened), (sender, started)) = (channel(), channel());
    let let_go = Arc::new(Mutex::new(opened));
    let stuck = Stuck {
        let_go,
        started: sender,
    };
    (Rescue { open, started }, stuck)
}

impl Stuck {
    pub(crate) fn hang(&self, run: &Context) {
        let _ = self.started.send(run.attempt());
        loop {
            // One at a time, so that nobody keeps the lock while another one has been let go.
            if self.let_go.lock().unwrap().try_recv() != Err(TryRecvError::Empty) {
                return;
            }
            thread::yield_now();
        }
    }
}

impl Rescue {
    pub(crate) fn wait_stuck(&self) -> u32 {
        self.started.recv_timeout(HANG).expect("nobody came")
    }

    pub(crate) fn let_go(&self) {
        self.open.send(()).unwrap();
    }
}

/// Waits until no handler hangs any more.
pub(crate) fn until_all_are_back(bed: &Bed) {
    let patience = Instant::now();
    while bed.scheduler.stats().hung > 0 {
        assert!(patience.elapsed() < HANG, "they hang");
        thread::yield_now();
    }
}

/// A task "x" that is due at once, with 50 ms for each attempt.
pub(crate) fn limited<F, O>(bed: &Bed, retry: Option<Retry>, handler: F) -> TaskHandle
where
    F: Fn(&Context) -> O + Send + Sync + 'static,
    O: IntoOutcome,
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

#[test] // HP-03
fn a_handler_that_hangs_does_not_cost_a_worker_either_once_its_time_is_over() {
    let bed = Bed::workers(1);
    let (rescue, stuck) = stuck();
    limited(&bed, None, move |run: &Context| stuck.hang(run));
    rescue.wait_stuck();
    let waiting = [(); 1_000].map(|()| bed.scheduler.after(ms(5), |_| ()).unwrap());
    bed.clock.advance(ms(5));
    assert_eq!(bed.scheduler.stats().succeeded, 0);
    bed.clock.advance(ms(45));
    for task in waiting {
        assert_eq!(task.wait_timeout(HANG), Some(TaskState::Succeeded));
    }
    assert!(bed.scheduler.hung()[0].is_replaced);
    rescue.let_go();
    until_all_are_back(&bed);
    // And the one worker goes on.
    let other = bed.scheduler.after(ms(5), |_| ()).unwrap();
    bed.jump(ms(5));
    assert_eq!(other.wait_timeout(HANG), Some(TaskState::Succeeded));
}

#[test]
fn the_hooks_of_a_timeout_are_called_in_the_pool_of_the_task() {
    let bed = Bed::with(|builder| {
        let own = PoolSpec::named("own").workers(2);
        builder.workers(1).pool(own)
    });
    let (rescue, stuck) = stuck();
    let (sent, called) = channel();
    let task = bed.scheduler.task("x").after(ms(0)).pool("own");
    let task = task.timeout(ms(50)).on_failure(move |_| {
        let name = thread::current().name().unwrap_or_default().to_owned();
        sent.send(name).unwrap();
    });
    task.run(move |run: &Context| stuck.hang(run)).unwrap();
    // Nobody is free in the pool without a name.
    let busy = bed.occupy_at_once();
    rescue.wait_stuck();
    bed.clock.advance(ms(50));
    let name = called
        .recv_timeout(ms(5_000))
        .expect("nobody has called it");
    assert!(name.starts_with("wheel-own"), "{name}");
    rescue.let_go();
    busy.open();
    bed.settle();
}

#[test]
fn a_task_that_recurs_and_hangs_is_named_once_as_one_that_was_cut() {
    let bed = Bed::workers(2);
    let (rescue, stuck) = stuck();
    let task = bed.scheduler.task("x").every(ms(100)).timeout(ms(50));
    let task = task.run(move |run: &Context| stuck.hang(run)).unwrap();
    bed.clock.advance(ms(100));
    rescue.wait_stuck();
    bed.jump(ms(50));
    let before = task.info();
    assert_eq!(before.state, TaskState::Scheduled);
    let cut = bed.scheduler.shutdown(Duration::ZERO).unwrap_err();
    assert!(cut.report.pending.is_empty(), "named twice");
    assert_eq!(cut.report.cut, [before], "as it stood before");
    rescue.let_go();
    until_all_are_back(&bed);
}
