//! `cargo xtask loom`: the package `loom-tests` under the model checker, and what it explored.
//!
//! ```text
//! cargo test (loom) --stdout--> reader thread --chunks--> Report --lines--> terminal, table
//! ```
//!
//! Every test there is a model and prints `model NAME: N executions` when loom has finished it. A
//! test that passed and printed no such line has checked nothing, so it is an error here. A test
//! marked `should_panic` is a variant that the model must refute; it ends in its panic instead.

mod deep;

use std::io::Read;
use std::process::Stdio;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use crate::models::{LOOM, executions_in, for_loom};
use crate::step::{cargo, seconds};

/// Preemptions per execution: most bugs need one or two, and each more multiplies the executions.
const PREEMPTIONS: &str = "2";
/// Seconds for each step of a deep run, unless it is told otherwise.
const DEEP_SECONDS: u64 = 120;
/// How long the command stays silent before it says what it is doing.
const HEARTBEAT: Duration = Duration::from_secs(10);

/// What was asked for.
#[derive(Debug)]
struct Asked {
    deep: bool,
    only: Option<String>,
    seconds: u64,
    markdown: bool,
}

pub(crate) fn run(args: &[String]) -> Result<(), String> {
    let asked = parse(args)?;
    if asked.deep {
        let limit = Duration::from_secs(asked.seconds);
        return deep::run(asked.only.as_deref(), limit, asked.markdown);
    }
    let preemptions =
        std::env::var("LOOM_MAX_PREEMPTIONS").unwrap_or_else(|_| PREEMPTIONS.to_owned());
    println!("Models under loom, at most {preemptions} preemptions an execution.");

    let mut command = cargo(LOOM);
    for_loom(&mut command).arg("--").args(asked.only);
    command.args(["--nocapture", "--test-threads=1"]);
    command
        .env("LOOM_MAX_PREEMPTIONS", preemptions)
        // A refuted variant panics by design; its backtrace is loom's inside.
        .env("RUST_BACKTRACE", "0")
        .stdout(Stdio::piped());
    let mut child = command
        .spawn()
        .map_err(|error| format!("cannot start cargo: {error}"))?;
    let stdout = child.stdout.take().ok_or("cargo has no standard output")?;

    let mut report = Report::new();
    follow(&chunks_of(stdout), &mut report);
    let status = child
        .wait()
        .map_err(|error| format!("cannot wait for cargo: {error}"))?;
    report.print_table();
    if !status.success() {
        return Err(format!(
            "the models failed ({status}); the output above has the execution"
        ));
    }
    report.verdict()
}

fn parse(args: &[String]) -> Result<Asked, String> {
    let mut asked = Asked {
        deep: false,
        only: None,
        seconds: DEEP_SECONDS,
        markdown: false,
    };
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--deep" => asked.deep = true,
            "--markdown" => asked.markdown = true,
            "--only" => {
                let name = args.next().ok_or("`--only` needs the name of a model")?;
                asked.only = Some(name.clone());
            }
            "--seconds" => {
                let number = args.next().and_then(|number| number.parse().ok());
                asked.seconds = number.ok_or("`--seconds` needs a number")?;
            }
            other => return Err(format!("`cargo xtask loom` takes no `{other}`")),
        }
    }
    Ok(asked)
}

/// Reads on a thread of its own, so that silence can be noticed.
fn chunks_of(mut stdout: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (send, receive) = channel();
    std::thread::spawn(move || {
        let mut buffer = [0; 4096];
        while let Ok(count @ 1..) = stdout.read(&mut buffer) {
            if send.send(buffer[..count].to_vec()).is_err() {
                break;
            }
        }
    });
    receive
}

fn follow(chunks: &Receiver<Vec<u8>>, report: &mut Report) {
    let mut pending = Vec::new();
    loop {
        match chunks.recv_timeout(HEARTBEAT) {
            Ok(chunk) => pending.extend(chunk),
            Err(RecvTimeoutError::Timeout) => {
                report.heartbeat(&String::from_utf8_lossy(&pending));
                continue;
            }
            Err(RecvTimeoutError::Disconnected) => break,
        }
        while let Some(end) = pending.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = pending.drain(..=end).collect();
            let line = String::from_utf8_lossy(&line);
            println!("{}", line.trim_end());
            report.line(line.trim_end());
        }
    }
    report.line(String::from_utf8_lossy(&pending).trim_end());
}

/// One test of the package, as far as it has come.
struct Model {
    name: String,
    executions: Option<u64>,
    refutes: bool,
    took: Duration,
}

/// What the test programs said, read line by line.
struct Report {
    models: Vec<Model>,
    mark: Instant,
}

impl Report {
    fn new() -> Report {
        Report {
            models: Vec::new(),
            mark: Instant::now(),
        }
    }

    /// A line is `test NAME ... [what the test prints]`, then more that it prints, then `ok`.
    fn line(&mut self, line: &str) {
        if line.starts_with("running ") {
            self.mark = Instant::now();
        }
        let mut rest = line;
        if let Some((name, after)) = test_start(line) {
            let refutes = name.ends_with(" - should panic");
            let name = name.trim_end_matches(" - should panic").to_owned();
            self.models.push(Model {
                name,
                executions: None,
                refutes,
                took: Duration::ZERO,
            });
            rest = after;
        }
        let Some(model) = self.models.last_mut() else {
            return;
        };
        if let Some(executions) = executions_in(rest) {
            // A test may run more than one model.
            *model.executions.get_or_insert(0) += executions;
        }
        if matches!(rest, "ok" | "FAILED") {
            model.took = self.mark.elapsed();
            self.mark = Instant::now();
        }
    }

    fn heartbeat(&self, unfinished: &str) {
        let name = test_start(unfinished)
            .map(|(name, _)| name)
            .or_else(|| self.models.last().map(|model| model.name.as_str()));
        if let Some(name) = name {
            println!(
                "  ... {name}: exploring for {}",
                seconds(self.mark.elapsed())
            );
        }
    }

    fn print_table(&self) {
        println!("\n  {:<56} {:>12} {:>9}", "model", "executions", "time");
        for model in &self.models {
            let executions = match (model.executions, model.refutes) {
                (Some(count), _) => count.to_string(),
                (None, true) => "refuted".to_owned(),
                (None, false) => "none".to_owned(),
            };
            println!(
                "  {:<56} {executions:>12} {:>9}",
                model.name,
                seconds(model.took)
            );
        }
        let total: u64 = self
            .models
            .iter()
            .filter_map(|model| model.executions)
            .sum();
        let took: Duration = self.models.iter().map(|model| model.took).sum();
        println!(
            "  {:<56} {total:>12} {:>9}",
            format!("{} in all", self.models.len()),
            seconds(took)
        );
    }

    fn verdict(&self) -> Result<(), String> {
        if self.models.is_empty() {
            return Err("no model ran".to_owned());
        }
        let silent: Vec<&str> = self
            .models
            .iter()
            .filter(|model| model.executions.is_none() && !model.refutes)
            .map(|model| model.name.as_str())
            .collect();
        if silent.is_empty() {
            return Ok(());
        }
        Err(format!(
            "no executions reported by {}: a test in loom-tests calls `wheel_sync::model` and runs it under loom",
            silent.join(", ")
        ))
    }
}

/// Splits `test NAME ... REST`.
fn test_start(line: &str) -> Option<(&str, &str)> {
    line.strip_prefix("test ")?.split_once(" ... ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report_of(lines: &str) -> Report {
        let mut report = Report::new();
        lines.lines().for_each(|line| report.line(line));
        report
    }

    #[test]
    fn executions_are_counted_per_model() {
        let report = report_of(
            "running 2 tests\ntest fires_once ... model cancel-or-fire: 120 executions\nok\n\
             test frees_once ... \nmodel a: 7 executions\nmodel b: 8 executions\nok\n",
        );
        let counts: Vec<_> = report.models.iter().map(|model| model.executions).collect();
        assert_eq!(counts, [Some(120), Some(15)]);
        assert!(report.verdict().is_ok());
    }

    #[test]
    fn a_model_that_reports_nothing_is_an_error_that_names_it() {
        let report = report_of("test fires_once ... ok\n");
        assert!(report.verdict().unwrap_err().contains("fires_once"));
    }

    #[test]
    fn a_run_without_loom_does_not_count() {
        let report = report_of("test x ... model x: 1 execution, without loom\nok\n");
        assert!(report.verdict().is_err());
    }

    #[test]
    fn a_refuted_variant_needs_no_count() {
        let report = report_of("test early_lowering - should panic ... \nok\n");
        assert!(report.models[0].refutes);
        assert!(report.verdict().is_ok());
    }

    #[test]
    fn no_model_at_all_is_an_error() {
        assert!(report_of("running 0 tests\n").verdict().is_err());
    }

    #[test]
    fn unknown_arguments_are_refused() {
        assert!(parse(&["--fast".into()]).is_err());
        assert!(parse(&["--only".into()]).is_err());
        assert!(parse(&["--seconds".into(), "x".into()]).is_err());
    }
}
