//! The arithmetic of plain schedules at its edges.

use super::*;

#[test]
fn once_has_nothing_next() {
    let (mut plan, first) = planned(&Schedule::after(5 * SECOND));
    assert_eq!(first, due(65 * SECOND));
    let occurrence = look(&mut plan, at(65 * SECOND), at(70 * SECOND));
    assert_eq!(
        occurrence,
        Occurrence {
            nominal: wall() + 5 * SECOND,
            due: wall() + 5 * SECOND,
            missed: 0,
            next: None
        }
    );
    assert!(plan.is_once());
    assert_eq!(plan.after_end(at(DAY), wall), None);
}

#[test] // ZP-03
fn an_instant_of_the_past_stays_the_instant_that_was_asked_for() {
    for past in [wall() - 46 * MS, wall() - 365 * DAY, SystemTime::UNIX_EPOCH] {
        let (mut plan, first) = planned(&Schedule::at(past));
        assert_eq!(first, Due::Wall(past));
        let found = plan.occur(first, at(60 * SECOND), wall);
        assert_eq!((found.nominal, found.due), (past, past));
    }
}

#[test]
fn the_grid_starts_after_one_period_at_once_or_where_it_is_told() {
    let every = Schedule::every(10 * SECOND);
    assert_eq!(planned(&every).1, due(70 * SECOND));
    assert_eq!(planned(&every.clone().start_now()).1, due(60 * SECOND));
    let later = every.start_at(wall() + 3 * SECOND);
    assert_eq!(planned(&later).1, due(63 * SECOND));
}

#[test] // DR-01
fn the_grid_does_not_drift_however_late_it_is_looked_at() {
    let (mut plan, _) = planned(&Schedule::every(100 * MS));
    let mut next = at(60 * SECOND + 100 * MS);
    for k in 2..=100 {
        let occurrence = look(&mut plan, next, next.after(99 * MS));
        assert_eq!(occurrence.missed, 0);
        assert_eq!(occurrence.next, Some(due(60 * SECOND + k * 100 * MS)));
        next = at(60 * SECOND + k * 100 * MS);
    }
}

#[test] // DR-03, CK-03
fn what_is_found_due_together_is_one_occurrence_and_the_phase_stays() {
    let (mut plan, _) = planned(&Schedule::every(10 * MS));
    let first = at(60 * SECOND + 10 * MS);
    let stalled = look(&mut plan, first, first.after(205 * MS));
    assert_eq!(stalled.missed, 20);
    assert_eq!(stalled.nominal, wall() + 210 * MS);
    assert_eq!(stalled.due, wall() + 10 * MS);
    assert_eq!(stalled.next, Some(due(60 * SECOND + 220 * MS)));
    let exactly_on_a_point = look(&mut plan, first, first.after(200 * MS));
    assert_eq!(exactly_on_a_point.missed, 20);
    assert_eq!(exactly_on_a_point.next, stalled.next);
    let ten_years = look(&mut plan, first, first.after(3650 * DAY));
    assert_eq!(ten_years.missed, 3650 * 86_400 * 100);
}

#[test] // ZP-01
fn a_period_of_zero_is_refused() {
    for schedule in [
        Schedule::every(Duration::ZERO),
        Schedule::every(Duration::ZERO).start_now(),
        Schedule::every_after(Duration::ZERO),
    ] {
        let refused = schedule.plan(Moment::ZERO, wall(), Draws::default());
        assert_eq!(refused, Err(ScheduleError::ZeroPeriod));
    }
}

#[test]
fn a_start_where_there_is_none_is_refused() {
    for schedule in [
        Schedule::after(SECOND).start_now(),
        Schedule::at(wall()).start_at(wall()),
        Schedule::every_after(SECOND).start_at(wall()),
    ] {
        let refused = schedule.plan(Moment::ZERO, wall(), Draws::default());
        assert_eq!(refused, Err(ScheduleError::StartNotPossible));
    }
}

#[test] // ZP-05
fn an_anchor_long_ago_gives_the_first_grid_point_ahead() {
    let daily = Schedule::every(DAY).start_at(wall() - 36 * HOUR);
    assert_eq!(planned(&daily).1, due(60 * SECOND + 12 * HOUR));
    let weekly = Schedule::every(7 * DAY).start_at(wall() - 3652 * DAY);
    // 3652 days are 521 weeks and 5 days.
    assert_eq!(planned(&weekly).1, due(60 * SECOND + 2 * DAY));
}

#[test] // ZP-06
fn an_anchor_in_the_past_keeps_its_phase() {
    let schedule = Schedule::every(400 * MS).start_at(wall() - 300 * MS);
    let (mut plan, first) = planned(&schedule);
    assert_eq!(first, due(60 * SECOND + 100 * MS));
    let next = look(
        &mut plan,
        at(60 * SECOND + 100 * MS),
        at(60 * SECOND + 101 * MS),
    );
    assert_eq!(next.next, Some(due(60 * SECOND + 500 * MS)));
}

#[test]
fn an_anchor_of_right_now_is_due_one_period_on() {
    let schedule = Schedule::every(SECOND).start_at(wall());
    assert_eq!(planned(&schedule).1, due(61 * SECOND));
}

#[test] // OV-11
fn a_first_delay_beyond_32_bits_of_milliseconds_is_exact() {
    for first in [(1_u64 << 31) * MS.as_millis() as u64, 3 << 30] {
        let first = Duration::from_millis(first);
        let schedule = Schedule::every(SECOND).start_at(wall() + first);
        let (mut plan, is_first) = planned(&schedule);
        assert_eq!(is_first, due(60 * SECOND + first));
        let moment = at(60 * SECOND + first);
        let occurrence = look(&mut plan, moment, moment);
        assert_eq!(occurrence.missed, 0);
        assert_eq!(occurrence.next, Some(Due::Monotonic(moment.after(SECOND))));
    }
}

#[test] // OV-01, OV-05
fn what_does_not_fit_is_never_due() {
    let never = Due::Monotonic(Moment::NEVER);
    assert_eq!(planned(&Schedule::after(Duration::MAX)).1, never);
    let (mut plan, first) = planned(&Schedule::every(Duration::MAX).start_now());
    assert_eq!(first, due(60 * SECOND));
    let occurrence = look(&mut plan, at(60 * SECOND), at(61 * SECOND));
    assert_eq!((occurrence.missed, occurrence.next), (0, Some(never)));
    assert_eq!(planned(&Schedule::every(Duration::MAX)).1, never);
    let (mut pause, first) = planned(&Schedule::every_after(Duration::MAX));
    assert_eq!(first, never);
    assert_eq!(pause.after_end(at(DAY), wall), Some(never));
    let old = Schedule::every(Duration::MAX).start_at(SystemTime::UNIX_EPOCH);
    assert_eq!(planned(&old).1, never);
}

#[test]
fn a_nanosecond_is_a_period_too() {
    let (mut plan, _) = planned(&Schedule::every(Duration::from_nanos(1)));
    let occurrence = look(&mut plan, at(60 * SECOND), at(61 * SECOND));
    assert_eq!(occurrence.missed, 1_000_000_000);
    assert_eq!(
        occurrence.next,
        Some(due(61 * SECOND + Duration::from_nanos(1)))
    );
}

#[test]
fn the_calendar_names_what_is_before_the_plan_too() {
    let (plan, _) = planned(&Schedule::after(SECOND));
    assert_eq!(plan.calendar(due(Duration::ZERO)), wall() - 60 * SECOND);
    let far = plan.calendar(Due::Monotonic(Moment::NEVER));
    assert!(far > wall());
}

#[test]
fn a_pause_counts_from_the_end() {
    let (mut plan, first) = planned(&Schedule::every_after(5 * SECOND).start_now());
    assert_eq!(first, due(60 * SECOND));
    assert_eq!(look(&mut plan, at(60 * SECOND), at(62 * SECOND)).next, None);
    assert_eq!(
        plan.after_end(at(100 * SECOND), wall),
        Some(due(105 * SECOND))
    );
}

/// 2027-01-15T08:00:00Z, where these tests stand, and the plan of an expression from there.
fn by_calendar(expression: &str) -> (Plan, SystemTime) {
    match planned(&Schedule::cron(expression)) {
        (plan, Due::Wall(first)) => (plan, first),
        (_, other) => panic!("{expression}: {other:?}"),
    }
}

#[test]
fn by_the_calendar_the_next_one_follows_the_latest_that_was_due() {
    let (mut plan, first) = by_calendar("*/10 * * * *");
    assert_eq!(first, wall() + 600 * SECOND);
    assert!(!plan.is_once());
    for (reads, missed) in [
        (first, 0),
        (first + 599 * SECOND, 0),
        (first + 600 * SECOND, 1),
        (first + 23 * HOUR, 138),
        // The wall clock was set back between the look of the driver and this one.
        (first - DAY, 0),
    ] {
        let occurrence = plan.occur(Due::Wall(first), at(DAY), || reads);
        let latest = first + missed * 600 * SECOND;
        let next = Some(Due::Wall(latest + 600 * SECOND));
        assert_eq!((occurrence.nominal, occurrence.due), (latest, first));
        assert_eq!((occurrence.missed, occurrence.next), (missed.into(), next));
    }
    assert_eq!(plan.after_end(at(DAY), wall), None);
    let resumed = plan.next_from(None, at(DAY), first + SECOND);
    assert_eq!(resumed, Some(Due::Wall(first + 600 * SECOND)));
}

#[test]
fn by_the_calendar_the_last_one_is_once() {
    let (mut plan, first) = by_calendar("0 0 12,13 15 1 * 2027");
    let occurrence = plan.occur(Due::Wall(first), at(DAY), || first);
    assert_eq!(occurrence.next, Some(Due::Wall(first + HOUR)));
    assert!(!plan.is_once());
    let occurrence = plan.occur(Due::Wall(first), at(DAY), || first + DAY);
    assert_eq!((occurrence.nominal, occurrence.missed), (first + HOUR, 1));
    assert_eq!(occurrence.next, None);
    assert!(plan.is_once());
    assert_eq!(plan.next_from(None, at(DAY), first), None);
}
