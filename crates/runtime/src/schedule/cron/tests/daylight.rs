//! Zones, and the days on which their clocks are changed.

use super::*;

const NEW_YORK: &str = "America/New_York";

// CZ-01
#[test]
fn a_fixed_time_in_a_gap_runs_once_right_after_it() {
    gives(
        "30 2 * * *",
        NEW_YORK,
        "2025-03-09T06:30:00Z",
        &["2025-03-09T07:00:00Z", "2025-03-10T06:30:00Z"],
    );
    gives(
        "30 2 * * *",
        NEW_YORK,
        "2026-03-08T06:59:59.9Z",
        &["2026-03-08T07:00:00Z", "2026-03-09T06:30:00Z"],
    );
    // However many there are in the gap, and also if there is one at its end.
    for list in [
        "0,30 2 * * *",
        "0 2,3 * * *",
        "59 59 2 * * *",
        "*/10 30 2 * * *",
    ] {
        let found = next(list, NEW_YORK, "2026-03-08T06:00:00Z", 2);
        assert_eq!(found[0], "2026-03-08T07:00:00Z", "{list}");
        assert!(found[1].starts_with("2026-03-09T06:"), "{list}: {found:?}");
    }
}

#[test]
fn a_fixed_time_in_a_fold_runs_once_on_its_first_pass() {
    gives(
        "30 1 * * *",
        NEW_YORK,
        "2026-11-01T04:00:00Z",
        &["2026-11-01T05:30:00Z", "2026-11-02T06:30:00Z"],
    );
    gives(
        "0,30 1 * * *",
        NEW_YORK,
        "2026-11-01T05:00:00Z",
        &["2026-11-01T05:30:00Z", "2026-11-02T06:00:00Z"],
    );
    // Asked in the second pass, also at its first instant: what comes after the fold.
    for after in [
        "2026-11-01T05:59:59Z",
        "2026-11-01T06:00:00Z",
        "2026-11-01T06:29:00Z",
    ] {
        gives(
            "30 1,2 * * *",
            NEW_YORK,
            after,
            &["2026-11-01T07:30:00Z", "2026-11-02T06:30:00Z"],
        );
    }
}

// CZ-04, CZ-05
#[test]
fn what_begins_with_a_star_follows_real_time() {
    let half_hours =
        ["05:00", "05:30", "06:00", "06:30", "07:00"].map(|time| format!("2026-11-01T{time}:00Z"));
    let half_hours = half_hours.each_ref().map(String::as_str);
    gives(
        "*/30 * * * *",
        NEW_YORK,
        "2026-11-01T04:30:00Z",
        &half_hours,
    );
    gives(
        "*/30 * * * *",
        NEW_YORK,
        "2026-03-08T06:00:00Z",
        &[
            "2026-03-08T06:30:00Z",
            "2026-03-08T07:00:00Z",
            "2026-03-08T07:30:00Z",
        ],
    );
    let melbourne = ["14:30", "15:00", "15:30", "16:00", "16:30", "17:00"]
        .map(|time| format!("2024-04-06T{time}:00Z"));
    let melbourne = melbourne.each_ref().map(String::as_str);
    gives(
        "*/30 * * * *",
        "Australia/Melbourne",
        "2024-04-06T14:00:00Z",
        &melbourne,
    );
    gives(
        "* * * * *",
        NEW_YORK,
        "2026-11-01T06:30:15Z",
        &["2026-11-01T06:31:00Z"],
    );
    // The hour or the minute is enough; in the gap nothing is made up for.
    gives(
        "30 * * * *",
        NEW_YORK,
        "2026-11-01T05:00:00Z",
        &["2026-11-01T05:30:00Z", "2026-11-01T06:30:00Z"],
    );
    gives(
        "*/20 1 * * *",
        NEW_YORK,
        "2026-11-01T05:30:00Z",
        &[
            "2026-11-01T05:40:00Z",
            "2026-11-01T06:00:00Z",
            "2026-11-01T06:20:00Z",
        ],
    );
    gives(
        "*/20 2 * * *",
        NEW_YORK,
        "2026-03-08T00:00:00Z",
        &["2026-03-09T06:00:00Z"],
    );
}

// CZ-05
#[test]
fn the_next_instant_is_always_later_through_the_whole_day_of_a_change() {
    for day in ["2026-11-01T04:00:00Z", "2026-03-08T05:00:00Z"] {
        for expression in [
            "* * * * *",
            "30 1 * * *",
            "0,30 2 * * *",
            "15 1-3 * * *",
            "*/7 1 * * *",
        ] {
            let (cron, zone) = (cron(expression), zone(NEW_YORK));
            let mut last = at(day);
            for minute in 0..25 * 60 {
                let after = at(day) + std::time::Duration::from_secs(minute * 60 + 15);
                let next = cron.next_after(after, &zone).unwrap();
                assert!(
                    next > after && next >= last,
                    "{expression} after {}: {}",
                    text(after),
                    text(next)
                );
                last = next;
            }
        }
    }
}

// CZ-07, CZ-08
#[test]
fn a_midnight_that_does_not_exist() {
    gives(
        "0 6 * * *",
        "America/Santiago",
        "2018-08-12T07:00:00Z",
        &["2018-08-12T09:00:00Z"],
    );
    gives(
        "0 0 * * *",
        "America/Santiago",
        "2018-08-11T12:00:00Z",
        &["2018-08-12T04:00:00Z", "2018-08-13T03:00:00Z"],
    );
    gives(
        "0 12 11,26 * *",
        "America/Sao_Paulo",
        "2014-10-12T03:00:00Z",
        &["2014-10-26T14:00:00Z"],
    );
    // And one that comes twice.
    gives(
        "30 23 * * *",
        "America/Santiago",
        "2018-05-12T12:00:00Z",
        &["2018-05-13T02:30:00Z", "2018-05-14T03:30:00Z"],
    );
}

// CZ-09
#[test]
fn a_shift_of_half_an_hour() {
    gives(
        "0 * * * *",
        "Australia/Lord_Howe",
        "2019-10-05T15:13:00Z",
        &["2019-10-05T16:00:00Z", "2019-10-05T17:00:00Z"],
    );
    // 02:00 to 02:29 does not exist; a fixed time in it runs at 02:30.
    gives(
        "15 2 * * *",
        "Australia/Lord_Howe",
        "2019-10-05T12:00:00Z",
        &["2019-10-05T15:30:00Z", "2019-10-06T15:15:00Z"],
    );
    // 01:30 to 01:59 comes twice.
    gives(
        "45 1 * * *",
        "Australia/Lord_Howe",
        "2019-04-06T12:00:00Z",
        &["2019-04-06T14:45:00Z", "2019-04-07T15:15:00Z"],
    );
    gives(
        "*/15 1 * * *",
        "Australia/Lord_Howe",
        "2019-04-06T14:15:00Z",
        &[
            "2019-04-06T14:30:00Z",
            "2019-04-06T14:45:00Z",
            "2019-04-06T15:00:00Z",
            "2019-04-06T15:15:00Z",
            "2019-04-07T14:30:00Z",
        ],
    );
}

// CZ-11
#[test]
fn a_fixed_time_keeps_to_the_clock_on_the_wall_across_a_change() {
    gives(
        "0 18 * * *",
        "Europe/London",
        "2025-03-29T18:00:00Z",
        &["2025-03-30T17:00:00Z"],
    );
    gives(
        "0 18 * * *",
        "Europe/London",
        "2025-10-25T17:00:00Z",
        &["2025-10-26T18:00:00Z"],
    );
}

// CZ-12
#[test]
fn an_ambiguous_time_to_come_does_no_harm() {
    let wanted = [
        "2018-10-23T00:00:00Z",
        "2018-10-24T00:00:00Z",
        "2018-10-25T00:00:00Z",
        "2018-10-26T00:00:00Z",
        "2018-10-27T00:00:00Z",
        "2018-10-28T00:00:00Z",
        "2018-10-29T01:00:00Z",
    ];
    gives(
        "0 2 * * *",
        "Europe/Copenhagen",
        "2018-10-22T12:00:00Z",
        &wanted,
    );
}

// CZ-14
#[test]
fn a_shift_of_two_hours() {
    for expression in ["0 1 * * *", "30 2 * * *", "0 1,2 * * *", "59 1,2 * * *"] {
        let found = next(expression, "Antarctica/Troll", "2026-03-28T12:00:00Z", 2);
        assert_eq!(found[0], "2026-03-29T01:00:00Z", "{expression}");
        assert!(
            *found[1] >= *"2026-03-29T23:00:00Z",
            "{expression}: {found:?}"
        );
    }
    gives(
        "30 2 * * *",
        "Antarctica/Troll",
        "2026-03-29T01:00:00Z",
        &["2026-03-30T00:30:00Z"],
    );
}

#[test]
fn a_day_that_does_not_exist_runs_once_when_it_is_over() {
    // Samoa went from the 29th to the 31st of December 2011.
    let apia = "Pacific/Apia";
    gives(
        "0 9 * * *",
        apia,
        "2011-12-29T12:00:00Z",
        &[
            "2011-12-29T19:00:00Z",
            "2011-12-30T10:00:00Z",
            "2011-12-30T19:00:00Z",
        ],
    );
    gives(
        "0 9 30 12 *",
        apia,
        "2011-06-01T00:00:00Z",
        &["2011-12-30T10:00:00Z", "2012-12-29T19:00:00Z"],
    );
    gives(
        "*/30 9 * * *",
        apia,
        "2011-12-29T20:00:00Z",
        &["2011-12-30T19:00:00Z"],
    );
    gives(
        "0 */6 * * *",
        apia,
        "2011-12-30T04:00:00Z",
        &["2011-12-30T10:00:00Z", "2011-12-30T16:00:00Z"],
    );
    // The years of its zone before 1892 have seconds.
    gives(
        "0 12 * * *",
        "America/New_York",
        "1883-11-17T12:00:00Z",
        &[
            "1883-11-17T16:56:02Z",
            "1883-11-18T16:56:02Z",
            "1883-11-19T17:00:00Z",
        ],
    );
}

#[test]
fn an_expression_that_its_zone_always_skips_has_no_instant() {
    // The second Sunday of March has no 2 o'clock in New York, but in Denmark it has.
    let expression = "*/5 2 * 3 SUN#2";
    assert_eq!(
        next(expression, NEW_YORK, "2026-01-01T00:00:00Z", 1),
        [""; 0]
    );
    gives(
        expression,
        "Europe/Copenhagen",
        "2026-01-01T00:00:00Z",
        &["2026-03-08T01:00:00Z"],
    );
    let with_year = "0 */5 2 * 3 SUN#2 2008-9999";
    assert_eq!(
        next(with_year, NEW_YORK, "2026-01-01T00:00:00Z", 1),
        [""; 0]
    );
    // A fixed time runs after the gap, each year.
    gives(
        "5 2 * 3 SUN#2",
        NEW_YORK,
        "2026-01-01T00:00:00Z",
        &["2026-03-08T07:00:00Z", "2027-03-14T07:00:00Z"],
    );
}

#[test]
fn winter_time_that_is_the_exception_and_ramadan_and_odd_offsets() {
    // Ireland's winter time is its daylight saving, by the data; to its clocks that is all the same.
    gives(
        "30 1 * * *",
        "Europe/Dublin",
        "2026-03-28T12:00:00Z",
        &["2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"],
    );
    gives(
        "30 1 * * *",
        "Europe/Dublin",
        "2026-10-24T12:00:00Z",
        &["2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"],
    );
    // Morocco goes back for Ramadan and forward after it.
    gives(
        "30 2 * * *",
        "Africa/Casablanca",
        "2024-03-09T12:00:00Z",
        &["2024-03-10T01:30:00Z", "2024-03-11T02:30:00Z"],
    );
    gives(
        "30 2 * * *",
        "Africa/Casablanca",
        "2024-04-13T12:00:00Z",
        &["2024-04-14T02:00:00Z", "2024-04-15T01:30:00Z"],
    );
    gives(
        "0 9 * * *",
        "Asia/Kathmandu",
        "2026-01-01T00:00:00Z",
        &["2026-01-01T03:15:00Z"],
    );
    gives(
        "0 3 * * *",
        "Pacific/Chatham",
        "2026-09-26T00:00:00Z",
        &["2026-09-26T14:00:00Z", "2026-09-27T13:15:00Z"],
    );
}

#[test]
fn every_row_of_the_page_about_schedules_is_right() {
    let page = include_str!("../../../../../../docs/SCHEDULES.md");
    let mut rows = 0;
    for line in page.lines() {
        // | `expression` | zone | after | next, next |
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        if let [_, expression, name, after, wanted, _] = cells[..]
            && after.ends_with('Z')
        {
            let wanted: Vec<&str> = wanted.split(", ").collect();
            gives(expression.trim_matches('`'), name, after, &wanted);
            rows += 1;
        }
    }
    assert_eq!(rows, 10);
}
