//! A pool that grows and shrinks, under a scheduler.

use std::time::Duration;

use wheel_runtime::Workers;

use crate::bed::{Bed, gate, ms};

#[test]
fn a_long_run_never_keeps_a_later_one_from_starting_while_there_is_room() {
    let bed = Bed::with(|builder| builder.workers(1..=6));
    let (held, keeper) = gate();
    for n in 0..6 {
        let keeper = keeper.clone();
        let long = bed.scheduler.task(format!("{n}")).after(ms(1));
        long.run(move |run| keeper.pass(run)).unwrap();
        bed.clock.advance(ms(1));
        held.wait_started();
    }
    let stats = bed.scheduler.stats();
    assert_eq!((stats.running, stats.workers), (6, 6));
    (0..6).for_each(|_| held.open());
    bed.settle();
}

#[test]
fn workers_can_be_set_while_it_works() {
    let bed = Bed::workers(1);
    let (held, keeper) = gate();
    for _ in 0..3 {
        let keeper = keeper.clone();
        let task = bed.scheduler.after(ms(1), move |run| keeper.pass(run));
        task.unwrap();
    }
    bed.clock.advance(ms(1));
    held.wait_started();
    bed.scheduler.set_workers(3).unwrap();
    held.wait_started();
    held.wait_started();
    assert_eq!(bed.scheduler.stats().workers, 3);
    for impossible in [Workers::from(0), Workers::from(1..=1_025)] {
        let error = bed.scheduler.set_workers(impossible).unwrap_err();
        assert!(error.to_string().contains("workers"), "{error}");
    }
    (0..3).for_each(|_| held.open());
    bed.settle();
}

#[test]
fn with_an_executor_of_ones_own_there_are_no_workers_to_set() {
    let bed = Bed::inline();
    bed.scheduler.set_workers(4).unwrap();
    assert_eq!(bed.scheduler.stats().workers, 0);
}

#[test]
fn a_pool_that_breathes_runs_everything_once() {
    let breathing = |builder: wheel_runtime::SchedulerBuilder| {
        builder.workers(1..=4).keep_alive(Duration::ZERO)
    };
    let bed = Bed::with(breathing);
    let record = bed.record();
    for n in 0..5u64 {
        let task = bed.scheduler.task(format!("{n}")).every(ms(1 + n));
        task.run(record.note("run")).unwrap();
    }
    bed.walk(300, ms(1));
    let wanted: usize = (1..=5).map(|period| 300 / period).sum();
    assert_eq!(record.len(), wanted);
    assert_eq!(bed.scheduler.stats().skipped, 0);
}
