//! Reschedule and trigger.

use std::time::Duration;

use wheel_runtime::{
    CancelOutcome, Context, RescheduleError, Retry, Schedule, ScheduleError, TaskFilter, TaskState,
    TriggerOutcome,
};

use crate::bed::{Bed, HANG, gate, ms};

#[test] // WK-05
fn a_new_schedule_holds_at_once_whether_earlier_or_later() {
    let bed = Bed::inline();
    let record = bed.record();
    let add = |id: &str, delay| {
        let task = bed.scheduler.task(id).after(ms(delay));
        task.run(record.note(id)).unwrap();
    };
    let change = |id: &str, delay| {
        let schedule = Schedule::after(ms(delay));
        bed.scheduler.reschedule(id, schedule).unwrap();
    };
    add("earlier", 10_000);
    add("later", 10);
    change("earlier", 20);
    change("later", 5_000);
    bed.clock.run_for(ms(20_000));
    assert_eq!(record.times("earlier"), [20]);
    assert_eq!(record.times("later"), [5_000]);
}

#[test] // LV-12
fn the_earliest_task_moved_later_has_its_new_due_at_once() {
    let bed = Bed::inline();
    let record = bed.record();
    for (id, delay) in [("moved", 50), ("other", 200)] {
        let task = bed.scheduler.task(id).after(ms(delay));
        task.run(record.note(id)).unwrap();
    }
    let later = Schedule::after(ms(400));
    bed.scheduler.reschedule("moved", later).unwrap();
    let tasks = bed.scheduler.tasks(&TaskFilter::all());
    let next = tasks.iter().filter_map(|task| task.next_in).min();
    assert_eq!(next, Some(ms(200)));
    bed.clock.run_for(ms(1_000));
    assert_eq!(record.names(), ["other", "moved"]);
    assert_eq!(record.times("other"), [200]);
    assert_eq!(record.times("moved"), [400]);
}

#[test] // WK-01
fn a_task_moved_into_the_past_runs_at_once() {
    let bed = Bed::inline();
    let record = bed.record();
    let task = bed.scheduler.task("x").after(ms(10_000));
    task.run(record.note("x")).unwrap();
    bed.clock.run_for(ms(50));
    let past = Schedule::at(bed.clock.wall() - ms(1));
    bed.scheduler.reschedule("x", past).unwrap();
    bed.settle();
    assert_eq!(record.times("x"), [50]);
    bed.clock.run_for(ms(10_000));
    assert_eq!(record.len(), 1);
}

#[test] // DU-10
fn a_recurring_task_takes_its_new_period_at_once() {
    let bed = Bed::inline();
    let record = bed.record();
    let task = bed.scheduler.task("x").every(Duration::from_secs(3600));
    task.run(record.note("x")).unwrap();
    bed.clock.run_for(ms(5));
    let faster = Schedule::every(ms(20));
    bed.scheduler.reschedule("x", faster).unwrap();
    bed.clock.run_for(ms(60));
    assert_eq!(record.times("x"), [25, 45, 65]);
}

#[test] // HD-03
fn a_run_that_waits_for_a_worker_is_taken_back() {
    let bed = Bed::workers(1);
    let record = bed.record();
    let gate = bed.occupy_worker();
    let past = bed.clock.wall() - ms(10);
    let task = bed.scheduler.task("x").at(past).run(record.note("old"));
    bed.clock.advance(ms(1));
    assert_eq!(task.as_ref().unwrap().info().state, TaskState::Queued);
    let later = Schedule::after(ms(200));
    bed.scheduler.reschedule("x", later).unwrap();
    assert_eq!(task.unwrap().info().state, TaskState::Scheduled);
    assert_eq!(bed.scheduler.cancel("x"), CancelOutcome::Cancelled);
    bed.scheduler.after(ms(50), record.note("new")).unwrap();
    gate.open();
    bed.walk(300, ms(1));
    assert_eq!(record.names(), ["new"]);
    assert_eq!(record.times("new"), [51]);
}

#[test]
fn a_new_schedule_during_a_run_holds_after_it() {
    let bed = Bed::workers(1);
    let (gate, keeper) = gate();
    let handler = move |context: &Context| keeper.pass(context);
    let task = bed.scheduler.task("x").after(ms(10)).run(handler).unwrap();
    bed.clock.advance(ms(10));
    gate.wait_started();
    bed.scheduler
        .reschedule("x", Schedule::after(ms(5)))
        .unwrap();
    gate.open();
    bed.settle();
    assert_eq!(task.info().state, TaskState::Scheduled);
    bed.clock.advance(ms(5));
    assert_eq!(gate.wait_started(), 2);
    gate.open();
    assert_eq!(task.wait(), TaskState::Succeeded);
}

#[test]
fn an_impossible_schedule_leaves_the_old_one() {
    let bed = Bed::inline();
    let record = bed.record();
    let task = bed.scheduler.task("x").after(ms(10));
    task.run(record.note("x")).unwrap();
    let refused = bed
        .scheduler
        .reschedule("x", Schedule::every(Duration::ZERO));
    assert_eq!(
        refused,
        Err(RescheduleError::Schedule(ScheduleError::ZeroPeriod))
    );
    bed.clock.run_for(ms(10));
    assert_eq!(record.times("x"), [10]);
    let ended = bed.scheduler.reschedule("x", Schedule::after(ms(1)));
    assert_eq!(ended, Err(RescheduleError::NotFound));
}

#[test] // CA-08
fn a_trigger_brings_a_single_run_forward_and_makes_no_second_one() {
    let bed = Bed::workers(1);
    for round in 0..2_000 {
        let task = bed.scheduler.task("x").after(ms(3)).run(|_| ()).unwrap();
        let clock = &bed.clock;
        let scheduler = &bed.scheduler;
        std::thread::scope(|scope| {
            scope.spawn(|| {
                // Any answer may come: before, at or after its due.
                let _ = scheduler.trigger("x");
            });
            if round % 2 == 0 {
                clock.advance(ms(3));
            }
        });
        bed.jump(ms(3));
        assert_eq!(task.wait_timeout(HANG), Some(TaskState::Succeeded));
        assert_eq!(task.info().runs, 1);
    }
}

#[test]
fn a_trigger_of_a_recurring_task_does_not_move_its_grid() {
    let bed = Bed::inline();
    let record = bed.record();
    let task = bed.scheduler.task("x").every(ms(100)).count(3);
    task.run(record.note("x")).unwrap();
    bed.clock.run_for(ms(130));
    assert_eq!(bed.scheduler.trigger("x"), TriggerOutcome::Triggered);
    bed.clock.run_for(ms(1_000));
    assert_eq!(record.times("x"), [100, 130, 200]);
    assert_eq!(bed.scheduler.trigger("x"), TriggerOutcome::NotFound);
}

#[test] // DU-04
fn no_scheduled_run_starts_beside_a_triggered_one() {
    let bed = Bed::workers(4);
    let (gate, keeper) = gate();
    let handler = move |context: &Context| keeper.pass(context);
    let task = bed.scheduler.task("x").every(ms(100)).run(handler).unwrap();
    assert_eq!(bed.scheduler.trigger("x"), TriggerOutcome::Triggered);
    assert_eq!(gate.wait_started(), 1);
    assert_eq!(bed.scheduler.trigger("x"), TriggerOutcome::Busy);
    for _ in 0..25 {
        bed.clock.advance(ms(10));
    }
    assert_eq!((task.info().runs, task.info().skipped), (1, 2));
    gate.open();
    bed.settle();
    bed.clock.advance(ms(50));
    assert_eq!(gate.wait_started(), 2);
    gate.open();
}

#[test] // CA-09
fn threads_that_change_one_id_at_once_leave_one_task_or_none() {
    let bed = Bed::workers(2);
    let record = bed.record();
    let scheduler = &bed.scheduler;
    std::thread::scope(|scope| {
        for n in 0..4 {
            let record = &record;
            scope.spawn(move || {
                for round in 0..3_000 {
                    match (n + round) % 3 {
                        0 => drop(scheduler.task("x").after(ms(1)).run(record.note("x"))),
                        1 => drop(scheduler.reschedule("x", Schedule::after(ms(1)))),
                        _ => drop(scheduler.cancel("x")),
                    }
                }
            });
            scope.spawn(move || {
                for _ in 0..3_000 {
                    let info = scheduler.get("x");
                    assert!(info.is_none_or(|info| info.runs <= 1));
                }
            });
        }
        for _ in 0..100 {
            bed.clock.advance(ms(1));
        }
    });
    bed.settle();
    let before = record.len();
    let left = scheduler.tasks(&TaskFilter::all()).len();
    assert!(left <= 1, "{left} tasks of one id");
    bed.jump(ms(1));
    assert_eq!(record.len(), before + left, "the one that is left behaves");
    assert_eq!(scheduler.stats().scheduled, 0);
}

#[test]
fn a_replay_does_not_stand_for_the_run_that_a_task_was_rescheduled_to() {
    let bed = Bed::inline();
    let once = Retry::fixed(ms(5)).max_attempts(1);
    let builder = bed.scheduler.task("x").every(ms(100)).retry(once);
    let task = builder
        .run(|run| match run.run() {
            1 => Err("no paper"),
            _ => Ok(()),
        })
        .unwrap();
    bed.clock.run_for(ms(100));
    let later = Schedule::after(ms(500));
    bed.scheduler.reschedule("x", later).unwrap();
    let letter = bed.scheduler.dead_letters().list().remove(0);
    bed.scheduler.dead_letters().replay(letter.id).unwrap();
    bed.clock.run_for(ms(10));
    assert_eq!(
        (task.info().runs, task.info().state),
        (2, TaskState::Scheduled)
    );
    bed.clock.run_for(ms(500));
    assert_eq!((task.info().runs, task.wait()), (3, TaskState::Succeeded));
}
