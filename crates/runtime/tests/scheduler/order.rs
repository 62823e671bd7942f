//! Who goes first: classes, ageing, and order within a class.

use std::sync::mpsc::channel;
use std::time::Duration;

use wheel_runtime::{Priority, TaskHandle};

use crate::bed::{Bed, HANG, Record, gate, ms, size};

/// A task of a class that notes its name.
fn noting(bed: &Bed, record: &Record, name: &str, after: Duration, class: Priority) -> TaskHandle {
    let task = bed.scheduler.task(name).after(after).priority(class);
    task.run(record.note(name)).unwrap()
}

#[test] // OF-07
fn of_one_due_the_classes_go_in_order_in_each_round() {
    let bed = Bed::workers(1);
    let record = bed.record();
    for (name, class) in [
        ("low", Priority::Low),
        ("normal", Priority::Normal),
        ("high", Priority::High),
    ] {
        let task = bed.scheduler.task(name).every(ms(50)).priority(class);
        task.run(record.note(name)).unwrap();
    }
    for _ in 0..10 {
        let busy = bed.occupy_worker();
        bed.clock.advance(ms(50));
        busy.open();
        bed.settle();
    }
    let rounds: Vec<_> = record.names().chunks(3).map(<[String]>::to_vec).collect();
    assert_eq!(rounds, vec![vec!["high", "normal", "low"]; 10]);
}

#[test] // OF-02
fn within_a_class_due_decides_whatever_waits_besides() {
    let bed = Bed::workers(1);
    let record = bed.record();
    let busy = bed.occupy_worker();
    for (name, after, class) in [
        ("a", 20, Priority::High),
        ("n", 5, Priority::Normal),
        ("b", 10, Priority::High),
        ("c", 15, Priority::High),
    ] {
        noting(&bed, &record, name, ms(after), class);
    }
    bed.clock.advance(ms(40));
    busy.open();
    bed.settle();
    assert_eq!(record.names(), ["b", "c", "a", "n"]);
}

/// What `low` has before it when a flood of urgent work never lets the worker rest: how many runs of
/// 3 ms each.
fn passed_in_a_flood(ageing: Duration, runs: u64) -> u64 {
    let bed = Bed::with(|builder| builder.workers(1).ageing(ageing));
    let record = bed.record();
    let busy = bed.occupy_worker();
    noting(&bed, &record, "low", Duration::ZERO, Priority::Low);
    let (floods, keeper) = gate();
    // Two tasks in turns, so that one always waits while the other goes.
    for start in [0, 3] {
        let start = bed.clock.wall() + ms(start);
        let flood = bed.scheduler.unnamed().every(ms(6)).start_at(start);
        let (keeper, record) = (keeper.clone(), record.clone());
        let flood = flood.priority(Priority::High).run(move |context| {
            record.add("high");
            keeper.pass(context);
        });
        flood.unwrap();
    }
    bed.clock.advance(ms(3));
    busy.open();
    for _ in 0..runs {
        floods.wait_started();
        bed.clock.advance(ms(3));
        floods.open();
    }
    drop(floods);
    bed.settle();
    record.times("low").first().map_or(runs, |at| at / 3)
}

#[test] // OF-05
fn low_work_goes_after_two_periods_in_a_flood_of_urgent_work() {
    let passed = passed_in_a_flood(Duration::from_secs(1), 1_000);
    // Two seconds of runs of 3 ms, to the run that was going.
    assert!((660..=672).contains(&passed), "{passed} went before it");
}

#[test] // OF-05
fn without_ageing_low_work_goes_when_the_flood_stops() {
    let passed = passed_in_a_flood(Duration::MAX, 1_000);
    assert!(passed >= 1_000, "{passed} went before it");
}

#[test] // OF-04
fn urgent_work_passes_a_flood_that_is_refilled() {
    let bed = Bed::workers(1);
    let record = bed.record();
    let flood = size(2_000, 200_000);
    let busy = bed.occupy_worker();
    noting(&bed, &record, "high", ms(300), Priority::High);
    for _ in 0..flood {
        let low = bed.scheduler.unnamed().after(Duration::ZERO);
        low.priority(Priority::Low).run(record.note("low")).unwrap();
    }
    bed.clock.advance(ms(300));
    busy.open();
    bed.settle();
    // The first that the worker takes when it is free.
    assert_eq!(record.names()[0], "high");
    assert_eq!(record.len(), flood + 1);
}

#[test]
fn a_burst_at_one_instant_starves_nothing_and_leaves_no_memory() {
    let bed = Bed::workers(1);
    let (sent, urgent) = channel();
    let burst = size(50_000, 1_000_000);
    let busy = bed.occupy_worker();
    for _ in 0..burst {
        bed.scheduler.after(ms(10), |_| ()).unwrap();
    }
    let stats = bed.scheduler.clone();
    let high = bed.scheduler.task("high").after(ms(11));
    let high = high.priority(Priority::High).run(move |_| {
        sent.send(stats.stats().runs).unwrap();
    });
    high.unwrap();
    bed.clock.advance(ms(11));
    busy.open();
    let before_it = urgent.recv_timeout(HANG).unwrap();
    assert_eq!(before_it, 2, "the busy one and itself");
    bed.settle();
    let stats = bed.scheduler.stats();
    assert_eq!(stats.runs, burst as u64 + 2);
    assert_eq!((stats.queued, stats.running, stats.early), (0, 0, 0));
}

#[test]
fn another_attempt_keeps_the_class_of_its_task() {
    let bed = Bed::workers(1);
    let record = bed.record();
    let task = bed.scheduler.task("high").after(Duration::ZERO);
    let task = task.priority(Priority::High);
    let task = task.retry(wheel_runtime::Retry::fixed(ms(5)));
    let noted = record.clone();
    task.run(move |run| {
        noted.add("high");
        match run.attempt() {
            1 => Err("no paper"),
            _ => Ok(()),
        }
    })
    .unwrap();
    bed.settle();
    let busy = bed.occupy_worker();
    noting(&bed, &record, "normal", Duration::ZERO, Priority::Normal);
    bed.clock.advance(ms(5));
    busy.open();
    bed.settle();
    assert_eq!(record.names(), ["high", "high", "normal"]);
}
