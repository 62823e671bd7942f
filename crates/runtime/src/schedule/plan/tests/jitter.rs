//! Jitter: by how much, and that no occurrence is lost, doubled or overtaken.

use wheel_testkit::{Random, seeds};

use super::*;
use crate::policy::Jitter;

fn plan_as(schedule: &Schedule, seed: u64, id: &str) -> (Plan, Due) {
    schedule
        .plan(at(60 * SECOND), wall(), Draws::of(seed, id))
        .unwrap()
}

/// How much later than its nominal instant each of the next occurrences is due.
fn offsets(schedule: &Schedule, seed: u64, id: &str) -> Vec<Duration> {
    let (mut plan, mut armed) = plan_as(schedule, seed, id);
    let mut offsets = Vec::new();
    for _ in 0..200 {
        let (now, reads) = match armed {
            Due::Monotonic(moment) => (moment, wall_at(moment)),
            Due::Wall(reads) => (at(DAY), reads),
        };
        let occurrence = plan.occur(armed, now, || reads);
        assert_eq!((occurrence.due, occurrence.missed), (reads, 0));
        offsets.push(occurrence.due.duration_since(occurrence.nominal).unwrap());
        armed = occurrence.next.unwrap();
    }
    offsets
}

fn recurring() -> [Schedule; 3] {
    [
        Schedule::every(10 * SECOND),
        Schedule::every(10 * SECOND).aligned(),
        Schedule::cron("*/10 * * * * *"),
    ]
}

#[test]
fn nominal_instants_stay_and_due_ones_are_up_to_so_much_later() {
    for schedule in recurring() {
        let wanted: Vec<_> = schedule.occurrences(wall()).unwrap().take(200).collect();
        let jittered = schedule.jitter(Jitter::Uniform(4 * SECOND));
        let nominal = jittered.occurrences(wall()).unwrap();
        assert_eq!(nominal.take(200).collect::<Vec<_>>(), wanted);
        let offsets = offsets(&jittered, 1, "x");
        assert!(offsets.iter().all(|offset| *offset < 4 * SECOND));
        let mean = offsets.iter().sum::<Duration>() / 200;
        assert!((1700 * MS..2300 * MS).contains(&mean), "{mean:?}");
    }
}

#[test]
fn uniform_depends_on_seed_and_id_and_hashed_on_the_id_alone() {
    for schedule in recurring() {
        let uniform = schedule.clone().jitter(Jitter::Uniform(4 * SECOND));
        assert_eq!(offsets(&uniform, 1, "x"), offsets(&uniform, 1, "x"));
        assert_ne!(offsets(&uniform, 1, "x"), offsets(&uniform, 2, "x"));
        assert_ne!(offsets(&uniform, 1, "x"), offsets(&uniform, 1, "y"));
        let hashed = schedule.jitter(Jitter::Hashed(4 * SECOND));
        let of_x = offsets(&hashed, 1, "x");
        assert!(of_x.iter().all(|offset| *offset == of_x[0]));
        assert_eq!(of_x, offsets(&hashed, 2, "x"));
        assert_ne!(of_x, offsets(&hashed, 1, "y"));
    }
}

#[test]
fn hashed_spreads_ids_evenly() {
    let hashed = Schedule::every(HOUR).jitter(Jitter::Hashed(1000 * SECOND));
    let mut of_tenth = [0; 10];
    for n in 0..1000 {
        let (plan, first) = plan_as(&hashed, 1, &format!("task-{n}"));
        let offset = first.since(plan.point(first));
        of_tenth[(offset.as_secs() / 100) as usize] += 1;
    }
    assert!(
        of_tenth.iter().all(|count| (65..140).contains(count)),
        "{of_tenth:?}"
    );
}

#[test]
fn a_spread_longer_than_the_gap_ends_a_tick_before_the_next_one() {
    for schedule in recurring() {
        for jitter in [Jitter::Uniform(365 * DAY), Jitter::Hashed(365 * DAY)] {
            let offsets = offsets(&schedule.clone().jitter(jitter), 1, "x");
            assert!(offsets.iter().all(|offset| *offset < 10 * SECOND - MS));
            assert!(offsets[0] > 10 * MS);
        }
    }
    for period in [Duration::from_nanos(1), MS] {
        let every = Schedule::every(period).jitter(Jitter::Uniform(HOUR));
        assert!(offsets(&every, 1, "x").iter().all(Duration::is_zero));
    }
}

#[test]
fn single_instants_and_pauses_are_spread_as_far_as_was_asked() {
    for schedule in [
        Schedule::after(SECOND),
        Schedule::at(wall() + SECOND),
        Schedule::at(wall() - DAY),
        Schedule::every_after(SECOND),
    ] {
        let nominal = schedule.occurrences(wall()).unwrap().next().unwrap();
        let schedule = schedule.jitter(Jitter::Uniform(HOUR));
        let due_of = |seed| {
            let (mut plan, first) = plan_as(&schedule, seed, "x");
            let found = plan.occur(first, at(DAY), || wall() + DAY);
            assert_eq!(
                (found.nominal, found.missed, found.next),
                (nominal, 0, None)
            );
            let ahead = found.due.duration_since(nominal).unwrap();
            assert!(ahead < HOUR);
            ahead
        };
        let longest = (0..100).map(due_of).max();
        assert!(longest > Some(HOUR / 2));
    }
}

#[test]
fn a_jitter_of_nothing_is_none_and_one_of_years_is_refused() {
    let every = Schedule::every(SECOND);
    assert_eq!(
        planned(&every.clone().jitter(Jitter::Uniform(Duration::ZERO))),
        planned(&every)
    );
    for schedule in [every, Schedule::after(SECOND)] {
        for length in [365 * DAY + MS, Duration::MAX] {
            let error = schedule
                .clone()
                .jitter(Jitter::Hashed(length))
                .occurrences(wall());
            assert_eq!(error.unwrap_err(), ScheduleError::JitterTooLong(length));
        }
    }
    let error = ScheduleError::JitterTooLong(400 * DAY).to_string();
    assert_eq!(error, "jitter: 400d is too long: 365 days at most");
}

#[test]
fn the_last_one_of_a_window_may_be_due_behind_it() {
    let end = wall() + 10 * SECOND;
    let every = Schedule::every(10 * SECOND)
        .not_after(end)
        .jitter(Jitter::Hashed(9 * SECOND));
    let (mut plan, first) = plan_as(&every, 1, "x");
    assert!(first > due(70 * SECOND));
    let Due::Monotonic(moment) = first else {
        panic!()
    };
    let last = look(&mut plan, moment, moment);
    assert_eq!((last.nominal, last.next), (end, None));
}

/// Looks at random instants: each point is found once, in order, and not before it is due.
#[test]
fn however_late_it_is_looked_at_no_occurrence_is_lost_doubled_or_early() {
    for seed in seeds(400) {
        let rng = &mut Random::new(seed);
        let gap = 1 + rng.below(20);
        let schedule = match rng.below(4) {
            0 => Schedule::every(gap as u32 * SECOND),
            1 => Schedule::every(gap as u32 * SECOND).aligned(),
            2 => Schedule::cron("*/7 * * * * *"),
            _ => Schedule::cron("3,4,20 */2 * * * *"),
        };
        let most = Duration::from_millis(rng.below(40_000));
        let schedule = match rng.below(3) {
            0 => schedule.jitter(Jitter::Uniform(most)),
            1 => schedule.jitter(Jitter::Hashed(most)),
            _ => schedule,
        };
        let schedule = match rng.below(3) {
            0 => schedule.not_after(wall() + 600 * SECOND),
            _ => schedule,
        };
        let wanted: Vec<_> = schedule.occurrences(wall()).unwrap().take(500).collect();
        let (mut plan, first) = plan_as(&schedule, seed, "x");
        let (mut armed, mut found) = (Some(first), Vec::new());
        let mut now = at(60 * SECOND);
        while found.len() < wanted.len() {
            now = now.after(Duration::from_millis(rng.below(60_000)));
            let Some(is_armed) = armed else { break };
            let reading = plan.reading(now, wall_at(now));
            if !reading.has_reached(is_armed) {
                continue;
            }
            let mut as_one = plan.clone();
            let one = as_one.occur(is_armed, now, || wall_at(now));
            let each = plan.found_due(is_armed, now, wall_at(now), usize::MAX);
            assert_eq!((&as_one, one.next), (&plan, each.next), "seed {seed}");
            assert_eq!(each.found.len() as u64, one.missed + 1, "seed {seed}");
            assert_eq!(each.found[0].due, one.due, "seed {seed}");
            assert_eq!(
                each.found.last().unwrap().nominal,
                one.nominal,
                "seed {seed}"
            );
            for of in &each.found {
                assert!(
                    of.nominal <= of.due && of.due <= wall_at(now),
                    "seed {seed}"
                );
                assert_eq!(wall_at(now) - of.late, of.due, "seed {seed}");
                found.push(of.nominal);
            }
            armed = each.next;
            assert!(
                armed.is_none_or(|next| !reading.has_reached(next)),
                "seed {seed}"
            );
        }
        let count = found.len().min(wanted.len());
        assert_eq!(found[..count], wanted[..count], "seed {seed}: {schedule:?}");
        assert!(count == wanted.len(), "seed {seed}: {count}");
    }
}
