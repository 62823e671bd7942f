//! The tasks: who runs, and who is next.

use std::cmp::Reverse;
use std::time::Duration;

use ratatui::Frame;
use ratatui::layout::{Constraint, Rect};
use ratatui::style::{Color, Style, Stylize};
use ratatui::text::Line;
use ratatui::widgets::{Block, Cell, Row as TableRow, Table};
use wheel_runtime::TaskState;

use super::{BAD, GOOD};
use crate::live::rounded;
use crate::record::{Outcome, Tally};
use crate::summary::micros;

/// One task.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) id: String,
    pub(crate) state: TaskState,
    pub(crate) next_in: Option<Duration>,
    pub(crate) tally: Tally,
}

/// What is said of each task, and how much room that takes.
const COLUMNS: [(&str, u16); 7] = [
    ("task", 12),
    ("state", 9),
    ("next in", 7),
    ("runs", 6),
    ("failed", 6),
    ("late max", 8),
    ("last", 13),
];

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, rows: &[Row]) {
    let block = Block::bordered();
    // One line is the head.
    let room = usize::from(block.inner(area).height).saturating_sub(1);
    let shown = first(rows, room);
    let hidden = rows.len() - shown.len();
    let more = match hidden {
        0 => String::new(),
        hidden => format!(", {hidden} not shown"),
    };
    let title = vec![" tasks ".bold(), format!("{}{more} ", rows.len()).into()];
    // What there is no room for is left out from the right.
    let room = usize::from(block.inner(area).width);
    let columns = (1..=COLUMNS.len()).rev().find(|&columns| {
        let widths = COLUMNS[..columns].iter().map(|(_, width)| width + 1);
        usize::from(widths.sum::<u16>()) <= room
    });
    let columns = &COLUMNS[..columns.unwrap_or(1)];
    let widths = columns.iter().map(|(name, width)| match *name {
        "task" => Constraint::Min(*width),
        _ => Constraint::Length(*width),
    });
    let head = columns.iter().map(|(name, _)| *name);
    let lines = shown.iter().map(|row| {
        let cells = line(row).into_iter().take(columns.len());
        TableRow::new(cells)
    });
    let table = Table::new(lines, widths)
        .header(TableRow::new(head).style(Style::new().dim()))
        .block(block.title(Line::from(title)));
    frame.render_widget(table, area);
}

/// Those there is room for: first who runs, then who is due next.
fn first(rows: &[Row], room: usize) -> Vec<&Row> {
    let mut rows: Vec<&Row> = rows.iter().collect();
    let rank = |row: &&Row| {
        let runs = row.state == TaskState::Running;
        (Reverse(runs), row.next_in.unwrap_or(Duration::MAX))
    };
    rows.sort_by_key(rank);
    rows.truncate(room);
    rows
}

fn line(row: &Row) -> [Cell<'_>; COLUMNS.len()] {
    let Tally {
        counts,
        late_max,
        last,
    } = &row.tally;
    let failed = Cell::from(counts.failed.to_string());
    [
        Cell::from(row.id.as_str()).bold(),
        Cell::from(row.state.to_string()).style(color(row.state)),
        Cell::from(row.next_in.map(rounded).unwrap_or_default()),
        Cell::from(counts.runs.to_string()),
        if counts.failed > 0 {
            failed.style(BAD)
        } else {
            failed
        },
        Cell::from(match counts.runs {
            0 => String::new(),
            _ => micros(u64::try_from(late_max.as_micros()).unwrap_or(u64::MAX)),
        }),
        match last {
            None => Cell::from(""),
            Some(Outcome::Succeeded) => Cell::from("succeeded"),
            Some(Outcome::Failed(why) | Outcome::Cut(why)) => Cell::from(why.as_str()).style(BAD),
        },
    ]
}

fn color(state: TaskState) -> Color {
    match state {
        TaskState::Running => GOOD,
        TaskState::Failed | TaskState::Dead | TaskState::TimedOut => BAD,
        _ => Color::Reset,
    }
}
