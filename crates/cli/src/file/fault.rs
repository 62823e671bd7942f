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
//! counts characters from 1. What is shown of the file may hold anything, so what would act on the
//! terminal is not passed on: a space stands for it in the line, and its escape in messages. A line
//! of many megabytes with thousands of faults is gone through once.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

use wheel_sync::Arc;

/// Characters of a line that are shown; a longer one is cut around the place.
const SHOWN_CHARS_MAX: usize = 120;
/// A longer list of words is broken into lines of about this size.
const LIST_CHARS_MAX: usize = 160;

/// The end of what is said of a file with faults.
pub(crate) const NOTHING_WAS_RUN: &str = "; nothing was run";

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

    fn show(&self, fault: &Fault, at: Place, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = self
            .lines
            .get(at.number)
            .map_or(self.text.len(), |next| next - 1);
        let line = self.text[at.start..end].trim_end_matches('\r');
        let offset = at.offset.min(at.start + line.len());
        let marked = self.text[offset..].get(..fault.span.end.saturating_sub(offset));
        let shown = Shown::cut(line, offset - at.start, marked.unwrap_or(""));

        writeln!(f, "error: {}", harmless(&fault.message))?;
        let number = at.number.to_string();
        let margin = " ".repeat(number.len());
        let path = self.path.display().to_string();
        writeln!(
            f,
            "{margin}--> {}:{number}:{}",
            harmless(&path),
            at.column + 1
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
            let mut lead = format!("{margin} = {kind}: ");
            for line in broken(&harmless(note)) {
                writeln!(f, "{lead}{line}")?;
                lead = " ".repeat(lead.len());
            }
        }
        writeln!(f)
    }

    /// Where a fault is, found from where the one before it was: counting goes on from there in the
    /// same line.
    fn place(&self, fault: &Fault, before: Place) -> Place {
        let mut offset = fault.span.start.min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        let number = self.line_of(offset);
        let start = self.lines[number - 1];
        let (from, counted) = if before.number == number && before.offset <= offset {
            (before.offset, before.column)
        } else {
            (start, 0)
        };
        // The end of a line is one place, whatever it is made of.
        let passed = self.text[from..offset].trim_end_matches('\r');
        Place {
            number,
            start,
            offset,
            column: counted + passed.chars().count(),
        }
    }
}

/// The place of a fault in the text.
#[derive(Clone, Copy, Default)]
struct Place {
    /// Of the line, from 1.
    number: usize,
    /// The byte at which the line starts.
    start: usize,
    /// The byte of the fault.
    offset: usize,
    /// The characters in front of it.
    column: usize,
}

/// The lines of a text, broken behind the comma of a list where it is too long for one.
fn broken(text: &str) -> Vec<&str> {
    let mut lines = Vec::new();
    let mut rest = text;
    while let Some((most, _)) = rest.char_indices().nth(LIST_CHARS_MAX)
        && let Some(comma) = rest[..most].rfind(", ")
    {
        lines.push(&rest[..=comma]);
        rest = &rest[comma + 2..];
    }
    lines.push(rest);
    lines
}

/// Whether a character would do something to a terminal, or to the order of those around it,
/// instead of being shown.
pub(crate) fn is_harmful(c: char) -> bool {
    // Marks and overrides of the direction of writing, and the separators of lines and paragraphs.
    let directs =
        matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    c.is_control() || directs
}

/// The text with escapes in place of what would not be shown.
fn harmless(text: &str) -> Cow<'_, str> {
    if !text.contains(is_harmful) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if is_harmful(c) {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut in_order: Vec<&Fault> = self.list.iter().collect();
        in_order.sort_by_key(|fault| fault.span.start);
        let mut at = Place::default();
        for fault in &in_order {
            at = self.place(fault, at);
            self.show(fault, at, f)?;
        }
        let path = self.path.display().to_string();
        match in_order.len() {
            1 => write!(f, "{}: 1 error{NOTHING_WAS_RUN}", harmless(&path)),
            many => write!(f, "{}: {many} errors{NOTHING_WAS_RUN}", harmless(&path)),
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
    /// The part of `line` around the byte `at`, with `marked` marked there. Looks at no more of the
    /// line than it shows.
    fn cut(line: &str, at: usize, marked: &str) -> Shown {
        let (in_front, behind) = line.split_at(at);
        let behind_count = behind.chars().take(SHOWN_CHARS_MAX).count();
        // Half of what is shown stands in front; more where little comes behind.
        let wanted = (SHOWN_CHARS_MAX / 2).max(SHOWN_CHARS_MAX - behind_count);
        let first = in_front.char_indices().rev().take(wanted).last();
        let first = first.map_or(at, |(index, _)| index);
        let shown_in_front = in_front[first..].chars().count();
        let room = SHOWN_CHARS_MAX - shown_in_front;
        let end = behind.char_indices().nth(room);
        let end = end.map_or(line.len(), |(index, _)| at + index);

        let space = |c: char| if is_harmful(c) { ' ' } else { c };
        let mut shown: String = line[first..end].chars().map(space).collect();
        let mut column = shown_in_front;
        if first > 0 {
            shown.insert_str(0, "... ");
            column += 4;
        }
        if end < line.len() {
            shown.push_str(" ...");
        }
        let marked = marked.lines().next().unwrap_or("").chars();
        Shown {
            line: shown,
            column,
            marked: marked.take(room.min(behind_count)).count().max(1),
        }
    }
}
