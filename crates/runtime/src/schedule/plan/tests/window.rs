//! Windows: where they begin and end, and what is refused.

use super::*;

fn occurrences(schedule: &Schedule) -> Vec<SystemTime> {
    schedule.occurrences(wall()).unwrap().take(100).collect()
}

#[test]
fn both_ends_of_a_window_are_part_of_it() {
    let begin = wall() + 20 * SECOND;
    let within = |schedule: Schedule, end: u64| {
        occurrences(
            &schedule
                .not_before(begin)
                .not_after(wall() + end as u32 * SECOND),
        )
    };
    let at = |seconds: &[u32]| {
        seconds
            .iter()
            .map(|s| wall() + *s * SECOND)
            .collect::<Vec<_>>()
    };
    let every = Schedule::every(10 * SECOND);
    assert_eq!(within(every.clone(), 40), at(&[20, 30, 40]));
    assert_eq!(within(every.clone().aligned(), 40), at(&[20, 30, 40]));
    assert_eq!(
        within(Schedule::cron("*/10 * * * * *"), 40),
        at(&[20, 30, 40])
    );
    assert_eq!(
        within(Schedule::every_after(10 * SECOND), 40),
        at(&[20, 30, 40])
    );
    assert_eq!(within(every.start_now(), 39), at(&[20, 30]));
}

#[test]
fn a_window_moves_no_grid() {
    let every = Schedule::every(10 * SECOND).start_at(wall() + 3 * SECOND);
    let every = every
        .not_before(wall() + 15 * SECOND)
        .not_after(wall() + 40 * SECOND);
    let seconds = [23, 33].map(|s| wall() + s * SECOND);
    assert_eq!(occurrences(&every), seconds);
    // `every_after` has none, and begins where the window does.
    let after = Schedule::every_after(10 * SECOND).not_before(wall() + 15 * SECOND);
    assert_eq!(
        occurrences(&after)[..2],
        [15, 25].map(|s| wall() + s * SECOND)
    );
}

#[test]
fn the_last_occurrence_of_a_window_is_once() {
    for schedule in [
        Schedule::every(10 * SECOND),
        Schedule::every(10 * SECOND).aligned(),
        Schedule::cron("*/10 * * * * *"),
    ] {
        let (mut plan, first) = planned(&schedule.not_after(wall() + 25 * SECOND));
        let first = plan.occur(first, at(70 * SECOND), || wall() + 10 * SECOND);
        assert_eq!(first.nominal, wall() + 10 * SECOND);
        assert!(!plan.is_once());
        let last = plan.occur(first.next.unwrap(), at(80 * SECOND), || {
            wall() + 20 * SECOND
        });
        assert_eq!((last.nominal, last.next), (wall() + 20 * SECOND, None));
        assert!(plan.is_once());
    }
}

#[test]
fn what_is_found_due_after_the_window_stands_for_what_was_in_it() {
    for schedule in [
        Schedule::every(10 * SECOND),
        Schedule::every(10 * SECOND).aligned(),
        Schedule::cron("*/10 * * * * *"),
    ] {
        let (mut plan, first) = planned(&schedule.not_after(wall() + 30 * SECOND));
        let found = plan.occur(first, at(DAY), || wall() + DAY - 60 * SECOND);
        assert_eq!(
            (found.due, found.nominal),
            (wall() + 10 * SECOND, wall() + 30 * SECOND)
        );
        assert_eq!((found.missed, found.next), (2, None));
        assert!(plan.is_once());
    }
}

#[test]
fn a_pause_that_ends_after_the_window_is_the_end() {
    let (mut plan, first) =
        planned(&Schedule::every_after(10 * SECOND).not_after(wall() + 30 * SECOND));
    assert_eq!(first, due(70 * SECOND));
    let next = plan.after_end(at(80 * SECOND), || wall() + 20 * SECOND);
    assert_eq!(next, Some(due(90 * SECOND)));
    assert!(!plan.is_once());
    assert_eq!(
        plan.after_end(at(81 * SECOND), || wall() + 21 * SECOND),
        None
    );
    assert!(plan.is_once());
}

#[test]
fn windows_hold_by_the_wall_clock_as_it_stands_at_the_look() {
    let every = Schedule::every(10 * SECOND).not_after(wall() + HOUR);
    // Set forward, beyond the window.
    let (mut plan, first) = planned(&every);
    assert_eq!(
        plan.occur(first, at(70 * SECOND), || wall() + 2 * HOUR)
            .next,
        None
    );
    // Set back: an hour more.
    let (mut plan, first) = planned(&every);
    let mut next = Some(first);
    let mut runs = 0;
    while let Some(Due::Monotonic(moment)) = next {
        next = plan
            .occur(Due::Monotonic(moment), moment, || wall_at(moment) - HOUR)
            .next;
        runs += 1;
    }
    assert_eq!(runs, 2 * 360);
    // Set back to before it begins: it waits, on its grid.
    let (mut plan, first) = planned(&Schedule::every(10 * SECOND).not_before(wall()));
    let next = plan
        .occur(first, at(70 * SECOND), || wall() - 65 * SECOND)
        .next;
    assert_eq!(next, Some(due(140 * SECOND)));
}

#[test]
fn two_clocks_that_are_read_one_after_the_other_do_not_move_the_end() {
    for (ahead, behind) in [(300 * MS, MS), (MS, 300 * MS)] {
        let every = Schedule::every(10 * SECOND).not_after(wall() + 20 * SECOND);
        let (mut plan, first) = planned(&every);
        let next = plan
            .occur(first, at(70 * SECOND), || {
                wall() + 10 * SECOND + ahead - behind
            })
            .next;
        assert_eq!(next, Some(due(80 * SECOND)));
        let next = plan
            .occur(next.unwrap(), at(80 * SECOND), || {
                wall() + 20 * SECOND + ahead - behind
            })
            .next;
        assert_eq!(next, None);
    }
}

#[test]
fn an_empty_window_is_refused_by_the_name_of_its_end() {
    let refused = |schedule: Schedule| schedule.occurrences(wall()).unwrap_err();
    let every = Schedule::every(10 * SECOND);
    let error = refused(
        every
            .clone()
            .not_before(wall() + DAY)
            .not_after(wall() + HOUR),
    );
    assert_eq!(
        error.to_string(),
        "not_after: 2027-01-15T09:00:00Z is before not_before, 2027-01-16T08:00:00Z: it must be later"
    );
    let nothing = |not_before, not_after| ScheduleError::NothingInWindow {
        not_before,
        not_after,
    };
    for end in [wall() + 9 * SECOND, wall() - DAY, SystemTime::UNIX_EPOCH] {
        for schedule in [
            every.clone(),
            every.clone().aligned(),
            Schedule::every_after(10 * SECOND),
            Schedule::cron("*/10 * * * * *"),
        ] {
            assert_eq!(refused(schedule.not_after(end)), nothing(None, Some(end)));
        }
    }
    let end = wall() + 9 * SECOND;
    let error = refused(every.clone().not_after(end)).to_string();
    assert!(
        error.starts_with("not_after: nothing is due from now to 2027-01-15T08:00:09Z"),
        "{error}"
    );
    // Years of an expression that are over by then.
    let begin = wall() + 3000 * DAY;
    let error = refused(Schedule::cron("0 0 0 1 1 * 2028").not_before(begin));
    assert_eq!(error, nothing(Some(begin), None));
    assert!(
        error
            .to_string()
            .starts_with("not_before: nothing is due from 2035-"),
        "{error}"
    );
    // Between two points.
    let (begin, end) = (wall() + 11 * SECOND, wall() + 19 * SECOND);
    let error = refused(every.not_before(begin).not_after(end));
    assert_eq!(error, nothing(Some(begin), Some(end)));
    let never = Schedule::every(Duration::MAX).not_after(wall() + DAY);
    assert_eq!(refused(never), nothing(None, Some(wall() + DAY)));
}

#[test]
fn a_single_instant_has_no_window() {
    for schedule in [Schedule::after(HOUR), Schedule::at(wall() + HOUR)] {
        for schedule in [
            schedule.clone().not_before(wall()),
            schedule.clone().not_after(wall() + DAY),
        ] {
            let error = schedule.occurrences(wall()).unwrap_err();
            assert_eq!(error, ScheduleError::WindowNotPossible);
        }
    }
}

#[test]
fn windows_at_the_end_of_time_hold() {
    let last = SystemTime::UNIX_EPOCH + Duration::from_secs(i64::MAX as u64);
    let (mut plan, first) = planned(&Schedule::every(SECOND).not_after(last));
    assert!(plan.occur(first, at(DAY), || wall() + DAY).next.is_some());
    let far = Schedule::every(SECOND).not_before(last);
    assert_eq!(planned(&far).1, Due::NEVER);
    let error = Schedule::cron("@daily")
        .not_before(last)
        .occurrences(wall());
    assert!(matches!(error, Err(ScheduleError::NothingInWindow { .. })));
}
