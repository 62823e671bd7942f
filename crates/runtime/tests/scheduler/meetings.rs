//! Where two policies of one task meet.

use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use wheel_runtime::{
    Context, Misfire, Outcome, Overlap, ResumeFrom, Retry, Schedule, TaskHandle, TaskState,
    TriggerOutcome,
};

use crate::bed::{Bed, Gate, HANG, gate, ms};

const HOUR: Duration = Duration::from_secs(3600);

type Nominals = Arc<Mutex<Vec<SystemTime>>>;

#[test]
fn a_task_that_says_it_is_done_leaves_nothing_behind_beside_a_run_that_waits_to_be_tried_again() {
    let bed = Bed::inline();
    let task = bed.scheduler.task("x").every(ms(100));
    let task = task
        .overlap(Overlap::Allow { max: 2 })
        .retry(Retry::fixed(HOUR));
    let handler = |run: &Context| match run.run() {
        1 => Outcome::Failure("no paper".into()),
        _ => Outcome::Cancel,
    };
    let task = task.run(handler).unwrap();
    bed.clock.run_for(ms(200));
    let info = task.info();
    assert_eq!((info.state, info.next_due), (TaskState::Cancelled, None));
    let stats = bed.scheduler.stats();
    assert_eq!(
        (stats.abandoned, stats.succeeded, stats.retrying),
        (1, 1, 0)
    );
    assert_eq!(bed.clock.advance_to_next(), None, "a timer is left");
}

/// A task whose second run said that it was the last, while the first one stands at the gate. What
/// comes of that one, `after` says.
fn beside_the_last_run(
    bed: &Bed,
    after: impl Fn(&Context) -> Outcome + Send + Sync + 'static,
) -> (TaskHandle, Gate) {
    let (gate, keeper) = gate();
    let task = bed.scheduler.task("x").every(ms(100));
    let task = task.overlap(Overlap::Allow { max: 2 });
    let handler = move |run: &Context| match run.run() {
        1 => {
            keeper.pass(run);
            after(run)
        }
        _ => Outcome::Cancel,
    };
    let task = task.run(handler).unwrap();
    bed.clock.advance(ms(100));
    gate.wait_started();
    bed.clock.advance(ms(100));
    while task.info().succeeded == 0 {
        std::thread::yield_now();
    }
    (task, gate)
}

#[test]
fn what_goes_on_beside_a_run_that_was_the_last_is_not_tried_again_and_is_waited_for() {
    let bed = Bed::workers(2);
    let (task, gate) = beside_the_last_run(&bed, |_| Outcome::Snooze(HOUR));
    assert_eq!(bed.scheduler.trigger("x"), TriggerOutcome::NotFound);
    assert!(
        bed.scheduler
            .reschedule("x", Schedule::every(ms(1)))
            .is_err()
    );
    gate.open();
    assert_eq!(task.wait_timeout(HANG), Some(TaskState::Cancelled));
    bed.settle();
    assert!(bed.scheduler.shutdown(HANG).is_ok());
    assert_eq!(bed.scheduler.stats().abandoned, 1);
}

#[test]
fn a_shutdown_stops_what_goes_on_beside_a_run_that_was_the_last() {
    let bed = Bed::workers(2);
    let (task, gate) = beside_the_last_run(&bed, |run| {
        assert!(run.token().wait_timeout(HANG));
        Outcome::Success
    });
    gate.open();
    let cut = bed
        .scheduler
        .shutdown(Duration::ZERO)
        .unwrap_err()
        .report
        .cut;
    assert_eq!(cut.len(), 1);
    assert_eq!(task.wait_timeout(HANG), Some(TaskState::Cancelled));
}

#[test]
fn a_pause_that_meets_a_run_in_the_queue_does_not_end_the_task() {
    for (schedule, count) in [
        (Schedule::every_after(ms(100)), u64::MAX),
        (Schedule::every(ms(100)), 1),
    ] {
        let bed = Bed::workers(1);
        let busy = bed.occupy_worker();
        let task = bed.scheduler.task("x").schedule(schedule).count(count);
        let task = task.run(|_| ()).unwrap();
        bed.clock.advance(ms(100));
        let _ = bed.scheduler.pause("x");
        busy.open();
        bed.settle();
        assert_eq!(
            (task.info().state, task.info().backlog),
            (TaskState::Paused, 1)
        );
        let _ = bed.scheduler.resume("x", ResumeFrom::Now);
        let info = task.info();
        assert_eq!((info.state, info.skipped), (TaskState::Scheduled, 1));
        assert_eq!(info.next_in, Some(ms(100)));
        bed.jump(ms(100));
        assert_eq!(task.info().runs, 1);
    }
}

#[test]
fn a_count_is_reached_although_occurrences_were_left_out() {
    let bed = Bed::workers(1);
    let busy = bed.occupy_worker();
    let task = bed.scheduler.task("x").every(ms(100)).count(2);
    let task = task.overlap(Overlap::CancelRunning).run(|_| ()).unwrap();
    bed.clock.advance(ms(100));
    bed.clock.advance(ms(100));
    busy.open();
    bed.settle();
    assert_eq!(task.info().runs, 1);
    bed.walk(2, ms(100));
    assert_eq!(
        (task.info().runs, task.info().state),
        (2, TaskState::Succeeded)
    );
}

#[test]
fn runs_by_hand_do_not_make_more_runs_than_are_wanted() {
    let bed = Bed::inline();
    let now = bed.clock.wall();
    let task = bed
        .scheduler
        .task("x")
        .cron("0 * * * *")
        .count(3)
        .run(|_| ())
        .unwrap();
    assert_eq!(bed.scheduler.backfill("x", now - HOUR * 5, now), Ok(5));
    bed.settle();
    assert_eq!(
        (task.info().runs, task.info().state),
        (3, TaskState::Succeeded)
    );
    // The same while it is paused, and edited.
    let task = bed
        .scheduler
        .task("y")
        .cron("0 * * * *")
        .count(2)
        .run(|_| ())
        .unwrap();
    let _ = bed.scheduler.pause("y");
    assert_eq!(bed.scheduler.backfill("y", now - HOUR * 5, now), Ok(5));
    bed.scheduler
        .reschedule("y", Schedule::every(HOUR))
        .unwrap();
    let _ = bed.scheduler.resume("y", ResumeFrom::Missed);
    bed.settle();
    bed.clock.run_for(HOUR * 3);
    assert_eq!(
        (task.info().runs, task.info().state),
        (2, TaskState::Succeeded)
    );
}

#[test]
fn what_waits_stands_for_what_was_due_meanwhile_and_not_for_what_is_filled_in() {
    for overlap in [Overlap::QueueOne, Overlap::CancelRunning] {
        let bed = Bed::workers(1);
        let now = bed.clock.wall();
        let nominals = Nominals::default();
        let noted = Arc::clone(&nominals);
        let (gate, keeper) = gate();
        let task = bed.scheduler.task("x").cron("0 * * * *").overlap(overlap);
        let handler = move |run: &Context| {
            noted.lock().unwrap().push(run.nominal());
            keeper.pass(run);
        };
        let task = task.run(handler).unwrap();
        assert_eq!(bed.scheduler.backfill("x", now - HOUR * 3, now), Ok(3));
        gate.wait_started();
        let next = task.info().next_in.unwrap();
        bed.clock.advance(next);
        bed.clock.advance(HOUR);
        (0..10).for_each(|_| gate.open());
        bed.settle();
        let mut ran = nominals.lock().unwrap().clone();
        ran.sort();
        let latest = now + next + HOUR;
        let wanted: Vec<_> = (1..=3)
            .rev()
            .map(|n| now - HOUR * n)
            .chain([latest])
            .collect();
        assert_eq!(ran, wanted, "{overlap:?}");
    }
}

#[test]
fn an_edit_in_a_pause_and_a_resume_from_now_run_nothing_of_the_past() {
    for misfire in [Misfire::FireOnce, Misfire::FireAll { max: 100 }] {
        let bed = Bed::inline();
        let task = bed.scheduler.task("x").every(ms(100)).misfire(misfire);
        let task = task.run(|_| ()).unwrap();
        let _ = bed.scheduler.pause("x");
        bed.clock.run_for(ms(250));
        bed.scheduler
            .reschedule("x", Schedule::every(ms(20)))
            .unwrap();
        bed.clock.run_for(ms(755));
        let _ = bed.scheduler.resume("x", ResumeFrom::Now);
        bed.settle();
        assert_eq!((task.info().runs, task.info().next_in), (0, Some(ms(5))));
    }
}

#[test]
fn the_last_run_of_a_window_is_not_lost_by_an_edit() {
    let bed = Bed::workers(1);
    let busy = bed.occupy_worker();
    let end = bed.clock.wall() + ms(150);
    let task = bed.scheduler.task("x").every(ms(100)).not_after(end);
    let task = task.run(|_| ()).unwrap();
    bed.clock.advance(ms(100));
    bed.scheduler
        .reschedule("x", Schedule::every(HOUR))
        .unwrap();
    busy.open();
    bed.settle();
    assert_eq!(task.info().runs, 1);
    assert_eq!(task.info().next_in, Some(HOUR));
}

#[test]
fn what_a_run_stands_for_is_counted_once() {
    let bed = Bed::workers(1);
    let busy = bed.occupy_worker();
    let task = bed.scheduler.task("x").every(ms(100)).run(|_| ()).unwrap();
    bed.clock.advance(ms(1_000));
    let _ = bed.scheduler.pause("x");
    busy.open();
    bed.settle();
    assert_eq!((task.info().backlog, task.info().missed), (1, 0));
    let _ = bed.scheduler.resume("x", ResumeFrom::Missed);
    bed.settle();
    assert_eq!((task.info().runs, task.info().missed), (1, 9));
    assert_eq!(bed.scheduler.stats().missed, 9);
}

#[test]
fn a_replayed_run_has_its_deadline_through_all_its_attempts() {
    let bed = Bed::inline();
    let task = bed.scheduler.task("x").after(ms(10)).deadline(ms(100));
    let task = task.retry(Retry::fixed(ms(60)).max_attempts(5));
    let task = task.run(|_| Err("no paper")).unwrap();
    bed.clock.run_for(ms(1_000));
    assert_eq!(task.info().state, TaskState::Dead);
    let letter = bed.scheduler.dead_letters().list().remove(0);
    assert_eq!(letter.last.attempts, 2);
    let again = bed.scheduler.dead_letters().replay(letter.id).unwrap();
    bed.clock.run_for(ms(1_000));
    assert_eq!(again.info().state, TaskState::Dead);
    assert_eq!(bed.scheduler.dead_letters().list()[0].last.attempts, 2);
}

#[test]
fn the_nodes_of_a_graph_are_for_its_instant_whenever_they_start() {
    let bed = Bed::workers(1);
    let due = bed.clock.wall() + HOUR;
    let nominals = Nominals::default();
    let (gate, keeper) = gate();
    let note = |nominals: &Nominals| {
        let noted = Arc::clone(nominals);
        move |run: &Context| noted.lock().unwrap().push(run.nominal())
    };
    let nightly = bed.scheduler.graph("nightly").cron("0 * * * *");
    let first = note(&nominals);
    let nightly = nightly.node("extract", move |run: &Context| {
        first(run);
        keeper.pass(run);
    });
    let nightly = nightly
        .node("load", note(&nominals))
        .chain(["extract", "load"]);
    let nightly = nightly.start().unwrap();
    let due = nightly_due(&bed, due);
    gate.wait_started();
    bed.clock.advance(HOUR / 4);
    gate.open();
    bed.settle();
    assert_eq!(*nominals.lock().unwrap(), [due, due]);
    drop(nightly);
}

/// Goes to the next full hour, at most one hour ahead.
fn nightly_due(bed: &Bed, latest: SystemTime) -> SystemTime {
    let next = bed.scheduler.get("nightly").unwrap().next_in.unwrap();
    bed.clock.advance(next);
    let due = bed.clock.wall();
    assert!(due <= latest);
    due
}
