//! `wheel run` on real files with real programs: what runs, how often, and how it ends.

mod workbench;

use std::time::{Duration, Instant};

use workbench::Workbench;

#[test]
fn a_task_with_a_count_runs_that_often_and_then_wheel_ends() {
    let bench = Workbench::new();
    let done = bench.run(
        r#"
        [[task]]
        id = "beat"
        every = "30ms"
        count = 4
        run = ["echo", "alive"]

        [[task]]
        id = "once"
        after = "50ms"
        run = ["sh", "-c", "echo one; echo two >&2"]
        "#,
        &[],
    );
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_eq!(done.lines_of("beat"), ["alive"; 4]);
    assert_eq!(done.lines_of("once"), ["one"]);
    assert!(done.err.contains("[once] two\n"), "{done:?}");
    for part in [
        "2 tasks, 5 runs: 5 succeeded, 0 failed, 0 cut",
        "0 early",
        "lateness: p50 ",
        "nothing is pending",
    ] {
        assert!(done.out.contains(part), "{part:?} is not in {done:?}");
    }
}

#[test]
fn json_ends_with_an_object_that_counts_everything() {
    let bench = Workbench::new();
    let text = r#"
        [[task]]
        id = "good"
        every = "20ms"
        count = 5
        run = ["true"]

        [[task]]
        id = "bad"
        after = "10ms"
        run = ["sh", "-c", "echo oh no; exit 3"]

        [[task]]
        id = "killed"
        after = "10ms"
        run = ["sh", "-c", "kill -9 $$"]

        [[task]]
        id = "past"
        at = "2001-01-01T00:00:00Z"
        run = ["true"]
    "#;
    let begun = Instant::now();
    let done = bench.run(text, &["--json"]);
    let took = begun.elapsed();
    assert_eq!(
        done.code,
        Some(0),
        "a program that fails is no fault of wheel: {done:?}"
    );
    let json = done.json();
    for (key, expected) in [
        ("tasks", 4),
        ("runs", 8),
        ("succeeded", 6),
        ("failed", 2),
        ("cut", 0),
        ("early", 0),
    ] {
        assert_eq!(json[key], expected, "{key} of {json}");
    }
    assert_eq!(
        (&json["ended"], &json["exit_code"], &json["pending"]),
        (&"idle".into(), &0.into(), &0.into())
    );
    let lateness = ["p50", "p99", "max"].map(|key| json["lateness_us"][key].as_u64().unwrap());
    assert!(lateness.is_sorted() && lateness[0] > 0, "{json}");
    // What was due before the start counts from the start.
    assert!(u128::from(lateness[2]) <= took.as_micros(), "{json}");
    let last: Vec<_> = json["per_task"]
        .as_array()
        .unwrap()
        .iter()
        .map(|task| task["last"].clone())
        .collect();
    assert_eq!(last, ["ok", "exit status 3", "ended by SIGKILL", "ok"]);
    assert_eq!(done.lines_of("bad"), ["oh no"]);
}

#[test]
fn fail_on_error_turns_a_failed_run_into_the_exit_code() {
    let bench = Workbench::new();
    let task = |program| format!("[[task]]\nid = \"a\"\nafter = \"0s\"\nrun = [\"{program}\"]\n");
    assert_eq!(bench.run(&task("false"), &[]).code, Some(0));
    assert_eq!(
        bench.run(&task("false"), &["--fail-on-error"]).code,
        Some(1)
    );
    assert_eq!(bench.run(&task("true"), &["--fail-on-error"]).code, Some(0));
}

const ENDLESS: &str = "[[task]]\nid = \"beat\"\nevery = \"20ms\"\nrun = [\"true\"]\n";

#[test]
fn for_ends_what_has_no_end_and_that_is_as_asked() {
    let bench = Workbench::new();
    let begun = Instant::now();
    let done = bench.run(ENDLESS, &["--for", "400ms", "--json"]);
    assert!(begun.elapsed() >= Duration::from_millis(400));
    let json = done.json();
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_eq!(
        (&json["ended"], &json["early"], &json["pending"]),
        (&"for".into(), &0.into(), &1.into())
    );
    let runs = json["runs"].as_u64().unwrap();
    assert!(
        (1..=20).contains(&runs),
        "20 periods fit into the time: {json}"
    );
}

#[test]
fn for_cuts_what_still_runs_and_fail_on_error_does_not_mind() {
    let bench = Workbench::new();
    let text = "[[task]]\nid = \"long\"\nafter = \"0s\"\nrun = [\"sleep\", \"1000\"]\n";
    let done = bench.run(text, &["--for", "300ms", "--json", "--fail-on-error"]);
    let json = done.json();
    assert_eq!(
        (done.code, &json["cut"], &json["failed"]),
        (Some(0), &1.into(), &0.into()),
        "{done:?}"
    );
    assert_eq!(json["per_task"][0]["last"], "cut by SIGTERM");
}

#[test]
fn for_stays_until_the_time_is_over_unless_until_idle_is_asked_for() {
    let bench = Workbench::new();
    let text = "[[task]]\nid = \"once\"\nafter = \"10ms\"\nrun = [\"true\"]\n";
    let begun = Instant::now();
    let stayed = bench.run(text, &["--for", "700ms", "--json"]);
    assert!(begun.elapsed() >= Duration::from_millis(700));
    assert_eq!(
        (stayed.code, &stayed.json()["ended"]),
        (Some(0), &"for".into())
    );
    for args in [
        &["--for", "1h", "--until-idle", "--json"][..],
        &["--until-idle", "--json"],
    ] {
        let done = bench.run(text, args);
        assert_eq!(
            (done.code, &done.json()["ended"]),
            (Some(0), &"idle".into())
        );
    }
}

#[test]
fn env_and_dir_reach_the_program() {
    let bench = Workbench::new();
    std::fs::create_dir(bench.dir.join("inner")).unwrap();
    std::fs::write(
        bench.dir.join("inner/hello.sh"),
        "#!/bin/sh\necho hello from here\n",
    )
    .unwrap();
    let script = bench.dir.join("inner/hello.sh");
    std::fs::set_permissions(script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let done = bench.run(
        r#"
        [[task]]
        id = "env"
        after = "0s"
        run = ["sh", "-c", 'echo "$GREETING"; echo ${HOME:+home is kept}; pwd']
        env = { GREETING = "good day" }
        dir = "inner"

        [[task]]
        id = "relative"
        after = "0s"
        run = ["./hello.sh"]
        dir = "inner"
        "#,
        &[],
    );
    let inner = bench.dir.join("inner").canonicalize().unwrap();
    assert_eq!(
        done.lines_of("env"),
        ["good day", "home is kept", inner.to_str().unwrap()],
        "{done:?}"
    );
    assert_eq!(done.lines_of("relative"), ["hello from here"], "{done:?}");
}

#[test]
fn a_program_has_a_group_of_its_own_and_no_input() {
    let bench = Workbench::new();
    let text = "[[task]]\nid = \"a\"\nafter = \"0s\"\nrun = [\"sh\", \"-c\", 'cat; test $(ps -o pgid= -p $$) = $$ && echo own group']\n";
    assert_eq!(bench.run(text, &[]).lines_of("a"), ["own group"]);
}

#[test]
fn a_run_that_is_due_while_the_last_one_goes_on_is_skipped() {
    let bench = Workbench::new();
    let text = r#"
        [[task]]
        id = "slow"
        every = "50ms"
        count = 2
        run = ["sh", "-c", "mkdir lock && sleep 0.3 && rmdir lock"]
    "#;
    let json = bench.run(text, &["--json"]).json();
    assert_eq!(
        (&json["runs"], &json["succeeded"]),
        (&2.into(), &2.into()),
        "{json}"
    );
    assert!(json["skipped"].as_u64().unwrap() > 0, "{json}");
}

#[test]
fn workers_limit_how_many_programs_run_at_a_time() {
    let bench = Workbench::new();
    let task = |n| {
        format!(
            "[[task]]\nid = \"t{n}\"\nafter = \"0s\"\nrun = [\"sh\", \"-c\", \"mkdir lock && sleep 0.05 && rmdir lock\"]\n"
        )
    };
    let text: String = (0..4).map(task).collect();
    let json = bench.run(&text, &["--json", "--workers", "1"]).json();
    assert_eq!(
        (&json["runs"], &json["succeeded"]),
        (&4.into(), &4.into()),
        "{json}"
    );
}

#[test]
fn a_program_that_is_gone_when_it_is_due_is_a_failed_run() {
    let bench = Workbench::new();
    let program = bench.dir.join("fleeting");
    std::fs::write(&program, "#!/bin/sh\n").unwrap();
    std::fs::set_permissions(
        &program,
        std::os::unix::fs::PermissionsExt::from_mode(0o755),
    )
    .unwrap();
    let text = r#"
        [[task]]
        id = "remove"
        after = "0s"
        run = ["rm", "fleeting"]

        [[task]]
        id = "gone"
        after = "500ms"
        run = ["./fleeting"]
    "#;
    let done = bench.run(text, &["--json"]);
    let json = done.json();
    assert_eq!(
        (&json["runs"], &json["failed"]),
        (&2.into(), &1.into()),
        "{done:?}"
    );
    assert!(
        json["per_task"][1]["last"]
            .as_str()
            .unwrap()
            .starts_with("cannot start: No such file"),
        "{json}"
    );
}

#[test]
fn a_file_of_ten_thousand_tasks_starts_quickly() {
    let bench = Workbench::new();
    let far: String = (0..10_000)
        .map(|n| {
            format!(
                "[[task]]\nid = \"far-{n}\"\nafter = \"{}h\"\nrun = [\"true\"]\n",
                n + 1
            )
        })
        .collect();
    let near = "[[task]]\nid = \"near\"\nafter = \"0s\"\nrun = [\"touch\", \"ran\"]\n";
    let text = format!("{far}{near}");
    assert!(bench.check(&text).out.contains("10001 tasks, no errors"));
    let begun = Instant::now();
    let started = bench.start(&text, &[]);
    workbench::wait_until("it has run", || bench.dir.join("ran").exists());
    assert!(
        begun.elapsed() < Duration::from_secs(30),
        "{:?}",
        begun.elapsed()
    );
    started.signal(rustix::process::Signal::TERM);
    let done = started.end();
    assert!(
        done.out.contains("10001 tasks, 1 run: ") && done.out.contains(" more\n"),
        "{done:?}"
    );
    assert!(
        done.out.lines().count() < 100,
        "the summary of a large file is short"
    );
}

#[test]
#[cfg(target_os = "linux")]
fn programs_are_followed_also_where_sigchld_was_ignored_from_the_start() {
    let bench = Workbench::new();
    let file = bench.file(
        "[[task]]\nid = \"a\"\nafter = \"0s\"\nrun = [\"sh\", \"-c\", \"grep SigIgn /proc/self/status\"]\n",
    );
    let mut command = std::process::Command::new("env");
    command.args(["--ignore-signal=CHLD", env!("CARGO_BIN_EXE_wheel"), "run"]);
    let output = command.arg(file).args(["--json"]).output().unwrap();
    let done = workbench::Done::from(output);
    assert_eq!(done.json()["succeeded"], 1, "{done:?}");
    // Nor is it for the program, which may have children too.
    let masks = done.lines_of("a");
    let mask = masks[0].split_whitespace().nth(1).unwrap();
    assert_eq!(u64::from_str_radix(mask, 16).unwrap() & (1 << 16), 0);
}

#[test]
fn a_folder_that_is_gone_is_told_apart_from_a_program_that_is() {
    let bench = Workbench::new();
    std::fs::create_dir(bench.dir.join("fleeting-folder")).unwrap();
    let text = r#"
        [[task]]
        id = "remover"
        after = "0s"
        run = ["rmdir", "fleeting-folder"]

        [[task]]
        id = "late"
        after = "1500ms"
        run = ["true"]
        dir = "fleeting-folder"
    "#;
    let done = bench.run(text, &[]);
    assert!(
        done.err
            .contains("late failed: cannot start: there is no folder"),
        "{done:?}"
    );
}
