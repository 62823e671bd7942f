//! What real programs do under `misfire`, `overlap`, `jitter`, windows and grids.

mod workbench;

use rustix::process::Signal;
use serde_json::Value;
use workbench::{Workbench, wait_until};

#[track_caller]
fn counts(json: &Value, expected: &[(&str, u64)]) {
    for (key, count) in expected {
        assert_eq!(json[key], *count, "{key} of {json}");
    }
}

#[test]
fn what_was_missed_runs_once_or_each_time_as_the_file_says() {
    let bench = Workbench::new();
    let text = r#"
        [[task]]
        id = "each"
        every = "20ms"
        count = 20
        misfire = { fire_all = 1000 }
        overlap = { queue_all = 1000 }
        run = ["sh", "-c", "echo >> each"]

        [[task]]
        id = "once"
        every = "20ms"
        count = 20
        run = ["sh", "-c", "echo >> once"]
    "#;
    let started = bench.start(text, &["--json"]);
    wait_until("it has begun", || !bench.read("each").is_empty());
    started.signal(Signal::STOP);
    std::thread::sleep(std::time::Duration::from_millis(300));
    started.signal(Signal::CONT);
    let json = started.end().json();
    counts(
        &json["per_task"][0],
        &[("succeeded", 20), ("skipped", 0), ("early", 0)],
    );
    counts(&json["per_task"][1], &[("succeeded", 20), ("early", 0)]);
    assert!(json["per_task"][1]["skipped"].as_u64() > Some(5), "{json}");
}

#[test]
fn one_that_is_far_too_late_is_skipped_where_the_file_says_so() {
    let bench = Workbench::new();
    let text = r#"
        [[task]]
        id = "past"
        at = "2001-01-01T00:00:00Z"
        misfire = "skip"
        run = ["touch", "ran"]
    "#;
    let json = bench.run(text, &["--json"]).json();
    counts(&json, &[("runs", 0), ("skipped", 1), ("pending", 0)]);
    assert_eq!(json["per_task"][0]["last"], "skipped: too late");
    assert!(!bench.dir.join("ran").exists());
}

#[test]
fn runs_go_beside_each_other_where_they_are_allowed_to() {
    let bench = Workbench::new();
    // Each waits until the other one is there: one alone would wait for ever.
    let text = r#"
        [[task]]
        id = "pair"
        every = "20ms"
        count = 2
        overlap = { allow = 2 }
        run = ["sh", "-c", "touch $$.here; while test $(ls *.here | wc -l) -lt 2; do sleep 0.01; done"]
    "#;
    let started = bench.start(text, &["--json"]);
    counts(&started.end().json(), &[("succeeded", 2), ("skipped", 0)]);
}

#[test]
fn a_run_that_gives_way_is_told_to_end_and_the_next_one_starts_behind_it() {
    let bench = Workbench::new();
    let script = "trap 'echo told >> log; exit 3' TERM; echo begun >> log; \
                  test $(grep -c begun log) -ge 2 && exit 0; while :; do sleep 0.01; done";
    let text = format!(
        "[[task]]\nid = \"newest\"\nevery = \"200ms\"\ncount = 2\noverlap = \"cancel_running\"\n\
         run = [\"sh\", \"-c\", '''{script}''']\n"
    );
    let json = bench.start(&text, &["--json"]).end().json();
    counts(
        &json,
        &[("runs", 2), ("succeeded", 1), ("cut", 1), ("failed", 0)],
    );
    assert_eq!(bench.read("log"), "begun\ntold\nbegun\n");
}

#[test]
fn a_run_that_waits_for_another_attempt_gives_way_as_well() {
    let bench = Workbench::new();
    let text = r#"
        [[task]]
        id = "newest"
        every = "100ms"
        count = 3
        overlap = "cancel_running"
        retry = { attempts = 2, delay = "1h" }
        run = ["sh", "-c", "echo >> log; test $(wc -l < log) -ge 3"]
    "#;
    let json = bench.start(text, &["--json"]).end().json();
    counts(
        &json,
        &[
            ("runs", 3),
            ("succeeded", 1),
            ("cut", 2),
            ("failed", 0),
            ("retried", 2),
        ],
    );
}

#[test]
fn a_window_ends_a_task_and_a_grid_may_begin_at_once() {
    let bench = Workbench::new();
    let end = std::time::SystemTime::now() + std::time::Duration::from_millis(1_500);
    let end = jiff::Timestamp::try_from(end).unwrap();
    let text = format!(
        "[[task]]\nid = \"now\"\nevery = \"1h\"\nstart = \"now\"\ncount = 1\nrun = [\"echo\", \"hi\"]\n\
         [[task]]\nid = \"window\"\nevery = \"50ms\"\nstart = \"now\"\nnot_after = \"{end}\"\nrun = [\"true\"]\n\
         [[task]]\nid = \"wall\"\nevery = \"100ms\"\naligned = true\njitter = {{ uniform = \"20ms\" }}\ncount = 3\nrun = [\"true\"]\n"
    );
    let done = bench.start(&text, &["--json"]).end();
    let json = done.json();
    counts(&json, &[("early", 0), ("pending", 0), ("failed", 0)]);
    assert_eq!(
        (done.lines_of("now"), &json["ended"]),
        (vec!["hi"], &"idle".into())
    );
    assert!(json["per_task"][1]["runs"].as_u64() > Some(0), "{json}");
    assert_eq!(json["per_task"][2]["schedule"], "every 100ms aligned x3");
}
