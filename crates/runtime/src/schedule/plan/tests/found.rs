//! What was missed one by one, what comes after a pause, and what lies between two instants.

use wheel_testkit::{Random, seeds};

use super::*;
use crate::policy::Jitter;

/// A schedule of each kind that recurs by itself.
fn drawn(rng: &mut Random) -> Schedule {
    let zone = ["UTC", "America/New_York", "Australia/Lord_Howe"][rng.below(3) as usize];
    match rng.below(5) {
        0 => Schedule::every(Duration::from_millis(60_000 + rng.below(5_000_000))),
        1 => Schedule::every(Duration::from_millis(60_000 + rng.below(5_000_000))).aligned(),
        2 => Schedule::every([1, 4, 24][rng.below(3) as usize] * HOUR)
            .aligned()
            .timezone(zone),
        3 => Schedule::cron("*/17 * * * *").timezone(zone),
        _ => Schedule::cron("0,30 1-3 * * *").timezone(zone),
    }
}

#[test]
fn of_what_was_found_due_the_latest_are_given_and_the_others_counted() {
    for seed in seeds(100) {
        let rng = &mut Random::new(seed);
        let schedule = drawn(rng).jitter(Jitter::Uniform(Duration::from_secs(rng.below(3_000))));
        let (plan, first) = planned(&schedule);
        // Months, over changes of the clocks.
        let now = at(60 * SECOND + Duration::from_secs(rng.below(150 * 86_400)));
        if !plan.reading(now, wall_at(now)).has_reached(first) {
            continue;
        }
        let max = rng.below(30) as usize;
        let mut some = plan.clone();
        let some = some.found_due(first, now, wall_at(now), max);
        let mut one = plan.clone();
        let one = one.occur(first, now, || wall_at(now));
        let context = format!("seed {seed}: {schedule:?}");
        assert_eq!(
            some.dropped,
            (one.missed + 1).saturating_sub(max as u64),
            "{context}"
        );
        assert_eq!(some.next, one.next, "{context}");
        // One by one from the first.
        let all = schedule
            .occurrences(wall())
            .unwrap()
            .take(one.missed as usize + 1);
        let latest: Vec<_> = all.skip(some.dropped as usize).collect();
        let found: Vec<_> = some.found.iter().map(|found| found.nominal).collect();
        assert_eq!(found, latest, "{context}");
    }
}

#[test]
fn a_week_of_milliseconds_takes_no_longer_than_what_is_asked_for() {
    for schedule in [Schedule::every(MS), Schedule::every(MS).aligned()] {
        let (mut plan, first) = planned(&schedule);
        let now = at(60 * SECOND + 7 * DAY);
        let due = plan.found_due(first, now, wall_at(now), 2);
        assert_eq!((due.found.len(), due.dropped), (2, 7 * 86_400_000 - 2));
        assert_eq!(due.found[1].nominal, wall() + 7 * DAY);
        assert_eq!((due.found[0].late, due.found[1].late), (MS, Duration::ZERO));
    }
    // Thousands of years of every second, over all changes of the clocks.
    let berlin = Schedule::cron("* * * * * *").timezone("Europe/Berlin");
    let (mut plan, first) = planned(&berlin);
    let reads = wall() + 7_000 * 365 * DAY;
    let due = plan.found_due(first, at(DAY), reads, 3);
    assert_eq!(
        (due.found.len(), due.dropped),
        (3, 7_000 * 365 * 86_400 - 3)
    );
    assert_eq!(due.found[2].nominal, reads);
    let (mut plan, first) = planned(&Schedule::every(HOUR).aligned().timezone("Europe/Berlin"));
    let due = plan.found_due(first, at(DAY), reads, 1);
    assert_eq!(
        (due.found[0].nominal, due.dropped),
        (reads, 7_000 * 365 * 24 - 1)
    );
}

#[test]
fn of_none_that_is_asked_for_all_are_dropped() {
    let (mut plan, first) = planned(&Schedule::every(SECOND));
    let due = plan.found_due(first, at(63 * SECOND), wall_at(at(63 * SECOND)), 0);
    assert_eq!((due.found, due.dropped), (Vec::new(), 3));
    let (mut plan, first) = planned(&Schedule::after(SECOND));
    let due = plan.found_due(first, at(63 * SECOND), wall_at(at(63 * SECOND)), 5);
    let found = Found {
        nominal: wall() + SECOND,
        due: wall() + SECOND,
        late: 2 * SECOND,
    };
    assert_eq!((due.found, due.dropped, due.next), (vec![found], 0, None));
}

#[test]
fn the_numbers_of_a_nanosecond_grid_fit() {
    let (mut plan, first) = planned(&Schedule::every(Duration::from_nanos(1)));
    let now = Moment::from_nanos(u64::MAX - 1);
    let due = plan.found_due(first, now, wall_at(now), 1);
    assert_eq!(due.dropped, u64::MAX - 1 - 60_000_000_001);
    assert_eq!(due.found[0].late, Duration::ZERO);
    assert_eq!(due.next, Some(Due::NEVER));
}

#[test]
fn between_two_instants_are_the_points_that_the_schedule_goes_through() {
    for seed in seeds(100) {
        let rng = &mut Random::new(seed);
        let schedule = drawn(rng);
        let (plan, _) = planned(&schedule);
        let from = wall() + Duration::from_secs(rng.below(100 * 86_400));
        let to = from + Duration::from_secs(rng.below(86_400));
        let all = schedule.occurrences(wall()).unwrap();
        let wanted = all.skip_while(|at| *at < from).take_while(|at| *at < to);
        let found = plan.between(from, to).unwrap();
        let (wanted, found): (Vec<_>, Vec<_>) = (wanted.collect(), found.collect());
        assert_eq!(found, wanted, "seed {seed}: {schedule:?}");
    }
}

#[test]
fn between_begins_with_from_and_ends_before_to_and_keeps_to_the_window() {
    for schedule in [
        Schedule::every(10 * SECOND),
        Schedule::every(10 * SECOND).aligned(),
        Schedule::cron("*/10 * * * * *"),
    ] {
        let of = |schedule: &Schedule, from, to| {
            let (plan, _) = planned(schedule);
            plan.between(from, to).unwrap().take(50).collect::<Vec<_>>()
        };
        // Before the task was added, too.
        let (from, to) = (wall() - 20 * SECOND, wall() + 10 * SECOND);
        let wanted = [wall() - 20 * SECOND, wall() - 10 * SECOND, wall()];
        assert_eq!(of(&schedule, from, to), wanted);
        assert_eq!(of(&schedule, to, to), []);
        assert_eq!(of(&schedule, to, from), []);
        let windowed = schedule.clone().not_before(wall()).not_after(wall() + DAY);
        assert_eq!(of(&windowed, from, to), [wall()]);
        let (from, to) = (wall() + DAY - SECOND, wall() + 2 * DAY);
        assert_eq!(of(&windowed, from, to), [wall() + DAY]);
        // Lazily: the year has millions.
        assert_eq!(of(&schedule, wall(), wall() + 9000 * DAY).len(), 50);
    }
    for schedule in [
        Schedule::after(SECOND),
        Schedule::at(wall()),
        Schedule::every_after(SECOND),
    ] {
        assert!(planned(&schedule).0.between(wall(), wall() + DAY).is_none());
    }
    let never = planned(&Schedule::every(Duration::MAX)).0;
    assert_eq!(
        never.between(wall(), wall() + 9000 * DAY).unwrap().count(),
        0
    );
}

#[test]
fn after_a_pause_comes_the_first_point_that_is_ahead() {
    for seed in seeds(100) {
        let rng = &mut Random::new(seed);
        let schedule = drawn(rng);
        let (mut plan, first) = planned(&schedule);
        let now = at(60 * SECOND + Duration::from_secs(rng.below(20 * 86_400)));
        let mut all = schedule.occurrences(wall()).unwrap();
        let wanted = all.find(|at| *at > wall_at(now)).unwrap();
        let context = format!("seed {seed}: {schedule:?}");
        for armed in [Some(first), None] {
            let next = plan.next_from(armed, now, wall_at(now)).unwrap();
            assert_eq!(plan.calendar(next), wanted, "{context}");
        }
    }
}

#[test]
fn what_is_still_ahead_after_a_pause_is_due_as_it_was() {
    for schedule in [
        Schedule::every(10 * SECOND).jitter(Jitter::Hashed(9 * SECOND)),
        Schedule::cron("*/10 * * * * *").jitter(Jitter::Hashed(9 * SECOND)),
        Schedule::every_after(10 * SECOND),
        Schedule::after(10 * SECOND),
    ] {
        let (mut plan, first) = planned(&schedule);
        // Its nominal instant may have come by then.
        let now = at(70 * SECOND - MS);
        assert_eq!(plan.next_from(Some(first), now, wall_at(now)), Some(first));
        let now = match plan.point(first) {
            point if point == first => now,
            _ => at(70 * SECOND + MS),
        };
        assert_eq!(plan.next_from(Some(first), now, wall_at(now)), Some(first));
    }
}

#[test]
fn a_pause_without_a_grid_begins_anew_and_a_single_instant_has_nothing_after_it() {
    let (mut plan, first) = planned(&Schedule::every_after(10 * SECOND));
    let now = at(90 * SECOND);
    for armed in [Some(first), None] {
        assert_eq!(
            plan.next_from(armed, now, wall_at(now)),
            Some(due(100 * SECOND))
        );
    }
    let (mut plan, first) = planned(&Schedule::after(10 * SECOND));
    assert_eq!(plan.next_from(Some(first), now, wall_at(now)), None);
    assert_eq!(plan.next_from(None, now, wall_at(now)), None);
    assert!(plan.is_once());
}

#[test]
fn after_a_pause_over_the_end_of_its_window_nothing_is_left() {
    for schedule in [
        Schedule::every(10 * SECOND),
        Schedule::every(10 * SECOND).aligned(),
        Schedule::every_after(10 * SECOND),
        Schedule::cron("*/10 * * * * *"),
    ] {
        let (mut plan, first) = planned(&schedule.not_after(wall() + 60 * SECOND));
        let now = at(DAY);
        assert_eq!(plan.next_from(Some(first), now, wall_at(now)), None);
        assert!(plan.is_once());
    }
}
