//! What is said of some expressions, in some zones, before some changes.

use super::*;

fn text(expression: &str, zone: &str, from: &str, count: u64) -> Vec<String> {
    let asked = Instants {
        expression: expression.parse().unwrap(),
        tz: zone.parse().unwrap(),
        from: None,
        count,
    };
    let from: Timestamp = from.parse().unwrap();
    let mut out = Vec::new();
    write(&asked, from.try_into().unwrap(), &mut out).unwrap();
    let out = String::from_utf8(out).unwrap();
    out.lines().map(str::to_owned).collect()
}

fn effect(expression: &str, zone: &str, from: &str) -> String {
    text(expression, zone, from, 1)
        .pop()
        .unwrap()
        .trim()
        .to_owned()
}

#[test]
fn all_of_it_is_said() {
    let lines = text("30 2 * * *", "America/New_York", "2026-03-07T00:00:00Z", 2);
    let wanted = [
        "30 2 * * *",
        "  at 02:30, in America/New_York",
        "",
        "next after Fri 2026-03-06 19:00:00 -05:00",
        "  Sat 2026-03-07 02:30:00 -05:00   in 7h30m",
        "  Sun 2026-03-08 03:00:00 -04:00   in 1d7h",
        "",
        "the clocks change on Sun 2026-03-08, from 02:00:00 -05:00 to 03:00:00 -04:00: 1h is skipped",
        "  02:30 is not on the clock that day: due once, right after, at 03:00:00 -04:00",
    ];
    assert_eq!(lines, wanted);
}

#[test]
fn what_a_change_skips() {
    let new_york = |expression| effect(expression, "America/New_York", "2026-03-07T00:00:00Z");
    assert_eq!(
        new_york("0,30 2 * * *"),
        "02:00, 02:30 are not on the clock that day: due once, right after, at 03:00:00 -04:00"
    );
    assert_eq!(
        new_york("*/10 * * * *"),
        "02:00, 02:10, 02:20, 02:30 and 2 more are not on the clock that day; due at 03:00:00 -04:00, as on other days"
    );
    assert_eq!(
        new_york("*/20 2 * * *"),
        "02:00, 02:20, 02:40 are not on the clock that day: left out, as it follows real time"
    );
    assert_eq!(
        new_york("0 9 * * *"),
        "no time of it lies between 02:00 and 03:00"
    );
    // The shift of half an hour, on another day of the week.
    assert_eq!(
        effect("15 2 * * *", "Australia/Lord_Howe", "2026-09-01T00:00:00Z"),
        "02:15 is not on the clock that day: due once, right after, at 02:30:00 +11:00"
    );
    // A change on a day that it does not name.
    assert_eq!(
        new_york("30 2 * * MON"),
        "no time of it lies between 02:00 and 03:00"
    );
}

#[test]
fn what_a_change_repeats() {
    let new_york = |expression| effect(expression, "America/New_York", "2026-10-01T00:00:00Z");
    assert_eq!(
        new_york("30 1 * * *"),
        "01:30 comes twice: due once, the first time"
    );
    assert_eq!(
        new_york("0,30 1 * * *"),
        "01:00, 01:30 come twice: due once, the first time"
    );
    assert_eq!(
        new_york("30 * * * *"),
        "01:30 comes twice: due both times, as it follows real time"
    );
    assert_eq!(
        new_york("0 2 * * *"),
        "no time of it lies between 01:00 and 02:00"
    );
    let lines = text("30 * * * *", "America/New_York", "2026-10-01T00:00:00Z", 1);
    assert_eq!(
        lines[lines.len() - 2],
        "the clocks change on Sun 2026-11-01, from 02:00:00 -04:00 to 01:00:00 -05:00: 1h comes twice"
    );
}

#[test]
fn where_there_is_no_change() {
    assert_eq!(
        effect("@daily", "UTC", "2026-01-01T00:00:00Z"),
        "the clocks of UTC do not change any more"
    );
    let lines = text("@every 90s", "UTC", "2026-01-01T00:00:00.5Z", 2);
    assert_eq!(
        lines[1],
        "  every 1m30s, whatever the clock on the wall shows; counted from when it begins"
    );
    assert_eq!(
        lines[4..],
        [
            "  Thu 2026-01-01 00:01:30 +00:00   in 1m30s",
            "  Thu 2026-01-01 00:03:00 +00:00   in 3m"
        ]
    );
}
