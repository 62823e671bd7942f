//! Pause, resume, and what was missed meanwhile.

use std::time::Duration;

use wheel_runtime::{
    CancelOutcome, Context, Misfire, Outcome, Overlap, PauseOutcome, ResumeFrom, ResumeOutcome,
    Retry, Schedule, SkipReason, TaskState, TriggerOutcome,
};

use crate::bed::{Bed, gate, ms};

const HOUR: Duration = Duration::from_secs(3600);

#[test]
fn nothing_runs_while_a_task_is_paused_and_the_grid_goes_on_where_it_was() {
    let bed = Bed::inline();
    let record = bed.record();
    let task = bed.scheduler.task("x").every(ms(100));
    let task = task.run(record.note("x")).unwrap();
    bed.clock.run_for(ms(250));
    assert_eq!(bed.scheduler.pause("x"), PauseOutcome::Paused);
    assert_eq!(bed.scheduler.pause("x"), PauseOutcome::WasPaused);
    let info = task.info();
    assert_eq!(
        (info.state, info.is_paused, info.next_due),
        (TaskState::Paused, true, None)
    );
    assert_eq!(bed.scheduler.stats().paused, 1);
    bed.clock.run_for(ms(500));
    assert_eq!(
        bed.scheduler.resume("x", ResumeFrom::Now),
        ResumeOutcome::Resumed
    );
    assert_eq!(
        bed.scheduler.resume("x", ResumeFrom::Now),
        ResumeOutcome::NotPaused
    );
    assert_eq!(bed.scheduler.stats().paused, 0);
    bed.clock.run_for(ms(160));
    assert_eq!(record.times("x"), [100, 200, 800, 900]);
    let info = task.info();
    // 300 to 700 were missed.
    assert_eq!(
        (info.skipped, info.last_skip),
        (5, Some(SkipReason::Paused))
    );
    assert_eq!(bed.scheduler.stats().skipped_paused, 5);
    assert_eq!(bed.scheduler.pause("y"), PauseOutcome::NotFound);
    assert_eq!(
        bed.scheduler.resume("y", ResumeFrom::Now),
        ResumeOutcome::NotFound
    );
}

#[test] // DR-11
fn what_was_missed_falls_under_the_misfire_rule_if_that_is_wanted() {
    for (misfire, runs, missed) in [
        (Misfire::FireOnce, 1, 4),
        (Misfire::FireAll { max: 3 }, 3, 2),
        (Misfire::FireAll { max: 100 }, 5, 0),
    ] {
        let bed = Bed::inline();
        let task = bed.scheduler.task("x").every(ms(100)).misfire(misfire);
        let task = task.run(|_| ()).unwrap();
        let _ = bed.scheduler.pause("x");
        bed.clock.run_for(ms(550));
        let _ = bed.scheduler.resume("x", ResumeFrom::Missed);
        bed.settle();
        let info = task.info();
        assert_eq!(
            (info.runs, info.missed, info.skipped),
            (runs, missed, 0),
            "{misfire:?}"
        );
        assert_eq!(info.next_in, Some(ms(50)));
    }
}

#[test] // DR-11
fn a_task_by_the_calendar_goes_on_with_an_instant_that_is_still_to_come() {
    for (from, runs) in [(ResumeFrom::Now, 0), (ResumeFrom::Missed, 1)] {
        let bed = Bed::inline();
        let task = bed
            .scheduler
            .task("x")
            .cron("0 * * * *")
            .run(|_| ())
            .unwrap();
        let next = task.info().next_due.unwrap();
        let _ = bed.scheduler.pause("x");
        bed.clock.run_for(HOUR * 3);
        let _ = bed.scheduler.resume("x", from);
        bed.settle();
        let info = task.info();
        assert_eq!(info.runs, runs);
        assert_eq!(info.next_due, Some(next + HOUR * 3));
        bed.clock.run_for(HOUR);
        assert_eq!(task.info().runs, runs + 1);
    }
}

#[test] // DR-11
fn a_task_that_runs_once_is_not_lost_by_a_pause() {
    let late = Duration::from_secs(120);
    for from in [ResumeFrom::Now, ResumeFrom::Missed] {
        for (misfire, state) in [
            (Misfire::FireOnce, TaskState::Succeeded),
            (Misfire::Skip, TaskState::Skipped),
        ] {
            let bed = Bed::inline();
            let at = bed.clock.wall() + ms(100);
            let by_wall = bed.scheduler.task("at").at(at).misfire(misfire);
            let by_wall = by_wall.run(|_| ()).unwrap();
            let after = bed.scheduler.task("after").after(ms(100)).misfire(misfire);
            let after = after.run(|_| ()).unwrap();
            let early = bed
                .scheduler
                .task("early")
                .after(late * 2)
                .run(|_| ())
                .unwrap();
            for id in ["at", "after", "early"] {
                let _ = bed.scheduler.pause(id);
            }
            bed.clock.run_for(late);
            for id in ["at", "after", "early"] {
                let _ = bed.scheduler.resume(id, from);
            }
            bed.settle();
            assert_eq!((by_wall.info().state, after.info().state), (state, state));
            assert_eq!(early.info().next_in, Some(late));
        }
    }
}

#[test] // DR-10
fn a_new_schedule_does_not_resume_a_paused_task() {
    let bed = Bed::inline();
    let record = bed.record();
    let task = bed.scheduler.task("x").every(ms(100));
    let task = task.run(record.note("x")).unwrap();
    let _ = bed.scheduler.pause("x");
    bed.scheduler
        .reschedule("x", Schedule::every(ms(20)))
        .unwrap();
    bed.clock.run_for(ms(70));
    assert_eq!(
        (task.info().runs, task.info().state),
        (0, TaskState::Paused)
    );
    let _ = bed.scheduler.resume("x", ResumeFrom::Now);
    bed.clock.run_for(ms(40));
    assert_eq!(record.times("x"), [80, 100]);
}

#[test]
fn a_run_that_waits_for_a_worker_waits_for_the_resume_as_well() {
    for (from, runs, skipped) in [(ResumeFrom::Missed, 2, 0), (ResumeFrom::Now, 1, 1)] {
        let bed = Bed::workers(1);
        let busy = bed.occupy_worker();
        let task = bed.scheduler.task("x").every(ms(100)).run(|_| ()).unwrap();
        bed.clock.advance(ms(100));
        assert_eq!(task.info().state, TaskState::Queued);
        let _ = bed.scheduler.pause("x");
        busy.open();
        bed.settle();
        assert_eq!(
            (task.info().state, task.info().backlog),
            (TaskState::Paused, 1)
        );
        let _ = bed.scheduler.resume("x", from);
        bed.settle();
        bed.jump(ms(100));
        assert_eq!((task.info().runs, task.info().skipped), (runs, skipped));
    }
}

#[test]
fn a_run_that_has_begun_goes_on_through_a_pause_with_its_attempts() {
    let bed = Bed::inline();
    let task = bed.scheduler.task("x").every(ms(1_000));
    let handler = |run: &Context| match run.attempt() {
        3 => Outcome::Success,
        _ => Outcome::Failure("no paper".into()),
    };
    let task = task.retry(Retry::fixed(ms(10))).run(handler).unwrap();
    bed.clock.run_for(ms(1_005));
    assert_eq!(task.info().state, TaskState::Retrying);
    let _ = bed.scheduler.pause("x");
    bed.clock.run_for(ms(5_000));
    let info = task.info();
    assert_eq!(
        (info.state, info.runs, info.succeeded),
        (TaskState::Paused, 1, 1)
    );
}

#[test]
fn a_paused_task_runs_by_hand_and_is_cancelled_like_any_other() {
    let bed = Bed::inline();
    let task = bed.scheduler.task("x").every(ms(100)).run(|_| ()).unwrap();
    let _ = bed.scheduler.pause("x");
    assert_eq!(bed.scheduler.trigger("x"), TriggerOutcome::Triggered);
    bed.settle();
    assert_eq!(
        (task.info().runs, task.info().state),
        (1, TaskState::Paused)
    );
    assert_eq!(bed.scheduler.cancel("x"), CancelOutcome::Cancelled);
    assert_eq!(task.info().state, TaskState::Cancelled);
    assert_eq!(bed.scheduler.stats().paused, 0);
    // One that runs once is brought forward by hand, and has nothing to wait for then.
    let once = bed
        .scheduler
        .task("once")
        .after(ms(100))
        .run(|_| ())
        .unwrap();
    let _ = bed.scheduler.pause("once");
    assert_eq!(bed.scheduler.trigger("once"), TriggerOutcome::Triggered);
    bed.settle();
    assert_eq!(once.info().state, TaskState::Succeeded);
}

#[test]
fn a_task_that_is_paused_during_its_run_goes_on_from_there() {
    for schedule in [Schedule::every(ms(100)), Schedule::every_after(ms(100))] {
        let bed = Bed::workers(1);
        let (gate, keeper) = gate();
        let task = bed.scheduler.task("x").schedule(schedule);
        let task = task.overlap(Overlap::QueueOne);
        let task = task.run(move |run: &Context| keeper.pass(run)).unwrap();
        bed.clock.advance(ms(100));
        gate.wait_started();
        let _ = bed.scheduler.pause("x");
        assert_eq!(
            (task.info().state, task.info().is_paused),
            (TaskState::Running, true)
        );
        gate.open();
        bed.settle();
        assert_eq!(task.info().state, TaskState::Paused);
        bed.jump(ms(50));
        let _ = bed.scheduler.resume("x", ResumeFrom::Now);
        assert_eq!(task.info().next_in, Some(ms(50)));
        bed.clock.advance(ms(50));
        assert_eq!(gate.wait_started(), 2);
        gate.open();
    }
}

#[test]
fn a_shutdown_names_what_is_paused() {
    let bed = Bed::inline();
    let task = bed.scheduler.task("x").every(ms(100)).run(|_| ()).unwrap();
    let _ = bed.scheduler.pause("x");
    let report = bed.scheduler.shutdown(Duration::ZERO).unwrap();
    assert_eq!(report.pending.len(), 1);
    assert!(report.pending[0].is_paused);
    assert_eq!(task.wait(), TaskState::Cancelled);
}

#[test]
fn what_a_run_stands_for_is_counted_once_also_if_a_pause_held_it_up() {
    let bed = Bed::workers(1);
    let task = bed.scheduler.task("x").every(ms(100)).run(|_| ()).unwrap();
    let busy = bed.occupy_worker();
    bed.clock.advance(ms(300));
    assert_eq!(bed.scheduler.pause("x"), PauseOutcome::Paused);
    busy.open();
    bed.settle();
    assert_eq!((task.info().runs, task.info().backlog), (0, 1));
    let resumed = bed.scheduler.resume("x", ResumeFrom::Missed);
    assert_eq!(resumed, ResumeOutcome::Resumed);
    bed.settle();
    assert_eq!((task.info().runs, task.info().missed), (1, 2));
    assert_eq!(bed.scheduler.stats().missed, 2);
}
