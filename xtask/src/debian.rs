//! Packages of Debian, fetched with apt and unpacked under `target`. Nothing is installed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::step::execute;

/// Unpacks these packages into `folder/all`, afresh, and returns that. One that the archive does not
/// have is left out, in words.
pub(crate) fn unpack(packages: &[&str], folder: &Path) -> Result<PathBuf, String> {
    let (debs, unpacked) = (folder.join("debs"), folder.join("all"));
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(|error| said(folder, error))?;
    }
    for folder in [&debs, &unpacked] {
        fs::create_dir_all(folder).map_err(|error| said(folder, error))?;
    }
    for package in packages {
        let mut apt = Command::new("apt-get");
        apt.args(["download", "-qq", package]).current_dir(&debs);
        if let Err(error) = execute(&mut apt) {
            println!("left out: {error}");
        }
    }
    for deb in files(&debs)? {
        execute(Command::new("dpkg-deb").arg("-x").arg(deb).arg(&unpacked))?;
    }
    Ok(unpacked)
}

/// What is in a folder, in order.
pub(crate) fn files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = fs::read_dir(folder).map_err(|error| said(folder, error))?;
    let mut found: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    found.sort();
    Ok(found)
}

/// An error of the file system, with what it is about.
pub(crate) fn said(what: &Path, error: std::io::Error) -> String {
    format!("{}: {error}", what.display())
}
