//! The last instant of a stretch of time, and how many there are in it, compared with a walk.

use std::time::Duration;

use super::*;

const MINUTE: Duration = Duration::from_secs(60);

#[track_caller]
fn agrees(expression: &str, name: &str, after: SystemTime, until: SystemTime) {
    let (cron, zone) = (cron(expression), zone(name));
    let walk = || cron.occurrences(after, &zone).take_while(|at| *at <= until);
    let walked = walk().last().map(|last| (last, walk().count() as u64));
    let found = cron.last_of(after, until, &zone);
    assert_eq!(
        found,
        walked,
        "`{expression}` in {name} in ({}, {}]",
        text(after),
        text(until)
    );
}

#[test]
fn what_was_missed_is_counted_through_gaps_and_folds_from_every_minute_to_every_other() {
    for (name, change) in [
        ("America/New_York", "2026-03-08T07:00:00Z"),
        ("America/New_York", "2026-11-01T06:00:00Z"),
        ("Australia/Lord_Howe", "2019-04-06T15:00:00Z"),
        ("Pacific/Apia", "2011-12-30T10:00:00Z"),
    ] {
        for expression in [
            "30 2 * * *",
            "0,15,30 1-3 * * *",
            "*/15 * * * *",
            "0 0 * * *",
            "30 * * * *",
            "*/20 30 1,2 * * *",
        ] {
            for before in [150_u32, 61, 60, 45, 30, 1, 0] {
                for length in [0_u32, 1, 15, 30, 59, 60, 61, 90, 150, 1500] {
                    let after = at(change) - before * MINUTE;
                    agrees(expression, name, after, after + length * MINUTE);
                    let after = after - Duration::from_millis(500);
                    agrees(expression, name, after, after + length * MINUTE);
                }
            }
        }
    }
}

#[test]
fn years_of_seconds_are_counted_as_well_as_one() {
    let (cron, utc, kiev) = (cron("* * * * * *"), Zone::UTC, zone("Europe/Kyiv"));
    let (begin, end) = (at("2020-01-01T00:00:00Z"), at("2030-01-01T00:00:00.5Z"));
    let seconds = end.duration_since(begin).unwrap().as_secs();
    let last = at("2030-01-01T00:00:00Z");
    assert_eq!(cron.last_of(begin, end, &utc), Some((last, seconds)));
    // Real time does not mind what the clocks on the wall say.
    assert_eq!(cron.last_of(begin, end, &kiev), Some((last, seconds)));
    let daily = "15 3 * * *".parse::<Cron>().unwrap();
    let days = daily.last_of(begin, end, &kiev);
    assert_eq!(days, Some((at("2029-12-31T01:15:00Z"), 3653)));
}

#[test]
fn where_there_is_none_there_is_no_last_one() {
    let new_year = at("2026-01-01T00:00:00Z");
    let cron = cron("0 0 1 1 *");
    let before = new_year - Duration::from_nanos(1);
    assert_eq!(cron.last_of(new_year, new_year, &Zone::UTC), None);
    assert_eq!(cron.last_of(new_year, before, &Zone::UTC), None);
    assert_eq!(cron.last_of(before, before, &Zone::UTC), None);
    assert_eq!(
        cron.last_of(before, new_year, &Zone::UTC),
        Some((new_year, 1))
    );
}
