//! `cargo xtask shuttle`: the scenarios of `shuttle-tests` in random schedules, for a bounded time.
//!
//! ```text
//! cargo test -- --list --> how many scenarios, so how long each
//! cargo test (shuttle) --stdout--> reader thread --lines--> Report --> terminal, table
//! ```
//!
//! A scenario prints `scenario NAME, KIND: N schedules, M steps` for each kind of schedule; one
//! that passed and printed none has explored nothing, so it is an error here. A schedule that fails
//! is kept under `target/shuttle/failures/` and can be played again. Shuttle has its own target
//! directory: its flag would rebuild everything else each time.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::step::{cargo, output_of, root, seconds};

/// How long all scenarios run together, unless told otherwise.
const SECONDS: u64 = 40;
/// Kinds of schedules that each scenario runs in.
const KINDS: u64 = 3;
/// How long the command stays silent before it says what it is doing.
const HEARTBEAT: Duration = Duration::from_secs(10);

#[derive(Debug, Default, PartialEq, Eq)]
struct Options {
    seconds: Option<u64>,
    iterations: Option<u64>,
    seed: Option<u64>,
    only: Option<String>,
    replay: Option<String>,
}

pub(crate) fn run(args: &[String]) -> Result<(), String> {
    let options = parse(args)?;
    let failures = root().join("target").join("shuttle").join("failures");
    let list = output_of(tests(&options).arg("--list"))?;
    let scenarios = list.lines().filter(|line| line.ends_with(": test")).count() as u64;
    if scenarios == 0 {
        return Err("no scenario has such a name".to_owned());
    }

    let mut command = tests(&options);
    command.args(["--nocapture", "--test-threads=1"]);
    command.env("SHUTTLE_FAILURES", &failures);
    let seed = options.seed.unwrap_or_else(any_seed);
    match (&options.replay, options.iterations) {
        (Some(schedule), _) => {
            println!("One schedule, played again.");
            command.env("SHUTTLE_REPLAY", full_path(schedule));
        }
        (None, Some(iterations)) => {
            println!("{scenarios} scenarios, {iterations} schedules of each kind, seed {seed}.");
            command.env("SHUTTLE_ITERATIONS", iterations.to_string());
        }
        (None, None) => {
            let total = options.seconds.unwrap_or(SECONDS);
            let millis = (total * 1000 / (scenarios * KINDS)).max(1);
            println!("{scenarios} scenarios, {total} s together, seed {seed}.");
            command.env("SHUTTLE_MILLIS", millis.to_string());
        }
    }
    command
        .env("SHUTTLE_SEED", seed.to_string())
        .stdout(Stdio::piped());
    let mut child = command
        .spawn()
        .map_err(|error| format!("cannot start cargo: {error}"))?;
    let stdout = child.stdout.take().ok_or("cargo has no standard output")?;
    let mut report = Report::new();
    follow(&lines_of(stdout), &mut report);
    let status = child
        .wait()
        .map_err(|error| format!("cannot wait for cargo: {error}"))?;
    report.print_table();
    if !status.success() {
        return Err(format!(
            "a scenario failed ({status}), with seed {seed}; the output above says how to play its \
             schedule again"
        ));
    }
    report.verdict()
}

fn parse(args: &[String]) -> Result<Options, String> {
    fn number(of: &str, text: Option<&String>) -> Result<Option<u64>, String> {
        let number = text.and_then(|text| text.parse().ok());
        number.map(Some).ok_or(format!("`{of}` needs a number"))
    }
    let mut options = Options::default();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let arg = arg.as_str();
        match arg {
            "--seconds" => options.seconds = number(arg, args.next())?,
            "--iterations" => options.iterations = number(arg, args.next())?,
            "--seed" => options.seed = number(arg, args.next())?,
            "--only" => {
                let name = args.next().ok_or("`--only` needs the name of a scenario")?;
                options.only = Some(name.clone());
            }
            "--replay" => {
                let schedule = args.next().ok_or("`--replay` needs a file or a schedule")?;
                options.replay = Some(schedule.clone());
            }
            other => return Err(format!("`cargo xtask shuttle` takes no `{other}`")),
        }
    }
    if options.replay.is_some() && options.only.is_none() {
        return Err("`--replay` needs `--only NAME`: a schedule is one scenario's".to_owned());
    }
    Ok(options)
}

/// `cargo test` of the scenarios; arguments for the test programs may follow.
fn tests(options: &Options) -> Command {
    let package = ["test", "--locked", "--release", "-p", "wheel-shuttle-tests"];
    let mut command = cargo(&package);
    command
        .args(["--features", "shuttle", "--tests", "--"])
        .args(&options.only)
        .env("RUSTFLAGS", "--cfg wheel_model")
        .env("CARGO_TARGET_DIR", root().join("target").join("shuttle"))
        // Scenarios judge the assertions of the product too.
        .env("CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS", "true");
    command
}

/// Another one each time: what is not found today may be tomorrow.
fn any_seed() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.subsec_nanos().into())
}

/// The tests run in their package's folder, so a path must not hang on where they run.
fn full_path(schedule: &str) -> PathBuf {
    std::fs::canonicalize(schedule).unwrap_or_else(|_| schedule.into())
}

/// Reads on a thread of its own, so that silence can be noticed.
fn lines_of(stdout: impl Read + Send + 'static) -> Receiver<String> {
    let (send, receive) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            if send.send(line).is_err() {
                break;
            }
        }
    });
    receive
}

fn follow(lines: &Receiver<String>, report: &mut Report) {
    loop {
        match lines.recv_timeout(HEARTBEAT) {
            Ok(line) => {
                println!("{line}");
                report.line(&line);
            }
            Err(RecvTimeoutError::Timeout) => report.heartbeat(),
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

/// One scenario, as far as it has come.
#[derive(Debug, Default, PartialEq, Eq)]
struct Explored {
    schedules: u64,
    steps: u64,
    took: Duration,
}

/// What the test programs said, read line by line.
struct Report {
    scenarios: BTreeMap<String, Explored>,
    current: Option<String>,
    mark: Instant,
}

impl Report {
    fn new() -> Report {
        Report {
            scenarios: BTreeMap::new(),
            current: None,
            mark: Instant::now(),
        }
    }

    /// `test NAME ... ` stands before the first thing that a test prints.
    fn line(&mut self, line: &str) {
        let mut rest = line;
        if let Some((name, after)) = line
            .strip_prefix("test ")
            .and_then(|test| test.split_once(" ... "))
        {
            self.scenarios.entry(name.to_owned()).or_default();
            self.current = Some(name.to_owned());
            self.mark = Instant::now();
            rest = after;
        }
        let current = self.current.as_ref();
        let Some(explored) = current.and_then(|name| self.scenarios.get_mut(name)) else {
            return;
        };
        if let Some((schedules, steps)) = explored_in(rest) {
            explored.schedules += schedules;
            explored.steps += steps;
            explored.took += self.mark.elapsed();
            self.mark = Instant::now();
        }
    }

    fn heartbeat(&self) {
        if let Some(name) = &self.current {
            let since = seconds(self.mark.elapsed());
            println!("  ... {name}: exploring for {since}");
        }
    }

    fn print_table(&self) {
        let row = |name: &str, explored: &Explored| {
            println!(
                "  {name:<56} {:>10} {:>13} {:>8}",
                explored.schedules,
                explored.steps,
                seconds(explored.took)
            );
        };
        println!(
            "\n  {:<56} {:>10} {:>13} {:>8}",
            "scenario", "schedules", "steps", "time"
        );
        let mut all = Explored::default();
        for (name, explored) in &self.scenarios {
            row(name, explored);
            all.schedules += explored.schedules;
            all.steps += explored.steps;
            all.took += explored.took;
        }
        row(&format!("{} in all", self.scenarios.len()), &all);
    }

    fn verdict(&self) -> Result<(), String> {
        let silent: Vec<&str> = self
            .scenarios
            .iter()
            .filter(|(_, explored)| explored.schedules == 0)
            .map(|(name, _)| name.as_str())
            .collect();
        match silent[..] {
            [] => Ok(()),
            _ => Err(format!(
                "no schedules reported by {}: a test in shuttle-tests calls `explore`",
                silent.join(", ")
            )),
        }
    }
}

/// The numbers in `scenario NAME, KIND: N schedules, M steps`.
fn explored_in(line: &str) -> Option<(u64, u64)> {
    let (_, counts) = line.strip_prefix("scenario ")?.rsplit_once(": ")?;
    let (schedules, steps) = counts.split_once(" schedules, ")?;
    let steps = steps.strip_suffix(" steps")?;
    Some((schedules.parse().ok()?, steps.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(args: &[&str]) -> Vec<String> {
        args.iter().map(|&arg| arg.to_owned()).collect()
    }

    #[test]
    fn schedules_and_steps_are_added_up_by_scenario() {
        let mut report = Report::new();
        for line in [
            "running 2 tests",
            "test a ... scenario a: exploring, seed 7",
            "scenario a, random: 10 schedules, 1000 steps",
            "scenario a, pct: 5 schedules, 700 steps",
            "ok",
            "test b ... scenario b, random: 1 schedules, 3 steps",
        ] {
            report.line(line);
        }
        let counts: Vec<_> = report
            .scenarios
            .values()
            .map(|explored| (explored.schedules, explored.steps))
            .collect();
        assert_eq!(counts, [(15, 1700), (1, 3)]);
        assert!(report.verdict().is_ok());
    }

    #[test]
    fn a_scenario_that_reports_nothing_is_an_error_that_names_it() {
        let mut report = Report::new();
        report.line("test fires_once ... ok");
        assert!(report.verdict().unwrap_err().contains("fires_once"));
    }

    #[test]
    fn arguments_are_read_and_unknown_ones_refused() {
        let options = parse(&strings(&["--seconds", "7", "--only", "pool"])).unwrap();
        assert_eq!(options.seconds, Some(7));
        assert_eq!(options.only.as_deref(), Some("pool"));
        for wrong in [&["--fast"][..], &["--seed"], &["--seed", "x"]] {
            assert!(parse(&strings(wrong)).is_err());
        }
    }

    #[test]
    fn a_schedule_is_played_again_for_one_scenario_only() {
        assert!(parse(&strings(&["--replay", "9101"])).is_err());
        assert!(parse(&strings(&["--replay", "9101", "--only", "pool"])).is_ok());
    }
}
