//! timeout-or-completion: the time of an attempt is over while its handler returns. One of the two
//! decides: the driver, by the timer, or the worker, by the clock. The run is counted once, and its
//! token is set if and only if it was over time.

use std::sync::Arc;
use std::time::Duration;

use wheel_loom_tests::Seen;
use wheel_loom_tests::jobs::Jobs;
use wheel_loom_tests::shop::Shop;
use wheel_runtime::{
    CancelToken, Context, Job, ManualClock, Retry, StopReason, TaskBuilder, TaskHandle, TaskState,
};
use wheel_sync::thread::JoinHandle;
use wheel_sync::{Mutex, model, rest_unexplored, thread, unexplored};

const MS: Duration = Duration::from_millis(1);

/// What a first attempt leaves for the model.
#[derive(Clone, Debug, Default)]
struct Left(Arc<Mutex<Option<Race>>>);

/// The token of the attempt, and the thread on which its time passes.
type Race = (CancelToken, JoinHandle<()>);

impl Left {
    /// The handler of a first attempt: its time passes on another thread while it returns.
    fn race(&self, clock: &ManualClock, run: &Context) {
        let clock = clock.clone();
        let mover = thread::spawn(move || clock.advance(MS));
        *self.0.lock() = Some((run.token().clone(), mover));
    }

    /// Waits until all that was due has been looked at. The token.
    fn finish(&self) -> CancelToken {
        let left = self.0.lock().take();
        let (token, mover) = left.expect("the first attempt has been called");
        mover.join().unwrap();
        token
    }
}

/// A shop with a task of a millisecond an attempt, and its first attempt, which waits for a worker.
fn limited(
    jobs: &Jobs,
    left: &Left,
    set: impl FnOnce(TaskBuilder<'_>) -> TaskBuilder<'_>,
) -> (Shop, TaskHandle, Job) {
    let (counted, left) = (jobs.clone(), left.clone());
    unexplored(|| {
        let shop = Shop::open();
        let clock = shop.clock.clone();
        let handler = move |run: &Context| {
            counted.count();
            if run.attempt() == 1 {
                left.race(&clock, run);
            }
        };
        let task = shop.scheduler.task("print").after(Duration::ZERO);
        let task = set(task.timeout(MS)).run(handler).unwrap();
        shop.clock.advance(Duration::ZERO);
        let job = shop.shelf.take().expect("it is due");
        (shop, task, job)
    })
}

#[test]
fn of_a_timeout_and_a_return_one_decides() {
    let seen = Seen::default();
    let sees = seen.clone();
    model("timeout-or-completion", move || {
        let (jobs, left) = (Jobs::new(), Left::default());
        let (shop, task, job) = limited(&jobs, &left, |task| task);
        job.run();
        let token = left.finish();
        rest_unexplored();
        // What the driver has left of the task is on the shelf.
        shop.run_all();
        let stats = shop.stats_when_idle();
        let is_late = token.is_cancelled();
        sees.note(usize::from(is_late));
        let late = u64::from(is_late);
        assert_eq!((stats.runs, stats.timed_out, stats.failed), (1, late, late));
        assert_eq!((stats.succeeded, stats.hung), (1 - late, 0));
        if is_late {
            assert_eq!(token.stop_reason(), Some(StopReason::TimedOut));
            assert_eq!(task.wait(), TaskState::TimedOut);
        } else {
            assert_eq!(task.wait(), TaskState::Succeeded);
        }
        assert_eq!(task.info().last_run.unwrap().state, task.wait());
        assert!(shop.scheduler.hung().is_empty());
    });
    seen.all(2);
}

#[test]
fn a_late_return_does_not_decide_for_the_next_attempt() {
    let seen = Seen::default();
    let sees = seen.clone();
    model("timeout-or-completion, tried again", move || {
        let (jobs, left) = (Jobs::new(), Left::default());
        let (shop, task, job) = limited(&jobs, &left, |task| task.retry(Retry::fixed(MS)));
        job.run();
        let is_late = left.finish().is_cancelled();
        rest_unexplored();
        sees.note(usize::from(is_late));
        shop.clock.advance(MS);
        shop.run_all();
        let stats = shop.stats_when_idle();
        let late = u64::from(is_late);
        assert_eq!(jobs.ran() as u64, 1 + late);
        assert_eq!((stats.retried, stats.timed_out), (late, late));
        assert_eq!((stats.runs, stats.succeeded, stats.failed), (1, 1, 0));
        assert_eq!(task.wait(), TaskState::Succeeded);
        assert_eq!(stats.hung, 0);
    });
    seen.all(2);
}

#[test]
fn a_hook_hears_of_a_timeout_once() {
    let seen = Seen::default();
    let sees = seen.clone();
    model("timeout-or-completion, hook", move || {
        let (jobs, left, told) = (Jobs::new(), Left::default(), Jobs::new());
        let tells = told.clone();
        let hook = move |_: &_| tells.count();
        let (shop, task, job) = limited(&jobs, &left, |task| task.on_failure(hook));
        job.run();
        let is_late = left.finish().is_cancelled();
        rest_unexplored();
        // The driver has left the rest to a worker, or the worker has found out by itself.
        let settles = shop.shelf.take();
        sees.note(usize::from(is_late) + usize::from(settles.is_some()));
        drop(settles.map(Job::run));
        let stats = shop.stats_when_idle();
        assert_eq!(told.ran(), usize::from(is_late));
        let late = u64::from(is_late);
        assert_eq!((stats.failed, stats.succeeded), (late, 1 - late));
        assert!(task.wait().has_ended());
        assert_eq!(stats.hung, 0);
    });
    seen.all(3);
}
