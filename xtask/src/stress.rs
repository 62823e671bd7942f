//! `cargo xtask stress`: what is bounded, at full size, and then the stress on real threads.
//!
//! ```text
//! bounds, baseline, idle   once, in release, with WHEEL_FULL     work and memory, counted
//! soak                     the same                              a week of 100,000 tasks
//! stress of each crate     for so many seconds in all            every value leaves once
//! ```
//!
//! The stress tests tell what they have played in lines of their own (`wheel_testkit::Stress`);
//! a test that passed and told nothing has played nothing, so it is an error here.

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::Duration;

use crate::step::{cargo, execute, output_of, seconds};

const SECONDS_DEFAULT: u64 = 60;

/// What is counted at full size: package, and which of its tests.
const BOUNDS: &[(&str, &[&str])] = &[
    ("wheel-core", &["--lib", "bounds::"]),
    ("wheel-core", &["--test", "no_allocation"]),
    ("wheel-core", &["--test", "large"]),
    ("wheel-overflow", &["--lib", "tests::"]),
    ("wheel-runtime", &["--test", "baseline"]),
    ("wheel-runtime", &["--test", "timers_idle"]),
    ("wheel-runtime", &["--features", "serde", "--test", "soak"]),
];

/// Packages whose test program `stress` plays rounds.
const PROGRAMS: &[&str] = &["wheel-core", "wheel-runtime"];

#[derive(Debug, PartialEq)]
struct Wanted {
    seconds: u64,
    seed: u64,
}

pub(crate) fn run(args: &[String]) -> Result<(), String> {
    let Wanted {
        seconds: total,
        seed,
    } = parse(args)?;
    println!("What is bounded, at full size.");
    let mut bounds = Vec::new();
    for (package, tests) in BOUNDS {
        let mut command = cargo(&["test", "--locked", "--release", "-p", package]);
        let took = execute(command.args(*tests).env("WHEEL_FULL", "1"))?;
        bounds.push((format!("{package} {}", tests.join(" ")), took));
    }

    let mut tests = Vec::new();
    for package in PROGRAMS {
        let listed = output_of(stress_of(package).args(["--", "--list", "--format", "terse"]))?;
        let names = names_in(&listed);
        if names.is_empty() {
            return Err(format!("{package} has no stress test"));
        }
        tests.extend(names.into_iter().map(|name| (*package, name)));
    }
    let each = (total / tests.len() as u64).max(1);
    println!(
        "\nStress: {} tests for {each} s each, from seed {seed} on.",
        tests.len()
    );
    let mut played = Vec::new();
    for (package, name) in tests {
        played.push(play(package, &name, each, seed)?);
    }
    print_tables(&bounds, &played);
    Ok(())
}

fn stress_of(package: &str) -> std::process::Command {
    let mut command = cargo(&["test", "--locked", "--release", "-p", package]);
    command.args(["--test", "stress"]);
    command
}

fn parse(args: &[String]) -> Result<Wanted, String> {
    let mut wanted = Wanted {
        seconds: SECONDS_DEFAULT,
        seed: 0,
    };
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let number = |value: Option<&String>| {
            let value = value.ok_or(format!("`{arg}` needs a number"))?;
            let number = value.parse::<u64>();
            number.map_err(|_| format!("`{arg}` takes a number, not `{value}`"))
        };
        match arg.as_str() {
            "--seconds" => wanted.seconds = number(args.next())?,
            "--seed" => wanted.seed = number(args.next())?,
            other => return Err(format!("`cargo xtask stress` takes no `{other}`")),
        }
    }
    Ok(wanted)
}

/// The tests that a program lists, but for those that check the stress itself.
fn names_in(listed: &str) -> Vec<String> {
    let names = listed
        .lines()
        .filter_map(|line| line.strip_suffix(": test"));
    names
        .filter(|name| name.starts_with("every_"))
        .map(str::to_owned)
        .collect()
}

/// Plays one test for so long, and shows what it says meanwhile.
fn play(package: &str, name: &str, seconds: u64, seed: u64) -> Result<Played, String> {
    let mut command = stress_of(package);
    command
        .args(["--", "--exact", name, "--nocapture", "--test-threads=1"])
        .env("WHEEL_STRESS", format!("{seconds}s"))
        .env("WHEEL_SEED", seed.to_string())
        .stdout(Stdio::piped());
    let mut child = command
        .spawn()
        .map_err(|error| format!("cannot start cargo: {error}"))?;
    let stdout = child.stdout.take().ok_or("cargo has no standard output")?;
    let mut played = None;
    for line in BufReader::new(stdout).lines() {
        let line = line.map_err(|error| format!("cannot read what {name} says: {error}"))?;
        if line.contains(name) {
            println!("{line}");
        }
        played = played.or_else(|| Played::read(&line));
    }
    let status = child
        .wait()
        .map_err(|error| format!("cannot wait for cargo: {error}"))?;
    match (status.success(), played) {
        (true, Some(played)) => Ok(played),
        (true, None) => Err(format!("{name} has passed and told nothing")),
        (false, _) => Err(format!("{name} has failed ({status}); its seed is above")),
    }
}

/// What one test has played.
#[derive(Debug, PartialEq)]
struct Played {
    name: String,
    rounds: u64,
    operations: u64,
    threads: u64,
    seeds: String,
}

impl Played {
    /// Reads `stress NAME: R rounds, O operations, T threads, seeds A to B, ...`, also behind the
    /// harness's `test NAME ... `.
    fn read(line: &str) -> Option<Played> {
        let (before, told) = line.split_once("stress ")?;
        if !(before.is_empty() || before.ends_with("... ")) {
            return None;
        }
        let (name, told) = told.split_once(": ")?;
        let mut parts = told.splitn(5, ", ");
        let mut count = |unit: &str| parts.next()?.strip_suffix(unit)?.parse().ok();
        Some(Played {
            name: name.to_owned(),
            rounds: count(" rounds")?,
            operations: count(" operations")?,
            threads: count(" threads")?,
            seeds: parts.next()?.strip_prefix("seeds ")?.to_owned(),
        })
    }
}

fn print_tables(bounds: &[(String, Duration)], played: &[Played]) {
    println!("\n  {:<76} {:>9}", "bounded, at full size", "time");
    for (name, took) in bounds {
        println!("  {name:<76} {:>9}", seconds(*took));
    }
    println!(
        "\n  {:<76} {:>9} {:>12} {:>7}  seeds",
        "stress", "rounds", "operations", "threads"
    );
    for test in played {
        println!(
            "  {:<76} {:>9} {:>12} {:>7}  {}",
            test.name, test.rounds, test.operations, test.threads, test.seeds
        );
    }
    let rounds: u64 = played.iter().map(|test| test.rounds).sum();
    let operations: u64 = played.iter().map(|test| test.operations).sum();
    println!("  {:<76} {rounds:>9} {operations:>12}", "in all");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_test_has_played_is_read_from_its_line() {
        let line =
            "stress every_value: 12 rounds, 3456 operations, 5 threads, seeds 7 to 18, [1, 2]";
        let played = Played::read(line).unwrap();
        assert_eq!((played.rounds, played.operations), (12, 3456));
        assert_eq!((played.threads, played.seeds.as_str()), (5, "7 to 18"));
        let behind = format!("test every_value ... {line}");
        assert_eq!(Played::read(&behind), Some(played));
    }

    #[test]
    fn other_lines_tell_nothing() {
        for line in [
            "",
            "running 1 test",
            "  ... every_value: 5 s, 3 rounds, 9 operations",
            "stress every_value: no rounds",
            "thread 'stress every_value: 1 rounds, 2 operations, 3 threads, seeds 0 to 1, x",
        ] {
            assert_eq!(Played::read(line), None, "{line}");
        }
    }

    #[test]
    fn only_tests_that_play_rounds_are_listed() {
        let listed = "every_value_leaves_once: test\nwhat_is_left_is_seen: test\n\n2 tests";
        assert_eq!(names_in(listed), ["every_value_leaves_once"]);
    }

    #[test]
    fn seconds_and_seed_are_numbers() {
        let args = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let wanted = parse(&args("--seed 7 --seconds 30"));
        assert_eq!(
            wanted,
            Ok(Wanted {
                seconds: 30,
                seed: 7
            })
        );
        for wrong in ["--seconds", "--seconds soon", "--fast"] {
            assert!(parse(&args(wrong)).is_err(), "{wrong}");
        }
    }
}
