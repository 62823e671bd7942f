//! `wheel cron next`, and cron in a task file that runs.

mod workbench;

use std::process::{Command, Output, Stdio};

use workbench::Workbench;

fn next(args: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wheel"));
    command
        .args(["cron", "next"])
        .args(args)
        .stdin(Stdio::null());
    let Output {
        status,
        stdout,
        stderr,
    } = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (status.code(), text(stdout), text(stderr))
}

#[track_caller]
fn prints(expression: &str, zone: &str, from: &str, wanted: &[&str]) {
    let count = wanted.len().to_string();
    let args = [expression, "--tz", zone, "--from", from, "--count", &count];
    let (code, out, err) = next(&args);
    assert_eq!((code, err.as_str()), (Some(0), ""), "{expression}");
    assert_eq!(out.lines().collect::<Vec<_>>(), wanted, "{expression}");
}

/// Where dialects and libraries differ, and what is right here.
#[test]
fn the_vectors_of_dialects_and_daylight_saving_are_printed() {
    let ny = "America/New_York";
    prints(
        "30 2 * * *",
        ny,
        "2026-03-08T01:00:00-05:00",
        &["2026-03-08T07:00:00Z", "2026-03-09T06:30:00Z"],
    );
    prints(
        "30 1 * * *",
        ny,
        "2026-11-01T00:00:00-04:00",
        &["2026-11-01T05:30:00Z", "2026-11-02T06:30:00Z"],
    );
    prints(
        "*/30 * * * *",
        ny,
        "2026-11-01T00:30:00-04:00",
        &[
            "2026-11-01T05:00:00Z",
            "2026-11-01T05:30:00Z",
            "2026-11-01T06:00:00Z",
            "2026-11-01T06:30:00Z",
            "2026-11-01T07:00:00Z",
        ],
    );
    prints(
        "*/30 * * * *",
        ny,
        "2026-03-08T01:00:00-05:00",
        &[
            "2026-03-08T06:30:00Z",
            "2026-03-08T07:00:00Z",
            "2026-03-08T07:30:00Z",
        ],
    );
    let after = "2026-02-01T00:00:00Z";
    for sunday in ["0 0 * * 0", "0 0 * * 7", "0 0 * * SUN"] {
        prints(sunday, "UTC", after, &["2026-02-08T00:00:00Z"]);
    }
    prints(
        "0 0 13 * 5",
        "UTC",
        after,
        &[
            "2026-02-06T00:00:00Z",
            "2026-02-13T00:00:00Z",
            "2026-02-20T00:00:00Z",
        ],
    );
    prints("0 0 L * *", "UTC", after, &["2026-02-28T00:00:00Z"]);
    prints("0 0 15W * *", "UTC", after, &["2026-02-16T00:00:00Z"]);
    prints("0 0 LW * *", "UTC", after, &["2026-02-27T00:00:00Z"]);
    prints("0 0 * * 5L", "UTC", after, &["2026-02-27T00:00:00Z"]);
    prints("0 0 * * 1#2", "UTC", after, &["2026-02-09T00:00:00Z"]);
    prints("0 0 * * 5#L", "UTC", after, &["2026-02-27T00:00:00Z"]);
    prints("0 0 L-2 * *", "UTC", after, &["2026-02-26T00:00:00Z"]);
    prints(
        "5/15 * * * *",
        "UTC",
        after,
        &[
            "2026-02-01T00:05:00Z",
            "2026-02-01T00:20:00Z",
            "2026-02-01T00:35:00Z",
            "2026-02-01T00:50:00Z",
        ],
    );
    prints("@daily", "UTC", after, &["2026-02-02T00:00:00Z"]);
    prints("@midnight", "UTC", after, &["2026-02-02T00:00:00Z"]);
    prints("@hourly", "UTC", after, &["2026-02-01T01:00:00Z"]);
    prints("@weekly", "UTC", after, &["2026-02-08T00:00:00Z"]);
    prints("@yearly", "UTC", after, &["2027-01-01T00:00:00Z"]);
    prints(
        "@every 5m",
        "UTC",
        after,
        &["2026-02-01T00:05:00Z", "2026-02-01T00:10:00Z"],
    );
    prints(
        "0 0 * * FRI-SUN",
        "UTC",
        after,
        &[
            "2026-02-06T00:00:00Z",
            "2026-02-07T00:00:00Z",
            "2026-02-08T00:00:00Z",
            "2026-02-13T00:00:00Z",
        ],
    );
    prints(
        "0 22-2 * * *",
        "UTC",
        after,
        &[
            "2026-02-01T01:00:00Z",
            "2026-02-01T02:00:00Z",
            "2026-02-01T22:00:00Z",
        ],
    );
    prints(
        "0 9 * * *",
        "Pacific/Apia",
        "2011-12-29T12:00:00Z",
        &[
            "2011-12-29T19:00:00Z",
            "2011-12-30T10:00:00Z",
            "2011-12-30T19:00:00Z",
        ],
    );
    prints(
        "0 0 15 6 *",
        "UTC",
        "2150-07-01T00:00:00Z",
        &["2151-06-15T00:00:00Z"],
    );
}

#[test]
fn what_cannot_be_read_is_refused_with_what_would_be_right() {
    for (args, told) in [
        (&["0 0 30 2 *"][..], "it never fires"),
        (&["0 24 * * *"], "hour: `24` is out of range (0 to 23)"),
        (&["0 2 * *"], "4 fields in place of 5"),
        (
            &["@daily", "--tz", "Asia/Shangai"],
            "did you mean Asia/Shanghai?",
        ),
        (
            &["@daily", "--from", "2026-12-01"],
            "it has no offset from UTC",
        ),
        (
            &["@daily", "--from", "tomorrow"],
            "`tomorrow` does not begin with a date",
        ),
        (&["@daily", "--count", "0"], "0 is not in 1.."),
        (&[], "<EXPR>"),
        (&["0", "2", "*", "*", "*"], "unexpected argument"),
    ] {
        let (code, out, err) = next(args);
        assert_eq!((code, out.as_str()), (Some(2), ""), "{args:?}: {err}");
        assert!(err.contains(told), "{args:?}: {err}");
    }
}

#[test]
fn years_that_are_over_have_nothing_to_print() {
    let (code, out, err) = next(&["0 0 0 1 1 * 2020", "--from", "2026-01-01T00:00:00Z"]);
    assert_eq!((code, out.as_str()), (Some(1), ""));
    assert!(
        err.contains("names no instant after 2026-01-01T00:00:00Z in UTC"),
        "{err}"
    );
    let (code, out, err) = next(&["0 0 0 1 1 * 2027-2028", "--from", "2026-01-01T00:00:00Z"]);
    assert_eq!((code, err.as_str()), (Some(0), ""));
    assert_eq!(out, "2027-01-01T00:00:00Z\n2028-01-01T00:00:00Z\n");
    // From now on, five of them.
    let (code, out, err) = next(&["@daily"]);
    assert_eq!((code, out.lines().count(), err.as_str()), (Some(0), 5, ""));
}

/// A file of zone data that says no more than UTC.
fn zone_data() -> Vec<u8> {
    // Magic and version, then how many there are of what: one type of local time, four characters.
    let mut block = b"TZif2".to_vec();
    block.resize(20, 0);
    for count in [0_u32, 0, 0, 0, 1, 4] {
        block.extend(count.to_be_bytes());
    }
    // Its offset, its flag, where its name is; the names.
    block.extend([0; 6]);
    block.extend(b"UTC\0");
    [&block[..], &block[..], b"\nUTC0\n"].concat()
}

#[test]
fn a_system_that_lacks_a_zone_gets_it_from_the_program() {
    let bench = Workbench::new();
    std::fs::write(bench.dir.join("Nowhere"), zone_data()).unwrap();
    let next = |zone| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_wheel"));
        command.env("TZDIR", &bench.dir);
        command.args(["cron", "next", "@daily", "--count", "1", "--tz", zone]);
        command
            .args(["--from", "2026-01-01T00:00:00Z"])
            .output()
            .unwrap()
    };
    // That the folder is looked into shows in a zone that nobody else has.
    assert_eq!(next("Nowhere").stdout, b"2026-01-02T00:00:00Z\n");
    assert_eq!(next("Asia/Tokyo").stdout, b"2026-01-01T15:00:00Z\n");
    assert_eq!(next("Asia/Nowhere").status.code(), Some(2));
}

#[test]
fn a_reader_that_goes_away_is_no_error_and_a_full_disk_is_one() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wheel"));
    command.args(["cron", "next", "* * * * * *", "--count", "1000000"]);
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let done = child.wait_with_output().unwrap();
    assert_eq!((done.status.code(), done.stderr.len()), (Some(0), 0));
    let Ok(full) = std::fs::File::options().write(true).open("/dev/full") else {
        return;
    };
    let done = command.stdout(full).output().unwrap();
    assert_eq!(done.status.code(), Some(4), "{done:?}");
}

#[test]
fn a_task_by_the_calendar_runs_and_is_not_early() {
    let bench = Workbench::new();
    let text = r#"
        [[task]]
        id = "second"
        cron = "* * * * * *"
        timezone = "Asia/Shanghai"
        count = 2
        run = ["echo", "tick"]

        [[task]]
        id = "short"
        cron = "@every 30ms"
        count = 3
        run = ["true"]
        "#;
    let done = bench.run(text, &["--json", "--quiet"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    for part in [
        "\"runs\":5",
        "\"succeeded\":5",
        "\"early\":0",
        "\"pending\":0",
        "\"ended\":\"idle\"",
        "\"schedule\":\"cron * * * * * * in Asia/Shanghai x2\"",
        "\"schedule\":\"every 30ms x3\"",
    ] {
        assert!(done.out.contains(part), "{part} is not in {}", done.out);
    }
}

#[test]
fn a_task_that_waits_for_its_day_is_pending_at_the_end() {
    let bench = Workbench::new();
    let text = r#"
        [[task]]
        id = "leap"
        cron = "0 0 29 2 *"
        run = ["true"]
        "#;
    let done = bench.run(text, &["--json", "--quiet", "--for", "10ms"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(done.out.contains("\"pending\":1"), "{}", done.out);
    assert!(
        done.out.contains("\"schedule\":\"cron 0 0 29 2 * in UTC\""),
        "{}",
        done.out
    );
}
