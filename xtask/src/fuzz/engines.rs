//! What feeds a target: cargo-fuzz on a nightly toolchain, or the driver of the package
//! `wheel-fuzz`. Both are other programs; what they print is read here, line by line.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::step::{cargo, execute, root};

/// How often there is a line about how far it is.
const EVERY: Duration = Duration::from_secs(5);
/// Seconds that one input may take under libFuzzer, which is slower than the driver.
const INPUT_SECONDS_MAX: &str = "-timeout=60";
/// Longer inputs say nothing that shorter ones do not.
const INPUT_BYTES_MAX: &str = "-max_len=600";

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Engine {
    CargoFuzz,
    Random,
}

impl Engine {
    /// The better one that is there.
    pub(super) fn choose() -> Engine {
        let is_there = cargo_on("nightly")
            .args(["fuzz", "--version"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        if is_there.is_ok_and(|status| status.success()) {
            return Engine::CargoFuzz;
        }
        println!("cargo-fuzz and a nightly toolchain are not both installed.");
        Engine::Random
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Engine::CargoFuzz => "cargo-fuzz",
            Engine::Random => "random driver",
        }
    }
}

/// One target's line in the table.
#[derive(Default)]
pub(super) struct Done {
    pub(super) inputs: u64,
    pub(super) took: Duration,
    pub(super) corpus: u64,
}

/// Rustup's cargo on another toolchain than the one that runs this.
fn cargo_on(toolchain: &str) -> Command {
    let mut command = Command::new("cargo");
    command.arg(format!("+{toolchain}")).current_dir(root());
    // Set by the cargo that runs this, and stronger than `+nightly`.
    for variable in ["CARGO", "RUSTC", "RUSTDOC", "RUSTUP_TOOLCHAIN"] {
        command.env_remove(variable);
    }
    command
}

pub(super) fn cargo_fuzz(what: &str) -> Command {
    let mut command = cargo_on("nightly");
    command.args(["fuzz", what, "--features", "libfuzzer"]);
    command
}

/// Where cargo puts the driver.
pub(super) fn driver() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").unwrap_or("target".into());
    let name = format!("wheel-fuzz{}", std::env::consts::EXE_SUFFIX);
    root().join(target).join("fuzz").join(name)
}

pub(super) fn build_driver() -> Result<(), String> {
    let build = [
        "build",
        "--locked",
        "--profile",
        "fuzz",
        "-p",
        "wheel-fuzz",
        "--bin",
        "wheel-fuzz",
    ];
    execute(&mut cargo(&build)).map(drop)
}

pub(super) fn on_the_driver(name: &str, share: f64, seed: u64) -> (Done, Result<(), String>) {
    let mut command = Command::new(driver());
    command.args(["drive", name, &format!("{share:.3}"), &seed.to_string()]);
    let mut done = Done::default();
    let result = follow(command.stdout(Stdio::piped()), name, |line| {
        println!("{line}");
        if let Some(sum) = driver_sum(line) {
            done = sum;
        }
    });
    (done, result)
}

/// Reads `levels: done, 120 inputs in 1.50 s, corpus 30`.
fn driver_sum(line: &str) -> Option<Done> {
    let (_, sum) = line.split_once(": done, ")?;
    let (inputs, rest) = sum.split_once(" inputs in ")?;
    let (took, corpus) = rest.split_once(" s, corpus ")?;
    Some(Done {
        inputs: inputs.parse().ok()?,
        took: Duration::try_from_secs_f64(took.parse().ok()?).ok()?,
        corpus: corpus.parse().ok()?,
    })
}

pub(super) fn under_cargo_fuzz(name: &str, share: f64, seed: u64) -> (Done, Result<(), String>) {
    let found = root().join("target").join("fuzz-corpus").join(name);
    if let Err(error) = std::fs::create_dir_all(&found) {
        return (
            Done::default(),
            Err(format!("{}: {error}", found.display())),
        );
    }
    let mut command = cargo_fuzz("run");
    // New inputs go to the first folder.
    command
        .arg(name)
        .arg(&found)
        .arg(root().join("fuzz").join("corpus").join(name));
    command.args([
        "--",
        "-print_final_stats=1",
        INPUT_SECONDS_MAX,
        INPUT_BYTES_MAX,
    ]);
    command.arg(format!("-max_total_time={}", share.ceil() as u64));
    // To libFuzzer 0 means one of its own.
    let its_seed = seed % u64::from(u32::MAX) + 1;
    command.arg(format!("-seed={its_seed}"));
    println!("{name}: seed {its_seed} to libFuzzer");

    let mut done = Done::default();
    let mut said = Instant::now();
    let mut told = false;
    let mut kept = "FILE".to_owned();
    let result = follow(
        command.stdout(Stdio::null()).stderr(Stdio::piped()),
        name,
        |line| {
            // From the first sign of a failure on, everything is of interest.
            told |= line.contains("panicked at") || line.contains("ERROR: ");
            if let Some((inputs, corpus)) = libfuzzer_progress(line) {
                done.inputs = done.inputs.max(inputs);
                done.corpus = corpus.unwrap_or(done.corpus);
                if said.elapsed() >= EVERY {
                    said = Instant::now();
                    println!("{name}: {inputs} inputs, corpus {}", done.corpus);
                }
            } else if told {
                println!("{line}");
            }
            if let Some(file) = kept_input(line) {
                kept = file;
            }
        },
    );
    let result = result.map_err(|error| {
        format!(
            "{error}; the input is kept below fuzz/artifacts/{name}/; once more:\n  \
             cargo xtask fuzz --replay {name} {kept}"
        )
    });
    (done, result)
}

/// Reads `#1234  NEW  cov: 5 ft: 6 corp: 7/89b ...`, and the last line of all.
fn libfuzzer_progress(line: &str) -> Option<(u64, Option<u64>)> {
    if let Some(units) = line.strip_prefix("stat::number_of_executed_units:") {
        return Some((units.trim().parse().ok()?, None));
    }
    let (inputs, rest) = line
        .strip_prefix('#')?
        .split_once(|c: char| !c.is_ascii_digit())?;
    let corpus = rest.split_once("corp: ").and_then(|(_, rest)| {
        let (count, _) = rest.split_once('/')?;
        count.parse().ok()
    });
    Some((inputs.parse().ok()?, corpus))
}

/// Where libFuzzer says that it has put an input that failed.
fn kept_input(line: &str) -> Option<String> {
    let (_, file) = line.split_once("Test unit written to ")?;
    let below_root = PathBuf::from(file.trim());
    let below_root = below_root.strip_prefix(root()).unwrap_or(&below_root);
    Some(below_root.display().to_string())
}

/// Starts `command` and hands over what it prints to its pipe, line by line.
fn follow(command: &mut Command, name: &str, mut each: impl FnMut(&str)) -> Result<(), String> {
    let fault = |error| format!("{name}: {error}");
    let mut child = command.spawn().map_err(fault)?;
    let out = child
        .stdout
        .take()
        .map(|out| Box::new(out) as Box<dyn std::io::Read>);
    let err = child
        .stderr
        .take()
        .map(|err| Box::new(err) as Box<dyn std::io::Read>);
    if let Some(pipe) = out.or(err) {
        let mut lines = BufReader::new(pipe);
        let mut line = Vec::new();
        while lines.read_until(b'\n', &mut line).map_err(fault)? > 0 {
            each(String::from_utf8_lossy(&line).trim_end());
            line.clear();
        }
    }
    let status = child.wait().map_err(fault)?;
    match status.success() {
        true => Ok(()),
        false => Err(format!(
            "{name} failed ({status}); what it said stands above"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sums_of_both_engines_are_read() {
        let sum = driver_sum("levels: done, 120 inputs in 1.50 s, corpus 30").unwrap();
        assert_eq!((sum.inputs, sum.corpus), (120, 30));
        assert_eq!(sum.took, Duration::from_millis(1_500));
        assert!(driver_sum("levels: 120 inputs in 5 s").is_none());
        let line = "#1234\tNEW    cov: 5 ft: 6 corp: 7/89b lim: 4 exec/s: 0";
        assert_eq!(libfuzzer_progress(line), Some((1234, Some(7))));
        assert_eq!(
            libfuzzer_progress("stat::number_of_executed_units: 99"),
            Some((99, None))
        );
        assert_eq!(libfuzzer_progress("INFO: Seed: 1"), None);
        let kept =
            kept_input("artifact_prefix='a/'; Test unit written to fuzz/artifacts/b/crash-1");
        assert_eq!(kept.as_deref(), Some("fuzz/artifacts/b/crash-1"));
    }
}
