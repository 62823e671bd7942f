//! What cron asks of the file itself, whatever is in it.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::account;
use super::{Look, Owner, Reading};
use crate::file::Faults;

/// Adds a fault if cron would pass over the file.
pub(super) fn check(path: &Path, reading: &Reading, faults: &mut Faults) {
    let whole = std::path::absolute(path);
    let path = whole.as_deref().unwrap_or(path);
    if is_in_cron_d(path) {
        check_name(path, faults);
    }
    if reading.owner == Owner::System && reading.look == Look::ToRun && account::is_root() {
        check_rights(path, faults);
    }
}

/// Of the whole path of a file.
pub(super) fn is_in_cron_d(path: &Path) -> bool {
    let folder = path.parent().and_then(Path::file_name);
    folder.is_some_and(|folder| folder == "cron.d")
}

/// Of a folder `cron.d` cron reads no file whose name could be that of a copy.
fn check_name(path: &Path, faults: &mut Faults) {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let is_read = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
    if name.bytes().all(is_read) {
        return;
    }
    let better: String = name
        .chars()
        .map(|c| {
            if c.is_ascii() && is_read(c as u8) {
                c
            } else {
                '-'
            }
        })
        .collect();
    faults
        .add(
            0..0,
            "cron does not read a file of this name: it takes letters, digits, _ and - only",
        )
        .help(format!("call it {better}"));
}

/// What root runs, nobody else may write.
fn check_rights(path: &Path, faults: &mut Faults) {
    let Ok(file) = fs::metadata(path) else {
        return;
    };
    let shown = path.display();
    if file.uid() != 0 {
        faults
            .add(0..0, "the file does not belong to root, who would run it")
            .help(format!("chown root {shown}"));
    }
    if file.mode() & 0o022 != 0 {
        faults
            .add(
                0..0,
                "others than root can write the file, which root would run",
            )
            .help(format!("chmod go-w {shown}"));
    }
}
