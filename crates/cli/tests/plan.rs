//! `wheel plan`: what a file would do in a stretch of time.

mod workbench;

use std::process::Command;

use workbench::{Done, Workbench};

const FILE: &str = r#"
    [[task]]
    id = "heartbeat"
    every = "500ms"
    run = ["true"]

    [[task]]
    id = "backup"
    cron = "30 2 * * *"
    timezone = "Asia/Shanghai"
    run = ["true"]

    [[task]]
    id = "midnight"
    cron = "@daily"
    timezone = "Asia/Shanghai"
    jitter = "10m"
    run = ["true"]

    [[task]]
    id = "yearly"
    cron = "@yearly"
    count = 2
    run = ["true"]

    [[task]]
    id = "once"
    at = "2026-12-01T04:00:00Z"
    run = ["true"]

    [[task]]
    id = "long-ago"
    at = "2020-01-01T00:00:00Z"
    run = ["true"]

    [[task]]
    id = "thrice"
    every = "1m"
    count = 3
    run = ["true"]

    [[task]]
    id = "report"
    depends_on = "backup"
    run = ["true"]
"#;

fn plan(text: &str, args: &[&str]) -> Done {
    let bench = Workbench::new();
    let path = bench.file(text);
    let mut command = Command::new(env!("CARGO_BIN_EXE_wheel"));
    command
        .arg("plan")
        .arg(path)
        .args(args)
        .current_dir(&bench.dir);
    Done::from(command.output().unwrap())
}

#[test]
fn a_day_is_one_line_for_each_time_and_one_for_what_is_busy() {
    let args = [
        "--from",
        "2026-12-01T00:00:00+08:00",
        "--tz",
        "Asia/Shanghai",
    ];
    let done = plan(FILE, &args);
    let wanted = "\
2026-12-01T00:00:00+08:00 to 2026-12-02T00:00:00+08:00 in Asia/Shanghai: 8 tasks, at least 100007 times due

2026-12-01T00:00:00+08:00  midnight  cron @daily in Asia/Shanghai, up to 10m later
2026-12-01T00:00:00+08:00  long-ago  at 2020-01-01T00:00:00Z
2026-12-01T00:01:00+08:00  thrice    every 1m x3
2026-12-01T00:02:00+08:00  thrice    every 1m x3
2026-12-01T00:03:00+08:00  thrice    every 1m x3
2026-12-01T02:30:00+08:00  backup    cron 30 2 * * * in Asia/Shanghai
2026-12-01T12:00:00+08:00  once      at 2026-12-01T04:00:00Z

busy
  heartbeat  more than 100000 times, from 2026-12-01T00:00:00.5+08:00 on  every 500ms

later
  yearly  2027-01-01T08:00:00+08:00  cron @yearly in UTC x2

not by the clock
  report  depends on backup, at once
";
    assert_eq!(
        (done.code, done.out.as_str()),
        (Some(0), wanted),
        "{}",
        done.err
    );
    assert_eq!(plan(FILE, &args).out, done.out, "the same is asked again");
}

#[test]
fn what_is_busy_is_counted_to_the_end_where_that_is_near() {
    let done = plan(FILE, &["--from", "2026-12-01T00:00:00Z", "--for", "10s"]);
    let line = "  heartbeat  19 times";
    assert!(!done.out.contains(line), "19 times are listed: {done:?}");
    assert_eq!(done.out.matches("heartbeat").count(), 19, "{done:?}");
    let done = plan(
        FILE,
        &[
            "--from",
            "2026-12-01T00:00:00Z",
            "--for",
            "10s",
            "--busy",
            "18",
        ],
    );
    let line = "heartbeat  19 times, 2026-12-01T00:00:00.5+00:00 to 2026-12-01T00:00:09.5+00:00  every 500ms";
    assert!(done.out.contains(line), "{done:?}");
}

#[test]
fn the_json_has_all_of_it() {
    let args = [
        "--from",
        "2026-12-01T00:00:00+08:00",
        "--for",
        "3h",
        "--tz",
        "Asia/Shanghai",
        "--json",
    ];
    let json = plan(FILE, &args).json();
    assert_eq!(json["until"], "2026-12-01T03:00:00+08:00");
    assert_eq!(json["timezone"], "Asia/Shanghai");
    let due: Vec<(&str, &str)> = (json["due"].as_array().unwrap().iter())
        .map(|due| (due["at"].as_str().unwrap(), due["id"].as_str().unwrap()))
        .collect();
    assert_eq!(due[0], ("2026-12-01T00:00:00+08:00", "midnight"));
    assert_eq!(due[5], ("2026-12-01T02:30:00+08:00", "backup"));
    let heartbeat = &json["tasks"][0];
    // The end is not part of it.
    let wanted = serde_json::json!({
        "id": "heartbeat", "schedule": "every 500ms", "times": 21599, "at_least": false, "busy": true,
        "first": "2026-12-01T00:00:00.5+08:00", "last": "2026-12-01T02:59:59.5+08:00",
        "next": "2026-12-01T03:00:00+08:00",
    });
    assert_eq!(*heartbeat, wanted);
}

#[test]
fn a_crontab_is_planned_in_its_zone_whoever_it_belongs_to() {
    let bench = Workbench::new();
    let text = "\
@reboot nobody-at-all true
15 2 * * * nobody-at-all /opt/first
CRON_TZ=Asia/Tokyo
15 2 * * * nobody-at-all /opt/second
";
    let args = [
        "plan",
        "--from",
        "2026-03-29T00:00:00+01:00",
        "--tz",
        "Europe/Berlin",
        "--system",
        "--crontab",
    ];
    let done = bench.crontab(text, &args);
    let lines: Vec<&str> = done.out.lines().skip(2).collect();
    // A day of 23 hours, on which 02:15 does not exist; and the end is on the next day.
    let wanted = [
        "2026-03-29T00:00:00+01:00  line-1  @reboot",
        "2026-03-29T03:00:00+02:00  first   cron 15 2 * * * in Europe/Berlin",
        "2026-03-29T19:15:00+02:00  second  cron 15 2 * * * in Asia/Tokyo",
    ];
    assert_eq!(lines, wanted, "{done:?}");
    let faulty = bench.crontab("0 0 31 2 * x\n", &["plan", "--crontab"]);
    assert_eq!(
        (faulty.code, faulty.out.as_str()),
        (Some(2), ""),
        "{faulty:?}"
    );
}

#[test]
fn nothing_is_due_in_no_time() {
    let done = plan(FILE, &["--from", "2026-12-01T00:00:00Z", "--for", "0s"]);
    assert!(done.out.contains(": 8 tasks, 0 times due\n"), "{done:?}");
    assert!(!done.out.contains("busy"), "{done:?}");
    let done = plan(FILE, &["--busy", "0"]);
    assert_eq!(done.code, Some(2), "{done:?}");
}
