//! `cargo xtask sanitize`: the tests and the stress under AddressSanitizer, and what Miri can hold.
//!
//! Both need a nightly toolchain; Miri also its component. What is not there is skipped, and the
//! table says so and how to get it. ThreadSanitizer is left out: it needs std built anew with it
//! (`rust-src`), or it reports every lock of std, and it knows no fences, on which the sleep of the
//! pool's workers rests. The models of `cargo xtask loom` look for what it would.
//!
//! AddressSanitizer has its own target directory: its flag would rebuild everything else each time.

use std::process::Command;
use std::time::{Duration, Instant};

use crate::step::{execute, output_of, root, seconds};

/// How long each stress test goes on.
const STRESS: &str = "5s";

/// Hosts that AddressSanitizer is there for.
const HOSTS: &[&str] = &[
    "x86_64-unknown-linux-gnu",
    "aarch64-unknown-linux-gnu",
    "x86_64-apple-darwin",
    "aarch64-apple-darwin",
];

/// Whether memory that is never freed is a fault.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Leaks {
    Reported,
    /// Some tests make cycles on purpose, and payloads of panics are left behind when a second one
    /// comes.
    Accepted,
}

/// One run of `cargo test` under AddressSanitizer.
struct Program {
    args: &'static [&'static str],
    leaks: Leaks,
}

const fn program(args: &'static [&'static str]) -> Program {
    Program {
        args,
        leaks: Leaks::Reported,
    }
}

/// Without `large`, whose ten million timers need several times their memory here.
const PROGRAMS: &[Program] = &[
    program(&["-p", "wheel-core", "--lib"]),
    program(&["-p", "wheel-core", "--test", "stress"]),
    program(&[
        "-p",
        "wheel-core",
        "--test",
        "cases",
        "--test",
        "keys",
        "--test",
        "oracle",
        "--test",
        "wakes",
    ]),
    Program {
        args: &[
            "-p",
            "wheel-core",
            "--test",
            "from_inside",
            "--test",
            "faults",
            "--test",
            "overflow_lies",
        ],
        leaks: Leaks::Accepted,
    },
    program(&["-p", "wheel-overflow", "--lib"]),
    Program {
        args: &["-p", "wheel-overflow", "--tests"],
        leaks: Leaks::Accepted,
    },
    program(&["-p", "wheel-runtime", "--test", "stress"]),
    Program {
        args: &["-p", "wheel-runtime", "--lib", "--tests"],
        leaks: Leaks::Accepted,
    },
];

/// What Miri can hold: the races as plain tests on a few threads, and the places of `unsafe`.
const UNDER_MIRI: &[&[&str]] = &[
    &["-p", "wheel-loom-tests", "--tests"],
    &["-p", "wheel-core", "--lib", "arena::"],
    &["-p", "wheel-core", "--lib", "vacant::"],
    &["-p", "wheel-core", "--lib", "segments::"],
];

/// What came of one step.
enum Verdict {
    Passed(Duration),
    Skipped(String),
}

pub(crate) fn run(args: &[String]) -> Result<(), String> {
    crate::refuse_arguments("sanitize", args)?;
    let mut table = Vec::new();
    match host_of_nightly() {
        Ok(host) => address(&host, &mut table)?,
        Err(why) => table.push(("AddressSanitizer".to_owned(), Verdict::Skipped(why))),
    }
    match miri_version() {
        Ok(_) => miri(&mut table)?,
        Err(why) => table.push(("Miri".to_owned(), Verdict::Skipped(why))),
    }
    let why = "needs std built anew with it, and knows no fences".to_owned();
    table.push(("ThreadSanitizer".to_owned(), Verdict::Skipped(why)));
    print_table(&table);
    Ok(())
}

/// The cargo of the nightly toolchain, with an environment that names no other one.
fn nightly_cargo() -> Command {
    let mut command = Command::new("rustup");
    command
        .args(["run", "nightly", "cargo"])
        .current_dir(root())
        .env_remove("CARGO")
        .env_remove("RUSTUP_TOOLCHAIN");
    command
}

fn host_of_nightly() -> Result<String, String> {
    let mut rustc = Command::new("rustup");
    rustc.args(["run", "nightly", "rustc", "-vV"]);
    let missing = "no nightly toolchain here: rustup toolchain install nightly";
    let version = output_of(rustc.env_remove("RUSTUP_TOOLCHAIN")).map_err(|_| missing)?;
    supported_host(&version)
}

/// The host in what `rustc -vV` prints, if AddressSanitizer is there for it.
fn supported_host(version: &str) -> Result<String, String> {
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    let host = host.ok_or("the nightly toolchain names no host")?.trim();
    if HOSTS.contains(&host) {
        Ok(host.to_owned())
    } else {
        Err(format!("there is no AddressSanitizer for {host}"))
    }
}

fn miri_version() -> Result<String, String> {
    // Where only rustup's stub is, asking for the version fails.
    output_of(nightly_cargo().args(["miri", "--version"]))
        .map_err(|_| "not installed here: rustup component add miri --toolchain nightly".to_owned())
}

fn address(host: &str, table: &mut Vec<(String, Verdict)>) -> Result<(), String> {
    println!("AddressSanitizer, for {host}.");
    for program in PROGRAMS {
        let started = Instant::now();
        let mut command = nightly_cargo();
        command
            .args(["test", "--locked", "--target", host])
            .args(program.args)
            .env("RUSTFLAGS", "-Zsanitizer=address")
            .env("ASAN_OPTIONS", asan_options(program.leaks))
            .env("WHEEL_STRESS", STRESS)
            .env("CARGO_TARGET_DIR", root().join("target").join("sanitize"));
        execute(&mut command)?;
        let name = format!("AddressSanitizer {}", program.args.join(" "));
        table.push((name, Verdict::Passed(started.elapsed())));
    }
    Ok(())
}

fn asan_options(leaks: Leaks) -> &'static str {
    // A test asks for more memory than there is, and expects to be refused.
    match leaks {
        Leaks::Reported => "allocator_may_return_null=1",
        Leaks::Accepted => "allocator_may_return_null=1:detect_leaks=0",
    }
}

fn miri(table: &mut Vec<(String, Verdict)>) -> Result<(), String> {
    println!("Miri.");
    for args in UNDER_MIRI {
        let started = Instant::now();
        let mut command = nightly_cargo();
        command.args(["miri", "test", "--locked"]).args(*args);
        command.env("CARGO_TARGET_DIR", root().join("target").join("miri"));
        execute(&mut command)?;
        let name = format!("Miri {}", args.join(" "));
        table.push((name, Verdict::Passed(started.elapsed())));
    }
    Ok(())
}

fn print_table(table: &[(String, Verdict)]) {
    println!();
    for (name, verdict) in table {
        match verdict {
            Verdict::Passed(took) => println!("  ok       {:>8}  {name}", seconds(*took)),
            Verdict::Skipped(why) => println!("  skipped  {:>8}  {name}: {why}", ""),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_with_the_sanitizer_is_found() {
        let version = "rustc 1.97.0-nightly\nbinary: rustc\nhost: x86_64-unknown-linux-gnu\n";
        let host = supported_host(version);
        assert_eq!(host, Ok("x86_64-unknown-linux-gnu".to_owned()));
    }

    #[test]
    fn a_host_without_it_is_named() {
        let why = supported_host("host: riscv64gc-unknown-linux-gnu\n").unwrap_err();
        assert!(why.contains("riscv64gc"), "{why}");
        assert!(supported_host("rustc 1.97.0-nightly\n").is_err());
    }

    #[test]
    fn leaks_are_reported_unless_a_test_makes_them_on_purpose() {
        assert!(!asan_options(Leaks::Reported).contains("detect_leaks"));
        assert!(asan_options(Leaks::Accepted).ends_with("detect_leaks=0"));
        let accepted = PROGRAMS.iter().filter(|p| p.leaks == Leaks::Accepted);
        assert!(accepted.count() < PROGRAMS.len() / 2);
    }

    #[test]
    fn the_stress_runs_with_leaks_reported() {
        let stress = PROGRAMS
            .iter()
            .filter(|p| p.args.ends_with(&["--test", "stress"]));
        let leaks: Vec<Leaks> = stress.map(|p| p.leaks).collect();
        assert_eq!(leaks, [Leaks::Reported; 2]);
    }
}
