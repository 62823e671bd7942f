//! What programs print, and where it goes.

mod workbench;

use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;

use workbench::Workbench;

#[test]
fn output_of_programs_at_the_same_time_is_prefixed_line_by_line() {
    let bench = Workbench::new();
    let task = |n| {
        let script =
            format!("for i in 1 2 3 4 5 6 7 8; do printf 'of {n} '; printf \"line $i\\n\"; done");
        format!(
            "[[task]]\nid = \"t{n}\"\nafter = \"10ms\"\nrun = [\"sh\", \"-c\", '''{script}''']\n"
        )
    };
    let text: String = (0..8).map(task).collect();
    let done = bench.run(&text, &[]);
    for n in 0..8 {
        let expected: Vec<String> = (1..=8).map(|i| format!("of {n} line {i}")).collect();
        assert_eq!(done.lines_of(&format!("t{n}")), expected, "{done:?}");
    }
    let printed = done.out.lines().take_while(|line| !line.is_empty());
    assert!(
        printed.into_iter().all(|line| line.starts_with("[t")),
        "{done:?}"
    );
}

#[test]
fn bytes_pass_through_unharmed_and_a_last_line_gets_its_end() {
    let bench = Workbench::new();
    let text = "[[task]]\nid = \"raw\"\nafter = \"0s\"\nrun = [\"printf\", '\\377\\000\\303(\\r\\nno end']\n";
    let done = bench.run(text, &[]);
    let expected = b"[raw] \xff\0\xc3(\r\n[raw] no end\n";
    assert!(done.out_bytes.starts_with(expected), "{done:?}");
}

#[test]
fn a_lot_of_output_arrives_completely() {
    let bench = Workbench::new();
    let text =
        "[[task]]\nid = \"many\"\nafter = \"0s\"\nrun = [\"sh\", \"-c\", \"seq 1 200000\"]\n";
    let done = bench.run(text, &[]);
    let expected: Vec<String> = (1..=200_000).map(|n| n.to_string()).collect();
    assert!(
        done.lines_of("many") == expected,
        "{} lines",
        done.lines_of("many").len()
    );
}

#[test]
fn an_output_file_gets_both_streams_and_is_appended_to() {
    let bench = Workbench::new();
    let text = r#"
        [[task]]
        id = "log"
        every = "20ms"
        count = 2
        run = ["sh", "-c", "echo out; echo err >&2"]
        output = "run.log"
    "#;
    std::fs::write(bench.dir.join("run.log"), "before\n").unwrap();
    let done = bench.run(text, &["--quiet"]);
    assert_eq!(bench.read("run.log"), "before\nout\nerr\nout\nerr\n");
    assert!(
        !done.out.contains("[log]") && done.err.is_empty(),
        "{done:?}"
    );
}

#[test]
fn quiet_shows_the_end_only() {
    let bench = Workbench::new();
    let text = "[[task]]\nid = \"loud\"\nafter = \"0s\"\nrun = [\"sh\", \"-c\", \"echo out; echo err >&2; exit 1\"]\n";
    let done = bench.run(text, &["--quiet"]);
    assert_eq!((done.code, done.err.as_str()), (Some(0), ""));
    assert!(
        done.out.contains("1 task, 1 run: 0 succeeded, 1 failed") && !done.out.contains("[loud]"),
        "{done:?}"
    );
    let json = bench.run(text, &["--quiet", "--json"]);
    assert_eq!(json.out.lines().count(), 1, "{json:?}");
    assert_eq!(json.json()["failed"], 1);
}

#[test]
fn a_reader_that_goes_away_is_no_reason_to_panic() {
    let bench = Workbench::new();
    let text = r#"
        [[task]]
        id = "beat"
        every = "10ms"
        count = 20
        run = ["sh", "-c", "echo alive; echo ran >> ran.log"]
    "#;
    let mut child = bench
        .command(text, &[])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = String::new();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    out.read_line(&mut first).unwrap();
    assert_eq!(first, "[beat] alive\n");
    drop(out);
    let mut err = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut err)
        .unwrap();
    assert_eq!((child.wait().unwrap().code(), err.as_str()), (Some(0), ""));
    assert_eq!(
        bench.read("ran.log").lines().count(),
        20,
        "the programs ran on"
    );
}

#[test]
fn check_and_help_do_not_panic_without_a_reader() {
    let bench = Workbench::new();
    let file = bench.file("[[task]]\nid = \"a\"\nafter = \"0s\"\nrun = [\"true\"]\n");
    let file = file.to_str().unwrap();
    for args in [
        &["check", file][..],
        &["run", "--help"],
        &["check", "/nowhere"],
    ] {
        let line = format!(
            "{} \"$@\" 2>&1 >&- | :; {} \"$@\" >/dev/full",
            env!("CARGO_BIN_EXE_wheel"),
            env!("CARGO_BIN_EXE_wheel")
        );
        let done = std::process::Command::new("sh")
            .args(["-c", &line, "sh"])
            .args(args)
            .output()
            .unwrap();
        let err = String::from_utf8_lossy(&done.stderr);
        assert!(!err.contains("panicked"), "{args:?}: {err}");
    }
}

#[test]
fn a_full_disk_is_told_by_message_and_exit_code() {
    let bench = Workbench::new();
    let text = "[[task]]\nid = \"a\"\nafter = \"0s\"\nrun = [\"true\"]\n";
    let full = std::fs::File::options().write(true).open("/dev/full");
    let mut command = bench.command(text, &["--json", "--quiet"]);
    let done = command.stdout(full.unwrap()).output().unwrap();
    let err = String::from_utf8_lossy(&done.stderr);
    assert!(err.contains("standard output is incomplete"), "{err}");
    assert_eq!(done.status.code(), Some(4), "{err}");
}

#[test]
fn a_file_without_an_end_is_refused() {
    let done = std::process::Command::new(env!("CARGO_BIN_EXE_wheel"))
        .args(["check", "/dev/zero"])
        .output()
        .unwrap();
    let err = String::from_utf8_lossy(&done.stderr);
    assert!(err.contains("longer than 256 MiB"), "{err}");
    assert_eq!(done.status.code(), Some(2));
}
