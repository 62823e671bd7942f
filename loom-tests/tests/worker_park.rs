//! worker-park: a worker of the pool goes to sleep while work comes. It wakes, or has not slept.

use std::sync::Arc;
use std::time::Duration;

use wheel_loom_tests::jobs::{Gate, Jobs, pool};
use wheel_runtime::Executor;
use wheel_sync::{model, rest_unexplored, thread};

#[test]
fn a_worker_does_not_sleep_on_a_job() {
    model("worker-park", || {
        let (pool, jobs, gate) = (pool(1), Jobs::new(), Gate::new());
        pool.execute(&mut vec![jobs.opens(&gate)]);
        gate.pass();
        rest_unexplored();
        assert_eq!(pool.shutdown(Duration::MAX), Ok(()));
        assert_eq!((jobs.ran(), pool.panics()), (1, 0));
    });
}

#[test]
fn of_two_who_bring_work_none_relies_on_the_other() {
    model("worker-park, two who push", || {
        let (pool, jobs) = (Arc::new(pool(1)), Jobs::new());
        let gates = [Gate::new(), Gate::new()];
        let (other, job) = (Arc::clone(&pool), jobs.opens(&gates[0]));
        let pusher = thread::spawn(move || other.execute(&mut vec![job]));
        pool.execute(&mut vec![jobs.opens(&gates[1])]);
        gates.iter().for_each(|gate| gate.pass());
        pusher.join().unwrap();
        rest_unexplored();
        assert_eq!(pool.shutdown(Duration::MAX), Ok(()));
        assert_eq!((jobs.ran(), pool.panics()), (2, 0));
    });
}

#[test]
fn a_worker_that_has_slept_sleeps_on_no_later_job_either() {
    model("worker-park, again", || {
        let (pool, jobs) = (pool(1), Jobs::new());
        for gate in [Gate::new(), Gate::new()] {
            pool.execute(&mut vec![jobs.opens(&gate)]);
            gate.pass();
        }
        rest_unexplored();
        assert_eq!(pool.shutdown(Duration::MAX), Ok(()));
        assert_eq!((jobs.ran(), pool.panics()), (2, 0));
    });
}
