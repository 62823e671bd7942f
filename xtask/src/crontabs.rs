//! `cargo xtask crontabs`: the crontabs that Debian's packages ship, planned and compared with the
//! oracle of the tests.
//!
//! The packages are fetched with `apt-get download` and unpacked, not installed; nothing of them is
//! run. A machine without apt, or without its archive, is told so, and nothing is compared there.

use std::fs;
use std::path::PathBuf;

use crate::debian::{self, files, said};
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
    let unpacked = debian::unpack(PACKAGES, &folder)?;
    if files(&unpacked)?.is_empty() {
        println!("No packages to be had with apt: no crontab was compared.");
        return Ok(());
    }
    let kept = folder.join("kept");
    for folder in [&kept.join("cron.d"), &kept.join("etc")] {
        fs::create_dir_all(folder).map_err(|error| said(folder, error))?;
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
            "{count} crontabs in place of {CRONTABS_MIN} at least: where have the others gone?"
        ));
    }
    let mut test = cargo(&[
        "test",
        "--locked",
        "-p",
        "wheel",
        "--test",
        "differential",
        "--",
        "--nocapture",
    ]);
    execute(test.env("WHEEL_CRONTABS", &kept)).map(drop)
}
