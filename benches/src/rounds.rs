//! Running a plan: a process for each cell and round, the contestants of a group in turns.
//!
//! Each round starts with another contestant, so that none always runs first. What comes back is
//! every sample, by cell and round, so that ratios can be taken within a round.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::measure::{Noise, NoiseMeter, Sample, cpu_time, switches};
use crate::plan::Group;
use crate::workloads::{Cell, Effort, run};

/// The argument that makes this program run one cell and print one line.
pub const CELL: &str = "--cell";
const LIMIT: Duration = Duration::from_secs(180);

/// What a cell's process prints.
#[derive(Debug, Serialize, Deserialize)]
enum Answer {
    Done {
        sample: Sample,
        cpu_s: f64,
        switches: f64,
    },
    Failed(String),
}

/// All that came of a cell.
#[derive(Clone, Debug)]
pub struct Taken {
    /// Which.
    pub cell: Cell,
    /// One for each round; `None` where it failed.
    pub samples: Vec<Option<Sample>>,
    /// The latest failure.
    pub failure: Option<String>,
    /// What disturbed it, by round.
    pub noise: Vec<Noise>,
}

/// Runs the cell of an argument in this process and prints the line that the parent reads.
pub fn answer(argument: &str, effort: Effort) {
    let answer = match Cell::from_argument(argument).and_then(|cell| run(&cell, effort)) {
        Ok(sample) => Answer::Done {
            sample,
            cpu_s: cpu_time().map_or(0.0, |time| time.as_secs_f64()),
            switches: switches() as f64,
        },
        Err(reason) => Answer::Failed(reason),
    };
    let line = serde_json::to_string(&answer);
    println!("{}", line.expect("numbers and strings can be written"));
}

/// Runs all rounds of a group. `progress` is told of each cell before it is run.
pub fn run_group(
    group: &Group,
    effort: Effort,
    mut progress: impl FnMut(usize, &Cell),
) -> Vec<Taken> {
    let mut all: Vec<Taken> = group
        .cells
        .iter()
        .map(|cell| Taken {
            cell: cell.clone(),
            samples: Vec::new(),
            failure: None,
            noise: Vec::new(),
        })
        .collect();
    let count = all.len();
    for round in 0..group.rounds {
        for turn in 0..count {
            let taken = &mut all[(round + turn) % count];
            progress(round, &taken.cell);
            match run_apart(&taken.cell, effort) {
                Ok((sample, noise)) => {
                    taken.samples.push(Some(sample));
                    taken.noise.push(noise);
                }
                Err(failure) => {
                    taken.samples.push(None);
                    taken.failure = Some(failure);
                }
            }
        }
    }
    all
}

/// One cell in a process of its own.
fn run_apart(cell: &Cell, effort: Effort) -> Result<(Sample, Noise), String> {
    let program = this_program().map_err(|error| error.to_string())?;
    let meter = NoiseMeter::new();
    let mut child = Command::new(program)
        .args([CELL, &cell.to_argument()])
        .args(effort.pick(Some("--quick"), None))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("cannot start a process: {error}"))?;
    let printed = wait(&mut child)?;
    match serde_json::from_str(printed.trim()) {
        Ok(Answer::Done {
            sample,
            cpu_s,
            switches,
        }) => Ok((sample, meter.end(cpu_s, switches))),
        Ok(Answer::Failed(reason)) => Err(reason),
        Err(_) => Err("its process ended without an answer".to_owned()),
    }
}

/// The program that runs now, even when another has been built in its place.
fn this_program() -> io::Result<PathBuf> {
    let linux = Path::new("/proc/self/exe");
    if linux.exists() {
        return Ok(linux.to_owned());
    }
    std::env::current_exe()
}

/// What it prints; kills it when it takes too long.
fn wait(child: &mut Child) -> Result<String, String> {
    let started = Instant::now();
    let mut pause = Duration::from_millis(1);
    loop {
        match child.try_wait() {
            Ok(Some(_)) => break,
            Ok(None) if started.elapsed() < LIMIT => thread::sleep(pause),
            Ok(None) | Err(_) => {
                // It may have ended by itself just now.
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("was not done in {} s", LIMIT.as_secs()));
            }
        }
        pause = (pause * 2).min(Duration::from_millis(20));
    }
    let mut printed = String::new();
    let output = child.stdout.take();
    let read = output.map(|mut output| output.read_to_string(&mut printed));
    match read {
        Some(Ok(_)) => Ok(printed),
        _ => Err("its process printed nothing".to_owned()),
    }
}
