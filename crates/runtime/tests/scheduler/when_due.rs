//! Grids of the wall clock, windows and jitter, as tasks meet them.

use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use wheel_runtime::{
    Context, InlineExecutor, Jitter, Overlap, RescheduleError, Schedule, ScheduleError,
    SubmitError, TaskState,
};

use crate::bed::{Bed, ms};

const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(86_400);

/// (nominal, due) of each run.
type Runs = Arc<Mutex<Vec<(SystemTime, SystemTime)>>>;

fn noting() -> (Runs, impl Fn(&Context) + Send + Sync + 'static) {
    let runs = Runs::default();
    let noted = Arc::clone(&runs);
    let note = move |run: &Context| noted.lock().unwrap().push((run.nominal(), run.due()));
    (runs, note)
}

fn nominal(runs: &Runs) -> Vec<SystemTime> {
    runs.lock().unwrap().iter().map(|run| run.0).collect()
}

#[test]
fn an_aligned_grid_runs_at_the_multiples_of_its_period_wherever_it_was_added() {
    let bed = Bed::inline();
    let midnight = bed.clock.wall();
    bed.clock.advance(ms(437_001));
    let (runs, note) = noting();
    let task = bed.scheduler.task("x").every(15 * MINUTE).aligned();
    task.run(note).unwrap();
    bed.clock.run_for(HOUR);
    let quarters = [15, 30, 45, 60].map(|n| midnight + n * MINUTE);
    assert_eq!(nominal(&runs), quarters);
}

#[test]
fn an_aligned_grid_moves_with_the_wall_clock_and_repeats_nothing() {
    let bed = Bed::inline();
    let midnight = bed.clock.wall();
    let (runs, note) = noting();
    let task = bed
        .scheduler
        .task("x")
        .every(HOUR)
        .aligned()
        .run(note)
        .unwrap();
    bed.clock.run_for(90 * MINUTE);
    // Over three points: one run stands for them.
    bed.clock.set_wall(midnight + 4 * HOUR + MINUTE);
    assert_eq!(nominal(&runs), [1, 4].map(|n| midnight + n * HOUR));
    assert_eq!(task.info().missed, 2);
    bed.clock.set_wall(midnight + HOUR - MINUTE);
    bed.clock.run_for(4 * HOUR);
    assert_eq!(nominal(&runs).len(), 2);
    bed.clock.run_for(2 * MINUTE);
    assert_eq!(nominal(&runs)[2], midnight + 5 * HOUR);
}

#[test] // CN-11
fn a_task_ends_with_its_window_and_its_id_is_free() {
    for (recurs, count) in [
        (Schedule::every(HOUR), 24),
        (Schedule::every(HOUR).aligned(), 24),
        (Schedule::cron("@hourly"), 24),
        (Schedule::every_after(HOUR), 24),
    ] {
        let bed = Bed::inline();
        let end = bed.clock.wall() + DAY;
        let task = bed
            .scheduler
            .task("x")
            .schedule(recurs.clone())
            .not_after(end);
        let task = task.run(|_| ()).unwrap();
        bed.clock.run_for(DAY - MINUTE);
        assert_eq!(task.info().state, TaskState::Scheduled);
        bed.clock.run_for(DAY);
        let info = task.info();
        assert_eq!(
            (info.state, info.runs),
            (TaskState::Succeeded, count),
            "{recurs:?}"
        );
        assert_eq!((info.next_due, info.skipped), (None, 0));
        assert!(bed.scheduler.get("x").is_none());
        let failing = bed
            .scheduler
            .task("x")
            .schedule(recurs)
            .not_after(end + 2 * DAY);
        let failing = failing.run(|_| Err("of the test")).unwrap();
        bed.clock.run_for(3 * DAY);
        assert_eq!(failing.info().state, TaskState::Failed);
    }
}

#[test]
fn a_window_that_ends_while_the_last_run_is_going_ends_the_task_with_it() {
    let bed = Bed::workers(1);
    let end = bed.clock.wall() + 25 * ms(1);
    let busy = bed.occupy_worker();
    let task = bed.scheduler.task("x").every(ms(10)).not_after(end);
    let task = task.run(|_| ()).unwrap();
    // The second one is skipped, for the first one still waits.
    bed.clock.advance(ms(10));
    bed.clock.advance(ms(50));
    busy.open();
    bed.settle();
    let info = task.info();
    assert_eq!(
        (info.state, info.runs, info.skipped),
        (TaskState::Succeeded, 1, 1)
    );
}

#[test]
fn nothing_runs_before_its_window_begins() {
    let bed = Bed::inline();
    let begin = bed.clock.wall() + 10 * HOUR;
    let recurs = [
        (Schedule::every(HOUR).start_now(), begin),
        (Schedule::every(3 * HOUR), begin + 2 * HOUR),
        (Schedule::every(3 * HOUR).aligned(), begin + 2 * HOUR),
        (Schedule::cron("0 */3 * * *"), begin + 2 * HOUR),
        (Schedule::every_after(3 * HOUR).start_now(), begin),
    ];
    let all = recurs.map(|(schedule, first)| {
        let (runs, note) = noting();
        let task = bed
            .scheduler
            .task(format!("{schedule:?}"))
            .not_before(begin);
        let info = task.schedule(schedule).run(note).unwrap().info();
        assert_eq!(info.next_due, Some(first));
        (runs, first)
    });
    bed.clock.run_for(DAY);
    for (runs, first) in all {
        assert_eq!(nominal(&runs)[0], first);
    }
}

#[test]
fn what_a_builder_is_told_about_a_window_beats_its_schedule_in_any_order() {
    let bed = Bed::inline();
    let begin = bed.clock.wall();
    let runs_of = |told_first: bool| {
        let id = format!("{told_first}");
        let schedule = Schedule::every(HOUR)
            .not_after(begin + DAY)
            .not_before(begin + 2 * HOUR);
        let task = bed.scheduler.task(&id);
        let task = match told_first {
            true => task.not_after(begin + 5 * HOUR).schedule(schedule),
            false => task.schedule(schedule).not_after(begin + 5 * HOUR),
        };
        let task = task.jitter(Jitter::Hashed(MINUTE)).run(|_| ()).unwrap();
        move || task.info().runs
    };
    let (one, other) = (runs_of(true), runs_of(false));
    bed.clock.run_for(2 * DAY);
    assert_eq!((one(), other()), (4, 4));
}

#[test]
fn jitter_moves_what_is_due_and_neither_its_name_nor_its_lateness() {
    let bed = Bed::inline();
    let midnight = bed.clock.wall();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let see = Arc::clone(&seen);
    let (clock, jitter) = (bed.clock.clone(), Jitter::Uniform(20 * MINUTE));
    let task = bed.scheduler.task("x").cron("@hourly").jitter(jitter);
    let handler = move |run: &Context| {
        assert!(run.lateness() < ms(1) && clock.wall() >= run.due());
        see.lock().unwrap().push((run.idempotency_key(), run.due()));
    };
    let task = task.run(handler).unwrap();
    assert!(task.info().next_due > Some(midnight + HOUR));
    bed.clock.run_for(DAY + HOUR - SECOND);
    let seen = seen.lock().unwrap();
    assert_eq!(seen.len(), 24);
    for (n, (key, due)) in (1..).zip(&*seen) {
        let nominal = midnight + n * HOUR;
        let since_epoch = nominal.duration_since(SystemTime::UNIX_EPOCH).unwrap();
        assert_eq!(*key, format!("x@{}.000000000", since_epoch.as_secs()));
        assert!((nominal..nominal + 20 * MINUTE).contains(due));
    }
}

#[test]
fn jitter_is_the_same_for_the_same_seed_and_hashed_for_any() {
    let dues = |seed, jitter| {
        let bed = Bed::with(|builder| builder.executor(InlineExecutor).seed(seed));
        let (runs, note) = noting();
        let task = bed.scheduler.task("x").every(HOUR).jitter(jitter);
        task.run(note).unwrap();
        bed.clock.run_for(DAY);
        let runs = runs.lock().unwrap();
        runs.clone()
    };
    let (uniform, hashed) = (Jitter::Uniform(HOUR), Jitter::Hashed(HOUR));
    assert_eq!(dues(1, uniform), dues(1, uniform));
    assert_ne!(dues(1, uniform), dues(2, uniform));
    assert_eq!(dues(1, hashed), dues(2, hashed));
}

#[test]
fn a_single_run_is_spread_too() {
    let bed = Bed::inline();
    let tasks: Vec<_> = (0..100)
        .map(|n| {
            let task = bed.scheduler.task(format!("task-{n}")).after(HOUR);
            let task = task.jitter(Jitter::Hashed(100 * SECOND));
            task.run(|_| ()).unwrap()
        })
        .collect();
    let done = || tasks.iter().filter(|task| task.info().runs == 1).count();
    bed.clock.run_for(HOUR - ms(1));
    assert_eq!(done(), 0);
    bed.clock.run_for(50 * SECOND);
    assert!((30..70).contains(&done()), "{}", done());
    bed.clock.run_for(50 * SECOND + ms(1));
    assert_eq!(done(), 100);
}

#[test]
fn a_jittered_run_that_waits_is_kept_when_its_schedule_is_edited() {
    let hourly = || Schedule::cron("@hourly").jitter(Jitter::Hashed(50 * MINUTE));
    let bed = Bed::inline();
    let midnight = bed.clock.wall();
    let (runs, note) = noting();
    let task = bed.scheduler.task("x").schedule(hourly());
    task.run(note).unwrap();
    for minute in 0..6 * 60 {
        // Every other one is another schedule with the same instants.
        let edited = match minute % 2 {
            0 => hourly(),
            _ => Schedule::every(HOUR)
                .aligned()
                .jitter(Jitter::Uniform(55 * MINUTE)),
        };
        bed.scheduler.reschedule("x", edited).unwrap();
        bed.clock.run_for(MINUTE);
    }
    bed.scheduler
        .reschedule("x", Schedule::cron("@hourly"))
        .unwrap();
    bed.clock.run_for(2 * HOUR);
    let hours: Vec<_> = (1..=8).map(|n| midnight + n * HOUR).collect();
    assert_eq!(nominal(&runs), hours);
}

#[test]
fn what_cannot_be_is_refused_and_the_task_stays_as_it_was() {
    let bed = Bed::inline();
    let wall = bed.clock.wall();
    let every = || bed.scheduler.task("x").every(HOUR);
    let refused = |task: wheel_runtime::TaskBuilder<'_>| task.run(|_| ()).unwrap_err();
    for (error, begins) in [
        (refused(every().not_after(wall)), "not_after: "),
        (
            refused(every().not_before(wall + DAY).not_after(wall)),
            "not_after: ",
        ),
        (
            refused(every().jitter(Jitter::Uniform(Duration::MAX))),
            "jitter: ",
        ),
        (refused(every().timezone("Asia/Tokyo")), "timezone: "),
        (
            refused(every().aligned().timezone("Asia/Tokio")),
            "timezone: there is no time zone",
        ),
        (
            refused(
                bed.scheduler
                    .task("x")
                    .every(7 * HOUR)
                    .aligned()
                    .timezone("Asia/Tokyo"),
            ),
            "aligned: ",
        ),
        (
            refused(bed.scheduler.task("x").cron("0 0 30 2 *")),
            "cron: ",
        ),
    ] {
        assert!(error.to_string().starts_with(begins), "{error}");
        assert!(!error.may_succeed_later());
    }
    let error = refused(bed.scheduler.task("x").after(HOUR).not_after(wall + DAY));
    assert_eq!(
        error,
        SubmitError::Schedule(ScheduleError::WindowNotPossible)
    );
    let task = every().run(|_| ()).unwrap();
    let over = Schedule::cron("@hourly").not_after(wall);
    let error = bed.scheduler.reschedule("x", over).unwrap_err();
    assert!(matches!(
        error,
        RescheduleError::Schedule(ScheduleError::NothingInWindow { .. })
    ));
    bed.clock.run_for(HOUR);
    assert_eq!(task.info().runs, 1);
}

#[test]
fn a_new_schedule_after_the_end_of_a_window_loses_nothing_that_waits() {
    let bed = Bed::workers(1);
    let end = bed.clock.wall() + ms(300);
    let task = bed.scheduler.task("x").every(ms(100)).not_after(end);
    let task = task
        .overlap(Overlap::QueueAll { max: 5 })
        .run(|_| ())
        .unwrap();
    let busy = bed.occupy_worker();
    (0..3).for_each(|_| bed.clock.advance(ms(100)));
    // All of the window is due: one waits for the worker, two for that one.
    assert_eq!(task.info().backlog, 2);
    bed.scheduler
        .reschedule("x", Schedule::every(ms(100)))
        .unwrap();
    busy.open();
    bed.settle();
    assert_eq!(task.info().runs, 3);
    bed.jump(ms(100));
    assert_eq!((task.info().runs, task.info().skipped), (4, 0));
}
