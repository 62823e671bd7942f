//! worker-leaves: workers of a pool that grows and shrinks leave as work comes. While there is room
//! for a worker, no job waits for another one to end.
//!
//! What is lost is a job that no worker starts, so an execution is explored until the job runs.

use std::sync::Arc;
use std::time::Duration;

use wheel_loom_tests::jobs::{Gate, Jobs};
use wheel_runtime::{Executor, Job, Pool, Workers};
use wheel_sync::{long_model, model, rest_unexplored, thread, unexplored};

/// Its workers leave as soon as they have nothing to do.
fn restless(workers: impl Into<Workers>) -> Pool {
    let pool = Pool::builder().workers(workers).keep_alive(Duration::ZERO);
    pool.build().unwrap()
}

/// Two workers that sleep, without a schedule to explore before.
fn two_asleep() -> Pool {
    unexplored(|| {
        let pool = restless(2);
        while pool.idle_workers() < 2 {
            thread::yield_now();
        }
        pool
    })
}

/// A job that opens `gate`. Once it runs nothing can go wrong any more.
fn last(jobs: &Jobs, gate: &Arc<Gate>) -> Job {
    let gate = Arc::clone(gate);
    jobs.job(move || {
        rest_unexplored();
        gate.open();
    })
}

/// A job that ends when another one has run, and that one; and what tells that the first one runs,
/// and that it is over.
fn two_that_need_two_workers(jobs: &Jobs) -> ([Job; 2], [Arc<Gate>; 2]) {
    let [runs, first, done] = [Gate::new(), Gate::new(), Gate::new()];
    let last = last(jobs, &first);
    let told = [Arc::clone(&runs), Arc::clone(&done)];
    let long = jobs.job(move || {
        runs.open();
        first.pass();
        done.open();
    });
    ([long, last], told)
}

fn end(pool: &Pool, jobs: &Jobs, ran: usize) {
    assert_eq!(pool.shutdown(Duration::MAX), Ok(()));
    assert_eq!((jobs.ran(), pool.panics()), (ran, 0));
}

#[test]
fn a_job_does_not_wait_for_a_long_one_while_there_is_room() {
    model("worker-leaves", || {
        let (pool, jobs) = (unexplored(|| restless(1..=2)), Jobs::new());
        let ([long, last], [_, done]) = two_that_need_two_workers(&jobs);
        pool.execute(&mut vec![long]);
        pool.execute(&mut vec![last]);
        done.pass();
        end(&pool, &jobs, 2);
    });
}

/// Two of which one may leave from now on, unless there is work for it.
fn two_of_which_one_may_leave() -> Pool {
    let pool = two_asleep();
    unexplored(|| pool.set_workers(1..=2)).unwrap();
    pool
}

#[test]
fn of_two_that_would_leave_one_stays_for_what_comes() {
    model("worker-leaves, of two", || {
        let (pool, jobs) = (two_of_which_one_may_leave(), Jobs::new());
        // They begin before the jobs come, and that is no preemption.
        thread::yield_now();
        let ([long, last], [_, done]) = two_that_need_two_workers(&jobs);
        pool.execute(&mut vec![long]);
        pool.execute(&mut vec![last]);
        done.pass();
        end(&pool, &jobs, 2);
    });
}

#[test]
fn who_leaves_as_another_takes_a_job_is_replaced_or_comes_back() {
    long_model("worker-leaves, replaced", || {
        let (pool, jobs, begun) = (two_of_which_one_may_leave(), Jobs::new(), Gate::new());
        let ([long, last], [runs, done]) = two_that_need_two_workers(&jobs);
        // To wait, and not only to be slow, leaves the preemptions to the two workers.
        unexplored(|| pool.execute(&mut vec![jobs.opens(&begun)]));
        begun.pass();
        pool.execute(&mut vec![long]);
        // Whoever runs it has seen by now whether anybody sleeps.
        runs.pass();
        // To a checker fences are no steps to try in another order; this look is one, so that the
        // other worker leaves also before the fence of the last hand-over.
        let _ = pool.workers();
        pool.execute(&mut vec![last]);
        done.pass();
        end(&pool, &jobs, 3);
    });
}

#[test]
fn a_worker_that_is_one_too_many_passes_its_wake_on() {
    model("worker-leaves, one too many", || {
        let (pool, jobs, gate) = (two_asleep(), Jobs::new(), Gate::new());
        pool.set_workers(1).unwrap();
        pool.execute(&mut vec![last(&jobs, &gate)]);
        gate.pass();
        end(&pool, &jobs, 1);
        assert_eq!(pool.workers(), 0);
    });
}
