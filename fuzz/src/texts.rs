//! What people write: task files and durations. Nothing they contain makes a parser panic, and what
//! it says about them is right.

use std::collections::BTreeSet;
use std::mem::discriminant;
use std::path::Path;
use std::time::Duration;

use wheel_cli::{Planned, duration, plan};

/// The task file: it is planned, or each of its faults has a place and says what would be right.
pub fn task_file(bytes: &[u8]) {
    match plan(Path::new("fuzz.toml"), bytes.to_vec()) {
        Ok(tasks) => judge_tasks(&tasks),
        Err(faults) => judge_faults(&faults, bytes),
    }
}

fn judge_tasks(tasks: &[Planned]) {
    assert!(!tasks.is_empty(), "a file without a task passed");
    let mut ids = BTreeSet::new();
    for task in tasks {
        let id = task.id.as_str();
        assert!(ids.insert(id), "two tasks are called {id:?}");
        assert!(!id.trim().is_empty(), "a task has the id {id:?}");
        assert!(!id.contains(char::is_control), "a task has the id {id:?}");
        assert!(
            task.program.is_absolute(),
            "{id:?} runs {:?}, wherever that is",
            task.program
        );
        judge_schedule(&task.schedule);
    }
}

/// A schedule is shown in the words of the file.
fn judge_schedule(schedule: &str) {
    let schedule = match schedule.strip_prefix("depends on ") {
        // Ids may have commas in them, a schedule that is for once has none.
        Some(rest) => match rest.rsplit_once(", ") {
            Some((_, "at once")) => return,
            Some((_, schedule)) => schedule,
            None => panic!("{schedule:?} does not say when"),
        },
        None => schedule,
    };
    let (kind, due) = schedule.split_once(' ').expect("a key and a value");
    let (due, count) = match (kind, due.split_once(" x")) {
        ("every" | "cron", Some((due, count))) => (due, Some(count)),
        _ => (due, None),
    };
    if let Some(count) = count {
        let runs = count.parse::<u64>();
        assert!(runs.is_ok_and(|runs| runs > 0), "{schedule:?}: how often?");
    }
    match kind {
        "at" => assert!(
            due.ends_with('Z'),
            "{schedule:?} is another instant in every time zone"
        ),
        "after" | "every" => {
            let (due, aligned) = due.split_once(" aligned").unwrap_or((due, ""));
            if let Some(zone) = aligned.strip_prefix(" in ") {
                let zone = zone.parse::<wheel_runtime::Zone>();
                zone.unwrap_or_else(|error| panic!("{schedule:?} is shown: {error}"));
            }
            let read = duration::parse(due);
            let read = read.unwrap_or_else(|error| panic!("{schedule:?} is shown: {error}"));
            assert!(
                kind == "after" || !read.is_zero(),
                "{schedule:?} is due without end"
            );
        }
        "cron" => {
            let (expression, zone) = due.rsplit_once(" in ").expect("an expression and a zone");
            let read = expression.parse::<wheel_runtime::Cron>();
            read.unwrap_or_else(|error| panic!("{schedule:?} is shown: {error}"));
            let zone = zone.parse::<wheel_runtime::Zone>();
            zone.unwrap_or_else(|error| panic!("{schedule:?} is shown: {error}"));
        }
        _ => panic!("{schedule:?} is no schedule"),
    }
}

/// Each fault as a compiler would show it:
///
/// ```text
/// error: unknown key `evry`
///  --> fuzz.toml:3:1
///   |
/// 3 | evry = "500ms"
///   | ^^^^
///   = help: did you mean `every`?
/// ```
fn judge_faults(faults: &str, bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let lines_in_file = text.split('\n').count();
    assert!(
        !faults.contains(|c: char| c.is_control() && c != '\n'),
        "what is shown would act on the terminal: {faults:?}"
    );
    let (shown, sum) = faults.rsplit_once("\n\n").expect("faults, then their sum");
    let shown: Vec<&str> = shown.split("\n\n").collect();
    let count = sum
        .strip_prefix("fuzz.toml: ")
        .expect("the sum names the file");
    let (count, _) = count.split_once(" error").expect("the sum counts errors");
    assert_eq!(count.parse(), Ok(shown.len()), "in {faults}");

    let mut last = (0, 0);
    for fault in shown {
        let mut lines = fault.split('\n');
        let message = lines.next().and_then(|line| line.strip_prefix("error: "));
        let message = message.unwrap_or_else(|| panic!("no message: {fault}"));
        assert!(!message.is_empty(), "an empty message: {fault}");
        let place = lines
            .next()
            .and_then(|line| line.trim_start().strip_prefix("--> fuzz.toml:"));
        let place = place.unwrap_or_else(|| panic!("no place: {fault}"));
        let (line, column) = place.split_once(':').expect("line and column");
        let numbers = line.parse::<usize>().ok().zip(column.parse::<usize>().ok());
        let (line, column) = numbers.unwrap_or_else(|| panic!("no numbers: {fault}"));
        assert!(
            (1..=lines_in_file).contains(&line),
            "line {line} of {lines_in_file}: {fault}"
        );
        let length = text
            .split('\n')
            .nth(line - 1)
            .map_or(0, |line| line.chars().count());
        assert!(
            (1..=length + 1).contains(&column),
            "column {column} of {length}: {fault}"
        );
        assert!(
            last <= (line, column),
            "not in the order of the file: {faults}"
        );
        last = (line, column);
        let quoted = format!("{line} | ");
        assert!(
            lines.any(|line| line.starts_with(&quoted)),
            "no line is shown: {fault}"
        );
        assert!(lines.any(|line| line.contains('^')), "no mark: {fault}");
        // What is wrong with TOML itself is said by what reads TOML, in its message.
        let is_right = |line: &str| line.contains(" = help: ") || line.contains(" = note: ");
        assert!(
            message.starts_with("not valid TOML: ") || lines.any(is_right),
            "it does not say what would be right: {fault}"
        );
    }
}

/// A unit larger than a nanosecond, and the next smaller one.
const UNITS: [(&str, &str); 6] = [
    ("d", "h"),
    ("h", "m"),
    ("m", "s"),
    ("s", "ms"),
    ("ms", "us"),
    ("us", "ns"),
];

/// The duration: it is read and what was read is written so that it is read again; a larger unit
/// means more; or there is one sentence that says why not.
pub fn duration(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    match duration::parse(text) {
        Err(error) => {
            let error = error.to_string();
            assert!(!error.is_empty(), "{text:?} is wrong without a reason");
        }
        Ok(read) => {
            let written = duration::format(read);
            assert_eq!(
                duration::parse(&written),
                Ok(read),
                "{text:?} was written as {written:?}"
            );
            assert_eq!(
                duration::parse(&format!("  {text}\t")),
                Ok(read),
                "blanks around {text:?} changed it"
            );
            judge_sum(text, read);
        }
    }
    judge_units(text);
}

/// A part of a nanosecond more makes it a nanosecond longer; a longest part more does not fit.
fn judge_sum(text: &str, read: Duration) {
    let ends_whole = text
        .trim_end()
        .ends_with(|c: char| c.is_alphabetic() && c != 's');
    if ends_whole && !text.contains('.') {
        let more = duration::parse(&format!("{text} 0.000000000000000001ns"));
        assert_eq!(
            more.ok(),
            read.checked_add(Duration::from_nanos(1)),
            "{text:?} and a part of a nanosecond"
        );
        let most = duration::parse(&format!("{text} {}ns", u128::MAX));
        let error = most.expect_err("it is longer than there is time");
        assert!(
            error.to_string().contains("longer than"),
            "{text:?}: {error}"
        );
    }
    if text.trim() != "0" {
        let digits = format!("{}{}", "9".repeat(40), text.trim_start());
        let error = duration::parse(&digits).expect_err("it is longer than there is time");
        assert!(
            error.to_string().contains("longer than"),
            "{digits:?}: {error}"
        );
    }
}

/// The number at the front of the text, with each unit.
fn judge_units(text: &str) {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.');
    let number = &text[..end.unwrap_or(text.len())];
    for (larger, smaller) in UNITS {
        let more = duration::parse(&format!("{number}{larger}"));
        let less = duration::parse(&format!("{number}{smaller}"));
        match (more, less) {
            (Ok(more), Ok(less)) => assert!(
                less < more || more <= Duration::from_nanos(1),
                "{number}{larger} is {more:?} and {number}{smaller} is {less:?}"
            ),
            (Ok(more), Err(error)) => {
                panic!("{number}{larger} is {more:?}, but {number}{smaller}: {error}")
            }
            // The larger one may be too long; what is wrong with the number is wrong with both.
            (Err(more), Err(less)) => assert_eq!(
                discriminant(&more),
                discriminant(&less),
                "{number:?}: {more}, {less}"
            ),
            (Err(error), Ok(_)) => assert!(
                error.to_string().contains("longer than"),
                "{number}{larger}: {error}"
            ),
        }
    }
}
