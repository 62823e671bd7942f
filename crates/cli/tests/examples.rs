//! The task files of the examples are right, and show what they say.

mod workbench;

use std::path::{Path, PathBuf};
use std::process::Command;

use workbench::Done;

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

fn wheel(args: &[&str]) -> Done {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wheel"));
    Done::from(command.args(args).output().unwrap())
}

#[test]
fn every_example_is_without_a_fault() {
    let files = std::fs::read_dir(examples()).unwrap();
    let files = files.map(|file| file.unwrap().path());
    let files: Vec<PathBuf> = files
        .filter(|path| path.extension() == Some("toml".as_ref()))
        .collect();
    assert!(files.len() >= 3, "{files:?}");
    for file in files {
        let done = wheel(&["check", file.to_str().unwrap()]);
        assert_eq!(done.code, Some(0), "{done:?}");
    }
}

#[test]
fn the_crontab_is_without_a_fault_and_runs_what_is_due_at_the_start() {
    let file = examples().join("shop.crontab");
    let file = file.to_str().unwrap();
    let done = wheel(&["check", "--crontab", file]);
    assert_eq!(done.code, Some(0), "{done:?}");
    let done = wheel(&["run", "--crontab", file, "--for", "2s", "--json"]);
    let json = done.json();
    for task in 0..2 {
        assert_eq!(json["per_task"][task]["succeeded"], 1, "{done:?}");
    }
    assert_eq!(json["failed"], 0, "{done:?}");
    assert_eq!(
        done.lines_of("cat"),
        ["The shop is open:", "100% of it."],
        "{done:?}"
    );
}

/// Each key of the table in the README stands in one of the examples, so that there is a place to
/// copy it from; and each key that a task knows is in that table.
#[test]
fn every_key_is_in_the_readme_and_in_an_example() {
    let readme = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md"));
    let readme = readme.unwrap();
    let all: String = ["shop.toml", "nightly.toml", "pipeline.toml"]
        .map(|name| std::fs::read_to_string(examples().join(name)).unwrap())
        .concat();
    let unknown = workbench::Workbench::new()
        .check("[[task]]\ncolour = 1\n")
        .err;
    let (_, known) = unknown.split_once("a task knows ").unwrap();
    let (known, _) = known.split_once("\nerror").unwrap_or((known, ""));
    let keys: Vec<&str> = known
        .split(',')
        .map(str::trim)
        .map(|key| key.split_whitespace().next().unwrap())
        .collect();
    assert!(keys.len() > 20 && keys.contains(&"output"), "{keys:?}");
    for key in keys {
        assert!(
            readme.contains(&format!("| `{key}` |")),
            "{key} is not in the README"
        );
        let is_shown = all
            .lines()
            .any(|line| line.starts_with(&format!("{key} = ")));
        let in_readme = ["at", "not_before", "dir", "output"].contains(&key);
        assert!(is_shown || in_readme, "{key} is not in an example");
    }
}

#[test]
fn the_pipeline_does_what_its_comments_say() {
    let text = std::fs::read_to_string(examples().join("pipeline.toml")).unwrap();
    // The last one goes by the calendar and would keep it from being idle.
    let (text, last) = text.split_once("# One that nobody needs").unwrap();
    assert_eq!(last.matches("[[task]]").count(), 1);
    let done = workbench::Workbench::new().start(text, &["--json"]).end();
    let json = done.json();
    let row = |id: &str| {
        let rows = json["per_task"].as_array().unwrap();
        rows.iter().find(|row| row["id"] == id).unwrap().clone()
    };
    assert_eq!(json["early"], 0, "{json}");
    for (id, key, value) in [
        ("import-orders", "succeeded", 1),
        ("import-stock", "succeeded", 1),
        ("report", "succeeded", 1),
        ("alarm", "skipped", 1),
        ("alarm", "runs", 0),
        ("clean-up", "succeeded", 1),
        ("slow-mirror", "timed_out", 1),
        ("refresh", "succeeded", 4),
        ("meter", "succeeded", 6),
        ("sync-customers", "succeeded", 5),
        ("sync-prices", "succeeded", 5),
        ("forecast", "cut", 2),
        ("forecast", "succeeded", 1),
    ] {
        assert_eq!(row(id)[key], value, "{key} of {id}: {json}");
    }
}
