//! What users bring along and how it may misbehave: values whose `Drop` calls back, executors that
//! count wrongly.

use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use wheel_runtime::{Context, Executor, InlineExecutor, Job, Misfire, Scheduler, TaskState};

use crate::bed::{Bed, HANG, ms};

/// Calls `0` when it is dropped.
struct AtTheEnd<F: Fn()>(F);

impl<F: Fn()> Drop for AtTheEnd<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// Runs a task whose handler holds something that calls `act` when the ended task drops it. What
/// `act` answered.
fn dropped_by_the_run<T: Send + 'static>(
    act: impl Fn(&Scheduler) -> T + Send + Sync + 'static,
) -> T {
    let bed = Bed::workers(1);
    let (send, sent) = channel();
    let scheduler = bed.scheduler.clone();
    let held = AtTheEnd(move || send.send(act(&scheduler)).unwrap());
    let handler = move |_: &Context| {
        let _ = &held;
    };
    bed.scheduler.after(ms(1), handler).unwrap();
    bed.clock.advance(ms(1));
    sent.recv_timeout(HANG).expect("it waits for its own run")
}

#[test]
fn what_waits_for_idle_when_its_run_drops_it_does_not_wait_for_that_run() {
    let limit = Duration::from_secs(5);
    assert!(dropped_by_the_run(move |scheduler| {
        scheduler.wait_idle_timeout(limit)
    }));
}

#[test]
fn what_shuts_down_when_its_run_drops_it_does_not_wait_for_that_run() {
    let grace = Duration::from_secs(5);
    assert!(dropped_by_the_run(move |scheduler| {
        let begun = Instant::now();
        scheduler.shutdown(grace).unwrap();
        begun.elapsed() < grace
    }));
}

#[test]
fn on_the_driver_thread_nobody_waits_for_what_only_that_thread_can_run() {
    let bed = Bed::inline();
    let (send, sent) = channel();
    for _ in 0..2 {
        let (scheduler, send) = (bed.scheduler.clone(), send.clone());
        let handler = move |_: &Context| {
            scheduler.wait_idle();
            send.send(scheduler.wait_idle_timeout(HANG)).unwrap();
        };
        bed.scheduler.after(ms(1), handler).unwrap();
    }
    let clock = bed.clock.clone();
    std::thread::spawn(move || clock.advance(ms(1)));
    let answer = || sent.recv_timeout(HANG).expect("it hangs");
    assert_eq!([answer(), answer()], [false, true]);
}

#[test]
fn an_executor_that_counts_wrongly_does_not_end_the_engine() {
    struct Counts(fn() -> usize);
    impl Executor for Counts {
        fn execute(&self, jobs: &mut Vec<Job>) {
            InlineExecutor.execute(jobs);
        }
        fn queued(&self) -> usize {
            (self.0)()
        }
    }
    let counts: [fn() -> usize; 2] = [|| usize::MAX, || panic!("of the test")];
    for count in counts {
        let bed = Bed::with(|builder| builder.executor(Counts(count)));
        let tasks = [1, 2].map(|n| bed.scheduler.after(ms(n), |_| ()).unwrap());
        bed.clock.run_for(ms(2));
        for task in tasks {
            assert_eq!(task.info().state, TaskState::Succeeded);
        }
    }
}

#[test]
fn what_the_driver_leaves_to_be_dropped_may_wait_for_idle() {
    let bed = Bed::workers(2);
    let (sent, waited) = channel();
    let scheduler = bed.scheduler.clone();
    let captured = AtTheEnd(move || {
        let _ = sent.send(scheduler.wait_idle_timeout(ms(5_000)));
    });
    let task = bed.scheduler.task("x").after(ms(10)).misfire(Misfire::Skip);
    let task = task.run(move |_| {
        let _ = &captured;
    });
    // Too late for its policy: the driver ends it.
    bed.clock.advance(Duration::from_secs(3_600));
    assert_eq!(waited.recv_timeout(HANG), Ok(true));
    assert_eq!(task.unwrap().wait(), TaskState::Skipped);
    bed.settle();
}
