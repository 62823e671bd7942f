//! The end of `wheel run`: a table and the percentiles for people, or one line of JSON for
//! programs.

use std::fmt::{self, Write};
use std::path::Path;
use std::time::Duration;

use serde::Serialize;
use wheel_runtime::SkipReason;

use crate::record::{Counts, LatenessUs, Outcome, Record};
use crate::run::{Member, Place};
use crate::signals;

/// A longer table shows the tasks with something to tell, and counts the others.
const ROWS_MAX: usize = 40;
/// Names of pending tasks in the text.
const NAMES_MAX: usize = 10;
/// Columns of the table that are left out when they hold zeros only.
const CUT: usize = 5;
const SKIPPED: usize = 6;

/// Why `wheel run` ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cause {
    /// Nothing was pending any more.
    Idle,
    /// The time of `--for` was over.
    TimeOver,
    /// This signal came.
    Signal(i32),
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cause::Idle => write!(f, "nothing is pending any more"),
            Cause::TimeOver => write!(f, "the time of --for is over"),
            Cause::Signal(signal) => write!(f, "{}", signals::name(*signal)),
        }
    }
}

/// What the scheduler knew of a task at the end.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Left {
    /// Due runs that were skipped, because the last one was still going or several were missed
    /// together.
    pub(crate) skipped: u64,
    /// Why the last one was.
    pub(crate) last_skip: Option<SkipReason>,
    /// It would have run again.
    pub(crate) pending: bool,
}

/// All of a run, ready to be shown.
#[derive(Debug, Serialize)]
pub(crate) struct Summary {
    file: String,
    #[serde(skip)]
    cause: Cause,
    ended: &'static str,
    signal: Option<&'static str>,
    exit_code: u8,
    seconds: f64,
    tasks: usize,
    #[serde(flatten)]
    total: Counts,
    skipped: u64,
    pending: usize,
    lateness_us: LatenessUs,
    per_task: Vec<Row>,
}

#[derive(Debug, Serialize)]
struct Row {
    id: String,
    schedule: String,
    #[serde(flatten)]
    counts: Counts,
    skipped: u64,
    pending: bool,
    /// It is not in the file any more, or is another one there.
    removed: bool,
    lateness_max_us: u64,
    last: Option<String>,
    #[serde(skip)]
    went_wrong: bool,
}

impl Summary {
    pub(crate) fn new(
        file: &Path,
        record: &Record,
        left: &[(Member, Left)],
        cause: Cause,
        exit_code: u8,
        took: Duration,
    ) -> Summary {
        let tallies = record.tallies();
        let rows: Vec<Row> = left
            .iter()
            .map(|(member, left)| (member, left, &tallies[member.number()]))
            .filter(|(member, _, tally)| member.place == Place::InFile || tally.counts.runs > 0)
            .map(|(member, left, tally)| Row {
                id: member.task().id.clone(),
                schedule: member.task().due(),
                removed: member.place == Place::Gone,
                counts: tally.counts,
                skipped: left.skipped,
                pending: left.pending,
                lateness_max_us: tally
                    .late_max
                    .as_nanos()
                    .div_ceil(1_000)
                    .try_into()
                    .unwrap_or(u64::MAX),
                went_wrong: tally.counts.failed + tally.counts.cut > 0,
                last: match tally.last.clone() {
                    Some(Outcome::Succeeded) => Some("ok".to_owned()),
                    Some(Outcome::Failed(reason) | Outcome::Cut(reason)) => Some(reason),
                    None => left.last_skip.and_then(never_ran).map(str::to_owned),
                },
            })
            .collect();
        Summary {
            file: file.display().to_string(),
            cause,
            ended: match cause {
                Cause::Idle => "idle",
                Cause::TimeOver => "for",
                Cause::Signal(_) => "signal",
            },
            signal: match cause {
                Cause::Signal(signal) => Some(signals::name(signal)),
                Cause::Idle | Cause::TimeOver => None,
            },
            exit_code,
            seconds: (took.as_secs_f64() * 1_000.0).round() / 1_000.0,
            tasks: rows.iter().filter(|row| !row.removed).count(),
            total: record.total(),
            skipped: rows.iter().map(|row| row.skipped).sum(),
            pending: rows.iter().filter(|row| row.pending).count(),
            lateness_us: record.lateness(),
            per_task: rows,
        }
    }

    /// One line.
    pub(crate) fn to_json(&self) -> String {
        let mut line = serde_json::to_string(self).expect("strings and numbers only");
        line.push('\n');
        line
    }

    /// The table, what is left, and the percentiles.
    pub(crate) fn to_text(&self) -> String {
        let mut text = String::from("\n");
        self.table(&mut text);
        let Counts {
            runs,
            succeeded,
            failed,
            cut,
            retried,
            timed_out,
            early,
        } = self.total;
        let mut more = String::new();
        for (count, what) in [(retried, "retried"), (timed_out, "timed out")] {
            if count > 0 {
                let _ = write!(more, ", {count} {what}");
            }
        }
        let why = match self.cause {
            Cause::Idle | Cause::TimeOver => self.cause.to_string(),
            Cause::Signal(_) => format!("by {}", self.cause),
        };
        let LatenessUs { p50, p99, max } = self.lateness_us;
        let lines = [
            format!("ended after {:.1} s: {why}", self.seconds),
            format!(
                "{}, {}: {succeeded} succeeded, {failed} failed, {cut} cut; {} skipped, {early} early{more}",
                counted(self.tasks as u64, "task"),
                counted(runs, "run"),
                self.skipped
            ),
            format!(
                "lateness: p50 {}, p99 {}, max {}",
                micros(p50),
                micros(p99),
                micros(max)
            ),
        ];
        text.push('\n');
        for line in lines {
            text.push_str(&line);
            text.push('\n');
        }
        self.pending(&mut text);
        text
    }

    fn table(&self, text: &mut String) {
        let all = self.per_task.len() <= ROWS_MAX;
        let wrong = self.per_task.iter().filter(|row| all || row.went_wrong);
        let shown: Vec<&Row> = wrong.take(ROWS_MAX).collect();
        if shown.is_empty() {
            let _ = writeln!(
                text,
                "{} without failures (--json lists them)",
                counted(self.tasks as u64, "task")
            );
            return;
        }
        let heads = [
            "task", "due", "runs", "ok", "failed", "cut", "skipped", "max late", "last run",
        ];
        let mut lines = vec![heads.map(str::to_owned)];
        lines.extend(shown.iter().map(|row| row.cells()));
        let widths = [0, 1, 2, 3, 4, 5, 6, 7, 8].map(|column| {
            let cells = lines.iter().map(|line| line[column].chars().count());
            cells.max().unwrap_or(0)
        });
        for line in &lines {
            let mut written = String::new();
            for (column, (cell, width)) in line.iter().zip(widths).enumerate() {
                // Words to the left, numbers to the right. Writing to a String cannot fail.
                let _ = match column {
                    // A column without a number above zero would only make the table wider than a
                    // terminal.
                    CUT if shown.iter().all(|row| row.counts.cut == 0) => continue,
                    SKIPPED if shown.iter().all(|row| row.skipped == 0) => continue,
                    0 | 1 | 8 => write!(written, "{cell:<width$}  "),
                    _ => write!(written, "{cell:>width$}  "),
                };
            }
            text.push_str(written.trim_end());
            text.push('\n');
        }
        if shown.len() < self.per_task.len() {
            let rest = self.per_task.len() - shown.len();
            let _ = writeln!(text, "... and {rest} more (--json lists all)");
        }
    }

    fn pending(&self, text: &mut String) {
        let pending: Vec<&Row> = self.per_task.iter().filter(|row| row.pending).collect();
        if pending.is_empty() {
            return;
        }
        let names: Vec<&str> = pending
            .iter()
            .take(NAMES_MAX)
            .map(|row| row.id.as_str())
            .collect();
        let _ = write!(text, "still pending: {}", names.join(", "));
        let more = pending.len() - names.len();
        let _ = if more > 0 {
            writeln!(text, " and {more} more")
        } else {
            writeln!(text)
        };
    }
}

impl Row {
    fn cells(&self) -> [String; 9] {
        let Counts {
            runs,
            succeeded,
            failed,
            cut,
            ..
        } = self.counts;
        let (late, last) = match &self.last {
            Some(last) if runs == 0 => ("-".to_owned(), last.clone()),
            Some(last) => (micros(self.lateness_max_us), last.clone()),
            None => ("-".to_owned(), "-".to_owned()),
        };
        let [runs, succeeded, failed, cut, skipped] =
            [runs, succeeded, failed, cut, self.skipped].map(|count| count.to_string());
        let gone = if self.removed { " (gone)" } else { "" };
        [
            format!("{}{gone}", self.id),
            self.schedule.clone(),
            runs,
            succeeded,
            failed,
            cut,
            skipped,
            late,
            last,
        ]
    }
}

/// Why a task has no run at all.
fn never_ran(reason: SkipReason) -> Option<&'static str> {
    match reason {
        SkipReason::Upstream => Some("skipped: what it depends on has ended otherwise"),
        SkipReason::Misfire => Some("skipped: too late"),
        _ => None,
    }
}

/// A lateness as people read it, with its unit.
pub(crate) fn micros(us: u64) -> String {
    match us {
        0..1_000 => format!("{us} us"),
        1_000..1_000_000 => format!("{:.1} ms", us as f64 / 1_000.0),
        _ => format!("{:.1} s", us as f64 / 1_000_000.0),
    }
}

pub(crate) fn counted(count: u64, thing: &str) -> String {
    if count == 1 {
        format!("1 {thing}")
    } else {
        format!("{count} {thing}s")
    }
}
