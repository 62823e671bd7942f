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

/// The line, cut to the width of the terminal.
pub(crate) fn line(standing: &Standing) -> String {
    let Standing {
        pending,
        running,
        counts,
        next,
        lateness,
    } = standing;
    let mut parts = vec![
        format!("pending {pending}"),
        format!("running {running}"),
        format!("done {}", counts.succeeded),
        format!("failed {}", counts.failed + counts.cut),
    ];
    if let Some((id, rest)) = next {
        parts.push(format!("next {id} in {}", rounded(*rest)));
    }
    if counts.runs > 0 {
        parts.push(format!(
            "late p50 {}, max {}",
            micros(lateness.p50),
            micros(lateness.max)
        ));
    }
    // A line that fills the last column would break; a terminal that does not tell its width has
    // the usual one.
    parts
        .join(" | ")
        .chars()
        .take(columns().unwrap_or(80).saturating_sub(1))
        .collect()
}

fn columns() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(io::stderr()).ok()?;
    (size.ws_col > 0).then_some(size.ws_col.into())
}

fn rounded(rest: Duration) -> String {
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
        let standing = Standing {
            pending: 3,
            running: 1,
            counts: Counts {
                runs: 14,
                succeeded: 12,
                failed: 1,
                cut: 0,
                early: 0,
            },
            next: Some(("beat".into(), Duration::from_millis(400))),
            lateness: LatenessUs {
                p50: 310,
                p99: 900,
                max: 1_200,
            },
        };
        let line = line(&standing);
        let whole = "pending 3 | running 1 | done 12 | failed 1 | next beat in 0.4s | late p50 310 us, max 1.2 ms";
        assert!(line.len() >= 20 && whole.starts_with(&line), "{line}");
    }
}
