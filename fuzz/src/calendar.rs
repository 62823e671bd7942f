//! Cron expressions, in a zone, from an instant on: nothing that they contain makes the parser or
//! the search panic or hang, and instants come in order, each once.

use std::time::{Duration, SystemTime};

use wheel_runtime::{Cron, Zone};

/// Instants of one expression that are looked at.
const INSTANTS: usize = 20;

/// Three lines: an expression, the name of a zone, and seconds since 1970. Lines that are missing or
/// wrong stand for UTC and for 1970.
pub fn cron(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let mut lines = text.split('\n');
    let expression = lines.next().unwrap_or_default();
    let zone = lines.next().map_or(Zone::UTC, |name| {
        name.parse()
            .unwrap_or_else(|error: wheel_runtime::ZoneError| {
                judge_message(&error.to_string());
                Zone::UTC
            })
    });
    let seconds = lines.next().and_then(|line| line.trim().parse().ok());
    match expression.parse::<Cron>() {
        Ok(cron) => judge(&cron, &zone, instant(seconds.unwrap_or(0))),
        Err(error) => judge_message(&error.to_string()),
    }
}

fn judge_message(message: &str) {
    assert!(!message.is_empty(), "wrong without a reason");
    assert!(message.len() < 1_000, "too long to read: {message}");
    assert!(!message.contains(char::is_control), "{message:?}");
}

fn judge(cron: &Cron, zone: &Zone, from: SystemTime) {
    let shown = cron.to_string();
    let read = shown.parse::<Cron>();
    assert_eq!(read.as_ref(), Ok(cron), "shown as {shown:?}");
    let words = cron.describe();
    assert!(!words.is_empty() && words.len() < 6_000, "{words}");

    let second = Duration::from_secs(1);
    let mut last = from;
    for at in cron.occurrences(from, zone).take(INSTANTS) {
        assert!(at > last, "{cron} in {zone}: {at:?} after {last:?}");
        // Wherever one asks before it, the answer is the same.
        for after in [at - Duration::from_nanos(1), at - second, middle(last, at)] {
            if after >= last && cron.period().is_none() {
                let next = cron.next_after(after, zone);
                assert_eq!(next, Some(at), "{cron} in {zone} after {after:?}");
            }
        }
        last = at;
    }
}

fn middle(from: SystemTime, to: SystemTime) -> SystemTime {
    from + to.duration_since(from).unwrap_or_default() / 2
}

/// Within the years that the calendar has, and some more.
fn instant(seconds: i64) -> SystemTime {
    let since = Duration::from_secs(seconds.unsigned_abs() % (1 << 39));
    if seconds < 0 {
        SystemTime::UNIX_EPOCH - since
    } else {
        SystemTime::UNIX_EPOCH + since
    }
}
