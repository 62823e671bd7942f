//! `wheel run` and `wheel check` on programs that are started again when they fail.

mod workbench;

use std::time::{Duration, Instant};

use workbench::{Workbench, refused, task};

/// Fails `times` times, and counts its attempts in a file.
fn fails(times: u32) -> String {
    let script = format!(
        "n=$(cat n 2>/dev/null || echo 0); n=$((n+1)); echo $n > n; echo try $n; test $n -gt {times}"
    );
    format!("run = [\"sh\", \"-c\", '{script}']\n")
}

fn once(retry: &str, run: &str) -> String {
    format!("[[task]]\nid = \"a\"\nafter = \"0s\"\nretry = {retry}\n{run}")
}

#[test]
fn a_program_that_fails_is_started_again_and_all_attempts_are_one_run() {
    let bench = Workbench::new();
    let text = once("{ attempts = 5, delay = \"5ms\" }", &fails(2));
    let done = bench.run(&text, &["--json", "--fail-on-error"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_eq!(done.lines_of("a"), ["try 1", "try 2", "try 3"]);
    let json = done.json();
    for (key, expected) in [("runs", 1), ("succeeded", 1), ("failed", 0), ("retried", 2)] {
        assert_eq!(json[key], expected, "{key} of {json}");
        assert_eq!(json["per_task"][0][key], expected, "{key} of {json}");
    }
    assert!(
        done.err.contains("a failed: exit status 1, attempt 2 of 5"),
        "{done:?}"
    );
}

#[test]
fn out_of_attempts_is_one_failed_run() {
    let bench = Workbench::new();
    let text = once(
        "{ attempts = 3, delay = \"1ms\", backoff = \"exponential\", max_delay = \"3ms\", jitter = \"full\" }",
        &fails(9),
    );
    let done = bench.run(&text, &["--fail-on-error"]);
    assert_eq!(done.code, Some(1), "{done:?}");
    assert_eq!(done.lines_of("a"), ["try 1", "try 2", "try 3"]);
    let counts = "1 task, 1 run: 0 succeeded, 1 failed, 0 cut; 0 skipped, 0 early, 2 retried";
    assert!(done.out.contains(counts), "{done:?}");
}

#[test]
fn a_program_that_cannot_be_started_is_tried_again_as_well() {
    let bench = Workbench::new();
    // The folder of the output goes away before the task is due, and comes back.
    std::fs::create_dir(bench.dir.join("logs")).unwrap();
    let text = r#"
        [[task]]
        id = "remove"
        after = "0s"
        run = ["rmdir", "logs"]

        [[task]]
        id = "a"
        after = "100ms"
        retry = { attempts = 100, delay = "50ms" }
        run = ["echo", "there"]
        output = "logs/a.log"

        [[task]]
        id = "restore"
        after = "300ms"
        run = ["mkdir", "logs"]
    "#;
    let done = bench.run(text, &["--json"]);
    let json = done.json();
    assert_eq!(
        (&json["runs"], &json["failed"]),
        (&3.into(), &0.into()),
        "{json}"
    );
    assert!(json["retried"].as_u64().unwrap() > 0, "{json}");
    assert_eq!(bench.read("logs/a.log"), "there\n");
}

#[test]
fn a_run_that_waits_for_another_attempt_is_cut_at_the_end() {
    let bench = Workbench::new();
    let begun = Instant::now();
    let text = once("{ attempts = 3, delay = \"1h\" }", &fails(9));
    let done = bench.run(&text, &["--for", "1s", "--json"]);
    assert!(begun.elapsed() < Duration::from_secs(60));
    let json = done.json();
    for (key, expected) in [("runs", 1), ("failed", 0), ("cut", 1), ("retried", 1)] {
        assert_eq!(json[key], expected, "{key} of {json}");
    }
    assert_eq!(json["per_task"][0]["last"], "cut before attempt 2");
}

#[test]
fn an_attempt_that_is_cut_is_not_tried_again() {
    let bench = Workbench::new();
    let run = "run = [\"sleep\", \"60\"]\n";
    let text = once("{ attempts = 3, delay = \"1ms\" }", run);
    let done = bench.run(&text, &["--for", "300ms", "--json"]);
    let json = done.json();
    for (key, expected) in [("runs", 1), ("failed", 0), ("cut", 1), ("retried", 0)] {
        assert_eq!(json[key], expected, "{key} of {json}");
    }
    assert_eq!(json["per_task"][0]["last"], "cut by SIGTERM");
}

#[test]
fn a_bad_retry_says_what_is_wrong() {
    let retry = |retry: &str| {
        task(&format!(
            "after = \"1s\"\nrun = [\"true\"]\nretry = {retry}"
        ))
    };
    let bad = [
        (
            "3",
            "5:9",
            &["`retry` must be a table, not an integer", "attempts = 3"][..],
        ),
        (
            "\"often\"",
            "5:9",
            &["must be a table, not a string", "write retry = {"],
        ),
        (
            "{}",
            "5:9",
            &["`retry` has no `attempts`", "`retry` has no `delay`"],
        ),
        ("{ attempts = 3 }", "5:9", &["`retry` has no `delay`"]),
        (
            "{ attempts = 0, delay = \"1s\" }",
            "5:22",
            &["a whole number from 1", "not 0", "the first try counts"],
        ),
        ("{ attempts = -1, delay = \"1s\" }", "5:22", &["not -1"]),
        (
            "{ attempts = 1.5, delay = \"1s\" }",
            "5:22",
            &["not a float"],
        ),
        (
            "{ attempts = 5000000000, delay = \"1s\" }",
            "5:22",
            &["to 4294967295, not 5000000000"],
        ),
        (
            "{ attempts = 3, delay = 5 }",
            "5:33",
            &["`delay` is a number without a unit"],
        ),
        (
            "{ attempts = 3, delay = \"soon\" }",
            "5:33",
            &["`delay` is not a duration"],
        ),
        (
            "{ attempts = 3, delay = \"1s\", backoff = \"exponental\" }",
            "5:49",
            &[
                "`backoff` cannot be",
                "did you mean \"exponential\"",
                "fixed, linear, exponential",
            ],
        ),
        (
            "{ attempts = 3, delay = \"1s\", jitter = true }",
            "5:48",
            &["`jitter` must be a string, not a boolean"],
        ),
        (
            "{ attempts = 3, delay = \"1s\", max_delay = \"0s\" }",
            "5:51",
            &["`max_delay` is shorter than 1ms"],
        ),
        (
            "{ max_attempts = 3, delay = \"1s\" }",
            "5:11",
            &[
                "unknown key `max_attempts` in `retry`",
                "did you mean `attempts`?",
                "knows attempts",
            ],
        ),
    ];
    for (text, place, parts) in bad {
        refused(&retry(text), place, parts);
    }
    let unknown = task("after = \"1s\"\nrun = [\"true\"]\nretries = 3");
    refused(
        &unknown,
        "5:1",
        &["unknown key `retries`", "did you mean `retry`?"],
    );
}
