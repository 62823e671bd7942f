//! What becomes of programs whose time is over: `timeout` and `deadline`.

mod workbench;

use workbench::{Workbench, is_alive, wait_until};

fn task(lines: &str, script: &str) -> String {
    format!("[[task]]\nid = \"a\"\n{lines}\nrun = [\"sh\", \"-c\", '''{script}''']\n")
}

#[test]
fn a_program_gets_sigterm_when_its_time_is_over_and_is_shown_as_timed_out() {
    let bench = Workbench::new();
    let script = "trap 'echo told; exit 0' TERM; echo $$ > pid; sleep 100 & wait";
    let text = task("after = \"0s\"\ntimeout = \"300ms\"", script);
    let done = bench.start(&text, &["--json"]).end();
    let json = done.json();
    for (key, count) in [("runs", 1), ("failed", 1), ("cut", 0), ("timed_out", 1)] {
        assert_eq!(json[key], count, "{key} of {json}");
    }
    assert_eq!(json["per_task"][0]["last"], "timed out after 300ms");
    assert_eq!(done.lines_of("a"), ["told"]);
    assert!(
        done.err.contains("a failed: timed out after 300ms"),
        "{done:?}"
    );
    assert!(!is_alive(&bench.read("pid")));
}

#[test]
fn a_program_that_does_not_mind_sigterm_is_killed_after_the_grace() {
    let bench = Workbench::new();
    let script = "trap '' TERM; echo $$ > pid; while :; do sleep 0.01; done";
    let text = task("after = \"0s\"\ntimeout = \"100ms\"", script);
    let done = bench.start(&text, &["--grace", "100ms"]).end();
    assert!(
        done.out
            .contains("1 failed, 0 cut; 0 skipped, 0 early, 1 timed out"),
        "{done:?}"
    );
    assert!(!is_alive(&bench.read("pid")));
}

#[test]
fn each_attempt_has_its_time_and_the_next_one_waits_until_the_program_is_gone() {
    let bench = Workbench::new();
    // Needs a moment to end after SIGTERM; whoever finds the lock came too early.
    let script = "mkdir lock || exit 9; trap 'sleep 0.2; rmdir lock; exit 1' TERM; \
                  echo >> tries; test $(wc -l < tries) -ge 3 && rmdir lock && exit 0; \
                  while :; do sleep 0.01; done";
    let lines = "after = \"0s\"\ntimeout = \"200ms\"\nretry = { attempts = 3, delay = \"1ms\" }";
    let done = bench.start(&task(lines, script), &["--json"]).end();
    let json = done.json();
    for (key, count) in [
        ("runs", 1),
        ("succeeded", 1),
        ("retried", 2),
        ("timed_out", 2),
    ] {
        assert_eq!(json[key], count, "{key} of {done:?}");
    }
    assert!(
        done.err
            .contains("a failed: timed out after 200ms, attempt 1 of 3"),
        "{done:?}"
    );
}

#[test]
fn a_program_that_is_quick_enough_is_left_alone() {
    let bench = Workbench::new();
    let lines = "after = \"0s\"\ntimeout = \"1h\"\ndeadline = \"2h\"";
    let done = bench.run(&task(lines, "echo hi"), &["--json"]);
    let json = done.json();
    for (key, count) in [("succeeded", 1), ("failed", 0), ("timed_out", 0)] {
        assert_eq!(json[key], count, "{key} of {json}");
    }
}

#[test]
fn a_deadline_ends_the_attempt_that_is_going_and_there_is_no_other() {
    let bench = Workbench::new();
    let lines = "after = \"0s\"\ndeadline = \"300ms\"\nretry = { attempts = 9, delay = \"1ms\" }";
    let script = "echo $$ > pid; exec sleep 100";
    let json = bench.start(&task(lines, script), &["--json"]).end().json();
    for (key, count) in [
        ("runs", 1),
        ("failed", 1),
        ("cut", 0),
        ("retried", 0),
        ("timed_out", 1),
    ] {
        assert_eq!(json[key], count, "{key} of {json}");
    }
    assert_eq!(
        json["per_task"][0]["last"],
        "the deadline of 300ms has passed"
    );
    assert!(!is_alive(&bench.read("pid")));
}

#[test]
fn nobody_waits_for_an_attempt_behind_the_deadline() {
    let bench = Workbench::new();
    let lines = "after = \"0s\"\ndeadline = \"1m\"\nretry = { attempts = 9, delay = \"1h\" }";
    let json = bench
        .start(&task(lines, "exit 3"), &["--json"])
        .end()
        .json();
    for (key, count) in [("runs", 1), ("failed", 1), ("cut", 0), ("retried", 0)] {
        assert_eq!(json[key], count, "{key} of {json}");
    }
}

#[test]
fn a_run_whose_deadline_has_passed_before_a_worker_is_free_is_a_failed_one() {
    let bench = Workbench::new();
    let text = format!(
        "[[task]]\nid = \"busy\"\nafter = \"0s\"\nrun = [\"sleep\", \"0.5\"]\n{}",
        task("after = \"1ms\"\ndeadline = \"50ms\"", "touch ran")
    );
    let json = bench
        .start(&text, &["--json", "--workers", "1"])
        .end()
        .json();
    for (key, count) in [("runs", 2), ("succeeded", 1), ("failed", 1), ("cut", 0)] {
        assert_eq!(json[key], count, "{key} of {json}");
    }
    assert_eq!(
        json["per_task"][1]["last"],
        "the deadline of 50ms has passed"
    );
    assert!(!bench.dir.join("ran").exists());
}

#[test]
fn the_next_run_waits_for_a_program_that_its_deadline_has_not_ended_yet() {
    let bench = Workbench::new();
    let script = "mkdir lock || { echo beside >> log; exit 9; }; trap 'sleep 0.3; rmdir lock; exit 1' TERM; \
                  echo >> tries; test $(wc -l < tries) -ge 2 && rmdir lock && exit 0; \
                  while :; do sleep 0.01; done";
    let lines = "every = \"400ms\"\ncount = 2\ndeadline = \"350ms\"\noverlap = \"queue_one\"";
    let json = bench.start(&task(lines, script), &["--json"]).end().json();
    assert_eq!(
        (&json["runs"], &json["cut"]),
        (&2.into(), &0.into()),
        "{json}"
    );
    assert_eq!(bench.read("log"), "", "{json}");
}

#[test]
fn at_the_end_what_runs_within_its_time_is_cut_and_not_timed_out() {
    let bench = Workbench::new();
    let text = task(
        "after = \"0s\"\ntimeout = \"1h\"",
        "touch ran; exec sleep 100",
    );
    let started = bench.start(&text, &["--json"]);
    wait_until("it runs", || bench.dir.join("ran").exists());
    started.signal(rustix::process::Signal::TERM);
    let json = started.end().json();
    for (key, count) in [("cut", 1), ("failed", 0), ("timed_out", 0)] {
        assert_eq!(json[key], count, "{key} of {json}");
    }
}
