//! Tasks by the calendar: what is due when the wall clock goes on, steps, or stood still.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use wheel_runtime::{
    BackfillError, CancelOutcome, InlineExecutor, ManualClock, Schedule, ScheduleError, Scheduler,
    SubmitError, TaskState, TriggerOutcome,
};

use crate::bed::{Bed, gate};

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(86_400);

/// Where the wall clock of a new manual clock stands: 2000-01-01T00:00:00Z, a Saturday.
fn begin() -> SystemTime {
    ManualClock::new().wall()
}

fn at(wall: SystemTime) -> Bed {
    let clock = ManualClock::starting_at(wall);
    let builder = Scheduler::builder().clock(clock.clone());
    Bed {
        scheduler: builder.executor(InlineExecutor).build().unwrap(),
        clock,
    }
}

/// Steps the wall clock, and waits for what that makes due.
fn step(bed: &Bed, wall: SystemTime) {
    bed.clock.set_wall(wall);
    bed.settle();
}

fn refused(bed: &Bed, schedule: Schedule) -> ScheduleError {
    match bed.scheduler.task("x").schedule(schedule).run(|_| ()) {
        Err(SubmitError::Schedule(error)) => error,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_task_runs_when_the_wall_clock_of_its_zone_says_so() {
    let bed = Bed::inline();
    let record = bed.record();
    let note = |name: &str| {
        let record = record.clone();
        let name = name.to_owned();
        move |run: &wheel_runtime::Context| {
            assert_eq!((run.nominal(), run.missed()), (run.due(), 0));
            assert_eq!(run.lateness(), Duration::ZERO);
            record.add(&name);
        }
    };
    let hours = |name: &str| -> Vec<u64> {
        let times = record.times(name);
        times.into_iter().map(|ms| ms / 3_600_000).collect()
    };
    let s = &bed.scheduler;
    s.cron("0 2 * * *", note("utc")).unwrap();
    let shanghai = s
        .task("shanghai")
        .timezone("Asia/Shanghai")
        .cron("0 2 * * MON-FRI");
    shanghai.run(note("shanghai")).unwrap();
    let first = s.get("shanghai").unwrap().next_due;
    assert_eq!(first, Some(begin() + DAY + 18 * HOUR));
    bed.clock.run_for(4 * DAY);
    assert_eq!(hours("utc"), [2, 26, 50, 74]);
    assert_eq!(hours("shanghai"), [42, 66, 90]);
}

// CZ-01
#[test]
fn a_day_of_a_change_has_one_run_too() {
    // 2026-03-07T00:00:00Z and 2026-10-31T00:00:00Z, in the night before the day before.
    for (start, runs) in [
        (1_772_841_600, [7, 31, 54, 78]),
        (1_793_404_800, [6, 31, 55, 79]),
    ] {
        let bed = at(UNIX_EPOCH + Duration::from_secs(start));
        let record = bed.record();
        let task = bed
            .scheduler
            .task("x")
            .cron("30 1,2 * * *")
            .timezone("America/New_York")
            .count(8);
        task.run(record.note("x")).unwrap();
        bed.clock.run_for(4 * DAY);
        let hours: Vec<u64> = record
            .times("x")
            .into_iter()
            .map(|ms| ms / 3_600_000)
            .collect();
        // At half past one and half past two by the clock on the wall; the gap has its end instead.
        let second: Vec<u64> = hours.iter().copied().skip(1).step_by(2).collect();
        assert_eq!(second, runs, "{hours:?}");
    }
}

// CK-05
#[test]
fn a_second_that_comes_twice_has_one_run() {
    let bed = at(begin() - 2 * Duration::from_secs(1));
    let task = bed.scheduler.cron("0 0 * * *", |_| ()).unwrap();
    bed.clock.run_for(Duration::from_secs(1));
    assert_eq!(task.info().runs, 0);
    bed.clock.run_for(Duration::from_secs(1));
    assert_eq!(task.info().runs, 1);
    step(&bed, begin() - Duration::from_secs(1));
    bed.clock.run_for(Duration::from_secs(2));
    assert_eq!((task.info().runs, task.info().skipped), (1, 0));
    assert_eq!(task.info().next_due, Some(begin() + DAY));
    bed.clock.run_for(DAY);
    assert_eq!(task.info().runs, 2);
}

#[test]
fn a_step_forward_over_occurrences_is_one_run_that_stands_for_them() {
    let bed = Bed::inline();
    let (sent, told) = std::sync::mpsc::channel();
    let tell = move |run: &wheel_runtime::Context| {
        sent.send((run.nominal(), run.due(), run.missed())).unwrap();
    };
    let task = bed.scheduler.cron("*/10 * * * *", tell).unwrap();
    bed.clock.advance(Duration::ZERO);
    step(&bed, begin() + 65 * MINUTE);
    let run = (begin() + HOUR, begin() + 10 * MINUTE, 5);
    assert_eq!(told.try_iter().collect::<Vec<_>>(), [run]);
    assert_eq!((task.info().missed, task.info().skipped), (5, 0));
    assert_eq!(task.info().next_due, Some(begin() + 70 * MINUTE));
    bed.clock.run_for(5 * MINUTE);
    let run = (begin() + 70 * MINUTE, begin() + 70 * MINUTE, 0);
    assert_eq!(told.try_iter().collect::<Vec<_>>(), [run]);
}

#[test]
fn a_machine_that_slept_for_years_has_one_run_and_an_exact_count() {
    let bed = Bed::inline();
    let each_second = bed.scheduler.cron("* * * * * *", |_| ()).unwrap();
    let daily = bed
        .scheduler
        .task("d")
        .cron("30 2 * * *")
        .timezone("Europe/Berlin");
    let daily = daily.run(|_| ()).unwrap();
    bed.clock.advance(Duration::ZERO);
    // Ten years, of which three are leap years.
    bed.jump(3653 * DAY);
    let info = each_second.info();
    assert_eq!((info.runs, info.missed), (1, 3653 * 86_400 - 1));
    assert_eq!(
        info.next_due,
        Some(begin() + 3653 * DAY + Duration::from_secs(1))
    );
    let info = daily.info();
    assert_eq!((info.runs, info.missed), (1, 3652));
    assert_eq!(info.next_due, Some(begin() + 3653 * DAY + 90 * MINUTE));
}

#[test]
fn a_step_back_waits_and_repeats_nothing() {
    let bed = Bed::inline();
    let record = bed.record();
    let task = bed.scheduler.cron("0 * * * *", record.note("x")).unwrap();
    bed.clock.run_for(2 * HOUR + MINUTE);
    assert_eq!(record.len(), 2);
    step(&bed, begin() + HOUR - MINUTE);
    assert_eq!(task.info().next_due, Some(begin() + 3 * HOUR));
    bed.clock.run_for(2 * HOUR);
    assert_eq!(record.len(), 2, "one and two o'clock have been");
    bed.clock.run_for(MINUTE);
    assert_eq!(record.len(), 3);
}

// CN-11
#[test]
fn after_the_last_run_of_a_limited_year_the_task_has_ended() {
    let bed = Bed::workers(1);
    let (gate, keeper) = gate();
    let describe = || bed.scheduler.task("x").cron("0 0 12 31 12 * 1999-2000");
    let keep = move |run: &wheel_runtime::Context| keeper.pass(run);
    let task = describe().run(keep).unwrap();
    bed.clock.advance(365 * DAY + 13 * HOUR);
    assert_eq!(gate.wait_started(), 1);
    assert_eq!(task.info().next_due, None);
    let now = bed.clock.wall();
    let filled = bed.scheduler.backfill("x", now - 400 * DAY, now);
    assert_eq!(filled, Err(BackfillError::NotRecurring), "it is over");
    gate.open();
    assert_eq!(task.wait(), TaskState::Succeeded);
    // Another one, as after a restart: it would never run.
    let again = describe().run(|_| ());
    assert!(
        matches!(
            again,
            Err(SubmitError::Schedule(ScheduleError::NeverDue(..)))
        ),
        "{again:?}"
    );
    let again = again.unwrap_err().to_string();
    assert!(
        again.starts_with("cron: `0 0 12 31 12 * 1999-2000` names no instant"),
        "{again}"
    );
    assert_eq!(bed.scheduler.stats().scheduled, 0);
}

#[test]
fn the_last_occurrence_is_skipped_while_a_run_goes_and_the_task_ends_with_that() {
    let bed = Bed::workers(1);
    let (gate, keeper) = gate();
    let task = bed.scheduler.task("x").cron("0 0 1,2 1 1 * 2000");
    let task = task.run(move |run| keeper.pass(run)).unwrap();
    bed.clock.advance(HOUR);
    gate.wait_started();
    bed.clock.advance(HOUR);
    gate.open();
    assert_eq!(task.wait(), TaskState::Succeeded);
    assert_eq!((task.info().runs, task.info().skipped), (1, 1));
}

#[test]
fn what_is_wrong_is_told_at_submission_and_names_the_field() {
    let bed = Bed::inline();
    for (schedule, told) in [
        (
            Schedule::cron("0 24 * * *"),
            "cron: hour: `24` is out of range (0 to 23)",
        ),
        (Schedule::cron("0 0 30 2 *"), "cron: it never fires"),
        (Schedule::cron("* * * *"), "cron: 4 fields"),
        (
            Schedule::cron("0 2 * * *").timezone("Asia/Shangai"),
            "timezone: there is no time zone `Asia/Shangai` (did you mean Asia/Shanghai?)",
        ),
        (
            Schedule::every(DAY).timezone("Asia/Shanghai"),
            "timezone: this schedule is the same",
        ),
        (
            Schedule::cron("0 2 * * *").start_now(),
            "start: this schedule has no such one",
        ),
        (
            Schedule::cron("0 */5 2 2 4 * 2000").timezone("America/New_York"),
            "cron: `0 */5 2 2 4 * 2000` names no instant after now in America/New_York",
        ),
    ] {
        let error = refused(&bed, schedule).to_string();
        assert!(error.starts_with(told), "{error}");
    }
    assert_eq!(bed.scheduler.stats().scheduled, 0);
    let parsed = "0 2 * * *".parse::<wheel_runtime::Cron>().unwrap();
    let zone = "Asia/Shanghai".parse::<wheel_runtime::Zone>().unwrap();
    bed.scheduler
        .task("x")
        .timezone(zone)
        .cron(parsed)
        .run(|_| ())
        .unwrap();
}

#[test]
fn every_in_an_expression_follows_the_monotonic_clock() {
    let bed = Bed::inline();
    let task = bed
        .scheduler
        .task("x")
        .cron("@every 90m")
        .timezone("Asia/Shanghai");
    let task = task.start_now().run(|_| ()).unwrap();
    bed.clock.run_for(MINUTE);
    assert_eq!(task.info().runs, 1);
    step(&bed, begin() + 30 * DAY);
    assert_eq!((task.info().runs, task.info().missed), (1, 0));
    bed.clock.run_for(3 * HOUR);
    assert_eq!(task.info().runs, 3);
}

#[test]
fn a_trigger_does_not_move_the_calendar_and_a_count_ends_it() {
    let bed = Bed::inline();
    let task = bed
        .scheduler
        .task("x")
        .cron("@daily")
        .count(3)
        .run(|_| ())
        .unwrap();
    bed.clock.run_for(HOUR);
    assert_eq!(bed.scheduler.trigger("x"), TriggerOutcome::Triggered);
    bed.settle();
    assert_eq!(
        (task.info().runs, task.info().next_due),
        (1, Some(begin() + DAY))
    );
    bed.clock.run_for(10 * DAY);
    assert_eq!(
        (task.info().runs, task.info().state),
        (3, TaskState::Succeeded)
    );
}

#[test]
fn a_new_schedule_holds_at_once_and_a_wrong_one_leaves_the_old() {
    let bed = Bed::inline();
    let task = bed.scheduler.task("x").every(DAY).run(|_| ()).unwrap();
    let to = |schedule| bed.scheduler.reschedule("x", schedule);
    to(Schedule::cron("30 * * * *")).unwrap();
    assert_eq!(task.info().next_due, Some(begin() + 30 * MINUTE));
    to(Schedule::cron("30 * * * 8")).unwrap_err();
    to(Schedule::cron("@daily").timezone("Mars/Phobos")).unwrap_err();
    assert_eq!(task.info().next_due, Some(begin() + 30 * MINUTE));
    to(Schedule::cron("@daily").timezone("Asia/Shanghai")).unwrap();
    assert_eq!(task.info().next_due, Some(begin() + 16 * HOUR));
    bed.clock.run_for(DAY);
    assert_eq!(task.info().runs, 1);
    assert_eq!(bed.scheduler.cancel("x"), CancelOutcome::Cancelled);
    bed.clock.run_for(DAY);
    assert_eq!(task.info().runs, 1);
}

// HP-05
#[test]
fn a_time_that_does_not_exist_holds_up_no_other_task() {
    // Before 02:30 in New York on 2025-03-09, which does not exist.
    let bed = at(UNIX_EPOCH + Duration::from_secs(1_741_502_400));
    let poison = bed.scheduler.task("poison").cron("30 2 9 3 *");
    let poison = poison.timezone("America/New_York").run(|_| ()).unwrap();
    let healthy = [(); 5].map(|()| bed.scheduler.every(20 * MINUTE, |_| ()).unwrap());
    let unreadable = bed.scheduler.cron("30 2 30 2 *", |_| ());
    assert!(unreadable.is_err());
    bed.clock.run_for(DAY);
    assert!(healthy.iter().all(|task| task.info().runs == 72));
    assert_eq!(poison.info().runs, 1);
}

// CK-03
#[test]
fn a_jump_over_years_of_seconds_costs_one_look_and_a_shutdown_is_heeded() {
    let bed = Bed::inline();
    let each_second = bed.scheduler.cron("* * * * * *", |_| ()).unwrap();
    let grid = bed
        .scheduler
        .every(Duration::from_millis(10), |_| ())
        .unwrap();
    bed.jump(DAY);
    assert_eq!(
        (each_second.info().runs, each_second.info().missed),
        (1, 86_399)
    );
    bed.jump(3650 * DAY);
    let seconds = 3650 * 86_400;
    assert_eq!(
        (each_second.info().runs, each_second.info().missed),
        (2, 86_398 + seconds)
    );
    assert_eq!(grid.info().runs, 2);
    let report = bed.scheduler.shutdown(Duration::ZERO).unwrap();
    assert_eq!(report.pending.len(), 2);
}
