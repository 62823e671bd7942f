//! A timeline as lines for people, or as one line of JSON for programs.

use std::io::{self, Write};
use std::path::Path;
use std::time::SystemTime;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;
use wheel_runtime::Zone;

use super::due::{Counted, Kind, Row, Timeline};
use crate::explain::clocks;
use crate::summary::counted;

/// As RFC 3339 has it, with as many digits of a second as there are.
const SHOWN: &str = "%Y-%m-%dT%H:%M:%S%.f%:z";

/// How it is shown.
pub(super) struct Shown {
    file: String,
    zone: Zone,
    clocks: TimeZone,
}

#[derive(Serialize)]
struct Json<'t> {
    file: &'t str,
    from: String,
    until: String,
    timezone: &'t str,
    tasks: Vec<JsonRow<'t>>,
    due: Vec<JsonDue<'t>>,
}

#[derive(Serialize)]
struct JsonRow<'t> {
    id: &'t str,
    schedule: &'t str,
    times: usize,
    /// There may be more.
    at_least: bool,
    busy: bool,
    first: Option<String>,
    last: Option<String>,
    next: Option<String>,
}

#[derive(Serialize)]
struct JsonDue<'t> {
    at: String,
    id: &'t str,
}

impl Shown {
    /// With the instants as a clock in `zone` shows them.
    pub(super) fn new(file: &Path, zone: &Zone) -> Shown {
        Shown {
            file: file.display().to_string(),
            zone: zone.clone(),
            clocks: clocks(zone),
        }
    }

    pub(super) fn text(&self, timeline: &Timeline, out: &mut impl Write) -> io::Result<()> {
        let Timeline { span, rows, due } = timeline;
        let times: usize = rows.iter().map(|row| row.times).sum();
        let all = rows.iter().all(|row| row.counted == Counted::All);
        writeln!(
            out,
            "{} to {} in {}: {}, {}{} due",
            self.at(span.start),
            self.at(span.end),
            self.zone,
            counted(rows.len() as u64, "task"),
            if all { "" } else { "at least " },
            counted(times as u64, "time"),
        )?;
        let listed = due.iter().map(|(at, number)| {
            let row = &rows[*number];
            [self.at(*at), row.id.clone(), row.schedule.clone()]
        });
        table("", listed.collect(), out)?;
        let busy = rows.iter().filter(|row| row.kind == Kind::Busy);
        table("busy", busy.map(|row| self.busy(row)).collect(), out)?;
        let later = rows
            .iter()
            .filter(|row| row.kind == Kind::Listed && row.times == 0);
        let later = later.map(|row| {
            let next = row.next.map_or("no more".to_owned(), |next| self.at(next));
            [row.id.clone(), next, row.schedule.clone()]
        });
        table("later", later.collect(), out)?;
        let others = rows.iter().filter(|row| row.kind == Kind::AfterOthers);
        let others = others.map(|row| [row.id.clone(), row.schedule.clone(), String::new()]);
        table("not by the clock", others.collect(), out)
    }

    /// One line.
    pub(super) fn json(&self, timeline: &Timeline, out: &mut impl Write) -> io::Result<()> {
        let Timeline { span, rows, due } = timeline;
        let row = |row: &'_ Row| [row.first, row.last, row.next].map(|at| at.map(|at| self.at(at)));
        let tasks = rows.iter().map(|task| {
            let [first, last, next] = row(task);
            JsonRow {
                id: &task.id,
                schedule: &task.schedule,
                times: task.times,
                at_least: task.counted == Counted::AtLeast,
                busy: task.kind == Kind::Busy,
                first,
                last,
                next,
            }
        });
        let due = due.iter().map(|(at, number)| JsonDue {
            at: self.at(*at),
            id: &rows[*number].id,
        });
        let json = Json {
            file: &self.file,
            from: self.at(span.start),
            until: self.at(span.end),
            timezone: self.zone.name(),
            tasks: tasks.collect(),
            due: due.collect(),
        };
        serde_json::to_writer(&mut *out, &json)?;
        writeln!(out)
    }

    fn busy(&self, row: &Row) -> [String; 3] {
        let more = match row.counted {
            Counted::All => "",
            Counted::AtLeast => "more than ",
        };
        let [first, last] =
            [row.first, row.last].map(|at| at.map_or(String::new(), |at| self.at(at)));
        let end = match row.counted {
            Counted::All => format!("{first} to {last}"),
            Counted::AtLeast => format!("from {first} on"),
        };
        let times = format!("{more}{} times, {end}", row.times);
        [row.id.clone(), times, row.schedule.clone()]
    }

    fn at(&self, at: SystemTime) -> String {
        match Timestamp::try_from(at) {
            Ok(at) => at
                .to_zoned_datetime(self.clocks.clone())
                .strftime(SHOWN)
                .to_string(),
            Err(_) => "out of range".to_owned(),
        }
    }
}

/// Rows under a head, which stand below each other; nothing if there are none.
fn table(head: &str, rows: Vec<[String; 3]>, out: &mut impl Write) -> io::Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    let indent = if head.is_empty() { "" } else { "  " };
    if !head.is_empty() {
        writeln!(out, "{head}")?;
    }
    let widths = [0, 1].map(|column| {
        let cells = rows
            .iter()
            .map(|row: &[String; 3]| row[column].chars().count());
        cells.max().unwrap_or(0)
    });
    for [first, second, third] in &rows {
        let line = format!(
            "{indent}{first:a$}  {second:b$}  {third}",
            a = widths[0],
            b = widths[1]
        );
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}
