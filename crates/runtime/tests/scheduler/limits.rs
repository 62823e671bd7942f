//! How many runs with one key go at once, and how often.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use wheel_runtime::{CancelOutcome, Concurrency, Priority, RateLimit, Retry, SubmitError};

use crate::bed::{Bed, gate, ms};

#[test]
fn of_one_key_one_run_goes_at_once_and_takes_no_worker_from_others() {
    let bed = Bed::workers(2);
    let (customer, keeper) = gate();
    let (going, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    for n in 0..5 {
        let (keeper, going, most) = (keeper.clone(), Arc::clone(&going), Arc::clone(&most));
        let task = bed.scheduler.task(format!("import-{n}")).after(ms(1));
        let task = task.concurrency_key("customer-7").run(move |run| {
            let now = going.fetch_add(1, Ordering::SeqCst) + 1;
            most.fetch_max(now, Ordering::SeqCst);
            keeper.pass(run);
            going.fetch_sub(1, Ordering::SeqCst);
        });
        task.unwrap();
    }
    bed.clock.advance(ms(1));
    customer.wait_started();
    // Four wait, and the other worker is free.
    let other = bed.scheduler.after(Duration::ZERO, |_| ()).unwrap();
    assert!(other.wait_timeout(crate::bed::HANG).is_some());
    (0..5).for_each(|_| customer.open());
    bed.settle();
    assert_eq!(
        (bed.scheduler.stats().runs, most.load(Ordering::SeqCst)),
        (6, 1)
    );
}

#[test]
fn a_key_admits_as_many_as_was_said_last() {
    let bed = Bed::workers(8);
    let (held, keeper) = gate();
    let add = |n: u32, at_most: u32| {
        let keeper = keeper.clone();
        let task = bed.scheduler.task(format!("{n}")).after(Duration::ZERO);
        let task = task.concurrency_key(Concurrency::key("disk").at_most(at_most));
        task.run(move |run| keeper.pass(run)).unwrap();
    };
    (0..4).for_each(|n| add(n, 2));
    held.wait_started();
    held.wait_started();
    add(4, 4);
    held.wait_started();
    held.wait_started();
    assert_eq!(bed.scheduler.stats().running, 4);
    (0..5).for_each(|_| held.open());
    bed.settle();
}

#[test]
fn who_waits_for_a_key_goes_by_class_and_due() {
    let bed = Bed::workers(1);
    let record = bed.record();
    let (first, keeper) = gate();
    let task = bed.scheduler.task("first").after(Duration::ZERO);
    let task = task.concurrency_key("k");
    task.run(move |run| keeper.pass(run)).unwrap();
    first.wait_started();
    for (name, after, class) in [
        ("late", 9, Priority::Normal),
        ("low", 1, Priority::Low),
        ("early", 5, Priority::Normal),
        ("high", 9, Priority::High),
    ] {
        let task = bed.scheduler.task(name).after(ms(after)).priority(class);
        task.concurrency_key("k").run(record.note(name)).unwrap();
    }
    bed.clock.advance(ms(10));
    first.open();
    bed.settle();
    assert_eq!(record.names(), ["high", "early", "late", "low"]);
}

#[test]
fn a_failed_or_panicked_run_gives_its_key_back_and_between_attempts_it_is_free() {
    let bed = Bed::inline();
    let record = bed.record();
    let task = bed.scheduler.task("a").after(ms(1)).concurrency_key("k");
    let task = task.retry(Retry::fixed(ms(10)).max_attempts(2));
    task.run(|_| -> () { panic!("of the test") }).unwrap();
    let other = bed.scheduler.task("b").after(ms(2)).concurrency_key("k");
    other.run(record.note("b")).unwrap();
    let last = bed.scheduler.task("c").after(ms(20)).concurrency_key("k");
    last.run(record.note("c")).unwrap();
    bed.clock.run_for(ms(30));
    assert_eq!((record.times("b"), record.times("c")), (vec![2], vec![20]));
}

#[test]
fn tokens_come_at_their_instants_without_drift_and_never_early() {
    let bed = Bed::inline();
    let record = bed.record();
    // Every 333 1/3 ms, for all of one key.
    let limit = RateLimit::new(3, Duration::from_secs(1)).key("api");
    for n in 0..31 {
        let call = bed.scheduler.task(format!("{n:02}")).after(ms(100));
        call.rate_limit(limit.clone())
            .run(record.note("call"))
            .unwrap();
    }
    bed.clock.run_for(Duration::from_secs(11));
    let wanted: Vec<u64> = (0..31u64).map(|n| 100 + (n * 1_000).div_ceil(3)).collect();
    assert_eq!(record.times("call"), wanted);
}

#[test]
fn a_rate_above_the_ticks_is_met() {
    let bed = Bed::inline();
    let record = bed.record();
    for _ in 0..5_000 {
        let call = bed.scheduler.unnamed().after(Duration::ZERO);
        let call = call.rate_limit(RateLimit::per_second(10_000.0).key("api"));
        call.run(record.note("call")).unwrap();
    }
    bed.clock.run_for(ms(510));
    let times = record.times("call");
    assert_eq!(times.len(), 5_000);
    // Ten in each millisecond.
    assert!((499..=501).contains(&times[4_999]), "{}", times[4_999]);
    assert!(times[2_500].abs_diff(250) <= 1, "{}", times[2_500]);
}

#[test]
fn a_burst_is_saved_up_by_a_recurring_task() {
    let bed = Bed::inline();
    let record = bed.record();
    let task = bed.scheduler.task("poll").every(ms(10));
    let limit = RateLimit::new(1, ms(100)).burst(3);
    task.rate_limit(limit).run(record.note("poll")).unwrap();
    bed.clock.run_for(ms(350));
    // Three at once; then one each 100 ms, and what is due meanwhile overlaps and is skipped.
    assert_eq!(record.times("poll"), [10, 20, 30, 110, 210, 310]);
}

#[test]
fn a_cancelled_run_takes_no_token_and_no_place() {
    let bed = Bed::inline();
    let record = bed.record();
    let limit = || RateLimit::per_second(10.0).key("api");
    for (id, after) in [("a", 1), ("b", 2), ("c", 3)] {
        let task = bed.scheduler.task(id).after(ms(after));
        let task = task.concurrency_key("k");
        task.rate_limit(limit()).run(record.note(id)).unwrap();
    }
    bed.clock.run_for(ms(50));
    assert_eq!(bed.scheduler.cancel("b"), CancelOutcome::Cancelled);
    bed.clock.run_for(ms(100));
    assert_eq!((record.times("a"), record.times("c")), (vec![1], vec![101]));
    assert_eq!(record.len(), 2);
}

#[test]
fn what_is_cancelled_while_it_waits_is_not_kept() {
    let bed = Bed::workers(1);
    let (first, keeper) = gate();
    let task = bed.scheduler.task("first").after(Duration::ZERO);
    let task = task.concurrency_key("k");
    task.run(move |run| keeper.pass(run)).unwrap();
    first.wait_started();
    let marker = Arc::new(());
    for _ in 0..20 {
        let tasks: Vec<_> = (0..1_000)
            .map(|_| {
                let task = bed.scheduler.unnamed().after(Duration::ZERO);
                task.concurrency_key("k").run(|_| ()).unwrap()
            })
            .collect();
        bed.clock.advance(ms(1));
        for task in tasks {
            assert_eq!(task.cancel(), CancelOutcome::Cancelled);
        }
    }
    bed.clock.advance(ms(1));
    drop(marker);
    first.open();
    bed.settle();
    assert_eq!(bed.scheduler.stats().runs, 1);
}

#[test]
fn both_limits_are_taken_together_and_neither_is_held_for_the_other() {
    let bed = Bed::inline();
    let record = bed.record();
    let both = |id: &str, after: u64| {
        let task = bed.scheduler.task(id).after(ms(after)).concurrency_key("k");
        let task = task.rate_limit(RateLimit::per_second(10.0).key("api"));
        task.run(record.note(id)).unwrap();
    };
    both("first", 1);
    both("waits", 2);
    let alone = bed
        .scheduler
        .task("alone")
        .after(ms(3))
        .concurrency_key("k");
    alone.run(record.note("alone")).unwrap();
    bed.clock.run_for(ms(200));
    // It waits for a token, and the key is free for who needs no token.
    assert_eq!(record.times("first"), [1]);
    assert_eq!(record.times("alone"), [3]);
    assert_eq!(record.times("waits"), [101]);
}

#[test]
fn who_finds_its_key_taken_leaves_the_token_to_another() {
    let bed = Bed::workers(2);
    let record = bed.record();
    let (held, keeper) = gate();
    let long = bed.scheduler.task("long").after(Duration::ZERO);
    let long = long.concurrency_key("k");
    long.run(move |run| keeper.pass(run)).unwrap();
    held.wait_started();
    let limit = || RateLimit::per_second(1.0).key("api");
    let both = bed.scheduler.task("both").after(ms(1)).concurrency_key("k");
    both.rate_limit(limit()).run(record.note("both")).unwrap();
    let token = bed.scheduler.task("token").after(ms(2)).rate_limit(limit());
    let token = token.run(record.note("token")).unwrap();
    bed.clock.advance(ms(2));
    assert!(token.wait_timeout(crate::bed::HANG).is_some());
    held.open();
    bed.clock.run_for(ms(1_000));
    bed.clock.run_for(ms(10));
    bed.settle();
    assert_eq!(record.names(), ["token", "both"]);
}

#[test]
fn who_finds_its_key_taken_as_its_token_comes_leaves_that_to_another() {
    let bed = Bed::workers(2);
    let record = bed.record();
    let limit = || RateLimit::per_second(1.0).key("api");
    let at = |id: &str, after| bed.scheduler.task(id).after(ms(after));
    let first = at("first", 0).rate_limit(limit());
    first.run(record.note("first")).unwrap();
    // Waits for a token. Its key is free, until another one takes it.
    let both = at("both", 1).concurrency_key("k").rate_limit(limit());
    both.run(record.note("both")).unwrap();
    let (held, keeper) = gate();
    let long = at("long", 2).concurrency_key("k");
    long.run(move |run| keeper.pass(run)).unwrap();
    let token = at("token", 3).rate_limit(limit());
    let token = token.run(record.note("token")).unwrap();
    bed.clock.run_for(ms(3));
    held.wait_started();
    bed.clock.run_for(ms(1_000));
    assert!(token.wait_timeout(crate::bed::HANG).is_some());
    held.open();
    bed.clock.run_for(ms(1_000));
    bed.settle();
    assert_eq!(record.names(), ["first", "token", "both"]);
}

#[test]
fn limits_that_are_not_possible_are_refused_by_field() {
    let bed = Bed::inline();
    let task = || bed.scheduler.task("x").after(ms(1));
    let second = Duration::from_secs(1);
    for (task, field) in [
        (task().concurrency_key(""), "concurrency_key"),
        (task().concurrency_key("a\tb"), "concurrency_key"),
        (
            task().concurrency_key(Concurrency::key("k").at_most(0)),
            "concurrency_key",
        ),
        (
            task().rate_limit(RateLimit::per_second(f64::NAN)),
            "rate_limit",
        ),
        (task().rate_limit(RateLimit::new(0, second)), "rate_limit"),
        (
            task().rate_limit(RateLimit::new(1, second).burst(0)),
            "rate_limit",
        ),
        (task().label("", "v"), "label"),
        (task().label("k", "v".repeat(257)), "label"),
        (task().pool("nowhere"), "pool"),
    ] {
        match task.run(|_| ()).unwrap_err() {
            SubmitError::Policy(error) => assert_eq!(error.field(), field, "{error}"),
            other => panic!("{other}"),
        }
    }
    assert!(bed.scheduler.get("x").is_none());
}
