//! What is found due too late, or together.

use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use wheel_runtime::{Context, Misfire, Overlap, SkipReason, SubmitError, TaskHandle, TaskState};

use crate::bed::{Bed, gate, ms};

const MINUTE: Duration = Duration::from_secs(60);

/// The nominal instants of runs.
type Nominals = Arc<Mutex<Vec<SystemTime>>>;

fn noted() -> (Nominals, impl Fn(&Context) + Send + Sync + Clone + 'static) {
    let nominals = Nominals::default();
    let noted = Arc::clone(&nominals);
    let note = move |run: &Context| noted.lock().unwrap().push(run.nominal());
    (nominals, note)
}

fn counts(task: &TaskHandle) -> (u64, u64, u64) {
    let info = task.info();
    (info.runs, info.missed, info.skipped)
}

#[test]
fn each_one_that_was_missed_runs_for_its_own_instant_oldest_first() {
    let bed = Bed::inline();
    let start = bed.clock.wall();
    let all = Misfire::FireAll { max: 10 };
    let (grid, note) = noted();
    let every = bed.scheduler.task("every").every(MINUTE).misfire(all);
    let every = every.run(note).unwrap();
    let (calendar, note) = noted();
    let cron = bed.scheduler.task("cron").cron("* * * * *").misfire(all);
    let cron = cron.run(note).unwrap();
    bed.jump(MINUTE * 5 + ms(1));
    let wanted: Vec<SystemTime> = (1..=5).map(|n| start + MINUTE * n).collect();
    assert_eq!(*grid.lock().unwrap(), wanted);
    assert_eq!(*calendar.lock().unwrap(), wanted);
    assert_eq!((counts(&every), counts(&cron)), ((5, 0, 0), (5, 0, 0)));
    // More than are wanted: the newest count.
    bed.jump(MINUTE * 30);
    let newest: Vec<SystemTime> = (26..=35).map(|n| start + MINUTE * n).collect();
    assert_eq!(grid.lock().unwrap()[5..], newest);
    assert_eq!(calendar.lock().unwrap()[5..], newest);
    assert_eq!((counts(&every), counts(&cron)), ((15, 20, 0), (15, 20, 0)));
}

#[test]
fn what_is_too_late_is_left_out_and_what_is_not_runs() {
    let bed = Bed::with(|builder| {
        let builder = builder.executor(wheel_runtime::InlineExecutor);
        builder.misfire_threshold(MINUTE)
    });
    let hourly = bed
        .scheduler
        .task("hourly")
        .cron("0 * * * *")
        .misfire(Misfire::Skip);
    let hourly = hourly.run(|_| ()).unwrap();
    let every = bed
        .scheduler
        .task("every")
        .every(MINUTE * 60)
        .misfire(Misfire::Skip);
    let every = every.run(|_| ()).unwrap();
    let once = bed
        .scheduler
        .task("once")
        .after(MINUTE * 60)
        .misfire(Misfire::Skip);
    let once = once.run(|_| ()).unwrap();
    let pausing = bed
        .scheduler
        .task("pausing")
        .every_after(MINUTE * 60)
        .misfire(Misfire::Skip);
    let pausing = pausing.run(|_| ()).unwrap();
    bed.jump(MINUTE * 182);
    for task in [&hourly, &every] {
        assert_eq!(counts(task), (0, 0, 3), "{}", task.id());
        assert_eq!(task.info().last_skip, Some(SkipReason::Misfire));
        assert_eq!(task.info().next_in, Some(MINUTE * 58));
    }
    assert_eq!(once.info().state, TaskState::Skipped);
    assert_eq!(pausing.info().next_in, Some(MINUTE * 60));
    assert_eq!(bed.scheduler.stats().skipped_misfire, 8);
    // Late by less than the threshold.
    bed.jump(MINUTE * 59 - ms(1));
    assert_eq!((counts(&hourly), counts(&every)), ((1, 0, 3), (1, 0, 3)));
}

#[test]
fn what_is_found_too_late_does_not_wait_for_a_worker_to_be_left_out() {
    let bed = Bed::workers(1);
    let busy = bed.occupy_at_once();
    let every = bed.scheduler.task("every").every(MINUTE * 10);
    let every = every.misfire(Misfire::Skip).run(|_| ()).unwrap();
    bed.clock.advance(MINUTE * 29);
    assert_eq!(counts(&every), (0, 0, 2));
    assert_eq!(every.info().state, TaskState::Scheduled);
    busy.open();
    bed.settle();
    assert_eq!(counts(&every), (0, 0, 2));
}

#[test]
fn what_is_found_due_together_runs_if_the_latest_is_not_too_late() {
    let bed = Bed::with(|builder| builder.workers(1).misfire_threshold(MINUTE));
    let every = bed
        .scheduler
        .task("every")
        .every(MINUTE)
        .misfire(Misfire::Skip);
    let every = every.run(|_| ()).unwrap();
    let cron = bed
        .scheduler
        .task("cron")
        .cron("* * * * *")
        .misfire(Misfire::Skip);
    let cron = cron.run(|_| ()).unwrap();
    bed.jump(MINUTE * 10 + MINUTE / 2);
    for task in [every, cron] {
        assert_eq!(counts(&task), (1, 9, 0), "{}", task.id());
    }
}

#[test]
fn what_a_full_pool_has_made_too_late_is_left_out_when_a_worker_is_free() {
    let bed = Bed::with(|builder| builder.workers(1).misfire_threshold(MINUTE));
    let busy = bed.occupy_worker();
    let task = bed
        .scheduler
        .task("x")
        .every(MINUTE * 10)
        .misfire(Misfire::Skip);
    let task = task.run(|_| ()).unwrap();
    let once = bed
        .scheduler
        .task("once")
        .after(MINUTE * 10)
        .misfire(Misfire::Skip);
    let once = once.run(|_| ()).unwrap();
    let patient = bed
        .scheduler
        .task("patient")
        .after(MINUTE * 10)
        .run(|_| ())
        .unwrap();
    bed.clock.advance(MINUTE * 10);
    bed.clock.advance(MINUTE * 2);
    busy.open();
    bed.settle();
    assert_eq!(counts(&task), (0, 0, 1));
    assert_eq!(task.info().next_in, Some(MINUTE * 8));
    assert_eq!(once.info().state, TaskState::Skipped);
    assert_eq!(patient.info().state, TaskState::Succeeded);
    bed.jump(MINUTE * 8);
    assert_eq!(counts(&task), (1, 0, 1));
}

#[test]
fn those_that_were_missed_go_beside_each_other_where_that_is_allowed() {
    let bed = Bed::workers(4);
    let (gate, keeper) = gate();
    let task = bed.scheduler.task("x").every(MINUTE);
    let task = task
        .misfire(Misfire::FireAll { max: 10 })
        .overlap(Overlap::Allow { max: 3 });
    let task = task.run(move |run: &Context| keeper.pass(run)).unwrap();
    bed.clock.advance(MINUTE * 5);
    let started: Vec<u64> = (0..3).map(|_| gate.wait_started()).collect();
    assert_eq!(started.len(), 3);
    assert_eq!(task.info().backlog, 2);
    (0..5).for_each(|_| gate.open());
    bed.settle();
    assert_eq!(counts(&task), (5, 0, 0));
}

#[test]
fn a_limit_of_runs_holds_also_for_those_that_were_missed() {
    let bed = Bed::inline();
    let task = bed.scheduler.task("x").every(MINUTE).count(3);
    let task = task
        .misfire(Misfire::FireAll { max: 10 })
        .run(|_| ())
        .unwrap();
    bed.jump(MINUTE * 8);
    assert_eq!(
        (task.info().runs, task.info().state),
        (3, TaskState::Succeeded)
    );
}

#[test]
fn a_number_that_is_not_possible_is_refused_by_name() {
    let bed = Bed::inline();
    let refused = |misfire, overlap| {
        let task = bed.scheduler.task("x").every(MINUTE);
        let refused = task.misfire(misfire).overlap(overlap).run(|_| ());
        let error = refused.unwrap_err();
        assert!(matches!(error, SubmitError::Policy(_)), "{error:?}");
        error.to_string()
    };
    assert_eq!(
        refused(Misfire::FireAll { max: 0 }, Overlap::Skip),
        "misfire: FireAll with max 0 is not possible: 1 to 65535"
    );
    assert_eq!(
        refused(Misfire::FireOnce, Overlap::QueueAll { max: 0 }),
        "overlap: QueueAll with max 0 is not possible: 1 to 65535"
    );
    assert_eq!(
        refused(Misfire::FireOnce, Overlap::Allow { max: 1_001 }),
        "overlap: Allow with max 1001 is not possible: 1 to 1000"
    );
}

#[test]
fn what_a_run_that_is_too_late_stood_for_is_left_out_with_it() {
    let bed = Bed::with(|builder| builder.workers(1).misfire_threshold(ms(1_000)));
    let task = bed
        .scheduler
        .task("x")
        .every(ms(100))
        .misfire(Misfire::Skip);
    let task = task.run(|_| ()).unwrap();
    let busy = bed.occupy_worker();
    bed.clock.advance(ms(300));
    for _ in 0..20 {
        bed.clock.advance(ms(100));
    }
    busy.open();
    bed.settle();
    let (info, stats) = (task.info(), bed.scheduler.stats());
    assert_eq!((info.runs, info.skipped, info.missed), (0, 23, 0));
    assert_eq!(
        (stats.skipped, stats.skipped_misfire, stats.missed),
        (23, 3, 0)
    );
}
