//! Tasks that have ended: kept for a while, then forgotten.

use std::sync::{Arc, Weak};

use wheel_runtime::{BuildError, Context, OnConflict, Retry, Scheduler, TaskState};

use crate::bed::{Bed, ms, size};

fn ids(scheduler: &Scheduler) -> Vec<String> {
    let ended = scheduler.history().list();
    ended.into_iter().map(|task| task.id).collect()
}

#[test]
fn a_task_that_has_ended_is_kept_with_its_last_run() {
    let bed = Bed::inline();
    let due = bed.clock.wall() + ms(10);
    bed.scheduler
        .task("x")
        .after(ms(10))
        .run(|_| Err("no paper"))
        .unwrap();
    assert!(bed.scheduler.history().is_empty(), "it is live");
    bed.clock.run_for(ms(10));
    let ended = bed.scheduler.history().get("x").unwrap();
    assert_eq!((ended.state, ended.runs), (TaskState::Failed, 1));
    assert_eq!(ended.last_error.as_deref(), Some("no paper"));
    let run = ended.last_run.unwrap();
    assert_eq!(
        (run.state, run.nominal, run.finished),
        (TaskState::Failed, due, Some(due))
    );
}

#[test]
fn each_way_to_end_is_kept() {
    let bed = Bed::inline();
    let task = |id: &str| bed.scheduler.task(id);
    task("good").after(ms(1)).run(|_| ()).unwrap();
    let dead = task("dead").after(ms(2)).retry(Retry::fixed(ms(1)));
    dead.run(|_| wheel_runtime::Outcome::Permanent("no".into()))
        .unwrap();
    task("count").every(ms(1)).count(5).run(|_| ()).unwrap();
    let _ = task("cancelled").after(ms(1)).run(|_| ()).unwrap().cancel();
    task("replaced").after(ms(9)).run(|_| ()).unwrap();
    let newer = task("replaced").after(ms(9));
    newer.on_conflict(OnConflict::Replace).run(|_| ()).unwrap();
    bed.clock.run_for(ms(8));
    let ended = bed.scheduler.history().list();
    let seen: Vec<_> = ended
        .iter()
        .map(|task| (task.id.as_str(), task.state))
        .collect();
    assert_eq!(
        seen,
        [
            ("cancelled", TaskState::Cancelled),
            ("replaced", TaskState::Cancelled),
            ("good", TaskState::Succeeded),
            ("dead", TaskState::Dead),
            ("count", TaskState::Succeeded),
        ]
    );
}

#[test]
fn of_an_id_that_was_used_again_the_one_that_ended_last_is_found() {
    let bed = Bed::inline();
    for delay in [1, 2, 3] {
        let task = bed.scheduler.task("x").after(ms(delay));
        task.run(move |_: &Context| match delay {
            3 => Err("the third"),
            _ => Ok(()),
        })
        .unwrap();
        bed.clock.run_for(ms(delay));
    }
    assert_eq!(ids(&bed.scheduler), ["x", "x", "x"]);
    let newest = bed.scheduler.history().get("x").unwrap();
    assert_eq!(newest.last_error.as_deref(), Some("the third"));
    assert!(bed.scheduler.history().get("y").is_none());
}

#[test]
fn beyond_the_bound_the_one_that_ended_first_is_forgotten() {
    let bed = Bed::with(|builder| builder.workers(1).history(3));
    for n in 0..size(1_000, 100_000) {
        let task = bed.scheduler.task(n.to_string()).after(ms(1));
        let _ = task.run(|_| ()).unwrap().cancel();
        assert!(bed.scheduler.history().len() <= 3);
    }
    let last = size(1_000, 100_000);
    let kept: Vec<_> = (last - 3..last).map(|n| n.to_string()).collect();
    assert_eq!(ids(&bed.scheduler), kept);
}

#[test]
fn who_wants_no_history_has_none() {
    let bed = Bed::with(|builder| builder.workers(1).history(0));
    bed.scheduler.task("x").after(ms(1)).run(|_| ()).unwrap();
    bed.jump(ms(1));
    assert!(bed.scheduler.history().is_empty());
    assert!(bed.scheduler.history().get("x").is_none());
    let most = Scheduler::builder().history(1 << 30).build();
    let Err(BuildError::OutOfRange { .. }) = most else {
        panic!("{most:?}");
    };
}

#[test]
fn a_task_that_was_refused_never_was_one() {
    let bed = Bed::inline();
    bed.scheduler.shutdown(ms(0)).unwrap();
    assert!(bed.scheduler.task("x").after(ms(1)).run(|_| ()).is_err());
    assert!(bed.scheduler.history().is_empty());
}

#[test]
fn the_history_holds_nothing_of_the_users_and_outlives_a_shutdown() {
    let bed = Bed::inline();
    let held = Arc::new(());
    let captured: Weak<()> = Arc::downgrade(&held);
    let handler = move |_: &Context| {
        let _ = &held;
    };
    bed.scheduler.task("x").after(ms(1)).run(handler).unwrap();
    bed.scheduler.task("y").after(ms(5)).run(|_| ()).unwrap();
    bed.clock.run_for(ms(1));
    assert!(captured.upgrade().is_none());
    bed.scheduler.shutdown(ms(0)).unwrap();
    assert_eq!(ids(&bed.scheduler), ["x", "y"]);
    let cancelled = bed.scheduler.history().get("y").unwrap();
    assert_eq!(cancelled.state, TaskState::Cancelled);
}

#[test]
fn the_history_does_not_keep_a_scheduler_alive() {
    let clock = wheel_runtime::ManualClock::new();
    let (seen, held) = (Arc::new(()), Arc::new(()));
    let captured = Arc::downgrade(&held);
    let scheduler = Scheduler::builder().clock(clock.clone()).workers(1);
    // Interceptors are the core's, and go with it.
    let around = scheduler.around(move |_, go_on| {
        let _ = &held;
        go_on()
    });
    let scheduler = around.build().unwrap();
    let inside = Arc::downgrade(&seen);
    scheduler.after(ms(1), |_| ()).unwrap();
    clock.advance(ms(1));
    scheduler.wait_idle();
    assert_eq!(scheduler.history().len(), 1);
    drop((scheduler, seen));
    assert!(inside.upgrade().is_none());
    let start = std::time::Instant::now();
    // The threads go home by themselves.
    while captured.upgrade().is_some() {
        assert!(start.elapsed() < crate::bed::HANG, "it is kept alive");
        std::thread::yield_now();
    }
}
