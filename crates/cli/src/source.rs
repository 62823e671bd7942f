//! From what the command line names to the tasks that are in it: a task file, or a crontab.

use std::fmt;

use wheel_runtime::Zone;

use crate::args::Source;
use crate::crontab::{self, Look, Owner, Reading};
use crate::file::{self, FileError, TaskFile};

/// Why there are no tasks.
#[derive(Debug)]
#[non_exhaustive]
pub(crate) enum SourceError {
    /// It cannot be read, or has faults.
    File(FileError),
    /// A crontab without a zone, on a machine that does not tell its own.
    Zone(String),
}

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SourceError::File(error) => write!(f, "{error}"),
            SourceError::Zone(why) => write!(f, "error: {why}"),
        }
    }
}

impl std::error::Error for SourceError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            SourceError::File(error) => Some(error),
            SourceError::Zone(_) => None,
        }
    }
}

impl Source {
    /// The given zone; else that in which the file is meant where it names none: that of the machine
    /// if it is a crontab, UTC if it is a task file.
    ///
    /// # Errors
    ///
    /// [`SourceError::Zone`] if the machine does not tell its own.
    pub(crate) fn zone(&self, given: Option<&Zone>) -> Result<Zone, SourceError> {
        match given {
            Some(zone) => Ok(zone.clone()),
            None if self.crontab => crontab::of_this_machine().map_err(SourceError::Zone),
            None => Ok(Zone::UTC),
        }
    }

    /// Reads it and checks all of it; a crontab as closely as `look` says, and in `zone` or that of
    /// the machine.
    ///
    /// # Errors
    ///
    /// [`SourceError`], with every fault that was found.
    pub(crate) fn load(&self, zone: Option<&Zone>, look: Look) -> Result<TaskFile, SourceError> {
        if !self.crontab {
            return file::load(&self.file).map_err(SourceError::File);
        }
        let owner = match self.system {
            true => Owner::System,
            false => Owner::of(&self.file),
        };
        let zone = self.zone(zone)?;
        let reading = Reading { owner, zone, look };
        crontab::load(&self.file, &reading).map_err(SourceError::File)
    }
}
