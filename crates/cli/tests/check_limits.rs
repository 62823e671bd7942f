//! How long, how many at once, how often: every value, good or bad.

mod workbench;

use workbench::{accepted, refused, task};

/// What stands in line 5.
fn with(line: &str) -> String {
    task(&format!("after = \"1s\"\nrun = [\"true\"]\n{line}"))
}

#[test]
fn what_is_right_is_accepted() {
    for line in [
        "timeout = \"1ns\"",
        "timeout = \"30s\"\ndeadline = \"5m\"",
        "concurrency_key = \"db\"",
        "concurrency_key = \"db\"\nconcurrency = 4294967295",
        "rate_limit = \"10/s\"",
        "rate_limit = \"1 / 1h30m\"",
        "rate_limit = { rate = \"100/m\" }",
        "rate_limit = { rate = \"100/m\", burst = 5, key = \"api\" }",
    ] {
        accepted(&with(line));
    }
}

#[test]
fn a_bad_limit_of_time_says_what_is_wrong() {
    for key in ["timeout", "deadline"] {
        for (value, what) in [
            ("\"0s\"", "is zero: no program would have time to run"),
            ("30", "is a number without a unit"),
            ("\"-1s\"", "is not a duration: it is negative"),
            ("true", "must be a string, not a boolean"),
        ] {
            let place = format!("5:{}", key.len() + 4);
            let what = format!("`{key}` {what}");
            refused(&with(&format!("{key} = {value}")), &place, &[&what]);
        }
    }
}

#[test]
fn a_bad_key_says_what_is_wrong() {
    for (value, what) in [
        ("\"\"", "is empty"),
        ("\"a\\nb\"", "has a control character or a line break in it"),
        ("\"a\\u0007\"", "has a control character"),
        ("7", "must be a string, not an integer"),
        (
            &format!("\"{}\"", "x".repeat(257)),
            "is longer than 256 bytes",
        ),
    ] {
        let what = format!("`concurrency_key` {what}");
        refused(
            &with(&format!("concurrency_key = {value}")),
            "5:19",
            &[&what],
        );
        let what = what.replace("concurrency_key", "key");
        refused(
            &with(&format!("rate_limit = {{ rate = \"1/s\", key = {value} }}")),
            "5:36",
            &[&what],
        );
    }
}

#[test]
fn concurrency_is_a_number_of_a_key() {
    for value in ["0", "-1", "4294967296", "1.5", "\"2\""] {
        refused(
            &with(&format!("concurrency_key = \"db\"\nconcurrency = {value}")),
            "6:15",
            &["`concurrency` must be a whole number from 1 to 4294967295, not"],
        );
    }
    refused(
        &with("concurrency = 4"),
        "5:15",
        &["without `concurrency_key`", "overlap = { allow = 4 }"],
    );
}

#[test]
fn tasks_that_share_a_key_say_the_same_about_it() {
    let two = |one: &str, other: &str| {
        let other = with(other).replace("\"a\"", "\"b\"");
        format!("{}{other}", with(one))
    };
    let key = "concurrency_key = \"db\"";
    accepted(&two(&format!("{key}\nconcurrency = 2"), key));
    refused(
        &two(
            &format!("{key}\nconcurrency = 2"),
            &format!("{key}\nconcurrency = 3"),
        ),
        "12:15",
        &["`concurrency` of \"db\" is 3 here and 2 in line 6"],
    );
    let rate = |rate: &str| format!("rate_limit = {{ rate = \"{rate}\", key = \"api\" }}");
    accepted(&two(&rate("1/s"), &rate("1/1000ms")));
    refused(
        &two(&rate("1/s"), &rate("2/s")),
        "10:14",
        &["`rate_limit` of \"api\" is another one here than in line 5"],
    );
}

#[test]
fn a_bad_rate_says_what_is_wrong() {
    for (value, what) in [
        ("\"10\"", "there is no / between the number and the time"),
        ("\"0/s\"", "with 0 starts the task would never run"),
        ("\"x/s\"", "`x` is no whole number from 1"),
        ("\"-1/s\"", "`-1` is no whole number from 1"),
        ("\"1/0s\"", "the time is zero"),
        ("\"1/99999d\"", "the time is longer than 100 years"),
        ("\"1/sec\"", "`sec` is not a unit"),
    ] {
        let expected = ["is not a rate", what, "rate_limit = \"10/s\""];
        refused(&with(&format!("rate_limit = {value}")), "5:14", &expected);
        refused(
            &with(&format!("rate_limit = {{ rate = {value} }}")),
            "5:23",
            &expected,
        );
    }
    for (value, place, what) in [
        ("10", "5:14", "must be a string or a table, not an integer"),
        ("{ burst = 5 }", "5:14", "`rate_limit` has no `rate`"),
        ("{ rat = \"1/s\" }", "5:16", "did you mean `rate`?"),
        (
            "{ rate = \"1/s\", burst = 0 }",
            "5:38",
            "`burst` must be a whole number from 1",
        ),
        ("{ rate = 3 }", "5:23", "`rate` must be a string"),
    ] {
        refused(&with(&format!("rate_limit = {value}")), place, &[what]);
    }
    refused(&with("burst = 3"), "5:1", &["it belongs into `rate_limit`"]);
}
