//! Faults of a task file, shown the way a compiler shows them.
//!
//! ```text
//! error: unknown key `evry`
//!   --> shop.toml:12:1
//!    |
//! 12 | evry = "500ms"
//!    | ^^^^
//!    = help: did you mean `every`?
//! ```
//!
//! Faults are collected while the file is read and shown in the order of the file. The column
//! counts characters from 1. The line comes from a file that may hold anything, so control
//! characters are not passed on to the terminal.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

use wheel_sync::Arc;

/// Characters of a line that are shown; a longer one is cut around the place.
const SHOWN_CHARS_MAX: usize = 120;

/// Every fault of one file, with its text.
#[derive(Debug)]
pub(crate) struct Faults {
    path: PathBuf,
    text: Arc<str>,
    list: Vec<Fault>,
    /// Byte offsets at which lines start.
    lines: Vec<usize>,
}

/// One fault and how to put it right.
#[derive(Debug)]
pub(crate) struct Fault {
    span: Range<usize>,
    message: String,
    notes: Vec<(&'static str, String)>,
}

impl Fault {
    /// Adds what would be right.
    pub(crate) fn help(&mut self, help: impl Into<String>) -> &mut Fault {
        self.notes.push(("help", help.into()));
        self
    }

    /// Adds something to know.
    pub(crate) fn note(&mut self, note: impl Into<String>) -> &mut Fault {
        self.notes.push(("note", note.into()));
        self
    }
}

impl Faults {
    pub(crate) fn new(path: &Path, text: String) -> Faults {
        let starts = text.match_indices('\n').map(|(offset, _)| offset + 1);
        let lines = std::iter::once(0).chain(starts).collect();
        Faults {
            path: path.to_owned(),
            text: text.into(),
            list: Vec::new(),
            lines,
        }
    }

    /// The text of the file, shared.
    pub(crate) fn text(&self) -> Arc<str> {
        Arc::clone(&self.text)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Adds a fault at a range of bytes of the text.
    pub(crate) fn add(&mut self, span: Range<usize>, message: impl Into<String>) -> &mut Fault {
        self.list.push(Fault {
            span,
            message: message.into(),
            notes: Vec::new(),
        });
        let last = self.list.len() - 1;
        &mut self.list[last]
    }

    /// The line of a byte offset, counted from 1.
    pub(crate) fn line_of(&self, offset: usize) -> usize {
        self.lines.partition_point(|start| *start <= offset)
    }

    fn show(&self, fault: &Fault, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut offset = fault.span.start.min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        let line_number = self.line_of(offset);
        let start = self.lines[line_number - 1];
        let line = self.text[start..].lines().next().unwrap_or("");
        let column = self.text[start..offset]
            .chars()
            .count()
            .min(line.chars().count());
        let marked = self.text[offset..]
            .get(..fault.span.end.saturating_sub(offset))
            .unwrap_or("");
        let marked = marked.lines().next().unwrap_or("").chars().count().max(1);
        let shown = Shown::cut(line, column, marked);

        writeln!(f, "error: {}", fault.message)?;
        let number = line_number.to_string();
        let margin = " ".repeat(number.len());
        writeln!(
            f,
            "{margin}--> {}:{line_number}:{}",
            self.path.display(),
            column + 1
        )?;
        writeln!(f, "{margin} |")?;
        writeln!(f, "{number} | {}", shown.line)?;
        writeln!(
            f,
            "{margin} | {}{}",
            " ".repeat(shown.column),
            "^".repeat(shown.marked)
        )?;
        for (kind, note) in &fault.notes {
            writeln!(f, "{margin} = {kind}: {note}")?;
        }
        writeln!(f)
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut in_order: Vec<&Fault> = self.list.iter().collect();
        in_order.sort_by_key(|fault| fault.span.start);
        for fault in &in_order {
            self.show(fault, f)?;
        }
        match in_order.len() {
            1 => write!(f, "{}: 1 error; nothing was run", self.path.display()),
            many => write!(f, "{}: {many} errors; nothing was run", self.path.display()),
        }
    }
}

/// A line as it is shown, and where the mark goes under it.
struct Shown {
    line: String,
    column: usize,
    marked: usize,
}

impl Shown {
    fn cut(line: &str, column: usize, marked: usize) -> Shown {
        let harmless = |c: char| if c.is_control() { ' ' } else { c };
        let count = line.chars().count();
        if count <= SHOWN_CHARS_MAX {
            return Shown {
                line: line.chars().map(harmless).collect(),
                column,
                marked,
            };
        }
        let first = column
            .saturating_sub(SHOWN_CHARS_MAX / 2)
            .min(count - SHOWN_CHARS_MAX);
        let mut shown: String = line
            .chars()
            .skip(first)
            .take(SHOWN_CHARS_MAX)
            .map(harmless)
            .collect();
        let mut column = column - first;
        if first > 0 {
            shown.insert_str(0, "... ");
            column += 4;
        }
        if first + SHOWN_CHARS_MAX < count {
            shown.push_str(" ...");
        }
        let marked = marked
            .min(shown.chars().count().saturating_sub(column))
            .max(1);
        Shown {
            line: shown,
            column,
            marked,
        }
    }
}
