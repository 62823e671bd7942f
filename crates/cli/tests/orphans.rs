//! What programs leave behind: it ends with the run, nothing of it holds the run, and nothing stays
//! as a dead process.

mod workbench;

use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use workbench::{Workbench, is_alive, long, wait_until};

#[test]
fn what_a_program_leaves_behind_ends_with_its_run() {
    let bench = Workbench::new();
    let text = long("sleep 1000 & echo $! >> pids; echo done");
    let begun = Instant::now();
    let done = bench.run(&text, &["--json", "--grace", "50s"]);
    assert!(
        begun.elapsed() < Duration::from_secs(50),
        "the grace is for what does not end"
    );
    assert_eq!(
        (done.code, &done.json()["succeeded"]),
        (Some(0), &1.into()),
        "{done:?}"
    );
    assert_eq!(done.lines_of("long"), ["done"]);
    assert!(!is_alive(&bench.read("pids")), "{done:?}");
}

#[test]
fn a_process_that_leaves_its_group_does_not_hold_the_run() {
    let bench = Workbench::new();
    let text = long(
        "setsid sh -c 'echo $$ >> pids; exec sleep 30' & wait_for() { until test -s pids; do sleep 0.01; done; }; wait_for",
    );
    let done = bench.run(&text, &["--json"]);
    let pid = bench.read("pids");
    assert!(is_alive(&pid), "it is out of reach and let go");
    let pid = Pid::from_raw(pid.trim().parse().unwrap()).unwrap();
    kill_process(pid, Signal::KILL).unwrap();
    assert_eq!(
        (done.code, &done.json()["succeeded"]),
        (Some(0), &1.into()),
        "{done:?}"
    );
}

#[test]
fn the_last_lines_of_a_background_process_are_not_lost() {
    let bench = Workbench::new();
    let done = bench.run(
        &long("(trap \"\" TERM; sleep 0.03; echo late) & echo first"),
        &[],
    );
    assert_eq!(done.lines_of("long"), ["first", "late"], "{done:?}");
}

/// Neither alive nor dead and waiting to be reaped.
#[cfg(target_os = "linux")]
fn is_reaped(pid: &str) -> bool {
    !std::path::Path::new(&format!("/proc/{}", pid.trim())).exists()
}

#[test]
#[cfg(target_os = "linux")]
fn dead_orphans_are_reaped_inside_the_group_and_outside_of_it() {
    let bench = Workbench::new();
    let text = r#"
        [[task]]
        id = "inside"
        every = "20ms"
        count = 5
        run = ["sh", "-c", "sleep 0.01 & echo $! >> pids"]

        [[task]]
        id = "outside"
        every = "20ms"
        count = 5
        run = ["sh", "-c", "setsid sh -c 'echo $$ >> pids' &"]

        [[task]]
        id = "beat"
        every = "100ms"
        run = ["true"]
    "#;
    let started = bench.start(text, &[]);
    wait_until("all have written their ids", || {
        bench.read("pids").lines().count() == 10
    });
    wait_until("all are reaped", || {
        bench.read("pids").lines().all(is_reaped)
    });
    started.signal(Signal::TERM);
    assert_eq!(
        started.end().code,
        Some(128 + 15),
        "it was wheel that reaped, and not its end"
    );
}
