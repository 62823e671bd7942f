//! Runs for a time that is past; and schedules that are edited while they run.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use wheel_runtime::{BackfillError, Context, Retry, Schedule, TaskState};

use crate::bed::{Bed, gate, ms};

const HOUR: Duration = Duration::from_secs(3600);

#[test]
fn each_instant_of_the_past_runs_once_oldest_first_and_the_schedule_does_not_move() {
    let bed = Bed::workers(2);
    bed.jump(HOUR * 24);
    let now = bed.clock.wall();
    let nominals = Arc::new(Mutex::new(Vec::new()));
    for (id, schedule) in [
        ("cron", Schedule::cron("0 * * * *")),
        ("every", Schedule::every(HOUR).start_at(now)),
    ] {
        let noted = Arc::clone(&nominals);
        let task = bed.scheduler.task(id).schedule(schedule);
        let task = task.run(move |run: &Context| noted.lock().unwrap().push(run.nominal()));
        let (task, next) = (
            task.as_ref().unwrap(),
            task.as_ref().unwrap().info().next_due,
        );
        // The end is not part of it.
        assert_eq!(bed.scheduler.backfill(id, now - HOUR * 5, now), Ok(5));
        bed.settle();
        let wanted: Vec<_> = (1..=5).rev().map(|n| now - HOUR * n).collect();
        assert_eq!(
            std::mem::take(&mut *nominals.lock().unwrap()),
            wanted,
            "{id}"
        );
        assert_eq!((task.info().runs, task.info().skipped), (5, 0));
        assert_eq!(task.info().next_due, next);
    }
}

#[test]
fn a_backfill_that_is_not_possible_says_why_and_runs_nothing() {
    let bed = Bed::inline();
    let now = bed.clock.wall();
    let every = bed
        .scheduler
        .task("every")
        .every(ms(1))
        .run(|_| ())
        .unwrap();
    bed.scheduler.task("once").after(HOUR).run(|_| ()).unwrap();
    let backfill = |id, from, to| bed.scheduler.backfill(id, from, to);
    assert_eq!(
        backfill("none", now - HOUR, now),
        Err(BackfillError::NotFound)
    );
    assert_eq!(
        backfill("once", now - HOUR, now),
        Err(BackfillError::NotRecurring)
    );
    assert_eq!(
        backfill("every", now, now - HOUR),
        Err(BackfillError::Backwards)
    );
    assert_eq!(
        backfill("every", now, now + ms(1)),
        Err(BackfillError::NotPast)
    );
    assert_eq!(
        backfill("every", now - HOUR, now),
        Err(BackfillError::TooMany)
    );
    assert_eq!(backfill("every", now, now), Ok(0));
    assert_eq!(every.info().runs, 0);
}

#[test]
fn a_backfill_of_a_paused_task_waits_for_the_resume() {
    let bed = Bed::inline();
    let now = bed.clock.wall();
    let task = bed
        .scheduler
        .task("x")
        .cron("0 * * * *")
        .run(|_| ())
        .unwrap();
    let _ = bed.scheduler.pause("x");
    assert_eq!(bed.scheduler.backfill("x", now - HOUR * 2, now), Ok(2));
    bed.settle();
    assert_eq!((task.info().runs, task.info().backlog), (0, 2));
    let _ = bed.scheduler.resume("x", wheel_runtime::ResumeFrom::Missed);
    bed.settle();
    assert_eq!(
        (task.info().runs, task.info().state),
        (2, TaskState::Scheduled)
    );
}

#[test]
fn an_edit_of_a_recurring_task_loses_no_occurrence_that_waits_for_a_worker() {
    let bed = Bed::workers(1);
    let busy = bed.occupy_worker();
    let start = bed.clock.wall();
    let task = bed.scheduler.task("x").every(ms(100)).run(|_| ()).unwrap();
    bed.clock.advance(ms(100));
    bed.scheduler
        .reschedule("x", Schedule::every(ms(70)))
        .unwrap();
    busy.open();
    bed.settle();
    assert_eq!(task.info().runs, 1);
    assert_eq!(task.info().last_run.unwrap().nominal, start + ms(100));
    bed.jump(ms(70));
    assert_eq!(task.info().runs, 2);
}

#[test]
fn edits_at_every_moment_lose_no_occurrence_and_double_none() {
    // Two calendars that say the same: whenever one takes the place of the other, each minute has
    // one run.
    let minute = Duration::from_secs(60);
    for offset in 0..8 {
        let bed = Bed::inline();
        let nominals = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&nominals);
        let task = bed.scheduler.task("x").cron("* * * * *");
        let task = task.retry(Retry::fixed(ms(300)).max_attempts(2));
        let task = task.run(move |run: &Context| {
            if run.attempt() == 1 && run.run().is_multiple_of(3) {
                return Err("once more");
            }
            noted.lock().unwrap().push(run.nominal());
            Ok(())
        });
        let start = bed.clock.wall();
        for n in 0..500_u64 {
            // Sometimes on the minute, sometimes off it.
            bed.clock.run_for(ms(7_500 + 125 * offset));
            let other = ["*/1 * * * *", "0-59 * * * *"][n as usize % 2];
            bed.scheduler
                .reschedule("x", Schedule::cron(other))
                .unwrap();
        }
        bed.clock.run_for(ms(1_000));
        let passed = bed.clock.wall().duration_since(start).unwrap();
        let wanted: Vec<_> = (1..=passed.as_secs() / 60)
            .map(|n| start + minute * n as u32)
            .collect();
        assert_eq!(*nominals.lock().unwrap(), wanted);
        drop(task);
    }
}

#[test]
fn an_edit_from_the_handler_holds_from_the_next_occurrence_on() {
    let bed = Bed::workers(1);
    let (gate, keeper) = gate();
    let scheduler = bed.scheduler.clone();
    let task = bed.scheduler.task("x").every(ms(100));
    let handler = move |run: &Context| {
        if run.run() == 1 {
            scheduler.reschedule("x", Schedule::every(ms(30))).unwrap();
        }
        keeper.pass(run);
    };
    let task = task.run(handler).unwrap();
    bed.clock.advance(ms(100));
    gate.wait_started();
    gate.open();
    bed.settle();
    assert_eq!(task.info().next_in, Some(ms(30)));
    bed.clock.advance(ms(30));
    assert_eq!(gate.wait_started(), 2);
    gate.open();
    bed.scheduler.shutdown(Duration::from_secs(5)).unwrap();
}
