//! batch-hand-over: a batch reaches a pool of two workers, also while the pool is closed. Each job
//! that was taken runs once, and as many workers wake as there are jobs.

use std::sync::Arc;
use std::time::Duration;

use wheel_loom_tests::jobs::{Gate, Jobs, pool};
use wheel_runtime::Executor;
use wheel_sync::{model, rest_unexplored, thread};

#[test]
fn a_batch_wakes_a_worker_for_each_job() {
    model("batch-hand-over", || {
        let (pool, jobs) = (pool(2), Jobs::new());
        let [first, second] = [Gate::new(), Gate::new()];
        // Neither ends before the other one has begun, which needs both workers.
        let jobs_of_two = [(&first, &second), (&second, &first)].map(|(own, other)| {
            let (own, other) = (Arc::clone(own), Arc::clone(other));
            jobs.job(move || {
                own.open();
                other.pass();
            })
        });
        pool.execute(&mut Vec::from(jobs_of_two));
        first.pass();
        second.pass();
        rest_unexplored();
        assert_eq!(pool.shutdown(Duration::MAX), Ok(()));
        assert_eq!((jobs.ran(), pool.panics()), (2, 0));
    });
}

#[test]
fn what_is_taken_while_the_pool_is_closed_runs() {
    model("batch-hand-over, close", || {
        let (pool, jobs) = (Arc::new(pool(1)), Jobs::new());
        let (other, mut batch) = (Arc::clone(&pool), vec![jobs.counts(), jobs.counts()]);
        let hander = thread::spawn(move || {
            other.execute(&mut batch);
            batch.len()
        });
        assert_eq!(pool.shutdown(Duration::MAX), Ok(()));
        let refused = hander.join().unwrap();
        // All or none: they are one batch.
        assert_eq!((jobs.ran() + refused, pool.panics()), (2, 0));
        assert!(refused == 0 || refused == 2);
        assert_eq!(pool.queued(), 0);
    });
}

#[test]
fn what_is_taken_while_the_pool_is_dropped_runs() {
    model("batch-hand-over, drop", || {
        let (pool, jobs, gate) = (Arc::new(pool(1)), Jobs::new(), Gate::new());
        let (other, job) = (Arc::clone(&pool), jobs.opens(&gate));
        let dropper = thread::spawn(move || drop(other));
        pool.execute(&mut vec![job]);
        drop(pool);
        gate.pass();
        dropper.join().unwrap();
        rest_unexplored();
        assert_eq!(jobs.ran(), 1);
    });
}
