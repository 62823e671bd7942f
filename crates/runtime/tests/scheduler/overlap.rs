//! A task that is due again while its last run is going.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use wheel_runtime::Context;

use crate::bed::{Bed, gate, ms};

#[test] // DR-05, DR-12
fn starts_stay_on_the_grid_and_what_was_left_out_is_counted() {
    let bed = Bed::workers(2);
    let record = bed.record();
    let (gate, keeper) = gate();
    let starts = record.clone();
    let handler = move |context: &Context| {
        starts.add("start");
        keeper.pass(context);
    };
    let task = bed.scheduler.every(ms(20), handler).unwrap();
    bed.clock.advance(ms(20));
    for _ in 0..50 {
        gate.wait_started();
        // The handler takes 30 ms: over one grid point, which is left out.
        bed.clock.advance(ms(20));
        bed.clock.advance(ms(10));
        gate.open();
        bed.settle();
        bed.clock.advance(ms(10));
    }
    gate.wait_started();
    let starts: Vec<u64> = (0..=50).map(|k| 20 + k * 40).collect();
    assert_eq!(record.times("start"), starts);
    let info = task.info();
    assert_eq!((info.runs, info.skipped, info.missed), (51, 50, 0));
    gate.open();
}

#[test] // DU-05
fn no_backlog_builds_up_behind_a_slow_run() {
    let bed = Bed::workers(8);
    let (gate, keeper) = gate();
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (inside, peak) = (now.clone(), most.clone());
    let handler = move |context: &Context| {
        peak.fetch_max(inside.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        keeper.pass(context);
        inside.fetch_sub(1, Ordering::SeqCst);
    };
    let task = bed.scheduler.every(ms(10), handler).unwrap();
    bed.clock.advance(ms(10));
    gate.wait_started();
    for _ in 0..150 {
        bed.clock.advance(ms(10));
    }
    gate.open();
    bed.settle();
    assert_eq!((task.info().runs, task.info().skipped), (1, 150));
    bed.clock.advance(ms(10));
    assert_eq!(gate.wait_started(), 2);
    gate.open();
    bed.settle();
    assert_eq!(most.load(Ordering::SeqCst), 1);
}

#[test] // DR-03
fn a_run_that_blocks_over_many_periods_is_followed_by_the_next_grid_point() {
    let bed = Bed::workers(1);
    let record = bed.record();
    let (gate, keeper) = gate();
    let starts = record.clone();
    let handler = move |context: &Context| {
        starts.add("start");
        if context.run() == 1 {
            keeper.pass(context);
        }
    };
    bed.scheduler.every(ms(10), handler).unwrap();
    bed.clock.advance(ms(10));
    gate.wait_started();
    for _ in 0..41 {
        bed.clock.advance(ms(5));
    }
    gate.open();
    bed.settle();
    bed.walk(3, ms(5));
    assert_eq!(record.times("start"), [10, 220, 230]);
}

#[test] // OF-08
fn a_task_that_is_always_due_again_does_not_hold_up_the_others() {
    let bed = Bed::workers(2);
    let record = bed.record();
    let (gate, keeper) = gate();
    let handler = move |context: &Context| keeper.pass(context);
    let greedy = bed.scheduler.every(ms(1), handler).unwrap();
    bed.scheduler.after(ms(20), record.note("after")).unwrap();
    let seventh = bed.scheduler.every(ms(7), record.note("seventh")).unwrap();
    bed.clock.advance(ms(1));
    gate.wait_started();
    for _ in 1..70 {
        bed.clock.advance(ms(1));
        while bed.scheduler.stats().queued > 0 || bed.scheduler.stats().running > 1 {
            std::thread::yield_now();
        }
    }
    gate.open();
    assert_eq!(record.times("after"), [20]);
    assert_eq!(seventh.info().runs, 10);
    assert_eq!(greedy.info().skipped, 69);
}
