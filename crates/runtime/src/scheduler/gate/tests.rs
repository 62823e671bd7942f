//! What the gate keeps: nothing of what is over, or was cancelled.

use std::time::Duration;

use crate::{InlineExecutor, ManualClock, RateLimit, Scheduler, TaskHandle};

const HOUR: Duration = Duration::from_secs(3600);

/// Handlers run on the driver thread.
fn scheduler() -> (ManualClock, Scheduler) {
    let clock = ManualClock::new();
    let builder = Scheduler::builder().clock(clock.clone());
    (clock, builder.executor(InlineExecutor).build().unwrap())
}

/// A task of which one run an hour may go.
fn hourly(scheduler: &Scheduler, after: Duration) -> TaskHandle {
    let task = scheduler.unnamed().after(after);
    let task = task.rate_limit(RateLimit::new(1, HOUR).key("api"));
    task.run(|_| ()).unwrap()
}

#[test]
fn keys_of_which_nothing_is_left_are_forgotten() {
    let (clock, scheduler) = scheduler();
    let second = Duration::from_secs(1);
    for n in 0..1_000 {
        let task = scheduler.task(n.to_string()).after(second);
        let task = task.concurrency_key(format!("customer-{n}"));
        // A key of its own.
        task.rate_limit(RateLimit::per_second(2.0).burst(4))
            .run(|_| ())
            .unwrap();
    }
    clock.run_for(second);
    assert_eq!(scheduler.stats().runs, 1_000);
    assert_eq!(
        scheduler.core.gate.seen(),
        (0, 1_000),
        "the buckets fill up again"
    );
    clock.run_for(second);
    assert_eq!(scheduler.core.gate.seen(), (0, 0));
    assert_eq!(scheduler.core.engine.len(), 0);
}

#[test]
fn a_key_is_not_forgotten_before_its_tokens_are_back() {
    let (clock, scheduler) = scheduler();
    hourly(&scheduler, Duration::ZERO);
    clock.run_for(HOUR / 2);
    hourly(&scheduler, Duration::ZERO);
    clock.run_for(HOUR / 4);
    assert_eq!(scheduler.stats().runs, 1);
    clock.run_for(HOUR / 4);
    assert_eq!(scheduler.stats().runs, 2);
}

#[test]
fn what_is_cancelled_while_it_waits_is_dropped_and_the_rest_is_not() {
    let (clock, scheduler) = scheduler();
    hourly(&scheduler, Duration::ZERO);
    let ms = Duration::from_millis(1);
    clock.run_for(ms);
    for _ in 0..100 {
        hourly(&scheduler, Duration::ZERO);
    }
    for _ in 0..20 {
        let tasks: Vec<_> = (0..1_000)
            .map(|_| hourly(&scheduler, Duration::ZERO))
            .collect();
        clock.run_for(ms);
        for task in tasks {
            let _ = task.cancel();
        }
        clock.run_for(ms);
        let (waiting, _) = scheduler.core.gate.seen();
        assert!(waiting <= 3_200, "{waiting} wait");
    }
    clock.run_for(HOUR * 101);
    assert_eq!(scheduler.stats().runs, 101);
    assert_eq!(scheduler.core.gate.seen(), (0, 0));
}

#[test]
fn a_million_that_wait_for_one_key_go_in_order_and_leave_nothing() {
    let (clock, scheduler) = scheduler();
    let runs = if std::env::var_os("WHEEL_STRESS").is_some() {
        1_000_000
    } else {
        20_000
    };
    let second = Duration::from_secs(1);
    for _ in 0..runs {
        let task = scheduler.unnamed().after(second);
        task.concurrency_key("k").run(|_| ()).unwrap();
    }
    clock.run_for(second);
    assert_eq!(scheduler.stats().runs, runs);
    assert_eq!(scheduler.core.gate.seen(), (0, 0));
}

#[test]
fn a_key_whose_last_waiting_run_was_cancelled_is_forgotten_when_it_is_full() {
    let (clock, scheduler) = scheduler();
    let second = Duration::from_secs(1);
    for n in 0..100 {
        let run = || {
            let task = scheduler.unnamed().after(second);
            let limit = RateLimit::new(2, HOUR)
                .burst(2)
                .key(format!("customer-{n}"));
            task.rate_limit(limit).run(|_| ()).unwrap()
        };
        let tasks = [run(), run(), run()];
        clock.run_for(second);
        // Two have taken the tokens, and one waits.
        for task in tasks {
            let _ = task.cancel();
        }
    }
    assert_eq!(scheduler.stats().runs, 200);
    clock.run_for(HOUR * 2);
    assert_eq!(scheduler.stats().runs, 200);
    assert_eq!(scheduler.core.gate.seen(), (0, 0));
    assert_eq!(scheduler.core.engine.len(), 0);
}
