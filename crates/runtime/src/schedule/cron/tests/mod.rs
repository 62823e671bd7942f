//! What an expression means, and when it is due.

mod count;
mod daylight;
mod dates;
mod refused;
mod scan;
mod words;

use std::time::SystemTime;

use jiff::Timestamp;

use super::{Cron, Zone};

fn at(text: &str) -> SystemTime {
    let at: Timestamp = text
        .parse()
        .unwrap_or_else(|error| panic!("{text}: {error}"));
    at.try_into().unwrap()
}

fn cron(text: &str) -> Cron {
    text.parse()
        .unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn zone(name: &str) -> Zone {
    name.parse().unwrap_or_else(|error| panic!("{error}"))
}

fn text(at: SystemTime) -> String {
    Timestamp::try_from(at).unwrap().to_string()
}

/// The first instants after `after`, as RFC 3339 has them.
fn next(expression: &str, name: &str, after: &str, count: usize) -> Vec<String> {
    let (cron, zone) = (cron(expression), zone(name));
    let next = cron.occurrences(at(after), &zone).take(count);
    next.map(text).collect()
}

/// The expression in the zone, and the instants after one that it must give.
#[track_caller]
fn gives(expression: &str, name: &str, after: &str, wanted: &[&str]) {
    let found = next(expression, name, after, wanted.len());
    assert_eq!(found, wanted, "`{expression}` in {name} after {after}");
}
