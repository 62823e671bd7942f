//! What `stats` says: by name, by pool, and how old what waits is.

use std::time::Duration;

use wheel_runtime::{
    BuildError, Context, NameStats, Outcome, PoolSpec, Retry, Stats, SubmitError, TaskState,
};

use crate::bed::{Bed, HANG, gate, ms};

fn of<'s>(stats: &'s Stats, name: &str) -> &'s NameStats {
    let found = stats.by_name.iter().find(|of| of.name == name);
    found.unwrap_or_else(|| panic!("{name} is not in {:?}", stats.by_name))
}

/// How runs ended: succeeded, failed, timed out, dead, cancelled.
fn ends(of: &NameStats) -> [u64; 5] {
    [of.succeeded, of.failed, of.timed_out, of.dead, of.cancelled]
}

#[test]
fn runs_are_counted_by_name_and_outcome_and_once_each() {
    let bed = Bed::workers(2);
    let scheduler = &bed.scheduler;
    let named = |id: &str, name: &str| scheduler.task(id).name(name).after(ms(10));
    named("a", "good").run(|_| ()).unwrap();
    named("b", "bad").run(|_| Err("no paper")).unwrap();
    let retry = Retry::fixed(ms(1)).max_attempts(2);
    let dead = named("c", "bad").retry(retry);
    dead.run(|_| Err("no paper")).unwrap();
    let panics = named("d", "bad");
    panics.run(|_| -> () { panic!("no ink") }).unwrap();
    let (gate, keeper) = gate();
    let hangs = named("e", "slow").timeout(ms(5));
    hangs.run(move |run: &Context| keeper.pass(run)).unwrap();
    let forever = named("f", "retrying").retry(Retry::fixed(ms(1_000)));
    forever.run(|_| Err("no paper")).unwrap();
    scheduler.task("g").after(ms(10)).run(|_| ()).unwrap();
    bed.clock.advance(ms(10));
    gate.wait_started();
    // It is over time, and no longer waited for.
    bed.jump(ms(5));
    bed.walk(10, ms(1));
    let _ = scheduler.cancel("f");
    gate.open();
    bed.settle();
    let stats = scheduler.stats();
    assert_eq!(ends(of(&stats, "good")), [1, 0, 0, 0, 0]);
    assert_eq!(ends(of(&stats, "bad")), [0, 2, 0, 1, 0]);
    assert_eq!(ends(of(&stats, "slow")), [0, 0, 1, 0, 0]);
    assert_eq!(ends(of(&stats, "retrying")), [0, 0, 0, 0, 1]);
    assert_eq!(ends(of(&stats, "_unnamed")), [1, 0, 0, 0, 0]);
    let bad = of(&stats, "bad");
    assert_eq!((bad.runs, bad.retried, bad.panicked), (3, 1, 1));
    assert_eq!(bad.duration.count(), 4, "one for each attempt");
    assert_eq!(of(&stats, "slow").attempts_timed_out, 1);
    // The whole is the sum of its parts.
    let runs = stats.by_name.iter().map(|name| name.runs).sum::<u64>();
    assert_eq!((stats.runs, runs), (7, 7));
    assert_eq!((stats.succeeded, stats.failed), (2, 4));
    assert_eq!((stats.dead, stats.abandoned, stats.timed_out), (1, 1, 1));
    let ended: u64 = stats.by_name.iter().flat_map(ends).sum();
    assert_eq!(ended, 7);
    let names: Vec<&str> = stats.by_name.iter().map(|name| &*name.name).collect();
    assert_eq!(names, ["_unnamed", "bad", "good", "retrying", "slow"]);
}

#[test]
fn a_run_that_fails_after_its_task_was_cancelled_is_cancelled_and_failed() {
    let bed = Bed::workers(1);
    let (gate, keeper) = gate();
    let task = bed.scheduler.task("x").name("x").after(ms(0));
    let task = task.run(move |run: &Context| {
        keeper.pass(run);
        Err::<(), _>("no paper")
    });
    bed.clock.advance(ms(0));
    gate.wait_started();
    let _ = task.unwrap().cancel();
    gate.open();
    bed.settle();
    let stats = bed.scheduler.stats();
    assert_eq!(ends(of(&stats, "x")), [0, 0, 0, 0, 1]);
    assert_eq!((stats.failed, stats.abandoned), (1, 0));
}

#[test]
fn names_beyond_the_bound_are_counted_together() {
    let bed = Bed::with(|builder| builder.workers(1).max_names(2));
    for name in ["a", "b", "c", "d", "a", "_unnamed", "_other"] {
        let task = bed.scheduler.unnamed().name(name).after(ms(1));
        task.run(|_| ()).unwrap();
    }
    bed.jump(ms(1));
    let stats = bed.scheduler.stats();
    let counted: Vec<(&str, u64)> = stats
        .by_name
        .iter()
        .map(|name| (&*name.name, name.succeeded))
        .collect();
    assert_eq!(
        counted,
        [("_unnamed", 1), ("_other", 3), ("a", 2), ("b", 1)]
    );
    assert_eq!(stats.succeeded, 7);
}

#[test]
fn a_name_that_cannot_be_shown_is_refused_and_nothing_is_added() {
    let bed = Bed::inline();
    for name in ["", "new\nline", &"x".repeat(257)] {
        let task = bed.scheduler.task("x").name(name).after(ms(1));
        let error = task.run(|_| ()).unwrap_err();
        assert!(matches!(error, SubmitError::Policy(_)), "{error:?}");
        assert!(error.to_string().starts_with("name: "), "{error}");
    }
    assert!(bed.scheduler.get("x").is_none());
}

#[test]
fn a_name_comes_with_whatever_else_a_task_is_told_and_is_in_its_record() {
    let bed = Bed::inline();
    let task = bed
        .scheduler
        .task("x")
        .label("env", "canary")
        .name("report");
    let task = task.count(2).every(ms(10)).run(|_| ()).unwrap();
    let plain = bed.scheduler.after(ms(10), |_| ()).unwrap();
    assert_eq!(task.info().name.as_deref(), Some("report"));
    assert_eq!(task.info().labels["env"], "canary");
    assert_eq!(plain.info().name, None);
    bed.clock.run_for(ms(100));
    assert_eq!(of(&bed.scheduler.stats(), "report").succeeded, 2);
}

#[test]
fn the_last_success_of_a_name_is_when_its_run_ended() {
    let bed = Bed::workers(1);
    let task = bed.scheduler.task("x").name("report").every(ms(10));
    let task = task.run(|run: &Context| match run.run() {
        1 => Ok(()),
        _ => Err("no paper"),
    });
    task.unwrap();
    let none = of(&bed.scheduler.stats(), "report").last_success;
    bed.jump(ms(10));
    let first = bed.clock.wall();
    bed.jump(ms(10));
    assert_eq!(none, None);
    assert_eq!(
        of(&bed.scheduler.stats(), "report").last_success,
        Some(first)
    );
}

#[test]
fn how_long_attempts_take_is_counted_from_their_start() {
    let bed = Bed::workers(1);
    let (gate, keeper) = gate();
    let task = bed.scheduler.task("x").name("slow").after(ms(10));
    task.run(move |run: &Context| keeper.pass(run)).unwrap();
    bed.clock.advance(ms(10));
    gate.wait_started();
    bed.clock.advance(ms(40));
    gate.open();
    bed.settle();
    let stats = bed.scheduler.stats();
    let took = of(&stats, "slow").duration;
    assert_eq!((took.count(), took.sum()), (1, ms(40)));
    assert_eq!(stats.run_duration, took);
    let up_to = |limit| took.buckets().find(|(bound, _)| *bound == limit);
    assert_eq!(up_to(ms(25)), Some((ms(25), 0)));
    assert_eq!(up_to(ms(50)), Some((ms(50), 1)));
}

#[test]
fn what_waits_in_a_pool_says_how_long_it_has_been_due() {
    let pool = PoolSpec::named("reports");
    let bed = Bed::with(|builder| builder.workers(1).pool(pool));
    let scheduler = &bed.scheduler;
    let gate = bed.occupy_at_once();
    assert_eq!(scheduler.stats().oldest_due, None);
    let first = scheduler.after(ms(10), |_| ()).unwrap();
    scheduler.after(ms(30), |_| ()).unwrap();
    bed.clock.advance(ms(50));
    let stats = scheduler.stats();
    assert_eq!(stats.oldest_due, Some(ms(40)));
    let [here, reports] = &stats.pools[..] else {
        panic!("{:?}", stats.pools)
    };
    assert_eq!((here.name.as_deref(), here.depth), (None, 2));
    assert_eq!((here.workers, here.idle), (1, 0));
    assert_eq!(here.oldest_due, Some(ms(40)));
    assert_eq!(reports.name.as_deref(), Some("reports"));
    assert_eq!((reports.depth, reports.oldest_due), (0, None));
    // One that was cancelled is not waited for.
    let _ = first.cancel();
    assert_eq!(scheduler.stats().oldest_due, Some(ms(20)));
    gate.open();
    bed.settle();
    let stats = scheduler.stats();
    assert_eq!(stats.oldest_due, None);
    let late = stats.pools[0].start_delay;
    assert_eq!((late.count(), stats.start_delay), (2, late));
    // The first one at once, the other one 20 ms late.
    assert_eq!(late.buckets().next().map(|(_, count)| count), Some(1));
}

#[test]
fn the_pool_of_the_others_may_not_be_named_by_anybody() {
    let builder = wheel_runtime::Scheduler::builder();
    let error = builder.pool(PoolSpec::named("_default")).build();
    assert!(matches!(error, Err(BuildError::Pool(_))), "{error:?}");
}

#[test]
fn what_the_engine_holds_is_counted() {
    let bed = Bed::inline();
    bed.scheduler.every(ms(10), |_| ()).unwrap();
    bed.scheduler.after(Duration::MAX, |_| ()).unwrap();
    assert_eq!(bed.scheduler.stats().pending_timers, 2);
    bed.clock.run_for(ms(30));
    let stats = bed.scheduler.stats();
    assert_eq!((stats.pending_timers, stats.tick_lag.count()), (2, 3));
    assert_eq!(stats.fired, 3);
}

#[test]
fn a_snooze_and_a_cancel_leave_one_run_that_was_cancelled() {
    let bed = Bed::inline();
    let task = bed.scheduler.task("x").name("x").after(ms(1));
    let task = task.run(|_: &Context| Outcome::Snooze(ms(10))).unwrap();
    bed.clock.run_for(ms(1));
    let _ = task.cancel();
    assert_eq!(task.wait_timeout(HANG), Some(TaskState::Cancelled));
    let stats = bed.scheduler.stats();
    let x = of(&stats, "x");
    assert_eq!((ends(x), x.runs, x.snoozed), ([0, 0, 0, 0, 1], 1, 1));
}

#[cfg(feature = "serde")]
#[test]
fn a_task_of_a_kind_is_counted_under_its_kind() {
    let bed = Bed::inline();
    let send = |_: &Context, _: String| ();
    bed.scheduler.register("send_mail", send).unwrap();
    let task = bed.scheduler.task("x").kind("send_mail", "a@b").name("y");
    let task = task.after(ms(1)).submit().unwrap();
    assert_eq!(task.info().name.as_deref(), Some("send_mail"));
    bed.clock.run_for(ms(1));
    assert_eq!(of(&bed.scheduler.stats(), "send_mail").succeeded, 1);
}
