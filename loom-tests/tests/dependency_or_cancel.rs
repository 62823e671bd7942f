//! dependency-or-cancel: the run of a parent is over while its child registers, is cancelled, or is
//! ended with its scheduler. The child runs once or not at all, is never forgotten, and the counts
//! say which.

use std::time::Duration;

use wheel_loom_tests::Seen;
use wheel_loom_tests::jobs::Jobs;
use wheel_loom_tests::shop::Shop;
use wheel_runtime::{CancelOutcome, Context, Job, TaskHandle, TaskState, When};
use wheel_sync::{model, rest_unexplored, thread, unexplored};

/// A shop with a task "a" whose run waits for a worker, and that run.
fn about_to_run() -> (Shop, TaskHandle, Job) {
    unexplored(|| {
        let shop = Shop::open();
        let task = shop.scheduler.task("a").after(Duration::ZERO);
        let task = task.run(|_| ()).unwrap();
        shop.clock.advance(Duration::ZERO);
        let job = shop.shelf.take().expect("it is due");
        (shop, task, job)
    })
}

/// "b", which waits for "a".
fn child(shop: &Shop, jobs: &Jobs, wanted: When) -> TaskHandle {
    let counted = jobs.clone();
    let task = shop.scheduler.task("b").depends_on("a", wanted);
    task.run(move |_: &Context| counted.count()).unwrap()
}

#[test]
fn a_child_that_registers_as_its_parent_ends_runs_once() {
    model("dependency-or-cancel, register", || {
        let jobs = Jobs::new();
        let (shop, _parent, job) = about_to_run();
        let worker = thread::spawn(move || drop(job.run()));
        let task = child(&shop, &jobs, When::Succeeded);
        worker.join().unwrap();
        rest_unexplored();
        shop.run_all();
        assert_eq!((task.wait(), jobs.ran()), (TaskState::Succeeded, 1));
        let stats = shop.stats_when_idle();
        assert_eq!((stats.scheduled, stats.runs), (0, 2));
    });
}

#[test]
fn a_child_that_registers_as_its_parent_is_cancelled_is_skipped() {
    model("dependency-or-cancel, register and cancel", || {
        let jobs = Jobs::new();
        let (shop, parent, job) = about_to_run();
        let canceller = thread::spawn(move || parent.cancel());
        let task = child(&shop, &jobs, When::Succeeded);
        assert_eq!(canceller.join().unwrap(), CancelOutcome::Cancelled);
        rest_unexplored();
        drop(job.run());
        assert_eq!((task.wait(), jobs.ran()), (TaskState::Skipped, 0));
        let stats = shop.stats_when_idle();
        assert_eq!((stats.scheduled, stats.skipped_upstream), (0, 1));
    });
}

#[test]
fn a_cancel_of_the_child_and_the_end_of_its_parent_have_one_winner() {
    let seen = Seen::default();
    let sees = seen.clone();
    model("dependency-or-cancel", move || {
        let jobs = Jobs::new();
        let (shop, _parent, job) = about_to_run();
        let task = unexplored(|| child(&shop, &jobs, When::Succeeded));
        let worker = thread::spawn(move || drop(job.run()));
        assert_eq!(task.cancel(), CancelOutcome::Cancelled);
        worker.join().unwrap();
        rest_unexplored();
        // Cancelled as it waited for its parent, or for a worker.
        shop.clock.advance(Duration::ZERO);
        let late = shop.shelf.take();
        sees.note(usize::from(late.is_some()));
        drop(late.map(Job::run));
        assert_eq!((task.wait(), jobs.ran()), (TaskState::Cancelled, 0));
        let stats = shop.stats_when_idle();
        assert_eq!((stats.scheduled, stats.cancelled, stats.skipped), (0, 1, 0));
    });
    seen.all(2);
}

#[test]
fn of_two_parents_that_end_together_the_later_one_lets_go() {
    model("dependency-or-cancel, two parents", || {
        let jobs = Jobs::new();
        let (shop, _parent, job) = about_to_run();
        let (other, task) = unexplored(|| {
            let other = shop.scheduler.task("c").after(Duration::ZERO);
            other.run(|_| ()).unwrap();
            shop.clock.advance(Duration::ZERO);
            let counted = jobs.clone();
            let task = shop.scheduler.task("b").depends_on("a", When::Succeeded);
            let task = task.depends_on("c", When::Finished);
            let task = task.run(move |_: &Context| counted.count()).unwrap();
            (shop.shelf.take().expect("it is due"), task)
        });
        let worker = thread::spawn(move || drop(job.run()));
        drop(other.run());
        worker.join().unwrap();
        rest_unexplored();
        shop.run_all();
        assert_eq!((task.wait(), jobs.ran()), (TaskState::Succeeded, 1));
        assert_eq!(shop.stats_when_idle().runs, 3);
    });
}

#[test]
fn a_child_that_is_added_in_a_shutdown_is_named_or_refused() {
    let seen = Seen::default();
    let sees = seen.clone();
    model("dependency-or-cancel, shutdown", move || {
        let jobs = Jobs::new();
        let (shop, _parent, job) = about_to_run();
        let other = shop.scheduler.clone();
        let shutdown = thread::spawn(move || other.shutdown(Duration::MAX));
        let counted = jobs.clone();
        let task = shop.scheduler.task("b").depends_on("a", When::Succeeded);
        let added = task.run(move |_: &Context| counted.count());
        let report = shutdown.join().unwrap().unwrap();
        rest_unexplored();
        let named = report.pending.iter().filter(|task| task.id == "b").count();
        sees.note(usize::from(added.is_ok()));
        if let Ok(task) = added {
            let skipped = usize::from(task.wait() == TaskState::Skipped);
            assert_eq!(named + skipped, 1);
        } else {
            assert_eq!(named, 0);
        }
        drop(job.run());
        assert!(shop.scheduler.wait_empty_timeout(Duration::MAX));
        assert_eq!((jobs.ran(), shop.scheduler.stats().scheduled), (0, 0));
    });
    seen.all(2);
}
