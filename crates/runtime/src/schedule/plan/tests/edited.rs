//! A schedule in the place of another: what is owed is neither lost nor doubled.

use super::*;
use crate::policy::Jitter;

/// All that comes of `old` until `edit_at`, and of `new` from then on, each as (nominal, due), in
/// seconds from the start, up to `end`.
fn history(old: &Schedule, edits: &[(u64, Schedule)], end: u64) -> Vec<(u64, u64)> {
    let (mut plan, first) = planned(old);
    let mut armed = Some(first);
    let mut edits = edits.iter().peekable();
    let mut log = Vec::new();
    for second in 0..=end {
        let now = at(Duration::from_secs(60 + second));
        while let Some((at, new)) = edits.next_if(|edit| edit.0 == second) {
            assert_eq!(*at, second);
            let (next, first) = new.plan(now, wall_at(now), Draws::of(1, "x")).unwrap();
            let (next, first) = next.in_place_of(&plan, armed, first, (now, wall_at(now)));
            (plan, armed) = (next, Some(first));
        }
        while let Some(due) = armed
            && plan.reading(now, wall_at(now)).has_reached(due)
        {
            let found = plan.occur(due, now, || wall_at(now));
            assert_eq!(found.missed, 0);
            let since = |at: SystemTime| at.duration_since(wall()).unwrap().as_secs();
            log.push((since(found.nominal), second));
            armed = found.next;
        }
    }
    log
}

fn nominal(log: &[(u64, u64)]) -> Vec<u64> {
    log.iter().map(|(nominal, _)| *nominal).collect()
}

fn minutely() -> Schedule {
    Schedule::cron("* * * * *").jitter(Jitter::Hashed(50 * SECOND))
}

#[test]
fn a_jittered_run_that_waits_is_not_lost_when_its_schedule_is_edited() {
    let plain = history(&minutely(), &[], 300);
    assert_eq!(nominal(&plain), [60, 120, 180, 240]);
    let held_up = plain[0].1 - 60;
    assert!(
        (5..50).contains(&held_up),
        "{held_up}: the test is to edit in between"
    );
    let longer = Schedule::cron("* * * * *").jitter(Jitter::Hashed(55 * SECOND));
    let without = Schedule::cron("* * * * *");
    let by_minutes = Schedule::every(60 * SECOND)
        .aligned()
        .jitter(Jitter::Uniform(SECOND));
    for new in [minutely(), longer, without, by_minutes] {
        // Before its instant, at it, while it is held up, when it is due, and after.
        for edit in [50, 60, 61, 60 + held_up - 1, 60 + held_up, 60 + held_up + 1] {
            let log = history(&minutely(), &[(edit, new.clone())], 300);
            let nominal = nominal(&log);
            assert_eq!(nominal[..3], [60, 120, 180], "at {edit}: {log:?}");
            // One that is held up at the edit keeps its due.
            if (60..=60 + held_up).contains(&edit) {
                assert_eq!(log[0], (60, 60 + held_up));
            }
        }
    }
}

#[test]
fn edited_again_and_again_it_still_comes_once() {
    let edits: Vec<_> = (60..65).map(|second| (second, minutely())).collect();
    let log = history(&minutely(), &edits, 300);
    assert_eq!(log, history(&minutely(), &[], 300));
}

#[test]
fn another_grid_begins_when_it_is_given_and_what_is_owed_comes_first() {
    let tens = Schedule::every(10 * SECOND);
    let log = history(&minutely(), &[(62, tens.clone())], 90);
    let due = log.iter().find(|(nominal, _)| *nominal == 60).unwrap();
    assert_eq!(due.1, history(&minutely(), &[], 120)[0].1);
    assert_eq!(
        nominal(&log)
            .iter()
            .filter(|nominal| **nominal == 60)
            .count(),
        1
    );
    // From a monotonic grid to another: its instant keeps the name it had.
    let jittered = Schedule::every(60 * SECOND).jitter(Jitter::Hashed(50 * SECOND));
    let log = history(&jittered, &[(61, tens)], 200);
    assert_eq!(log[0], (60, history(&jittered, &[], 120)[0].1));
}

#[test]
fn a_single_instant_is_moved_and_owes_nothing() {
    let later = Schedule::after(100 * SECOND);
    let log = history(&minutely(), &[(61, later.clone())], 300);
    assert_eq!(log, [(161, 161)]);
    let jittered = later.jitter(Jitter::Hashed(50 * SECOND));
    let log = history(&jittered, &[(101, Schedule::after(7 * SECOND))], 300);
    assert_eq!(log, [(108, 108)]);
    let log = history(&jittered, &[(101, Schedule::every(100 * SECOND))], 310);
    assert_eq!(log, [(201, 201), (301, 301)]);
}

#[test]
fn what_is_owed_is_there_one_by_one_and_gone_after_a_pause() {
    let (old, armed) = planned(&minutely());
    let now = at(121 * SECOND);
    let edited = || {
        let (new, first) = minutely()
            .plan(now, wall_at(now), Draws::of(1, "x"))
            .unwrap();
        new.in_place_of(&old, Some(armed), first, (now, wall_at(now)))
    };
    let (mut plan, owed) = edited();
    assert_eq!(owed, armed);
    let late = at(125 * SECOND + 50 * SECOND);
    let found = plan.found_due(owed, late, wall_at(late), 10);
    assert_eq!((found.found.len(), found.dropped), (1, 0));
    assert_eq!(found.found[0].nominal, wall() + 60 * SECOND);
    let (mut plan, owed) = edited();
    let much_later = at(1_000 * SECOND);
    let next = plan
        .next_from(Some(owed), much_later, wall_at(much_later))
        .unwrap();
    assert!(
        !plan
            .reading(much_later, wall_at(much_later))
            .has_reached(next)
    );
}
