//! The live line, on a real terminal device.

mod workbench;

use std::fs::File;
use std::io::Read;
use std::process::Stdio;
use std::thread;

use workbench::{Workbench, terminal};

const TEXT: &str = r#"
    [[task]]
    id = "beat"
    every = "100ms"
    count = 3
    run = ["echo", "alive"]

    [[task]]
    id = "later"
    after = "1h"
    run = ["true"]
"#;

/// Runs it with standard error, and standard output if `out` says so, on a terminal. Returns what
/// the terminal got.
fn on_terminal(args: &[&str], out: fn(&File) -> Stdio) -> String {
    let bench = Workbench::new();
    // Wide enough for all of the line.
    let (ours, theirs) = terminal::open(24);
    let mut command = bench.command(TEXT, args);
    command
        .env("TERM", "xterm")
        .stderr(theirs.try_clone().unwrap())
        .stdout(out(&theirs));
    let mut child = command.spawn().unwrap();
    // Both keep the terminal open, and with it the reader below.
    drop((command, theirs));
    let reader = thread::spawn(move || {
        let mut got = Vec::new();
        let mut buffer = [0; 4096];
        // The end of the terminal is an error on Linux and the end of the file elsewhere.
        while let Ok(count @ 1..) = File::from(ours.try_clone().unwrap()).read(&mut buffer) {
            got.extend_from_slice(&buffer[..count]);
        }
        String::from_utf8_lossy(&got).into_owned()
    });
    assert!(child.wait().unwrap().success());
    reader.join().unwrap()
}

#[test]
fn a_terminal_shows_how_things_stand_and_is_clean_at_the_end() {
    let got = on_terminal(&["--for", "2s"], |terminal| {
        terminal.try_clone().unwrap().into()
    });
    for part in [
        "pending 2",
        "running 0",
        "done 0",
        "failed 0",
        "next beat in 0.",
    ] {
        assert!(got.contains(part), "{part:?} is not in {got:?}");
    }
    assert!(
        got.contains("done 3") && got.contains("late p50 "),
        "{got:?}"
    );
    assert!(
        got.contains("\r\u{1b}[K[beat] alive\r\n"),
        "a line of output wipes the live line first: {got:?}"
    );
    let end = got.rsplit("\r\u{1b}[K").next().unwrap();
    assert!(
        end.contains("2 tasks, 3 runs") && !end.contains("pending 1 |"),
        "{end:?}"
    );
}

#[test]
fn there_is_no_live_line_when_it_is_not_wanted() {
    for args in [
        &["--for", "500ms", "--quiet"][..],
        &["--for", "500ms", "--json"],
    ] {
        let got = on_terminal(args, |terminal| terminal.try_clone().unwrap().into());
        assert!(
            !got.contains("\u{1b}[K") && !got.contains("pending 2"),
            "{got:?}"
        );
    }
    let bench = Workbench::new();
    let done = bench.run(TEXT, &["--for", "500ms"]);
    assert!(
        !done.err.contains("pending") && !done.out.contains("\u{1b}"),
        "{done:?}"
    );
}

#[test]
fn the_live_line_does_not_go_into_a_file() {
    let got = on_terminal(&["--for", "500ms"], |_| Stdio::null());
    assert!(
        got.contains("pending 2") && !got.contains("alive"),
        "{got:?}"
    );
}

#[test]
fn the_picture_takes_the_terminal_and_gives_it_back() {
    let got = on_terminal(&["--for", "1s", "--watch"], |terminal| {
        terminal.try_clone().unwrap().into()
    });
    let (enter, leave) = ("\u{1b}[?1049h", "\u{1b}[?1049l");
    let (before, rest) = got.split_once(enter).expect("it is not taken");
    let (picture, after) = rest.split_once(leave).expect("it is not given back");
    for part in [
        " ms ", " hour ", "lateness", " tasks ", "beat", "later", "next in",
    ] {
        assert!(picture.contains(part), "{part:?} is not in {picture:?}");
    }
    assert!(
        !before.contains("pending") && !picture.contains("alive"),
        "{got:?}"
    );
    assert!(
        after.contains("2 tasks, 3 runs") && !after.contains(enter),
        "{after:?}"
    );
}

#[test]
fn there_is_no_picture_without_a_terminal() {
    let done = Workbench::new().run(TEXT, &["--watch"]);
    assert_eq!(done.code, Some(2), "{done:?}");
    assert!(done.err.contains("no terminal"), "{done:?}");
    let done = Workbench::new().run(TEXT, &["--watch", "--quiet"]);
    assert_eq!(done.code, Some(2), "{done:?}");
}
