//! `wheel cron explain`: what it prints, and its exit codes. What it says of changes of the clocks is
//! tested beside it.

mod workbench;

use std::process::Command;

use workbench::Done;

fn explain(args: &[&str]) -> Done {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wheel"));
    Done::from(
        command
            .args(["cron", "explain"])
            .args(args)
            .output()
            .unwrap(),
    )
}

#[test]
fn the_example_of_the_readme_is_what_is_printed() {
    let readme = include_str!("../README.md");
    let (_, example) = readme.split_once("```\nwheel cron explain ").unwrap();
    let (example, _) = example.split_once("```").unwrap();
    let (command, printed) = example.split_once('\n').unwrap();
    let (_, rest) = command.split_once('"').unwrap();
    let (expression, options) = rest.split_once('"').unwrap();
    let args: Vec<&str> = [expression]
        .into_iter()
        .chain(options.split_whitespace())
        .collect();
    let done = explain(&args);
    assert_eq!(
        (done.code, done.out.as_str()),
        (Some(0), printed),
        "{done:?}"
    );
}

#[test]
fn each_end_has_an_exit_code() {
    assert_eq!(explain(&["@daily"]).code, Some(0));
    let done = explain(&["0 0 0 1 1 * 2020", "--from", "2021-01-01T00:00:00Z"]);
    assert_eq!((done.code, done.out.as_str()), (Some(1), ""), "{done:?}");
    assert!(
        done.err
            .contains("names no instant after 2021-01-01T00:00:00Z in UTC"),
        "{done:?}"
    );
    let done = explain(&["0 25 * * *"]);
    assert_eq!(done.code, Some(2), "{done:?}");
    assert!(done.err.contains("hour: `25` is out of range"), "{done:?}");
}
