//! worker-leaves: workers of a pool that grows and shrinks leave as work comes. While there is room
//! for a worker, no job waits for another one to end.

use std::sync::Arc;
use std::time::Duration;

use wheel_loom_tests::jobs::{Gate, Jobs};
use wheel_runtime::{Executor, Pool, Workers};
use wheel_sync::{model, rest_unexplored, unexplored};

/// Its workers leave as soon as they have nothing to do.
fn restless(workers: impl Into<Workers>) -> Pool {
    let pool = Pool::builder().workers(workers).keep_alive(Duration::ZERO);
    pool.build().unwrap()
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
    pool.execute(&mut vec![jobs.opens(&first)]);
    done
}

fn end(pool: &Pool, jobs: &Jobs, ran: usize) {
    rest_unexplored();
    assert_eq!(pool.shutdown(Duration::MAX), Ok(()));
    assert_eq!((jobs.ran(), pool.panics()), (ran, 0));
}

#[test]
fn a_job_does_not_wait_for_a_long_one_while_there_is_room() {
    model("worker-leaves", || {
        let (pool, jobs) = (restless(1..=2), Jobs::new());
        hand_over_two_that_need_two_workers(&pool, &jobs).pass();
        end(&pool, &jobs, 2);
    });
}

#[test]
fn of_two_that_would_leave_one_stays_for_what_comes() {
    model("worker-leaves, of two", || {
        let (pool, jobs) = (unexplored(|| restless(2)), Jobs::new());
        // From here on one of them is one too many, unless there is work for it.
        pool.set_workers(1..=2).unwrap();
        hand_over_two_that_need_two_workers(&pool, &jobs).pass();
        end(&pool, &jobs, 2);
    });
}

#[test]
fn a_worker_that_is_one_too_many_passes_its_wake_on() {
    model("worker-leaves, one too many", || {
        let (pool, jobs, gate) = (unexplored(|| restless(2)), Jobs::new(), Gate::new());
        pool.set_workers(1).unwrap();
        pool.execute(&mut vec![jobs.opens(&gate)]);
        gate.pass();
        end(&pool, &jobs, 1);
        assert_eq!(pool.workers(), 0);
    });
}
