//! Signals in the middle of `wheel run`: nothing is left behind, and the exit code is the
//! documented one.

mod workbench;

use std::time::{Duration, Instant};

use rustix::process::Signal;
use workbench::{Done, Workbench, is_alive, long, wait_until};

const TERM_CODE: i32 = 128 + 15;

/// Starts it, waits until this many process ids are written, and sends the signals.
fn stop(
    bench: &Workbench,
    text: &str,
    pids: usize,
    args: &[&str],
    signals: &[Signal],
) -> (Done, Duration) {
    let started = bench.start(text, args);
    wait_until("the programs run", || {
        bench.read("pids").lines().count() == pids
    });
    let begun = Instant::now();
    for signal in signals {
        started.signal(*signal);
        std::thread::sleep(Duration::from_millis(50));
    }
    let done = started.end();
    let took = begun.elapsed();
    for pid in bench.read("pids").lines() {
        assert!(!is_alive(pid), "{pid} is left behind: {done:?}");
    }
    (done, took)
}

#[test]
fn sigterm_ends_programs_and_wheel_well_within_the_grace() {
    let bench = Workbench::new();
    let text = long("echo $$ >> pids; exec sleep 1000");
    let (done, took) = stop(
        &bench,
        &text,
        1,
        &["--grace", "50s", "--json"],
        &[Signal::TERM],
    );
    let json = done.json();
    assert_eq!(done.code, Some(TERM_CODE), "{done:?}");
    assert!(took < Duration::from_secs(50), "{took:?}");
    assert_eq!(
        (&json["signal"], &json["exit_code"], &json["cut"]),
        (&"SIGTERM".into(), &TERM_CODE.into(), &1.into())
    );
    assert_eq!(json["per_task"][0]["last"], "cut by SIGTERM");
}

#[test]
fn each_signal_has_its_own_exit_code() {
    for (signal, code) in [(Signal::INT, 130), (Signal::QUIT, 131)] {
        let bench = Workbench::new();
        let (done, _) = stop(
            &bench,
            &long("echo $$ >> pids; exec sleep 1000"),
            1,
            &[],
            &[signal],
        );
        assert_eq!(done.code, Some(code), "{done:?}");
        assert!(
            done.out.contains("1 run: 0 succeeded, 0 failed, 1 cut"),
            "{done:?}"
        );
    }
}

#[test]
fn a_program_that_ignores_sigterm_is_killed_after_the_grace() {
    let bench = Workbench::new();
    let text = long("trap '' TERM; echo $$ >> pids; while :; do sleep 0.01; done");
    let (done, took) = stop(
        &bench,
        &text,
        1,
        &["--grace", "300ms", "--json"],
        &[Signal::TERM],
    );
    assert_eq!(done.code, Some(TERM_CODE), "{done:?}");
    assert!(
        took >= Duration::from_millis(300),
        "it had its grace: {took:?}"
    );
    assert_eq!(done.json()["per_task"][0]["last"], "cut by SIGKILL");
}

#[test]
fn what_a_program_has_forked_goes_with_it() {
    let bench = Workbench::new();
    let text = long(
        "sleep 1000 & echo $! >> pids; (sleep 1001 & echo $! >> pids; wait) & echo $! >> pids; echo $$ >> pids; wait",
    );
    let (done, _) = stop(&bench, &text, 4, &["--grace", "50s"], &[Signal::TERM]);
    assert_eq!(done.code, Some(TERM_CODE), "{done:?}");
}

#[test]
fn a_forked_process_that_ignores_sigterm_is_killed_although_its_parent_has_ended() {
    let bench = Workbench::new();
    let text = long(
        "(trap '' TERM; while :; do sleep 0.01; done) & echo $! >> pids; echo $$ >> pids; wait",
    );
    let (done, _) = stop(&bench, &text, 2, &["--grace", "300ms"], &[Signal::TERM]);
    assert_eq!(done.code, Some(TERM_CODE), "{done:?}");
}

#[test]
fn a_second_signal_kills_at_once() {
    let bench = Workbench::new();
    let text = long("trap '' TERM INT; echo $$ >> pids; while :; do sleep 0.01; done");
    let signals = [Signal::INT, Signal::INT];
    let (done, took) = stop(&bench, &text, 1, &["--grace", "50s", "--json"], &signals);
    assert_eq!(done.code, Some(130), "{done:?}");
    assert!(took < Duration::from_secs(50), "{took:?}");
    assert_eq!(done.json()["per_task"][0]["last"], "cut by SIGKILL");
}

#[test]
fn many_programs_at_once_are_all_ended_and_what_waits_is_not_started() {
    let bench = Workbench::new();
    let task = |n| {
        format!(
            "[[task]]\nid = \"t{n}\"\nafter = \"0s\"\nrun = [\"sh\", \"-c\", \"echo $$ >> pids; exec sleep 1000\"]\n"
        )
    };
    let text: String = (0..40).map(task).collect();
    let (done, _) = stop(
        &bench,
        &text,
        8,
        &["--workers", "8", "--json"],
        &[Signal::TERM],
    );
    let json = done.json();
    assert_eq!(
        (&json["runs"], &json["cut"], &json["pending"]),
        (&8.into(), &8.into(), &32.into()),
        "{json}"
    );
    assert_eq!(
        bench.read("pids").lines().count(),
        8,
        "nothing was started after the signal"
    );
}

#[test]
fn the_summary_says_what_is_still_pending() {
    let bench = Workbench::new();
    let text = format!(
        "{}[[task]]\nid = \"later\"\nafter = \"1h\"\nrun = [\"true\"]\n",
        long("echo $$ >> pids; exec sleep 1000")
    );
    let (done, _) = stop(&bench, &text, 1, &[], &[Signal::TERM]);
    assert!(
        done.out.contains("still pending: later\n") && done.out.contains("by SIGTERM"),
        "{done:?}"
    );
    assert!(
        done.err.contains("SIGTERM: 1 running, with 5s to end"),
        "{done:?}"
    );
}

#[test]
fn nobody_reading_does_not_keep_wheel_from_ending() {
    let bench = Workbench::new();
    let text = long("echo $$ >> pids; exec yes");
    // The pipe is full long before, because nothing reads it until wheel has ended.
    let mut command = bench.command(&text, &["--grace", "200ms"]);
    let mut child = command
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    wait_until("the program runs", || {
        bench.read("pids").lines().count() == 1
    });
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(end_unread(&mut child, Signal::TERM), Some(TERM_CODE));
    assert!(!is_alive(&bench.read("pids")));
}

#[test]
fn nobody_reading_keeps_no_program_alive_when_the_time_is_over_and_a_signal_from_ending_wheel() {
    let bench = Workbench::new();
    let stubborn = long("trap '' TERM; echo $$ >> pids; while :; do sleep 0.01; done");
    let spews = "[[task]]\nid = \"spews\"\nafter = \"0s\"\nrun = [\"yes\"]\n";
    let args = ["--for", "500ms", "--grace", "200ms"];
    let mut command = bench.command(&format!("{stubborn}{spews}"), &args);
    let mut child = (command.stdout(std::process::Stdio::piped()).spawn()).unwrap();
    wait_until("the program runs", || {
        bench.read("pids").lines().count() == 1
    });
    wait_until("the program is killed", || !is_alive(&bench.read("pids")));
    assert!(
        child.try_wait().unwrap().is_none(),
        "the summary is not read yet"
    );
    assert_eq!(end_unread(&mut child, Signal::TERM), Some(TERM_CODE));
}

/// Sends a signal to a `wheel` whose output nobody reads, and returns its exit code.
fn end_unread(child: &mut std::process::Child, signal: Signal) -> Option<i32> {
    let wheel = rustix::process::Pid::from_child(child);
    rustix::process::kill_process(wheel, signal).unwrap();
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        if begun.elapsed() > workbench::HANG {
            child.kill().unwrap();
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_hangup_that_was_ignored_from_the_start_stays_ignored() {
    let bench = Workbench::new();
    let file = bench.file(&long("echo $$ >> pids; exec sleep 1000"));
    let mut child = std::process::Command::new("sh")
        .args([
            "-c",
            "trap '' HUP; exec \"$0\" run \"$1\"",
            env!("CARGO_BIN_EXE_wheel"),
        ])
        .arg(file)
        .current_dir(&bench.dir)
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    wait_until("the program runs", || {
        bench.read("pids").lines().count() == 1
    });
    let wheel = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(wheel, Signal::HUP).unwrap();
    rustix::process::kill_process(wheel, Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(TERM_CODE));
}
