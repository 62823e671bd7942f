//! The task file: what it says, checked completely before anything runs.
//!
//! A file is read in two passes that go through all of it, so that a user sees every fault at once:
//! TOML itself (`toml` keeps going after an error), then the meaning. A [`TaskFile`] that exists
//! has no known fault: its programs were found, its folders exist, its ids are unique.
//!
//! ```text
//! text -> toml, with the place of every value -> tables.rs: one Task per [[task]] -> TaskFile
//!      due.rs, calendar.rs, upstream.rs     when it is due  -|
//!      retry.rs, policies.rs, limits.rs     how it is run   -|
//!      process.rs, program.rs               what is run     -|
//!                                                            '-> fault.rs: where, what would be right
//! ```

mod change;
mod schedule;

mod tables;

mod calendar;
mod due;
mod upstream;

mod limits;
mod policies;
mod retry;

mod process;
mod program;

mod choice;
mod keys;
mod values;
mod words;

mod fault;

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fmt, fs, io};

use wheel_runtime::{Jitter, Misfire, Overlap, Priority};
use wheel_sync::Arc;

pub(crate) use calendar::instant;
pub(crate) use change::Difference;
pub(crate) use fault::{Faults, NOTHING_WAS_RUN, is_harmful};
pub(crate) use keys::nearest;
pub(crate) use limits::{Concurrency, Rate};
pub(crate) use program::{Finder, Program};
pub(crate) use retry::{Backoff, Retry};
pub(crate) use schedule::{Floor, Kind, Schedule};
pub(crate) use upstream::Upstream;

/// All tasks of a file, in its order.
#[derive(Debug)]
pub(crate) struct TaskFile {
    pub(crate) path: PathBuf,
    pub(crate) tasks: Vec<Task>,
    /// By number, so that each comes after those that it depends on.
    pub(crate) order: Vec<usize>,
}

/// One `[[task]]` table.
#[derive(Debug)]
pub(crate) struct Task {
    pub(crate) id: String,
    pub(crate) schedule: Schedule,
    /// Those that come before it.
    pub(crate) upstream: Vec<Upstream>,
    pub(crate) program: Program,
    /// `None`: a program that fails is not started again.
    pub(crate) retry: Option<Retry>,
    /// What is not said is left to the runtime; the same for the others.
    pub(crate) misfire: Option<Misfire>,
    pub(crate) overlap: Option<Overlap>,
    pub(crate) jitter: Option<Jitter>,
    pub(crate) priority: Option<Priority>,
    /// Of each attempt, from the start of its program.
    pub(crate) timeout: Option<Duration>,
    /// Of each run, from when it is due.
    pub(crate) deadline: Option<Duration>,
    pub(crate) concurrency: Option<Concurrency>,
    pub(crate) rate: Option<Rate>,
    /// Set on top of what it inherits.
    pub(crate) env: Vec<(String, String)>,
    pub(crate) inherits: Inherits,
    /// What it finds on standard input; `None` is nothing.
    pub(crate) input: Option<Arc<[u8]>>,
    /// Where the program runs; `None` is where `wheel` runs.
    pub(crate) dir: Option<PathBuf>,
    /// The file that its output is appended to; `None` is the output of `wheel`.
    pub(crate) output: Option<PathBuf>,
}

/// What of the environment of `wheel` a program has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Inherits {
    All,
    Nothing,
}

impl Task {
    /// What it is due by, in words.
    pub(crate) fn due(&self) -> String {
        const NAMED_MAX: usize = 3;
        if self.upstream.is_empty() {
            return self.schedule.to_string();
        }
        let ids: Vec<&str> = (self.upstream.iter().take(NAMED_MAX))
            .map(|upstream| upstream.id.as_str())
            .collect();
        let more = match self.upstream.len() - ids.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!("depends on {}{more}, {}", ids.join(", "), self.schedule)
    }
}

/// Why a task file cannot be used.
#[derive(Debug)]
#[non_exhaustive]
pub(crate) enum FileError {
    /// The file cannot be read at all.
    Unreadable {
        what: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    /// It can be read, but it says something wrong; all of it.
    Faulty(Faults),
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FileError::Unreadable { what, path, source } => {
                write!(
                    f,
                    "error: cannot read the {what} {}: {source}",
                    path.display()
                )
            }
            FileError::Faulty(faults) => write!(f, "{faults}"),
        }
    }
}

impl std::error::Error for FileError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            FileError::Unreadable { source, .. } => Some(source),
            FileError::Faulty(_) => None,
        }
    }
}

/// The longest task file: a million tasks fit.
const BYTES_MAX: u64 = 256 << 20;

/// Not for ever, as a device may have no end.
pub(crate) fn read_bounded(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = fs::File::open(path)?;
    file.take(BYTES_MAX + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > BYTES_MAX {
        let message = format!("it is longer than {} MiB", BYTES_MAX >> 20);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    Ok(bytes)
}

/// Reads a task file and checks all of it. Starts nothing and writes nothing.
///
/// # Errors
///
/// [`FileError::Unreadable`] when there is no such file; [`FileError::Faulty`] with every fault
/// that was found.
pub(crate) fn load(path: &Path) -> Result<TaskFile, FileError> {
    let bytes = read_bounded(path).map_err(|source| FileError::Unreadable {
        what: "task file",
        path: path.to_owned(),
        source,
    })?;
    parse(path, bytes)
}

/// Checks all of a task file that has been read. `path` is what messages call it.
///
/// # Errors
///
/// [`FileError::Faulty`] with every fault that was found.
pub(crate) fn parse(path: &Path, bytes: Vec<u8>) -> Result<TaskFile, FileError> {
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => return Err(FileError::Faulty(not_utf8(path, &error))),
    };
    let mut faults = Faults::new(path, text);
    let text = faults.text();
    let (document, errors) = toml::de::DeTable::parse_recoverable(&text);
    add_syntax_errors(&errors, &mut faults);
    // What follows a syntax error may have been read wrongly: say only what is sure.
    let (tasks, order) = if faults.is_empty() {
        tables::read(document.get_ref(), &mut faults)
    } else {
        (Vec::new(), Vec::new())
    };
    if faults.is_empty() {
        Ok(TaskFile {
            path: path.to_owned(),
            tasks,
            order,
        })
    } else {
        Err(FileError::Faulty(faults))
    }
}

/// One per line: what follows the first one in a line is mostly a consequence of it.
fn add_syntax_errors(errors: &[toml::de::Error], faults: &mut Faults) {
    let mut places: Vec<_> = errors
        .iter()
        .map(|error| (error.span().unwrap_or(0..0), error.message()))
        .collect();
    places.sort_by_key(|(span, _)| span.start);
    let mut last_line = 0;
    for (span, message) in places {
        let line = faults.line_of(span.start);
        if line > last_line {
            let fault = faults.add(span, format!("not valid TOML: {message}"));
            if message.contains("duplicate key") {
                fault.help("a key stands once in a table; each task starts with a line [[task]]");
            } else if message.contains("must be quoted") {
                fault.help("durations and instants are strings too, such as after = \"3s\"");
            }
            last_line = line;
        }
    }
}

fn not_utf8(path: &Path, error: &std::string::FromUtf8Error) -> Faults {
    let valid = error.utf8_error().valid_up_to();
    let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
    let mut faults = Faults::new(path, text);
    faults
        .add(valid..valid, "not valid UTF-8, which TOML is written in")
        .help("save the file as UTF-8");
    faults
}
