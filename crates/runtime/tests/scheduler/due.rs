//! When things run.

use std::time::{Duration, SystemTime};

use wheel_runtime::{Schedule, ScheduleError, SubmitError, TaskState};

use crate::bed::{Bed, gate, ms};

const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(86_400);

#[test]
fn after_runs_once_at_its_tick_rounded_up() {
    let bed = Bed::inline();
    let record = bed.record();
    bed.scheduler.after(ms(5), record.note("five")).unwrap();
    let part = Duration::from_micros(1_200);
    bed.scheduler.after(part, record.note("part")).unwrap();
    bed.clock.run_for(ms(100));
    assert_eq!(record.times("five"), [5]);
    assert_eq!(record.times("part"), [2]);
    assert_eq!(bed.scheduler.stats().scheduled, 0);
}

#[test]
fn zero_delay_runs_at_once_but_not_inside_the_call() {
    let bed = Bed::workers(1);
    let record = bed.record();
    let gate = bed.occupy_worker();
    let handle = bed.scheduler.after(Duration::ZERO, record.note("zero"));
    assert_eq!(record.len(), 0);
    gate.open();
    bed.settle();
    assert_eq!(record.times("zero"), [0]);
    assert_eq!(handle.unwrap().info().state, TaskState::Succeeded);
}

#[test] // ZP-03
fn an_instant_of_the_past_runs_once_at_once() {
    let bed = Bed::inline();
    let record = bed.record();
    bed.clock.advance(ms(1_000));
    let wall = bed.clock.wall();
    for past in [wall - ms(46), wall - 365 * DAY, SystemTime::UNIX_EPOCH] {
        bed.scheduler.at(past, record.note("past")).unwrap();
    }
    bed.clock.run_for(ms(10_000));
    assert_eq!(record.times("past"), [1_000; 3]);
}

#[test] // DR-01
fn every_keeps_its_grid_over_a_hundred_runs() {
    let bed = Bed::inline();
    let record = bed.record();
    bed.scheduler.every(ms(100), record.note("tick")).unwrap();
    bed.clock.run_for(ms(10_000));
    let grid: Vec<u64> = (1..=100).map(|k| k * 100).collect();
    assert_eq!(record.times("tick"), grid);
}

#[test] // DR-08
fn every_first_runs_after_one_period_or_at_once_if_told_so() {
    let bed = Bed::inline();
    let record = bed.record();
    bed.scheduler.every(ms(100), record.note("later")).unwrap();
    let now = bed.scheduler.unnamed().every(ms(100)).start_now();
    now.run(record.note("now")).unwrap();
    bed.clock.run_for(ms(50));
    assert!(record.times("later").is_empty());
    assert_eq!(record.times("now"), [0]);
    bed.clock.run_for(ms(100));
    assert_eq!(record.times("later"), [100]);
    assert_eq!(record.times("now"), [0, 100]);
}

#[test]
fn the_start_holds_before_and_behind_the_period() {
    let bed = Bed::inline();
    let start = bed.clock.wall() + ms(30);
    let tasks = [
        bed.scheduler.unnamed().start_now().every(ms(100)),
        bed.scheduler.unnamed().every(ms(100)).start_now(),
        bed.scheduler.unnamed().start_at(start).every(ms(100)),
        bed.scheduler.unnamed().every(ms(100)).start_at(start),
    ];
    // The builders held them back; all are added now.
    let first = tasks.map(|task| task.count(1).run(|_| ()).unwrap());
    bed.clock.run_for(ms(10));
    let ended = first.each_ref().map(|task| task.info().state.has_ended());
    assert_eq!(ended, [true, true, false, false]);
    bed.clock.run_for(ms(20));
    assert!(first.iter().all(|task| task.info().state.has_ended()));
    let once = bed.scheduler.unnamed().start_now().after(ms(1));
    assert_eq!(
        once.run(|_| ()).unwrap_err(),
        SubmitError::Schedule(ScheduleError::StartNotPossible)
    );
}

#[test] // ZP-01
fn a_period_of_zero_is_an_error_and_the_scheduler_lives_on() {
    let bed = Bed::inline();
    let record = bed.record();
    let refused = bed.scheduler.every(Duration::ZERO, record.note("never"));
    assert_eq!(
        refused.unwrap_err(),
        SubmitError::Schedule(ScheduleError::ZeroPeriod)
    );
    bed.scheduler.after(ms(5), record.note("five")).unwrap();
    bed.clock.run_for(ms(10));
    assert_eq!(record.names(), ["five"]);
}

#[test] // ZP-05
fn an_anchor_long_ago_gives_the_first_grid_point_ahead() {
    let bed = Bed::inline();
    let wall = bed.clock.wall();
    let daily = Schedule::every(DAY).start_at(wall - 36 * HOUR);
    let daily = bed.scheduler.task("daily").schedule(daily);
    assert_eq!(daily.run(|_| ()).unwrap().info().next_in, Some(12 * HOUR));
    let weekly = bed.scheduler.task("weekly").every(7 * DAY);
    let weekly = weekly.start_at(wall - 3652 * DAY).run(|_| ()).unwrap();
    assert_eq!(weekly.info().next_due, Some(wall + 2 * DAY));
}

#[test] // ZP-06
fn an_anchor_in_the_past_keeps_its_phase() {
    let bed = Bed::inline();
    let record = bed.record();
    let anchor = bed.clock.wall() - ms(300);
    let task = bed.scheduler.unnamed().every(ms(400)).start_at(anchor);
    task.run(record.note("phase")).unwrap();
    bed.clock.run_for(ms(1_000));
    assert_eq!(record.times("phase"), [100, 500, 900]);
}

#[test] // OV-01
fn a_period_without_end_never_runs_and_disturbs_nobody() {
    let bed = Bed::inline();
    let record = bed.record();
    let forever = bed.scheduler.every(Duration::MAX, record.note("never"));
    let pause = bed
        .scheduler
        .every_after(Duration::MAX, record.note("never"));
    bed.scheduler.after(ms(10), record.note("ten")).unwrap();
    bed.clock.run_for(ms(20));
    bed.clock.advance(100 * 365 * DAY);
    assert_eq!(record.names(), ["ten"]);
    assert_eq!(forever.unwrap().info().state, TaskState::Scheduled);
    assert_eq!(pause.unwrap().info().next_due, None);
}

#[test] // OV-05, OV-08, OV-10
fn a_delay_of_centuries_stays_pending_and_the_next_task_is_on_time() {
    let bed = Bed::inline();
    let record = bed.record();
    let years = |n: u32| n * 365 * DAY;
    for delay in [years(1), years(3), years(100), years(400)] {
        let handle = bed.scheduler.after(delay, record.note("far")).unwrap();
        assert_eq!(handle.info().next_in, Some(delay));
    }
    let longest = Duration::from_secs(i64::MAX as u64);
    let longest = bed.scheduler.after(longest, record.note("far")).unwrap();
    bed.scheduler.after(ms(15), record.note("near")).unwrap();
    bed.clock.run_for(ms(1_000));
    assert_eq!(record.names(), ["near"]);
    assert_eq!(record.times("near"), [15]);
    assert_eq!(longest.cancel(), wheel_runtime::CancelOutcome::Cancelled);
}

#[test] // OV-11
fn a_first_delay_beyond_32_bits_of_milliseconds_is_exact() {
    for first in [1_u64 << 31, 3 << 30] {
        let bed = Bed::inline();
        let record = bed.record();
        let start = bed.clock.wall() + ms(first);
        let task = bed.scheduler.unnamed().every(ms(1_000)).start_at(start);
        task.run(record.note("late")).unwrap();
        bed.clock.run_for(ms(first - 1));
        assert_eq!(record.len(), 0);
        bed.clock.run_for(ms(1));
        bed.clock.run_for(ms(3_000));
        let times = [first, first + 1_000, first + 2_000, first + 3_000];
        assert_eq!(record.times("late"), times);
    }
}

#[test] // CK-01
fn wall_clock_steps_move_at_and_never_every() {
    let bed = Bed::inline();
    let record = bed.record();
    let at = bed.clock.wall() + ms(2_000);
    bed.scheduler.at(at, record.note("at")).unwrap();
    bed.scheduler.every(ms(200), record.note("every")).unwrap();
    bed.clock.run_for(ms(500));
    bed.clock.set_wall(bed.clock.wall() - HOUR);
    bed.clock.run_for(ms(1_000));
    bed.clock.set_wall(bed.clock.wall() + HOUR);
    bed.clock.run_for(ms(1_000));
    assert_eq!(record.times("at"), [2_000]);
    let grid: Vec<u64> = (1..=12).map(|k| k * 200).collect();
    assert_eq!(record.times("every"), grid);
}

#[test]
fn a_wall_clock_step_forward_makes_at_due_at_once_and_back_makes_it_wait() {
    let bed = Bed::inline();
    let record = bed.record();
    let wall = bed.clock.wall();
    bed.scheduler.at(wall + HOUR, record.note("at")).unwrap();
    bed.clock.set_wall(wall - HOUR);
    bed.clock.run_for(HOUR);
    assert_eq!(record.len(), 0);
    bed.clock.set_wall(wall + 2 * HOUR);
    assert_eq!(record.times("at"), [3_600_000]);
}

#[test] // CK-06
fn a_delay_is_not_recomputed_when_the_wall_clock_steps() {
    let bed = Bed::inline();
    let record = bed.record();
    bed.scheduler
        .after(ms(1_000), record.note("after"))
        .unwrap();
    for n in 0..10 {
        bed.clock.run_for(ms(90));
        let wall = bed.clock.wall();
        bed.clock.set_wall(if n % 2 == 0 {
            wall + HOUR
        } else {
            wall - 2 * HOUR
        });
    }
    bed.clock.run_for(ms(1_000));
    assert_eq!(record.times("after"), [1_000]);
}

#[test] // CK-03, DR-03
fn a_jump_is_one_run_whatever_its_length_and_the_phase_stays() {
    for length in [DAY, 3650 * DAY] {
        let bed = Bed::inline();
        let record = bed.record();
        let task = bed.scheduler.every(ms(10), record.note("tick")).unwrap();
        bed.clock.run_for(ms(15));
        bed.clock.advance(length);
        assert_eq!(record.len(), 2);
        let passed = u64::try_from(length.as_millis()).unwrap() / 10;
        assert_eq!(task.info().missed, passed - 1);
        bed.clock.run_for(ms(5));
        assert_eq!(record.times("tick").last(), Some(&(20 + passed * 10)));
        bed.scheduler.shutdown(ms(1_000)).unwrap();
    }
}

#[test]
fn a_run_that_stands_for_several_says_so() {
    let bed = Bed::inline();
    let start = bed.clock.wall();
    let (sent, got) = std::sync::mpsc::channel();
    let handler = move |context: &wheel_runtime::Context| {
        let times = (context.nominal(), context.due());
        sent.send((times, context.missed(), context.lateness()))
            .unwrap();
    };
    bed.scheduler.every(ms(10), handler).unwrap();
    bed.clock.advance(ms(205));
    let times = (start + ms(200), start + ms(10));
    assert_eq!(got.try_recv(), Ok((times, 19, ms(195))));
    bed.clock.run_for(ms(5));
    let times = (start + ms(210), start + ms(210));
    assert_eq!(got.try_recv(), Ok((times, 0, ms(0))));
}

#[test]
fn a_run_later_than_the_threshold_is_counted_as_a_misfire_and_runs() {
    let bed = Bed::with(|builder| {
        let builder = builder.executor(wheel_runtime::InlineExecutor);
        builder.misfire_threshold(ms(1_000))
    });
    let record = bed.record();
    bed.scheduler.after(ms(1), record.note("late")).unwrap();
    bed.scheduler.after(ms(1_001), record.note("late")).unwrap();
    bed.clock.advance(ms(2_001));
    assert_eq!(record.len(), 2);
    assert_eq!(bed.scheduler.stats().misfired, 1);
    assert_eq!(bed.scheduler.stats().lateness.max, ms(2_000));
}

#[test]
fn every_after_counts_from_the_end_of_the_run() {
    let bed = Bed::workers(1);
    let record = bed.record();
    let (gate, keeper) = gate();
    let (starts, ends) = (record.clone(), record.clone());
    let handler = move |context: &wheel_runtime::Context| {
        starts.add("start");
        keeper.pass(context);
        ends.add("end");
    };
    let task = bed.scheduler.every_after(ms(10), handler).unwrap();
    bed.clock.advance(ms(10));
    gate.wait_started();
    bed.clock.advance(ms(35));
    gate.open();
    bed.settle();
    bed.clock.advance(ms(9));
    assert_eq!(record.times("start"), [10]);
    bed.clock.advance(ms(1));
    gate.wait_started();
    gate.open();
    bed.settle();
    assert_eq!(record.times("start"), [10, 55]);
    assert_eq!(record.times("end"), [45, 55]);
    assert_eq!(task.info().skipped, 0);
}

#[test]
fn a_count_ends_the_task_with_its_last_outcome() {
    let bed = Bed::inline();
    let record = bed.record();
    let task = bed.scheduler.task("three").every(ms(10)).count(3);
    let task = task.run(record.note("three")).unwrap();
    let paused = bed.scheduler.unnamed().every_after(ms(10)).count(2);
    let paused = paused.run(|_| Err::<(), _>("no paper")).unwrap();
    bed.clock.run_for(ms(1_000));
    assert_eq!(record.times("three"), [10, 20, 30]);
    assert_eq!(task.wait(), TaskState::Succeeded);
    assert_eq!(bed.scheduler.get("three"), None);
    assert_eq!(paused.wait(), TaskState::Failed);
    assert_eq!(paused.info().failed, 2);
    let none = bed.scheduler.unnamed().every(ms(10)).count(0).run(|_| ());
    assert!(matches!(none, Err(SubmitError::Policy(error)) if error.field() == "count"));
}

#[test]
fn a_day_of_virtual_time_is_exact_to_the_minute() {
    let bed = Bed::inline();
    let record = bed.record();
    let minute = Duration::from_secs(60);
    bed.scheduler.every(minute, record.note("minute")).unwrap();
    bed.clock.run_for(DAY);
    assert_eq!(record.len(), 24 * 60);
    let stats = bed.scheduler.stats();
    assert_eq!((stats.lateness.max, stats.early), (Duration::ZERO, 0));
}
