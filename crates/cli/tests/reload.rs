//! At SIGHUP the file is read again: what has not changed goes on, and what has is replaced.

mod workbench;

use std::fs;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::Value;
use workbench::{Done, Started, Workbench, is_alive, terminal, wait_until};

/// What is caught here starts as the default there, even where the tests run under `nohup`.
fn hear_hang_ups() {
    signal_hook::flag::register(signal_hook::consts::SIGHUP, Arc::default()).unwrap();
}

/// Starts it, and waits until it hears signals.
fn start(bench: &Workbench, text: &str) -> Started {
    hear_hang_ups();
    let started = bench.start(&format!("{}{text}", mark("started")), &["--json"]);
    wait_until("it is started", || bench.dir.join("started").exists());
    started
}

/// A task that says that the file was read.
fn mark(name: &str) -> String {
    format!("[[task]]\nid = \"{name}\"\nafter = \"0s\"\nrun = [\"touch\", \"{name}\"]\n")
}

/// Writes the file anew, with a mark, and waits for that.
fn reload(bench: &Workbench, started: &Started, name: &str, text: &str) {
    bench.file(&format!("{}{text}", mark(name)));
    started.signal(Signal::HUP);
    wait_until("the file is read again", || bench.dir.join(name).exists());
}

fn end(started: Started) -> Done {
    started.signal(Signal::TERM);
    started.end()
}

fn rows(done: &Done, id: &str) -> Vec<Value> {
    let json = done.json();
    let rows = json["per_task"].as_array().unwrap();
    rows.iter().filter(|row| row["id"] == id).cloned().collect()
}

fn shell(id: &str, due: &str, script: &str) -> String {
    format!("[[task]]\nid = \"{id}\"\n{due}\nrun = [\"sh\", \"-c\", '''{script}''']\n")
}

#[test]
fn what_has_not_changed_goes_on_as_if_nothing_had_happened() {
    let bench = Workbench::new();
    let long = shell("long", "after = \"0s\"", "echo $$ >> pids; exec sleep 1000");
    let beat = shell("beat", "every = \"400ms\"", "echo beat >> beats");
    let started = start(&bench, &format!("{long}{beat}"));
    wait_until("it runs", || bench.read("pids").lines().count() == 1);
    let begun = Instant::now();
    let mut reloads = 0;
    // More often than it is due: a grid that began anew each time would never come to an end.
    while bench.read("beats").lines().count() < 4 {
        reloads += 1;
        reload(
            &bench,
            &started,
            &format!("mark-{reloads}"),
            &format!("{beat}{long}"),
        );
        assert!(begun.elapsed() < workbench::HANG, "it is never due");
    }
    assert!(reloads > 4, "{reloads}");
    assert!(is_alive(&bench.read("pids")));
    let done = end(started);
    let (beats, long) = (rows(&done, "beat"), rows(&done, "long"));
    assert_eq!((beats.len(), long.len()), (1, 1), "{done:?}");
    assert_eq!((&long[0]["runs"], &long[0]["cut"]), (&1.into(), &1.into()));
    assert!(beats[0]["runs"].as_u64().unwrap() >= 4, "{done:?}");
    assert_eq!(done.json()["early"], 0);
}

#[test]
fn another_program_is_that_of_the_next_run() {
    let bench = Workbench::new();
    let due = "every = \"20ms\"";
    let started = start(&bench, &shell("beat", due, "echo old >> log"));
    wait_until("it beats", || bench.read("log").contains("old"));
    reload(
        &bench,
        &started,
        "mark",
        &shell("beat", due, "echo new >> log"),
    );
    wait_until("it beats anew", || bench.read("log").contains("new"));
    let done = end(started);
    let log = bench.read("log");
    let (old, new) = log.split_at(log.find("new").unwrap());
    assert!(!new.contains("old"), "{log}");
    let rows = rows(&done, "beat");
    assert_eq!(rows.len(), 1, "it is the same task: {done:?}");
    let runs = old.lines().count() + new.lines().count();
    // The last one may have been cut.
    assert!(
        rows[0]["runs"].as_u64().unwrap() as usize - runs <= 1,
        "{done:?}"
    );
}

#[test]
fn a_grid_goes_on_through_changes_of_everything_else() {
    let bench = Workbench::new();
    let text = |attempts: usize| {
        let due = format!("every = \"200ms\"\nretry = {{ attempts = {attempts}, delay = \"1s\" }}");
        shell("beat", &due, "echo beat >> beats")
    };
    let started = start(&bench, &text(1));
    let begun = Instant::now();
    let mut reloads = 0;
    // Each time it is another task, sooner than it is due.
    while begun.elapsed() < Duration::from_secs(2) {
        reloads += 1;
        reload(
            &bench,
            &started,
            &format!("mark-{reloads}"),
            &text(1 + reloads % 5),
        );
    }
    let took = begun.elapsed();
    let done = end(started);
    let rows = rows(&done, "beat");
    let count = |key: &str| {
        rows.iter()
            .map(|row| row[key].as_u64().unwrap())
            .sum::<u64>()
    };
    let (runs, most) = (count("runs"), took.as_millis() as u64 / 200 + 2);
    assert!(
        runs <= most,
        "none is doubled: {runs} of {most}, {reloads} reloads"
    );
    if reloads > 15 {
        assert!(
            runs + count("skipped") + 3 >= most,
            "none is lost: {runs} of {most}"
        );
    }
    assert_eq!(done.json()["early"], 0, "{done:?}");
    let removed = rows.iter().filter(|row| row["removed"] == true).count();
    assert_eq!(removed, rows.len() - 1, "{done:?}");
}

#[test]
fn other_times_of_the_calendar_follow_on_the_old_ones() {
    let bench = Workbench::new();
    let text = |cron: &str| shell("beat", &format!("cron = \"{cron}\""), "echo beat >> beats");
    let started = start(&bench, &text("* * * * * *"));
    wait_until("it beats", || bench.read("beats").contains("beat"));
    reload(&bench, &started, "mark", &text("0 0 1 1 *"));
    let done = end(started);
    let rows = rows(&done, "beat");
    assert_eq!(rows.len(), 1, "{done:?}");
    assert_eq!(rows[0]["schedule"], "cron 0 0 1 1 * in UTC");
    assert!(rows[0]["runs"].as_u64().unwrap() >= 1);
}

#[test]
fn what_is_in_the_file_no_more_is_not_due_again_and_its_run_comes_to_its_end() {
    let bench = Workbench::new();
    let going = shell(
        "going",
        "after = \"0s\"",
        "touch begun; until [ -e go ]; do sleep 0.01; done; exit 3",
    );
    let beat = shell("beat", "every = \"50ms\"", "true");
    let started = start(&bench, &format!("{going}{beat}"));
    wait_until("it runs", || bench.dir.join("begun").exists());
    reload(&bench, &started, "mark", "");
    fs::write(bench.dir.join("go"), "").unwrap();
    // Nothing is pending any more, once the run is over.
    let done = started.end();
    let json = done.json();
    assert_eq!(
        (done.code, &json["ended"]),
        (Some(0), &"idle".into()),
        "{done:?}"
    );
    let going = &rows(&done, "going")[0];
    assert_eq!(
        (&going["removed"], &going["failed"], &going["last"]),
        (&true.into(), &1.into(), &"exit status 3".into()),
        "{done:?}"
    );
    assert_eq!(
        (&json["tasks"], &json["cut"], &json["pending"]),
        (&1.into(), &0.into(), &0.into())
    );
}

#[test]
fn a_run_that_waits_to_be_tried_again_is_cut_with_its_task() {
    let bench = Workbench::new();
    let again = shell(
        "again",
        "after = \"0s\"\nretry = { attempts = 2, delay = \"1h\" }",
        "touch begun; false",
    );
    let started = start(&bench, &again);
    wait_until("it has begun", || bench.dir.join("begun").exists());
    thread::sleep(Duration::from_millis(200));
    reload(&bench, &started, "mark", "");
    let done = started.end();
    let again = &rows(&done, "again")[0];
    assert_eq!(
        (&again["cut"], &again["last"]),
        (&1.into(), &"cut before attempt 2".into()),
        "{done:?}"
    );
}

#[test]
fn what_waits_for_a_task_that_is_replaced_waits_for_the_new_one() {
    let bench = Workbench::new();
    let text = |after: &str| {
        let first = shell(
            "first",
            &format!("after = \"{after}\""),
            "echo first >> log",
        );
        let second = shell("second", "depends_on = \"first\"", "echo second >> log");
        format!("{first}{second}")
    };
    let started = start(&bench, &text("1h"));
    reload(&bench, &started, "mark", &text("50ms"));
    let done = started.end();
    assert_eq!(bench.read("log"), "first\nsecond\n", "{done:?}");
    assert_eq!(
        (&done.json()["runs"], &done.json()["skipped"]),
        (&4.into(), &0.into()),
        "{done:?}"
    );
}

#[test]
fn what_has_had_its_only_run_does_not_run_again_unless_its_time_changes() {
    let bench = Workbench::new();
    let keeps_going = shell("later", "after = \"1h\"", "true");
    let text = |after: &str, what: &str| {
        let once = shell(
            "once",
            &format!("after = \"{after}\""),
            &format!("echo {what} >> log"),
        );
        format!("{once}{keeps_going}")
    };
    let started = start(&bench, &text("0s", "a"));
    wait_until("it has run", || bench.read("log") == "a\n");
    reload(&bench, &started, "mark-1", &text("0s", "b"));
    reload(&bench, &started, "mark-2", &text("0s", "b"));
    assert_eq!(bench.read("log"), "a\n");
    reload(&bench, &started, "mark-3", &text("1ms", "c"));
    wait_until("it has run again", || bench.read("log") == "a\nc\n");
    assert_eq!(end(started).json()["early"], 0);
}

#[test]
fn a_broken_file_changes_nothing_and_its_faults_are_shown() {
    let bench = Workbench::new();
    let beat = shell("beat", "every = \"50ms\"", "echo beat >> beats");
    let started = start(&bench, &beat);
    let path = bench.file("[[task]]\nid = \"beat\"\nevry = \"1s\"\nrun = [\"true\"]\n");
    started.signal(Signal::HUP);
    thread::sleep(Duration::from_millis(200));
    fs::remove_file(&path).unwrap();
    started.signal(Signal::HUP);
    let so_far = bench.read("beats").lines().count();
    wait_until("it goes on", || {
        bench.read("beats").lines().count() > so_far + 3
    });
    // A right one is taken again.
    reload(&bench, &started, "mark", &beat);
    let done = end(started);
    for part in [
        "tasks.toml:3:1",
        "did you mean `every`?",
        "tasks.toml: 1 error\n",
        "cannot be used, what was read before goes on",
        "cannot read the task file",
        "was read again: 1 as before, 0 changed, 1 new, 1 gone",
    ] {
        assert!(done.err.contains(part), "{part:?} is not in\n{}", done.err);
    }
    assert_eq!(rows(&done, "beat").len(), 1);
}

#[test]
fn entries_of_a_crontab_are_known_by_what_they_say() {
    hear_hang_ups();
    let bench = Workbench::new();
    let path = bench.dir.join("crontab");
    let home = format!("HOME={}\n", bench.dir.display());
    let first =
        "@reboot echo $$ >> pids; exec sleep 1000\n0 1 1 1 * run-parts a\n0 2 1 1 * run-parts b\n";
    fs::write(&path, format!("{home}{first}")).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_wheel"));
    command.args(["run", "--json", "--tz", "UTC", "--crontab", "crontab"]);
    command.current_dir(&bench.dir).stdin(Stdio::null());
    let started = Started::by(&mut command);
    wait_until("it runs", || bench.read("pids").lines().count() == 1);
    // One is gone, one has another place, one is new; and what is due at the start was due then.
    let second = "@reboot touch again\n0 2 1 1 * run-parts b\n0 3 1 1 * run-parts c\n@reboot echo $$ >> pids; exec sleep 1000\n";
    fs::write(&path, format!("{home}{second}")).unwrap();
    started.signal(Signal::HUP);
    thread::sleep(Duration::from_millis(300));
    let done = end(started);
    assert!(
        done.err.contains("2 as before, 1 changed, 0 new, 0 gone"),
        "{done:?}"
    );
    assert!(!bench.dir.join("again").exists());
    assert_eq!(bench.read("pids").lines().count(), 1);
    let schedules = |id: &str| -> Vec<String> {
        let rows = rows(&done, id);
        rows.iter()
            .map(|row| row["schedule"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(schedules("run-parts-2"), ["cron 0 2 1 1 * in UTC"]);
    assert_eq!(schedules("run-parts"), ["cron 0 3 1 1 * in UTC"]);
}

#[test]
fn a_terminal_that_hangs_up_ends_it() {
    hear_hang_ups();
    let bench = Workbench::new();
    let (ours, theirs) = terminal::open(24);
    let path = bench.file(&shell(
        "long",
        "after = \"0s\"",
        "echo $$ >> pids; exec sleep 1000",
    ));
    let mut command = Command::new("setsid");
    command
        .args(["--ctty", env!("CARGO_BIN_EXE_wheel"), "run"])
        .arg(path)
        .arg("--json");
    command.current_dir(&bench.dir).stdin(theirs);
    let started = Started::by(&mut command);
    drop(command);
    wait_until("it runs", || bench.read("pids").lines().count() == 1);
    // As long as the terminal is there, the signal is no hang-up.
    started.signal(Signal::HUP);
    thread::sleep(Duration::from_millis(200));
    assert!(is_alive(&bench.read("pids")));
    drop(ours);
    let done = started.end();
    assert_eq!(done.code, Some(129), "{done:?}");
    assert_eq!(done.json()["signal"], "SIGHUP");
    assert!(done.err.contains("was read again"), "{done:?}");
}
