//! worker-leaves: workers of a pool that grows and shrinks leave as work comes. While there is room
//! for a worker, no job waits for another one to end.
//!
//! What is lost is a job that no worker starts, so an execution is explored until the job runs.

use std::sync::Arc;
use std::time::Duration;

use wheel_loom_tests::jobs::{Gate, Jobs};
use wheel_runtime::{Executor, Job, Pool, Workers};
use wheel_sync::{model, rest_unexplored, thread, unexplored};

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

/// Hands over a job that ends when another one has run, and then that one.
fn hand_over_two_that_need_two_workers(pool: &Pool, jobs: &Jobs) -> Arc<Gate> {
    let (first, done) = (Gate::new(), Gate::new());
    let (waits, opens) = (Arc::clone(&first), Arc::clone(&done));
    let long = jobs.job(move || {
        waits.pass();
        opens.open();
    });
    pool.execute(&mut vec![long]);
    pool.execute(&mut vec![last(jobs, &first)]);
    done
}

fn end(pool: &Pool, jobs: &Jobs, ran: usize) {
    assert_eq!(pool.shutdown(Duration::MAX), Ok(()));
    assert_eq!((jobs.ran(), pool.panics()), (ran, 0));
}

#[test]
fn a_job_does_not_wait_for_a_long_one_while_there_is_room() {
    model("worker-leaves", || {
        let (pool, jobs) = (unexplored(|| restless(1..=2)), Jobs::new());
        hand_over_two_that_need_two_workers(&pool, &jobs).pass();
        end(&pool, &jobs, 2);
    });
}

#[test]
fn of_two_that_would_leave_one_stays_for_what_comes() {
    model("worker-leaves, of two", || {
        let (pool, jobs) = (two_asleep(), Jobs::new());
        // From here on one of them may leave, unless there is work for it. They begin before the
        // jobs come, and that is no preemption.
        unexplored(|| pool.set_workers(1..=2)).unwrap();
        thread::yield_now();
        hand_over_two_that_need_two_workers(&pool, &jobs).pass();
        end(&pool, &jobs, 2);
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
