//! A crontab, as cron reads it: checked completely before anything runs, and made into the tasks
//! that `wheel run` knows.
//!
//! ```text
//! text -> a line: a comment, a setting or an entry
//!   setting.rs            NAME = value, for the entries below it
//!   times.rs, field.rs    when an entry is due   -|
//!   command.rs            its command and input  -|-> entry.rs: one Task -> TaskFile
//!   account.rs            whose it is            -|        '-> fault.rs of the task file
//!   name.rs               what it is called      -|
//! again.rs                which entries are those of before, when it is read again
//! place.rs                what cron asks of the file itself; zone.rs: where this machine is
//! ```
//!
//! The grammar is that of the cron of Debian (3.0pl1), also in what it refuses, with `CRON_TZ` of
//! others. What it silently passes over is a fault here: a range that goes backwards, an entry that
//! is never due.

mod setting;

mod entry;
mod times;
mod field;
mod command;
mod name;
mod account;

mod again;

mod place;
mod zone;

use std::path::Path;

use wheel_runtime::Zone;

use crate::file::{self, Faults, FileError, Finder, Task, TaskFile};
use account::Accounts;
pub(crate) use again::keep_names;
use entry::Entry;
use name::Names;
use setting::{Line, Setting};
pub(crate) use zone::of_this_machine;

/// Whose crontab it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Owner {
    /// Of the user who runs `wheel`: a command stands right behind the times.
    User,
    /// Of the system: the name of a user stands between the times and the command.
    System,
}

impl Owner {
    /// Of a file at this place: what is in a folder `cron.d`, and `etc/crontab`, is the system's.
    pub(crate) fn of(path: &Path) -> Owner {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        match place::is_in_cron_d(&path) || path == Path::new("/etc/crontab") {
            true => Owner::System,
            false => Owner::User,
        }
    }
}

/// How closely it is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Look {
    /// At what it says, on whatever machine.
    Text,
    /// Also whether its users and shells are there.
    Machine,
    /// Also whether they can be used by who runs `wheel`.
    ToRun,
}

/// What there is to know besides the text.
#[derive(Debug, Clone)]
pub(crate) struct Reading {
    pub(crate) owner: Owner,
    /// Where entries are meant that no `CRON_TZ` stands above.
    pub(crate) zone: Zone,
    pub(crate) look: Look,
}

/// Reads a crontab and checks all of it. Starts nothing and writes nothing.
///
/// # Errors
///
/// [`FileError::Unreadable`] when there is no such file; [`FileError::Faulty`] with every fault that
/// was found.
pub(crate) fn load(path: &Path, reading: &Reading) -> Result<TaskFile, FileError> {
    let bytes = file::read_bounded(path).map_err(|source| FileError::Unreadable {
        what: "crontab",
        path: path.to_owned(),
        source,
    })?;
    parse(path, &bytes, reading)
}

/// Checks all of a crontab that has been read. `path` is what messages call it.
///
/// # Errors
///
/// [`FileError::Faulty`] with every fault that was found.
pub(crate) fn parse(path: &Path, bytes: &[u8], reading: &Reading) -> Result<TaskFile, FileError> {
    // Cron knows no encodings: in comments there may be anything.
    let text = String::from_utf8_lossy(bytes).into_owned();
    let is_utf8 = std::str::from_utf8(bytes).is_ok();
    let mut faults = Faults::new(path, text);
    let text = faults.text();
    place::check(path, reading, &mut faults);
    check_ends(&text, &mut faults);
    let mut reader = Reader {
        reading,
        accounts: Accounts::default(),
        settings: Vec::new(),
        zone: reading.zone.clone(),
        names: Names::default(),
        finder: Finder::new(),
    };
    let mut tasks = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let place = start;
        start += line.len();
        let line = line.trim_end_matches('\n').trim_end_matches('\r');
        let shown = line.trim_start_matches([' ', '\t']);
        if shown.is_empty() || shown.starts_with('#') {
            continue;
        }
        let place = place + (line.len() - shown.len());
        let wrong = nul(shown).or_else(|| damaged(shown).filter(|_| !is_utf8));
        if let Some((at, what, help)) = wrong {
            let at = place + at;
            faults.add(at..at + 1, what).help(help);
            continue;
        }
        tasks.extend(reader.line(shown, place, &mut faults));
    }
    if !faults.is_empty() {
        return Err(FileError::Faulty(faults));
    }
    Ok(TaskFile {
        path: path.to_owned(),
        order: (0..tasks.len()).collect(),
        tasks,
    })
}

/// What is wrong with a piece of a line, and what would be right.
type Wrong = (usize, &'static str, &'static str);

fn nul(line: &str) -> Option<Wrong> {
    let at = line.find('\0')?;
    Some((
        at,
        "a NUL character",
        "no program can be given one: drop it",
    ))
}

/// Of a file that is not UTF-8: whether that is so in this line.
fn damaged(line: &str) -> Option<Wrong> {
    let at = line.find(char::REPLACEMENT_CHARACTER)?;
    Some((at, "not valid UTF-8", "save the file as UTF-8"))
}

/// What cron asks of the ends of lines and of the file.
fn check_ends(text: &str, faults: &mut Faults) {
    if let Some(at) = text.find("\r\n") {
        let count = text.matches("\r\n").count();
        let lines = if count == 1 { "line ends" } else { "lines end" };
        let what = format!("{count} {lines} in CR LF, and cron hands the CR to the command");
        faults
            .add(at..at + 1, what)
            .help("save the file with LF as the end of lines");
    }
    if !text.is_empty() && !text.ends_with('\n') {
        faults
            .add(
                text.len()..text.len(),
                "the last line has no end, and cron would not read the file",
            )
            .help("end it with a line break");
    }
}

/// What holds from line to line.
struct Reader<'r> {
    reading: &'r Reading,
    accounts: Accounts,
    /// The last of each name counts.
    settings: Vec<(String, String)>,
    zone: Zone,
    names: Names,
    finder: Finder,
}

impl Reader<'_> {
    fn line(&mut self, line: &str, place: usize, faults: &mut Faults) -> Option<Task> {
        match setting::read(line) {
            Line::Setting(setting) => {
                self.setting(setting, place, faults);
                None
            }
            Line::Wrong { at, what, help } => {
                faults
                    .add(place + at.start..place + at.end, what)
                    .help(help);
                None
            }
            Line::Other => {
                let entry = Entry::read(line, place, self.reading.owner, faults)?;
                entry.task(self, faults)
            }
        }
    }

    fn setting(&mut self, setting: Setting, place: usize, faults: &mut Faults) {
        let Setting { name, value, at } = setting;
        let at = place + at.start..place + at.end;
        if name == "CRON_TZ" {
            match value.parse::<Zone>() {
                Ok(zone) => self.zone = zone,
                Err(_) if value.is_empty() => self.zone = self.reading.zone.clone(),
                Err(error) => {
                    faults
                        .add(at.clone(), format!("CRON_TZ: {error}"))
                        .help("write a name of the IANA database, such as CRON_TZ=Asia/Shanghai");
                }
            }
        }
        if name == "SHELL" && self.reading.look >= Look::Machine {
            entry::check_shell(&mut self.finder, &value, at, faults);
        }
        self.settings.retain(|(other, _)| *other != name);
        self.settings.push((name, value));
    }
}
