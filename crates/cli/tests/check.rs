//! Every kind of bad file gets an error with its place and what would be right.

mod workbench;

use workbench::{Workbench, refused, task};

const AFTER: &str = "after = \"1s\"\n";
const TRUE: &str = "run = [\"true\"]\n";

#[test]
fn a_good_file_is_accepted_and_nothing_runs() {
    let bench = Workbench::new();
    let done = bench.check(
        r#"
        [[task]]
        id = "once"
        after = "0s"
        count = 1
        run = ["touch", "ran"]
        dir = "."
        env = { MODE = "test", EMPTY = "" }
        output = "once.log"

        [[task]]
        id = "quoted"
        at = "2126-12-01T02:00:00+08:00"
        run = ["true"]

        [[task]]
        id = "bare"
        at = 2126-12-01T02:00:00.5Z
        run = ["/bin/sh", "-c", ""]

        [[task]]
        id = "again"
        every = "1h30m"
        count = 3
        run = ["true"]
        "#,
    );
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(done.out.contains("4 tasks, no errors"), "{done:?}");
    assert_eq!(
        std::fs::read_dir(&bench.dir).unwrap().count(),
        1,
        "only the task file is there"
    );
}

#[test]
fn a_file_that_is_not_there_is_an_error() {
    for command in ["check", "run"] {
        let mut wheel = std::process::Command::new(env!("CARGO_BIN_EXE_wheel"));
        let done = wheel
            .args([command, "/nowhere/tasks.toml"])
            .output()
            .unwrap();
        assert_eq!(done.status.code(), Some(2));
        let err = String::from_utf8_lossy(&done.stderr);
        assert!(
            err.contains("/nowhere/tasks.toml") && err.contains("No such file"),
            "{err}"
        );
    }
}

#[test]
fn a_syntax_error_is_shown_with_its_line() {
    refused(
        "[[task]]\nid = \"a\nrun = []\n",
        "2:8",
        &["not valid TOML", "2 | id = \"a"],
    );
    refused(
        &task("after = 3s"),
        "3:9",
        &["must be quoted", "after = \"3s\""],
    );
    refused(
        &task("after = \"1s\"\nafter = \"2s\""),
        "4:1",
        &["duplicate key"],
    );
}

#[test]
fn text_that_is_not_utf8_is_an_error() {
    let bench = Workbench::new();
    let path = bench.file("");
    std::fs::write(&path, b"[[task]]\nid = \"\xff\"\n").unwrap();
    let done = std::process::Command::new(env!("CARGO_BIN_EXE_wheel"))
        .arg("check")
        .arg(&path)
        .output()
        .unwrap();
    let err = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(2));
    assert!(
        err.contains("tasks.toml:2:7") && err.contains("not valid UTF-8"),
        "{err}"
    );
}

#[test]
fn a_file_without_tasks_is_an_error() {
    refused("", "1:1", &["no task in the file", "[[task]]"]);
    refused("# nothing yet\n", "1:1", &["no task in the file"]);
    refused("task = []\n", "1:8", &["no task in the file"]);
}

#[test]
fn a_single_table_gets_the_second_bracket() {
    refused(
        "[task]\nid = \"a\"\n",
        "1:1",
        &["array of tables", "[[task]] with two brackets"],
    );
}

#[test]
fn an_unknown_key_leads_to_the_right_one() {
    refused(
        &task("evry = \"1s\"\nrun = [\"true\"]"),
        "3:1",
        &["unknown key `evry`", "did you mean `every`?"],
    );
    let command = task("after = \"1s\"\ncommand = [\"true\"]");
    refused(
        &command,
        "4:1",
        &["unknown key `command`", "did you mean `run`?"],
    );
    refused(
        &task(&format!("{AFTER}{TRUE}colour = 3")),
        "5:1",
        &["unknown key `colour`", "id, after, at, every"],
    );
    refused(
        &task(&format!("daily = true\n{TRUE}")),
        "3:1",
        &["unknown key `daily`", "cron = \"@daily\""],
    );
    refused(
        "[[tasks]]\nid = \"a\"\n",
        "1:3",
        &["unknown key `tasks`", "did you mean `[[task]]`?"],
    );
    refused(
        "every = \"1s\"\n",
        "1:1",
        &["unknown key `every`", "below a [[task]] line"],
    );
}

#[test]
fn an_id_is_there_a_word_and_taken_once() {
    refused(&format!("[[task]]\n{AFTER}{TRUE}"), "1:1", &["has no `id`"]);
    refused(
        &format!("[[task]]\nid = \" \"\n{AFTER}{TRUE}"),
        "2:6",
        &["`id` is empty"],
    );
    refused(
        &format!("[[task]]\nid = 7\n{AFTER}{TRUE}"),
        "2:6",
        &["must be a string, not an integer"],
    );
    refused(
        &format!("[[task]]\nid = \"a\\nb\"\n{AFTER}{TRUE}"),
        "2:6",
        &["line break"],
    );
    refused(
        &format!("[[task]]\nid = \"#7\"\n{AFTER}{TRUE}"),
        "2:6",
        &["begins with #"],
    );
    let long = "x".repeat(101);
    refused(
        &format!("[[task]]\nid = \"{long}\"\n{AFTER}{TRUE}"),
        "2:6",
        &["longer than 100"],
    );
}

#[test]
fn a_duplicate_id_names_both_lines() {
    let one = task(&format!("{AFTER}{TRUE}"));
    let text = format!("{one}\n{one}");
    refused(
        &text,
        "8:6",
        &["the id \"a\" in line 8", "taken by the task in line 2"],
    );
}

#[test]
fn exactly_one_of_after_at_and_every_is_asked_for() {
    refused(
        &task(TRUE),
        "1:1",
        &[
            "does not say what it is due by",
            "after = \"3s\"",
            "every = ",
            "cron = ",
        ],
    );
    let two = task(&format!("after = \"1s\"\nevery = \"1s\"\n{TRUE}"));
    refused(
        &two,
        "4:9",
        &["has `after` and `every`", "keep exactly one"],
    );
    let three = task(&format!(
        "after = \"1s\"\nat = \"2126-12-01T02:00:00Z\"\nevery = \"1s\"\n{TRUE}"
    ));
    refused(&three, "5:9", &["has `after` and `at` and `every`"]);
    let cron = task(&format!("cron = \"@daily\"\nevery = \"1s\"\n{TRUE}"));
    refused(
        &cron,
        "4:9",
        &["has `every` and `cron`", "keep exactly one"],
    );
}

#[test]
fn all_faults_of_a_file_are_reported_in_its_order() {
    let bench = Workbench::new();
    let done = bench.check(
        "[[task]]\nid = \"a\"\nevry = \"1s\"\nrun = [\"no-such-program\"]\n\n\
         [[task]]\nid = \"a\"\nafter = \"soon\"\ncount = 0\nrun = \"x\"\nenv = { A = 1 }\ndir = \"/nowhere\"\n",
    );
    let places: Vec<&str> = done
        .err
        .lines()
        .filter_map(|line| line.split("tasks.toml:").nth(1))
        .collect();
    let mut expected = vec!["3:1", "4:8", "7:6", "8:9", "9:9", "10:7", "11:13", "12:7"];
    expected.push(" 8 errors; nothing was run");
    assert_eq!(places[..8], expected[..8], "{}", done.err);
    assert!(
        done.err.ends_with("8 errors; nothing was run\n"),
        "{}",
        done.err
    );
}

#[test]
fn the_line_is_shown_without_control_characters_and_not_in_full_length() {
    let text = format!(
        "[[task]]\nid = \"a\"\nrun = [\"{}\", \"\u{9b}31m\", 3]\n",
        "x".repeat(5_000)
    );
    let done = Workbench::new().check(&text);
    assert!(
        done.err.contains("strings only, not an integer"),
        "{}",
        done.err
    );
    let longest = done
        .err
        .lines()
        .filter(|line| line.contains(" | "))
        .map(|line| line.chars().count())
        .max();
    assert!(longest < Some(200), "{longest:?}");
    assert!(!done.err.contains('\u{9b}'));
}

#[test]
fn wrong_usage_exits_with_2_and_help_with_0() {
    let wheel = |args: &[&str]| {
        let done = std::process::Command::new(env!("CARGO_BIN_EXE_wheel"))
            .args(args)
            .output()
            .unwrap();
        let text = [done.stdout, done.stderr].concat();
        (
            done.status.code(),
            String::from_utf8_lossy(&text).into_owned(),
        )
    };
    for args in [
        &["run"][..],
        &["walk"],
        &["run", "x.toml", "--for", "soon"],
        &["run", "x.toml", "--for", "10"],
        &["run", "x.toml", "--workers", "0"],
        &["run", "x.toml", "--workers", "many"],
        &["run", "x.toml", "--grace", "-1s"],
        &["run", "x.toml", "--no-such-flag"],
    ] {
        assert_eq!(wheel(args).0, Some(2), "{args:?}");
    }
    for args in [&["--help"][..], &["run", "--help"], &["-h"], &["run", "-h"]] {
        let (code, text) = wheel(args);
        assert_eq!(code, Some(0));
        for part in ["128 + n", "143 SIGTERM", "--fail-on-error"] {
            assert!(text.contains(part), "{args:?}: {part} is not in {text}");
        }
    }
    assert!(
        wheel(&["run", "--help"]).1.contains("[[task]]"),
        "the long help shows a task file"
    );
}
