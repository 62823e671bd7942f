//! `cargo xtask crontabs`: the crontabs that Debian's packages ship, planned and compared with the
//! oracle of the tests.
//!
//! The packages are fetched with `apt-get download` and unpacked, not installed; nothing of them is
//! run. It needs apt and its archive, so it is no step of `ci`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::step::{cargo, execute, root};

/// Packages with a file in `/etc/cron.d`, and the one with `/etc/crontab`.
const PACKAGES: &[&str] = &[
    "anacron",
    "certbot",
    "cron-daemon-common",
    "e2fsprogs",
    "logcheck",
    "mdadm",
    "munin-node",
    "php-common",
    "sysstat",
];
/// An archive may not have all of them.
const CRONTABS_MIN: usize = 5;

pub(crate) fn run(args: &[String]) -> Result<(), String> {
    if let Some(argument) = args.first() {
        return Err(format!("`crontabs` takes no `{argument}`"));
    }
    let folder = root().join("target/crontabs");
    let (debs, unpacked, kept) = (folder.join("debs"), folder.join("all"), folder.join("kept"));
    let said = |what: &Path, error: std::io::Error| format!("{}: {error}", what.display());
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(|error| said(&folder, error))?;
    }
    for folder in [&debs, &unpacked, &kept.join("cron.d"), &kept.join("etc")] {
        fs::create_dir_all(folder).map_err(|error| said(folder, error))?;
    }
    for package in PACKAGES {
        let mut apt = Command::new("apt-get");
        apt.args(["download", "-qq", package]).current_dir(&debs);
        if let Err(error) = execute(&mut apt) {
            println!("left out: {error}");
        }
    }
    for deb in files(&debs)? {
        execute(Command::new("dpkg-deb").arg("-x").arg(deb).arg(&unpacked))?;
    }
    let mut count = 0;
    let mut keep = |from: PathBuf, to: PathBuf| {
        count += 1;
        fs::copy(&from, to).map_err(|error| said(&from, error))
    };
    for crontab in files(&unpacked.join("etc/cron.d"))? {
        let name = crontab.file_name().unwrap_or_default().to_owned();
        // What cron does not read either: `.placeholder`.
        if !name.to_string_lossy().contains('.') {
            keep(crontab, kept.join("cron.d").join(name))?;
        }
    }
    let system = unpacked.join("etc/crontab");
    if system.exists() {
        keep(system, kept.join("etc/crontab"))?;
    }
    if count < CRONTABS_MIN {
        return Err(format!(
            "{count} crontabs in place of {CRONTABS_MIN} at least: is the archive of apt there?"
        ));
    }
    let mut test = cargo(&[
        "test",
        "-p",
        "wheel",
        "--test",
        "differential",
        "--",
        "--nocapture",
    ]);
    execute(test.env("WHEEL_CRONTABS", &kept)).map(drop)
}

fn files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut found: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    found.sort();
    Ok(found)
}
