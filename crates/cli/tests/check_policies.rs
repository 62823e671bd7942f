//! What a task does when time does not go as planned, and who goes first: every value, good or bad.

mod workbench;

use workbench::{accepted, refused, task};

const EVERY: &str = "every = \"1s\"\nrun = [\"true\"]\n";
const AFTER: &str = "after = \"1s\"\nrun = [\"true\"]\n";

/// What stands in line 5 of a task that recurs.
fn every(line: &str) -> String {
    task(&format!("{EVERY}{line}"))
}

#[test]
fn what_is_right_is_accepted() {
    for line in [
        "misfire = \"fire_once\"",
        "misfire = \"skip\"",
        "misfire = { fire_all = 1 }",
        "misfire = { fire_all = 65535 }",
        "overlap = \"skip\"",
        "overlap = \"queue_one\"",
        "overlap = \"cancel_running\"",
        "overlap = { queue_all = 65535 }",
        "overlap = { allow = 1000 }",
        "jitter = \"10m\"",
        "jitter = \"0s\"",
        "jitter = \"365d\"",
        "jitter = { hashed = \"10m\" }",
        "jitter = { uniform = \"30s\" }",
        "priority = \"low\"",
        "priority = \"normal\"",
        "priority = \"high\"",
    ] {
        accepted(&every(line));
        accepted(&task(&format!(
            "cron = \"@daily\"\nrun = [\"true\"]\n{line}"
        )));
    }
    for line in [
        "misfire = \"skip\"",
        "jitter = \"1s\"",
        "priority = \"high\"",
    ] {
        accepted(&task(&format!("{AFTER}{line}")));
    }
}

#[test]
fn a_bad_misfire_says_what_is_wrong() {
    let all = "it is one of \"fire_once\", \"skip\", { fire_all = 100 }";
    for (value, place, what) in [
        ("\"skipp\"", "5:11", "did you mean \"skip\"?"),
        ("\"fire_all\"", "5:11", "write misfire = { fire_all = 100 }"),
        ("\"later\"", "5:11", "`misfire` cannot be \"later\""),
        (
            "3",
            "5:11",
            "a string or a table of one key, not an integer",
        ),
        ("{}", "5:11", "must have exactly one key, and has 0"),
        (
            "{ fire_all = 3, skip = 1 }",
            "5:11",
            "must have exactly one key, and has 2",
        ),
        ("{ fire_al = 3 }", "5:13", "did you mean `fire_all`?"),
        ("{ skip = 1 }", "5:13", "write misfire = \"skip\""),
        ("{ later = 1 }", "5:13", "unknown key `later` in `misfire`"),
    ] {
        refused(&every(&format!("misfire = {value}")), place, &[what, all]);
    }
    for number in ["0", "-1", "65536", "1.5", "\"3\""] {
        refused(
            &every(&format!("misfire = {{ fire_all = {number} }}")),
            "5:24",
            &["`fire_all` must be a whole number from 1 to 65535, not"],
        );
    }
    refused(
        &task(&format!("{AFTER}misfire = {{ fire_all = 3 }}")),
        "5:11",
        &["runs once", "misfire = \"fire_once\""],
    );
}

#[test]
fn a_bad_overlap_says_what_is_wrong() {
    let all = "{ queue_all = 100 }, { allow = 3 }";
    for (value, place, what) in [
        ("\"queue\"", "5:11", "`overlap` cannot be \"queue\""),
        ("\"queueone\"", "5:11", "did you mean \"queue_one\"?"),
        ("\"allow\"", "5:11", "write overlap = { allow = 3 }"),
        (
            "true",
            "5:11",
            "a string or a table of one key, not a boolean",
        ),
        ("{ alow = 3 }", "5:13", "did you mean `allow`?"),
    ] {
        refused(&every(&format!("overlap = {value}")), place, &[what, all]);
    }
    for (value, most) in [("allow = 1001", "1000"), ("queue_all = 0", "65535")] {
        let what = format!("must be a whole number from 1 to {most}, not");
        refused(
            &every(&format!("overlap = {{ {value} }}")),
            if most == "1000" { "5:21" } else { "5:25" },
            &[&what],
        );
    }
    refused(
        &task(&format!("{AFTER}overlap = \"skip\"")),
        "5:11",
        &[
            "a task with `after` runs once, so `overlap` has no use",
            "use `overlap` with `every` or `cron`",
        ],
    );
}

#[test]
fn a_bad_jitter_says_what_is_wrong() {
    for (value, place, what) in [
        ("10", "5:10", "`jitter` is a number without a unit"),
        ("\"soon\"", "5:10", "`jitter` is not a duration"),
        ("\"366d\"", "5:10", "longer than 365d, the longest spread"),
        ("[]", "5:10", "`jitter` must be a string, not an array"),
        ("{ uniform = \"400d\" }", "5:22", "`uniform` is longer than"),
        ("{ uniform = 3 }", "5:22", "`uniform` is a number without"),
        ("{ uniforn = \"3s\" }", "5:12", "did you mean `uniform`?"),
    ] {
        refused(&every(&format!("jitter = {value}")), place, &[what]);
    }
}

#[test]
fn a_bad_priority_says_what_is_wrong() {
    let all = "it is one of low, normal, high";
    for (value, what) in [
        ("\"hihg\"", "did you mean \"high\"?"),
        ("\"urgent\"", "`priority` cannot be \"urgent\""),
        ("5", "write priority = \"high\""),
        ("-5", "write priority = \"low\""),
    ] {
        refused(&every(&format!("priority = {value}")), "5:12", &[what, all]);
    }
    refused(
        &every("priority = true"),
        "5:12",
        &["`priority` must be a string, not a boolean"],
    );
    refused(
        &every("prio = \"high\""),
        "5:1",
        &["unknown key `prio`", "did you mean `priority`?"],
    );
}
