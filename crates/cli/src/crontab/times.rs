//! When an entry is due: five fields, or a word for them.

use wheel_runtime::Cron;

use super::field::FIELDS;
use crate::file::Faults;

/// When an entry is due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Times {
    /// Once, when cron is started.
    Start,
    Calendar(Box<Cron>),
}

const WORDS: [&str; 8] = [
    "@reboot",
    "@yearly",
    "@annually",
    "@monthly",
    "@weekly",
    "@daily",
    "@midnight",
    "@hourly",
];

/// The times at the front of a line, and the text behind them. `place` is where the line begins.
///
/// Adds all that is wrong with them; the text behind is also told then, if it can be.
pub(super) fn read<'l>(
    line: &'l str,
    place: usize,
    faults: &mut Faults,
) -> Option<(Option<Times>, &'l str)> {
    if line.starts_with('@') {
        return Some(word(line, place, faults));
    }
    if !line.starts_with(|c: char| c.is_ascii_digit() || c == '*') {
        let first = line.split(is_blank).next().unwrap_or_default();
        faults
            .add(
                place..place + first.len(),
                "this is neither a setting nor an entry nor a comment",
            )
            .help("an entry begins with minute, hour, day of month, month and day of week, a setting is NAME=value, a comment begins with #");
        return None;
    }
    let mut rest = line;
    let mut read = Vec::with_capacity(FIELDS.len());
    let mut right = true;
    for field in &FIELDS {
        if rest.is_empty() {
            let names: Vec<&str> = FIELDS[read.len()..]
                .iter()
                .map(|field| field.name)
                .collect();
            let end = place + line.trim_end().len();
            faults
                .add(
                    end..end,
                    format!("the line ends before {}", names.join(", ")),
                )
                .help("write minute, hour, day of month, month and day of week, then the command, such as 30 2 * * 1-5 /usr/bin/backup");
            return None;
        }
        let end = rest.find(is_blank).unwrap_or(rest.len());
        let start = place + (line.len() - rest.len());
        match field.read(&rest[..end]) {
            Ok(numbers) => read.push(numbers),
            Err(wrong) => {
                right = false;
                read.push(String::new());
                let at = start + wrong.at.start..start + wrong.at.end;
                faults.add(at, wrong.what).help(wrong.help);
            }
        }
        rest = rest[end..].trim_start_matches(is_blank);
    }
    let end = place + line[..line.len() - rest.len()].trim_end().len();
    let times = right
        .then(|| calendar(&read.join(" "), place..end, faults))
        .flatten();
    Some((times, rest))
}

fn word<'l>(line: &'l str, place: usize, faults: &mut Faults) -> (Option<Times>, &'l str) {
    let end = line.find(is_blank).unwrap_or(line.len());
    let (word, rest) = (&line[..end], line[end..].trim_start_matches(is_blank));
    if word == "@reboot" {
        return (Some(Times::Start), rest);
    }
    let at = place..place + end;
    if WORDS.contains(&word) {
        return (calendar(word, at, faults), rest);
    }
    let shown = word.escape_debug();
    let fault = faults.add(at, format!("cron does not know `{shown}`"));
    let lower = word.to_ascii_lowercase();
    match crate::file::nearest(&lower, &WORDS) {
        Some(meant) => fault.help(format!("did you mean {meant}?")),
        None if lower == "@every" => {
            fault.help("write a step, such as */5 * * * *; `every` of a task file takes any time")
        }
        None => fault.help("write five fields, such as 30 2 * * *"),
    };
    fault.note(format!("it knows {}", WORDS.join(", ")));
    (None, rest)
}

fn calendar(text: &str, at: std::ops::Range<usize>, faults: &mut Faults) -> Option<Times> {
    match text.parse::<Cron>() {
        Ok(cron) => Some(Times::Calendar(Box::new(cron))),
        Err(error) => {
            faults
                .add(at, error.to_string())
                .help("write times that some year has, or put a # in front of the line");
            None
        }
    }
}

pub(super) fn is_blank(c: char) -> bool {
    c == ' ' || c == '\t'
}
