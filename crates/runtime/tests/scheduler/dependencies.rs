//! Tasks that come after others.

use std::time::Duration;

use wheel_runtime::{
    CancelOutcome, Context, OnConflict, Outcome, RescheduleError, ResumeFrom, ResumeOutcome, Retry,
    Schedule, Scheduler, SkipReason, SubmitError, TaskHandle, TaskState, TriggerOutcome, When,
};

use crate::bed::{Bed, HANG, gate, ms, size};

/// A task that waits for `parent` and notes when it runs.
fn child(bed: &Bed, id: &str, parent: &str, wanted: When) -> TaskHandle {
    let task = bed.scheduler.task(id).depends_on(parent, wanted);
    task.run(|_| ()).unwrap()
}

fn fails(bed: &Bed, id: &str, after: Duration) -> TaskHandle {
    let task = bed.scheduler.task(id).after(after);
    task.run(|_| Err("no paper")).unwrap()
}

fn works(bed: &Bed, id: &str, after: Duration) -> TaskHandle {
    bed.scheduler.task(id).after(after).run(|_| ()).unwrap()
}

const EACH: [When; 3] = [When::Succeeded, When::Failed, When::Finished];

/// How tasks end that wait for `parent`, one of each kind.
fn each(bed: &Bed, parent: &str) -> [TaskHandle; 3] {
    EACH.map(|wanted| child(bed, &format!("{parent} {wanted:?}"), parent, wanted))
}

#[test]
fn each_end_of_a_task_lets_those_run_that_wait_for_it() {
    use TaskState::{Skipped, Succeeded};
    for is_first in [true, false] {
        let bed = Bed::workers(2);
        let mut after = Vec::new();
        let mut parent = |id: &str, add: &dyn Fn() -> TaskHandle, wanted: [TaskState; 3]| {
            let parent = add();
            if is_first {
                after.extend(each(&bed, id).into_iter().zip(wanted));
            }
            (parent, id.to_owned(), wanted)
        };
        let parents = [
            parent(
                "good",
                &|| works(&bed, "good", ms(1)),
                [Succeeded, Skipped, Succeeded],
            ),
            parent(
                "bad",
                &|| fails(&bed, "bad", ms(1)),
                [Skipped, Succeeded, Succeeded],
            ),
            parent(
                "dead",
                &|| {
                    let task = bed.scheduler.task("dead").after(ms(1));
                    let task = task.retry(Retry::fixed(ms(1)).max_attempts(2));
                    task.run(|_| Err("no paper")).unwrap()
                },
                [Skipped, Succeeded, Succeeded],
            ),
            parent(
                "none",
                &|| works(&bed, "none", HANG),
                [Skipped, Skipped, Succeeded],
            ),
            parent(
                "stops",
                &|| {
                    let task = bed.scheduler.task("stops").after(ms(1));
                    task.run(|_| Outcome::Cancel).unwrap()
                },
                [Skipped, Skipped, Succeeded],
            ),
        ];
        assert_eq!(bed.scheduler.cancel("none"), CancelOutcome::Cancelled);
        bed.walk(3, ms(1));
        for (parent, id, wanted) in parents {
            assert!(parent.info().state.has_ended());
            if !is_first {
                after.extend(each(&bed, &id).into_iter().zip(wanted));
            }
        }
        for (task, wanted) in after {
            assert_eq!(task.wait_timeout(HANG), Some(wanted), "{}", task.id());
            let why = (wanted == Skipped).then_some(SkipReason::Upstream);
            assert_eq!(task.info().last_skip, why);
        }
    }
}

#[test]
fn it_waits_for_all_and_says_for_whom() {
    let bed = Bed::inline();
    let record = bed.record();
    for (id, after) in [("a", 10), ("b", 30), ("c", 20)] {
        works(&bed, id, ms(after));
    }
    let task = bed.scheduler.task("x");
    let task = ["a", "b", "c"]
        .into_iter()
        .fold(task, |task, id| task.depends_on(id, When::Succeeded));
    let task = task.run(record.note("x")).unwrap();
    let info = task.info();
    assert_eq!(info.waits_for, ["a", "b", "c"]);
    assert_eq!((info.state, info.next_due), (TaskState::Scheduled, None));
    bed.clock.run_for(ms(25));
    assert_eq!(task.info().waits_for, ["b"]);
    bed.clock.run_for(ms(25));
    assert_eq!(record.times("x"), [30]);
    assert!(task.info().waits_for.is_empty());
}

#[test]
fn a_delay_counts_from_when_all_hold_and_an_instant_is_not_early() {
    let bed = Bed::inline();
    let record = bed.record();
    let wall = bed.clock.wall();
    works(&bed, "a", ms(10));
    let add = |id: &'static str, schedule| {
        let task = bed.scheduler.task(id).schedule(schedule);
        let task = task.depends_on("a", When::Finished);
        task.run(record.note(id)).unwrap()
    };
    add("after", Schedule::after(ms(7)));
    add("at, later", Schedule::at(wall + ms(30)));
    add("at, before", Schedule::at(wall + ms(3)));
    let never = add("never", Schedule::after(Duration::MAX));
    bed.clock.run_for(ms(100));
    assert_eq!(record.times("after"), [17]);
    assert_eq!(record.times("at, later"), [30]);
    assert_eq!(record.times("at, before"), [10]);
    assert_eq!(never.info().state, TaskState::Scheduled);
    assert_eq!(bed.scheduler.stats().early, 0);
}

#[test] // DP-01
fn when_a_task_fails_for_good_the_whole_chain_behind_it_has_ended() {
    let bed = Bed::inline();
    let links = size(10_000, 100_000);
    fails(&bed, "0", ms(1));
    let mut last = None;
    for n in 1..=links {
        last = Some(child(
            &bed,
            &n.to_string(),
            &(n - 1).to_string(),
            When::Succeeded,
        ));
    }
    let cleanup = bed.scheduler.task("cleanup");
    let cleanup = cleanup.depends_on(links.to_string(), When::Finished);
    let cleanup = cleanup.run(|_| ()).unwrap();
    bed.clock.run_for(ms(1));
    assert_eq!(last.unwrap().info().state, TaskState::Skipped);
    assert_eq!(cleanup.wait(), TaskState::Succeeded);
    let stats = bed.scheduler.stats();
    assert_eq!((stats.scheduled, stats.queued), (0, 0));
    assert_eq!(stats.skipped_upstream, links as u64);
    assert!(bed.scheduler.wait_empty_timeout(HANG));
}

#[test]
fn a_cancel_ends_the_chain_before_it_returns() {
    let bed = Bed::workers(1);
    works(&bed, "a", ms(10));
    let b = child(&bed, "b", "a", When::Succeeded);
    let c = child(&bed, "c", "b", When::Succeeded);
    assert_eq!(bed.scheduler.cancel("a"), CancelOutcome::Cancelled);
    assert_eq!(b.info().state, TaskState::Skipped);
    assert_eq!(c.info().state, TaskState::Skipped);
}

#[test]
fn what_the_driver_leaves_out_ends_the_chain_too() {
    let bed = Bed::workers(1);
    let late = bed.scheduler.task("late").at(bed.clock.wall() + ms(10));
    let late = late
        .misfire(wheel_runtime::Misfire::Skip)
        .run(|_| ())
        .unwrap();
    let behind = child(&bed, "behind", "late", When::Succeeded);
    let cleanup = child(&bed, "cleanup", "late", When::Finished);
    bed.clock.set_wall(bed.clock.wall() + HANG * 10);
    bed.settle();
    assert_eq!(late.info().state, TaskState::Skipped);
    assert_eq!(behind.wait_timeout(HANG), Some(TaskState::Skipped));
    assert_eq!(cleanup.wait_timeout(HANG), Some(TaskState::Succeeded));
}

#[test] // DP-04
fn a_circle_is_refused_with_its_name() {
    let bed = Bed::inline();
    let own = bed.scheduler.task("a").depends_on("a", When::Finished);
    let error = own.run(|_| ()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "depends_on: the task would wait for itself: a -> a"
    );
    works(&bed, "a", ms(10));
    child(&bed, "b", "a", When::Succeeded);
    child(&bed, "c", "b", When::Succeeded);
    let closes = bed.scheduler.task("a").on_conflict(OnConflict::Replace);
    let closes = closes.depends_on("c", When::Succeeded);
    let error = closes.run(|_| ()).unwrap_err();
    let cycle = ["a", "b", "c", "a"].map(str::to_owned).to_vec();
    assert_eq!(error, SubmitError::DependencyCycle(cycle));
    assert!(error.to_string().ends_with("a -> b -> c -> a"));
    bed.clock.run_for(ms(10));
    let ended = bed.scheduler.history().list();
    assert_eq!(ended.len(), 3, "the earlier ones are as they were");
    assert!(ended.iter().all(|task| task.state == TaskState::Succeeded));
}

#[test] // DP-04
fn a_long_chain_that_is_closed_at_its_end_is_refused() {
    let bed = Bed::inline();
    works(&bed, "0", ms(10));
    for n in 1..10_000 {
        child(&bed, &n.to_string(), &(n - 1).to_string(), When::Succeeded);
    }
    let closes = bed.scheduler.task("0").on_conflict(OnConflict::Replace);
    let error = closes.depends_on("9999", When::Succeeded).run(|_| ());
    let error = error.unwrap_err();
    assert!(
        error
            .to_string()
            .contains("0 -> 1 -> 2 -> 3 -> 4 -> 5 -> (9989 more)"),
        "{error}"
    );
    assert!(error.to_string().ends_with("9998 -> 9999 -> 0"), "{error}");
    bed.clock.run_for(ms(10));
    assert_eq!(bed.scheduler.stats().succeeded, 10_000);
}

#[test] // DP-05
fn who_comes_as_the_other_one_ends_runs_all_the_same() {
    let scheduler = Scheduler::builder().workers(2).build().unwrap();
    for round in 0..size(2_000, 10_000) {
        let a = scheduler.task(format!("a{round}")).after(Duration::ZERO);
        a.run(|_| ()).unwrap();
        for _ in 0..(round * 7919) % 2_000 {
            std::hint::spin_loop();
        }
        let b = scheduler.unnamed();
        let b = b.depends_on(format!("a{round}"), When::Succeeded);
        let b = b.run(|_| ()).unwrap();
        assert_eq!(b.wait_timeout(HANG), Some(TaskState::Succeeded), "{round}");
    }
}

#[test]
fn what_cannot_be_is_refused_and_says_why() {
    let bed = Bed::inline();
    let on = |id: &str| bed.scheduler.task("x").depends_on(id, When::Succeeded);
    let unknown = on("nobody").run(|_| ()).unwrap_err();
    assert_eq!(unknown, SubmitError::UnknownDependency("nobody".into()));
    assert!(!unknown.may_succeed_later());
    works(&bed, "a", ms(10));
    let recurs = on("a").every(ms(10)).run(|_| ()).unwrap_err();
    assert_eq!(recurs, SubmitError::RecurringDependent);
    assert!(bed.scheduler.get("x").is_none());
    let x = on("a").run(|_| ()).unwrap();
    let refused = bed.scheduler.reschedule("x", Schedule::every(ms(1)));
    assert_eq!(refused, Err(RescheduleError::Dependent));
    assert_eq!(x.info().waits_for, ["a"]);
    for error in [unknown, recurs] {
        assert!(error.to_string().starts_with("depends_on: "), "{error}");
    }
}

#[test]
fn while_it_waits_it_may_be_cancelled_paused_rescheduled_and_triggered() {
    let bed = Bed::inline();
    let record = bed.record();
    works(&bed, "a", ms(10));
    let add = |id: &'static str| {
        let task = bed.scheduler.task(id).depends_on("a", When::Succeeded);
        task.run(record.note(id)).unwrap()
    };
    let [cancelled, paused, _, triggered, both] =
        ["cancelled", "paused", "moved", "triggered", "both"].map(add);
    assert_eq!(cancelled.cancel(), CancelOutcome::Cancelled);
    let _ = bed.scheduler.pause("paused");
    bed.scheduler
        .reschedule("moved", Schedule::after(ms(5)))
        .unwrap();
    assert_eq!(
        bed.scheduler.trigger("triggered"),
        TriggerOutcome::Triggered
    );
    let _ = bed.scheduler.pause("both");
    assert_eq!(
        bed.scheduler.resume("both", ResumeFrom::Now),
        ResumeOutcome::Resumed
    );
    assert_eq!(both.info().state, TaskState::Scheduled);
    bed.clock.run_for(ms(40));
    assert_eq!(paused.info().state, TaskState::Paused);
    assert!(paused.info().waits_for.is_empty());
    let _ = bed.scheduler.resume("paused", ResumeFrom::Now);
    bed.clock.run_for(ms(1));
    assert_eq!(record.times("cancelled"), [] as [u64; 0]);
    assert_eq!(record.times("paused"), [40]);
    assert_eq!(record.times("moved"), [15]);
    assert_eq!(record.times("triggered"), [0]);
    assert_eq!(triggered.info().runs, 1);
    assert_eq!(record.times("both"), [10]);
}

#[test]
fn a_paused_task_whose_condition_cannot_hold_has_ended() {
    let bed = Bed::inline();
    fails(&bed, "a", ms(10));
    let b = child(&bed, "b", "a", When::Succeeded);
    let _ = bed.scheduler.pause("b");
    bed.clock.run_for(ms(10));
    assert_eq!(b.wait(), TaskState::Skipped);
    assert_eq!(bed.scheduler.stats().paused, 0);
}

#[test]
fn of_a_task_that_recurs_the_next_run_that_is_over_counts() {
    let bed = Bed::inline();
    let odd_fail = |run: &Context| match run.run() % 2 {
        1 => Err("odd"),
        _ => Ok(()),
    };
    let every = bed.scheduler.task("a").every(ms(10));
    every.run(odd_fail).unwrap();
    let first = each(&bed, "a").map(|task| (task, 0));
    bed.clock.run_for(ms(10));
    let states = first.map(|(task, _)| task.info().state);
    let [skipped, succeeded] = [TaskState::Skipped, TaskState::Succeeded];
    assert_eq!(states, [skipped, succeeded, succeeded]);
    let second = each(&bed, "a");
    assert_eq!(
        second[0].info().state,
        TaskState::Scheduled,
        "not the run that is over"
    );
    bed.clock.run_for(ms(10));
    let states = second.map(|task| task.info().state);
    assert_eq!(states, [succeeded, skipped, succeeded]);
}

#[test] // TO-05, DU-08
fn dependents_are_released_once_whatever_comes_later() {
    let bed = Bed::inline();
    let record = bed.record();
    let a = bed.scheduler.task("a").after(ms(10));
    let a = a.retry(Retry::fixed(ms(10)).max_attempts(3));
    a.run(|run| match run.last_error() {
        Some(_) if run.attempt() == 1 => Ok(()),
        _ => Err("no paper"),
    })
    .unwrap();
    let waits = child(&bed, "b", "a", When::Failed);
    let after = bed.scheduler.task("c").depends_on("b", When::Succeeded);
    after.run(record.note("c")).unwrap();
    bed.clock.run_for(ms(25));
    assert_eq!(
        waits.info().state,
        TaskState::Scheduled,
        "it is tried again"
    );
    bed.clock.run_for(ms(5));
    assert_eq!((waits.info().runs, record.times("c")), (1, vec![30]));
    let letter = bed.scheduler.dead_letters().list().remove(0);
    // The id is free, and the letter may be replayed: it is another task, for which nobody waits.
    let again = bed.scheduler.dead_letters().replay(letter.id).unwrap();
    bed.clock.run_for(ms(5));
    assert_eq!(again.wait(), TaskState::Succeeded);
    assert_eq!((waits.info().runs, record.times("c").len()), (1, 1));
}

#[test]
fn a_shutdown_names_those_that_wait() {
    let bed = Bed::inline();
    works(&bed, "a", ms(10));
    let b = child(&bed, "b", "a", When::Succeeded);
    let report = bed.scheduler.shutdown(ms(0)).unwrap();
    let named: Vec<_> = report.pending.iter().map(|task| task.id.as_str()).collect();
    assert_eq!(named, ["a", "b"]);
    assert_eq!(report.pending[1].waits_for, ["a"]);
    assert_eq!(b.wait(), TaskState::Cancelled);
    let late = bed.scheduler.task("c").depends_on("a", When::Finished);
    assert_eq!(late.run(|_| ()).unwrap_err(), SubmitError::ShuttingDown);
}

#[test]
fn who_waits_for_runs_to_end_waits_for_those_behind_them() {
    let bed = Bed::workers(2);
    for _ in 0..size(50, 1_000) {
        works(&bed, "a", ms(1));
        let b = child(&bed, "b", "a", When::Succeeded);
        let c = child(&bed, "c", "b", When::Succeeded);
        bed.jump(ms(1));
        assert_eq!((b.info().runs, c.info().runs), (1, 1));
    }
}

#[test]
fn a_task_that_is_being_cancelled_is_known() {
    let bed = Bed::workers(1);
    let (gate, keeper) = gate();
    let task = bed.scheduler.task("a").after(Duration::ZERO);
    task.run(move |run: &Context| keeper.pass(run)).unwrap();
    gate.wait_started();
    assert_eq!(bed.scheduler.cancel("a"), CancelOutcome::Running);
    let b = child(&bed, "b", "a", When::Succeeded);
    assert_eq!(b.info().waits_for, ["a"]);
    gate.open();
    assert_eq!(b.wait_timeout(HANG), Some(TaskState::Skipped));
}

#[test]
fn ten_thousand_that_wait_for_one_and_one_that_waits_for_them() {
    let bed = Bed::workers(2);
    let fan = size(10_000, 100_000);
    works(&bed, "first", ms(1));
    let mut last = bed.scheduler.task("last");
    for n in 0..fan {
        child(&bed, &n.to_string(), "first", When::Succeeded);
        last = last.depends_on(n.to_string(), When::Succeeded);
    }
    let last = last.run(|_| ()).unwrap();
    assert_eq!(last.info().waits_for.len(), fan);
    bed.jump(ms(1));
    assert_eq!(last.info().state, TaskState::Succeeded);
    assert_eq!(bed.scheduler.stats().succeeded, fan as u64 + 2);
}
