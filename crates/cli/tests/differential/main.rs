//! Whole crontabs, as packages ship them: `wheel plan` names the instants that an oracle finds, which
//! goes through every minute of local time with the bits of cron.
//!
//! The crontabs in `tests/crontabs` have the shapes of those of Debian's packages. With
//! `WHEEL_CRONTABS` set to a folder all that is below it is compared as well: `cargo xtask crontabs`
//! fetches the real ones.

mod oracle;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use oracle::Entry;

/// Zones and the days that are compared in them: both changes of the clocks, a month, a leap day.
const SPANS: [(&str, &str, i64); 6] = [
    ("UTC", "2026-01-01T00:00:00Z", 31),
    ("Europe/Berlin", "2026-03-27T23:00:00Z", 4),
    ("Europe/Berlin", "2026-10-23T22:00:00Z", 4),
    ("America/New_York", "2026-03-07T00:00:00Z", 3),
    ("Australia/Lord_Howe", "2026-04-03T00:00:00Z", 3),
    ("Pacific/Apia", "2011-12-28T00:00:00Z", 5),
];

/// Every file below a folder.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files(&path, found),
            false => found.push(path),
        }
    }
}

/// For each task in the order of the file, the minutes since 1970 at which it is due.
fn planned(path: &Path, zone: &str, from: &str, days: i64) -> Vec<Vec<i64>> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wheel"));
    command.args([
        "plan", "--json", "--busy", "100000", "--tz", zone, "--from", from,
    ]);
    command
        .args(["--for", &format!("{days}d"), "--crontab"])
        .arg(path);
    let output = command.output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {told}", path.display());
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let tasks = json["tasks"].as_array().unwrap();
    let numbers: HashMap<&str, usize> = (tasks.iter().enumerate())
        .map(|(number, task)| (task["id"].as_str().unwrap(), number))
        .collect();
    let mut due = vec![Vec::new(); tasks.len()];
    for instant in json["due"].as_array().unwrap() {
        let at: Timestamp = instant["at"].as_str().unwrap().parse().unwrap();
        assert_eq!(at.as_second() % 60, 0);
        due[numbers[instant["id"].as_str().unwrap()]].push(at.as_second() / 60);
    }
    due
}

fn compare(path: &Path) -> usize {
    let text = String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned();
    let mut compared = 0;
    for (zone, from, days) in SPANS {
        let clocks = TimeZone::get(zone).unwrap();
        let begin = from.parse::<Timestamp>().unwrap().as_second() / 60;
        let span = begin..begin + days * 24 * 60;
        let entries: Vec<Entry> = text.lines().filter_map(Entry::read).collect();
        let planned = planned(path, zone, from, days);
        assert_eq!(planned.len(), entries.len(), "tasks of {}", path.display());
        for (entry, planned) in entries.iter().zip(planned) {
            let wanted = entry.minutes(&clocks, span.clone());
            let shown = path.display();
            assert!(
                planned == wanted,
                "{shown}: `{}` in {zone} from {from}\nplanned {planned:?}\nwanted  {wanted:?}",
                entry.line
            );
            compared += wanted.len();
        }
    }
    compared
}

#[test]
fn the_crontabs_of_packages_are_planned_as_the_oracle_has_them() {
    let mut found = Vec::new();
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/crontabs");
    files(&own, &mut found);
    assert_eq!(found.len(), 3, "{found:?}");
    if let Some(folder) = env::var_os("WHEEL_CRONTABS") {
        files(Path::new(&folder), &mut found);
        assert!(
            found.len() > 3,
            "there is no crontab in {}",
            folder.display()
        );
    }
    let mut instants = 0;
    for path in &found {
        instants += compare(path);
    }
    println!("{instants} instants of {} crontabs", found.len());
    assert!(instants > 10_000, "{instants}");
}
