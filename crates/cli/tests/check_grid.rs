//! Grids, windows, and which keys go with which schedule: every value, good or bad.

mod workbench;

use workbench::{accepted, refused, task};

/// What stands in line 4.
fn with(schedule: &str, line: &str) -> String {
    task(&format!("{schedule}\n{line}\nrun = [\"true\"]\n"))
}

const EVERY: &str = "every = \"15m\"";
const CRON: &str = "cron = \"@hourly\"";
const AFTER: &str = "after = \"1s\"";

#[test]
fn what_is_right_is_accepted() {
    for line in [
        "aligned = true",
        "aligned = false",
        "aligned = true\ntimezone = \"Europe/Berlin\"",
        "start = \"now\"",
        "start = \"2026-12-01T02:00:00Z\"",
        "start = 2026-12-01T02:00:00+08:00",
        "not_before = \"2126-12-01T02:00:00Z\"",
        "not_after = 2126-12-01T02:00:00Z",
        "aligned = true\nnot_before = \"2126-01-01T00:00:00Z\"\nnot_after = \"2126-12-01T02:00:00Z\"\ncount = 3",
    ] {
        accepted(&with(EVERY, line));
    }
    accepted(&with("cron = \"@every 1h\"", "aligned = true"));
    accepted(&with(CRON, "not_after = 2126-12-01T02:00:00Z"));
}

#[test]
fn a_bad_grid_says_what_is_wrong() {
    for (line, place, what) in [
        (
            "aligned = \"yes\"",
            "4:11",
            "`aligned` must be true or false, not a string",
        ),
        (
            "aligned = 1",
            "4:11",
            "must be true or false, not an integer",
        ),
        (
            "start = \"soon\"",
            "4:9",
            "write start = \"now\", or an instant",
        ),
        ("start = 5", "4:9", "`start` must be a string"),
        (
            "start = \"2026-12-01T02:00:00\"",
            "4:9",
            "`start` is not an instant: it has no offset",
        ),
        (
            "start = \"now\"\naligned = true",
            "4:9",
            "both say where the grid lies",
        ),
        (
            "timezone = \"Europe/Berlin\"",
            "4:12",
            "or add aligned = true",
        ),
        (
            "timezone = \"Europe/Berlin\"\naligned = false",
            "4:12",
            "or add aligned = true",
        ),
    ] {
        refused(&with(EVERY, line), place, &[what]);
    }
    refused(
        &with(
            "every = \"7h\"",
            "timezone = \"Europe/Berlin\"\naligned = true",
        ),
        "4:12",
        &["the period does not divide a day", "drop `timezone`"],
    );
    accepted(&with("every = \"7h\"", "aligned = true"));
}

#[test]
fn a_bad_window_says_what_is_wrong() {
    for schedule in [EVERY, CRON] {
        refused(
            &with(schedule, "not_after = \"2001-01-01T00:00:00Z\""),
            "4:13",
            &["never due in that window from now on", "a later instant"],
        );
        refused(
            &with(
                schedule,
                "not_after = \"2126-01-01T00:00:00Z\"\nnot_before = \"2126-01-02T00:00:00Z\"",
            ),
            "4:13",
            &["`not_after` is before `not_before`"],
        );
        refused(
            &with(schedule, "not_before = \"tomorrow\""),
            "4:14",
            &["`not_before` is not an instant"],
        );
    }
    refused(
        &with(
            "cron = \"0 0 0 1 1 * 2100\"",
            "not_before = \"2126-01-01T00:00:00Z\"",
        ),
        "4:14",
        &["never due in that window", "an earlier instant"],
    );
}

#[test]
fn a_key_that_does_not_go_with_the_schedule_is_refused() {
    for schedule in [AFTER, "at = \"2126-12-01T02:00:00Z\"", "depends_on = \"b\""] {
        let key = schedule.split(' ').next().unwrap_or_default();
        for line in [
            "start = \"now\"",
            "aligned = true",
            "not_before = \"2126-12-01T02:00:00Z\"",
            "not_after = \"2126-12-01T02:00:00Z\"",
            "count = 2",
            "timezone = \"Europe/Berlin\"",
            "overlap = \"skip\"",
        ] {
            let what = format!("a task with `{key}`");
            let place = format!("4:{}", line.find('=').unwrap_or_default() + 3);
            let other = task(&format!("{AFTER}\nrun = [\"true\"]")).replace("\"a\"", "\"b\"");
            let text = format!("{}{other}", with(schedule, line));
            refused(&text, &place, &[&what]);
        }
    }
    refused(
        &with(CRON, "aligned = true"),
        "4:11",
        &["`cron` follows the clock on the wall already"],
    );
    refused(
        &with(CRON, "start = \"now\""),
        "4:9",
        &["no grid to begin", "use `start` with `every`"],
    );
}
