//! Finds the program of a task before it is due, the way a shell would.
//!
//! A name without a slash is looked for in `PATH` (the task's own, if its `env` sets one). A name
//! with a slash is taken from the folder in which the task runs. The result is an absolute path, so
//! that a later change of `PATH` changes nothing. A file of ten thousand tasks mostly names the
//! same few programs: what was found is remembered.

use std::collections::HashMap;
use std::env;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

/// A program that was found, and how to call it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Program {
    /// Where it is.
    pub(crate) path: PathBuf,
    /// What it is called with; the first is the name as the file gives it.
    pub(crate) args: Vec<String>,
}

/// Why a program cannot be run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub(crate) enum ProgramError {
    /// No folder of this search path has it.
    NotInPath(OsString),
    /// There is no such file.
    NoSuchFile(PathBuf),
    /// It is a folder.
    IsFolder(PathBuf),
    /// The file is there but may not be executed.
    NotExecutable(PathBuf),
}

impl fmt::Display for ProgramError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProgramError::NotInPath(search) => {
                write!(f, "not found in PATH ({})", search.display())
            }
            ProgramError::NoSuchFile(path) => write!(f, "there is no file {}", path.display()),
            ProgramError::IsFolder(path) => write!(f, "{} is a folder", path.display()),
            ProgramError::NotExecutable(path) => write!(f, "{} is not executable", path.display()),
        }
    }
}

/// A name, the folder to start from, and the search path if it is not the usual one.
type Asked = (String, Option<PathBuf>, Option<String>);

/// Looks programs up and remembers the answers.
#[derive(Debug)]
pub(crate) struct Finder {
    search: OsString,
    found: HashMap<Asked, Result<PathBuf, ProgramError>>,
}

impl Finder {
    pub(crate) fn new() -> Finder {
        let search =
            env::var_os("PATH").unwrap_or_else(|| OsString::from("/usr/local/bin:/usr/bin:/bin"));
        Finder {
            search,
            found: HashMap::new(),
        }
    }

    /// The absolute path of a program that runs in `dir` with the search path `path` of its own.
    pub(crate) fn find(
        &mut self,
        name: &str,
        dir: Option<&Path>,
        path: Option<&str>,
    ) -> Result<PathBuf, ProgramError> {
        let key = (
            name.to_owned(),
            dir.map(Path::to_owned),
            path.map(str::to_owned),
        );
        if let Some(answer) = self.found.get(&key) {
            return answer.clone();
        }
        let search = path.map_or(self.search.as_os_str(), OsStr::new);
        let answer = look(name, dir, search);
        self.found.insert(key, answer.clone());
        answer
    }
}

fn look(name: &str, dir: Option<&Path>, search: &OsStr) -> Result<PathBuf, ProgramError> {
    let here = dir.unwrap_or(Path::new("."));
    if name.contains('/') {
        return executable(&absolute(&here.join(name)));
    }
    let mut refused = None;
    for folder in env::split_paths(search) {
        match executable(&absolute(&here.join(folder).join(name))) {
            Ok(path) => return Ok(path),
            Err(error @ ProgramError::NotExecutable(_)) => refused = refused.or(Some(error)),
            Err(_) => {}
        }
    }
    Err(refused.unwrap_or_else(|| ProgramError::NotInPath(search.to_owned())))
}

fn executable(path: &Path) -> Result<PathBuf, ProgramError> {
    if path.is_dir() {
        Err(ProgramError::IsFolder(path.to_owned()))
    } else if !path.exists() {
        Err(ProgramError::NoSuchFile(path.to_owned()))
    } else if access(path, Access::EXEC_OK).is_err() {
        Err(ProgramError::NotExecutable(path.to_owned()))
    } else {
        Ok(path.to_owned())
    }
}

/// Without a current folder there is nothing better than the path itself.
fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}
