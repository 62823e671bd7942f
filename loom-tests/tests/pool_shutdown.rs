//! pool-shutdown: whoever shuts a pool down waits for all jobs but its own, and for nobody for
//! ever.

use std::sync::Arc;
use std::time::Duration;

use wheel_loom_tests::jobs::{Gate, Jobs, pool};
use wheel_runtime::{Executor, Job, Pool};
use wheel_sync::{model, rest_unexplored, thread};

#[test]
fn a_shutdown_waits_for_what_was_handed_over() {
    model("pool-shutdown", || {
        let (pool, jobs) = (pool(1), Jobs::new());
        pool.execute(&mut vec![jobs.counts()]);
        assert_eq!(pool.shutdown(Duration::MAX), Ok(()));
        assert_eq!((jobs.ran(), pool.panics()), (1, 0));
    });
}

#[test]
fn two_shutdowns_return_both_and_find_every_job_done() {
    model("pool-shutdown, two", || {
        let (pool, jobs) = (Arc::new(pool(1)), Jobs::new());
        pool.execute(&mut vec![jobs.counts()]);
        let (other, seen) = (Arc::clone(&pool), jobs.clone());
        let shutter = thread::spawn(move || {
            assert_eq!(other.shutdown(Duration::MAX), Ok(()));
            seen.ran()
        });
        assert_eq!(pool.shutdown(Duration::MAX), Ok(()));
        assert_eq!((jobs.ran(), shutter.join().unwrap()), (1, 1));
        assert_eq!(pool.panics(), 0);
    });
}

/// A job that shuts down the pool that runs it, and opens `gate` if that ended well.
fn shuts_down(pool: &Arc<Pool>, jobs: &Jobs, gate: &Arc<Gate>) -> Job {
    let (pool, gate) = (Arc::clone(pool), Arc::clone(gate));
    jobs.job(move || {
        if pool.shutdown(Duration::MAX) == Ok(()) {
            gate.open();
        }
    })
}

#[test]
fn a_shutdown_inside_a_job_does_not_wait_for_that_job() {
    model("pool-shutdown, inside", || {
        let (pool, jobs, gate) = (Arc::new(pool(1)), Jobs::new(), Gate::new());
        pool.execute(&mut vec![shuts_down(&pool, &jobs, &gate)]);
        assert_eq!(pool.shutdown(Duration::MAX), Ok(()));
        gate.pass();
        assert_eq!((jobs.ran(), pool.panics()), (1, 0));
    });
}

#[test]
fn two_shutdowns_inside_jobs_do_not_wait_for_each_other() {
    model("pool-shutdown, two inside", || {
        let (pool, jobs) = (Arc::new(pool(2)), Jobs::new());
        let gates = [Gate::new(), Gate::new()];
        pool.execute(
            &mut gates
                .each_ref()
                .map(|gate| shuts_down(&pool, &jobs, gate))
                .into(),
        );
        gates.iter().for_each(|gate| gate.pass());
        rest_unexplored();
        assert_eq!(pool.shutdown(Duration::MAX), Ok(()));
        assert_eq!((jobs.ran(), pool.panics()), (2, 0));
    });
}

#[test]
fn without_grace_what_has_not_begun_is_dropped_once() {
    model("pool-shutdown, without grace", || {
        let (pool, jobs) = (pool(1), Jobs::new());
        pool.execute(&mut vec![jobs.counts(), jobs.counts()]);
        let dropped = match pool.shutdown(Duration::ZERO) {
            Ok(()) => 0,
            Err(busy) => busy.dropped,
        };
        assert_eq!(pool.queued(), 0);
        assert_eq!(pool.shutdown(Duration::MAX), Ok(()));
        assert_eq!((jobs.ran() + dropped, pool.panics()), (2, 0));
    });
}
