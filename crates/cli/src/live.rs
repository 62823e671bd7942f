//! The live line: one line at the bottom of a terminal that says how things stand.
//!
//! ```text
//! pending 3 | running 1 | done 12 | failed 1 | next beat in 0.4s | late p50 310 us, max 1.2 ms
//! ```
//!
//! It goes to standard error, and only when that is a terminal that can wipe a line; never with
//! `--quiet` or `--json`.

use std::env;
use std::io::{self, IsTerminal};
use std::time::Duration;

use crate::record::{Counts, LatenessUs};
use crate::summary::micros;

/// How often it is drawn anew.
pub(crate) const DRAW_EVERY: Duration = Duration::from_millis(200);

/// How things stand.
#[derive(Debug, Clone)]
pub(crate) struct Standing {
    /// Tasks that will run again.
    pub(crate) pending: usize,
    /// Programs that run now.
    pub(crate) running: usize,
    pub(crate) counts: Counts,
    /// The task that is due next, and how long from now.
    pub(crate) next: Option<(String, Duration)>,
    pub(crate) lateness: LatenessUs,
}

/// Whether standard error is a terminal on which a line can be drawn over.
pub(crate) fn is_possible() -> bool {
    io::stderr().is_terminal() && env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// The line, as much of it as the terminal is wide.
pub(crate) fn line(standing: &Standing) -> String {
    // A line that fills the last column would break; a terminal that does not tell its width has
    // the usual one.
    fitted(standing, columns().unwrap_or(80).saturating_sub(1))
}

/// What does not fit is left out as a whole: half a number would be a wrong one.
pub(crate) fn fitted(standing: &Standing, width: usize) -> String {
    let Standing {
        pending,
        running,
        counts,
        next,
        lateness,
    } = standing;
    let counted = format!(
        "pending {pending} | running {running} | done {} | failed {}",
        counts.succeeded,
        counts.failed + counts.cut
    );
    let mut line: String = counted.chars().take(width).collect();
    let mut append = |part: String| {
        let fits = line.chars().count() + part.chars().count() <= width;
        if fits {
            line.push_str(&part);
        }
        fits
    };
    if let Some((id, rest)) = next {
        let rest = rounded(*rest);
        let _ = append(format!(" | next {id} in {rest}")) || append(format!(" | next in {rest}"));
    }
    if counts.runs > 0 {
        let max = micros(lateness.max);
        let _ = append(format!(" | late p50 {}, max {max}", micros(lateness.p50)))
            || append(format!(" | late max {max}"));
    }
    line
}

fn columns() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(io::stderr()).ok()?;
    (size.ws_col > 0).then_some(size.ws_col.into())
}

pub(crate) fn rounded(rest: Duration) -> String {
    match rest.as_secs() {
        0..60 => format!("{:.1}s", rest.as_secs_f64()),
        seconds @ 60..3_600 => format!("{}m{}s", seconds / 60, seconds % 60),
        seconds @ 3_600..86_400 => format!("{}h{}m", seconds / 3_600, seconds % 3_600 / 60),
        seconds => format!("{}d{}h", seconds / 86_400, seconds % 86_400 / 3_600),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_tells_all_of_it_within_the_width() {
        let mut standing = Standing {
            pending: 3,
            running: 1,
            counts: Counts {
                runs: 14,
                succeeded: 12,
                failed: 1,
                cut: 0,
                retried: 0,
                timed_out: 0,
                early: 0,
            },
            next: Some(("beat".into(), Duration::from_millis(400))),
            lateness: LatenessUs {
                p50: 310,
                p99: 900,
                max: 1_200,
            },
        };
        let whole = "pending 3 | running 1 | done 12 | failed 1 | next beat in 0.4s | late p50 310 us, max 1.2 ms";
        let counts = "pending 3 | running 1 | done 12 | failed 1";
        let lines = [
            (200, whole.to_owned()),
            (whole.len(), whole.to_owned()),
            (
                whole.len() - 1,
                format!("{counts} | next beat in 0.4s | late max 1.2 ms"),
            ),
            (79, format!("{counts} | next beat in 0.4s")),
            (60, format!("{counts} | next in 0.4s")),
            (45, counts.to_owned()),
            (9, "pending 3".to_owned()),
        ];
        for (width, expected) in lines {
            assert_eq!(fitted(&standing, width), expected, "{width} columns");
        }
        standing.next = Some(("a-name-that-is-far-too-long-for-it".into(), Duration::ZERO));
        assert_eq!(
            fitted(&standing, 79),
            format!("{counts} | next in 0.0s | late max 1.2 ms")
        );
    }
}
