//! Which pool runs what.

use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use wheel_runtime::{PoolSpec, TaskBuilder};

use crate::bed::{Bed, HANG, ms};

/// The name of the thread that runs the task, up to the number.
fn ran_on(task: TaskBuilder<'_>) -> Receiver<String> {
    let (sent, name) = channel();
    let task = task.run(move |_| {
        let thread = thread::current();
        let name = thread.name().unwrap_or_default();
        let pool = name.rsplit_once('-').map_or(name, |(pool, _)| pool);
        sent.send(pool.to_owned()).unwrap();
    });
    task.unwrap();
    name
}

fn bed() -> Bed {
    Bed::with(|builder| {
        let canary = PoolSpec::named("canary").workers(2).label("env", "canary");
        let slow = PoolSpec::named("slow");
        builder.workers(1).pool(canary).pool(slow)
    })
}

#[test]
fn a_task_runs_in_the_pool_that_its_labels_or_its_builder_name() {
    let bed = bed();
    let task = |id: &str| bed.scheduler.task(id).after(Duration::ZERO);
    for (task, pool) in [
        (task("a"), "wheel-worker"),
        (task("b").label("env", "stable"), "wheel-worker"),
        (task("c").label("env", "canary"), "wheel-canary"),
        (task("d").label("env", "canary").pool("slow"), "wheel-slow"),
    ] {
        assert_eq!(ran_on(task).recv_timeout(HANG).unwrap(), pool);
    }
    assert_eq!(bed.scheduler.stats().workers, 4);
}

#[test]
fn a_busy_pool_leaves_the_others_alone() {
    let bed = bed();
    let busy = bed.occupy_worker();
    let canary = bed.scheduler.task("x").after(ms(1)).label("env", "canary");
    let ran = ran_on(canary);
    bed.clock.advance(ms(1));
    assert_eq!(ran.recv_timeout(HANG).unwrap(), "wheel-canary");
    busy.open();
    bed.settle();
}

#[test]
fn the_same_id_goes_the_same_way_in_two_schedulers() {
    let way = |id: &str| {
        let bed = Bed::with(|builder| {
            let pool = |name| PoolSpec::named(name).label("k", "v");
            builder.pool(pool("a").weight(1)).pool(pool("b").weight(1))
        });
        let task = bed.scheduler.task(id).after(Duration::ZERO);
        ran_on(task.label("k", "v")).recv_timeout(HANG).unwrap()
    };
    let ways: Vec<_> = (0..20).map(|n| way(&format!("order-{n}"))).collect();
    let again: Vec<_> = (0..20).map(|n| way(&format!("order-{n}"))).collect();
    assert_eq!(ways, again);
    assert!(ways.contains(&"wheel-a".to_owned()) && ways.contains(&"wheel-b".to_owned()));
}

#[test]
fn a_shutdown_ends_every_pool() {
    let bed = bed();
    let task = bed.scheduler.task("x").after(ms(1)).pool("slow");
    task.run(|_| ()).unwrap();
    bed.clock.advance(ms(1));
    bed.scheduler.shutdown(HANG).unwrap();
    assert_eq!(bed.scheduler.stats().workers, 0);
}

#[test]
fn pools_that_are_not_possible_are_refused_and_named() {
    let builder = || wheel_runtime::Scheduler::builder();
    for (builder, text) in [
        (builder().pool(PoolSpec::named("")), "pool: \"\""),
        (
            builder().pool(PoolSpec::named("a").workers(0)),
            "workers is 0",
        ),
        (
            builder()
                .pool(PoolSpec::named("a"))
                .pool(PoolSpec::named("a")),
            "a second \"a\"",
        ),
        (builder().replace_hung(1025), "replace_hung"),
        (builder().ageing(Duration::ZERO), "ageing"),
    ] {
        let error = builder.build().unwrap_err().to_string();
        assert!(error.contains(text), "{error}");
    }
}
