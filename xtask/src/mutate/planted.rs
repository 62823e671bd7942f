//! Plants the faults of logic, one at a time, in a copy of the project below `target/mutate/`.
//!
//! Models and tests have a copy each, so that both can be built at once. The copies share the build
//! folders of the project, so that what does not belong to it is not built again; settings of their
//! own for the project's packages keep cargo from taking a copy's packages for the project's.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use super::Scope;
use super::faults::{self, Fault, Notice};
use super::report::{Fate, Verdict};
use crate::models::{LOOM, Program, for_loom, programs};
use crate::process::{End, Run, in_parallel, run_for};
use crate::step::{cargo, root};
use crate::test::FEATURES;

/// Preemptions of the models that shall notice a fault.
const PREEMPTIONS: &str = "2";
/// A test that takes longer with a fault, and several times as long as without, does not end.
const LIMIT_MIN: Duration = Duration::from_secs(60);
const LIMIT_FACTOR: u32 = 4;
/// What passes without a fault must end by then.
const SOUND_LIMIT: Duration = Duration::from_secs(900);
/// How many of each lane a quick run plants.
const SAMPLE: usize = 2;
/// Packages that faults are in, or that use one.
const PACKAGES: &[&str] = &[
    "wheel-sync",
    "wheel-core",
    "wheel-overflow",
    "wheel-runtime",
    "wheel-testkit",
    "wheel-loom-tests",
];
/// What is no part of a copy.
const LEFT_OUT: &[&str] = &["target", ".git"];

/// Faults that models notice, or those that tests do.
struct Lane {
    copy: PathBuf,
    faults: Vec<&'static Fault>,
    quick: bool,
}

pub(super) fn run(scope: &Scope) -> Result<Vec<Verdict>, String> {
    let wanted = faults::all().filter(|fault| scope.wants(&describe(fault)));
    let (models, tests): (Vec<_>, Vec<_>) =
        wanted.partition(|fault| matches!(fault.notice, Notice::Model(..)));
    let below = root().join("target").join("mutate");
    let lane = |name, faults: Vec<&'static Fault>| Lane {
        copy: below.join(name),
        faults: if scope.quick { sample(faults) } else { faults },
        quick: scope.quick,
    };
    let lanes = [lane("models", models), lane("tests", tests)];
    let of = lanes.iter().map(|lane| lane.faults.len()).sum();
    println!("{of} faults of logic.");
    let done = std::sync::Mutex::new(0);
    let tell = |verdict: &Verdict| {
        let mut done = done.lock().expect("no thread panics with it");
        *done += 1;
        verdict.print(*done, of);
    };
    let verdicts: Result<Vec<_>, String> = in_parallel(&lanes, |lane| lane.run(tell), |_, _| ())
        .into_iter()
        .collect();
    Ok(verdicts?.into_iter().flatten().collect())
}

/// The same few each time, from all over the list.
fn sample(faults: Vec<&'static Fault>) -> Vec<&'static Fault> {
    let step = (faults.len() / SAMPLE).max(1);
    faults.into_iter().step_by(step).take(SAMPLE).collect()
}

fn site(fault: &Fault) -> String {
    fault
        .file
        .trim_start_matches("crates/")
        .replacen("/src/", "/", 1)
}

fn describe(fault: &Fault) -> String {
    format!("{} {} {}", site(fault), fault.name, fault.notice)
}

impl Lane {
    fn run(&self, tell: impl Fn(&Verdict)) -> Result<Vec<Verdict>, String> {
        if self.faults.is_empty() {
            return Ok(Vec::new());
        }
        copy_project(&root(), &self.copy).map_err(|error| {
            format!(
                "cannot copy the project to {}: {error}",
                self.copy.display()
            )
        })?;
        // A fault is noticed only by what passes without it. Before a quick run, all has.
        let mut sound: BTreeMap<String, Result<Run, String>> = BTreeMap::new();
        if !self.quick {
            for fault in &self.faults {
                let target = fault.notice.to_string();
                sound
                    .entry(target)
                    .or_insert_with(|| self.try_out(&fault.notice, SOUND_LIMIT));
            }
        }
        let mut verdicts = Vec::new();
        for fault in &self.faults {
            let started = Instant::now();
            let target = fault.notice.to_string();
            let fate = match sound.get(&target) {
                None => self.fate(fault, LIMIT_MIN),
                Some(Ok(run)) if run.end == End::Passed => {
                    self.fate(fault, LIMIT_MIN.max(run.took * LIMIT_FACTOR))
                }
                Some(Ok(_)) => Fate::Broken {
                    why: format!("{target} fails without the fault"),
                },
                Some(Err(why)) => Fate::Broken { why: why.clone() },
            };
            let verdict = Verdict {
                site: site(fault),
                change: fault.name.to_owned(),
                fate,
                took: started.elapsed(),
            };
            tell(&verdict);
            verdicts.push(verdict);
        }
        Ok(verdicts)
    }

    fn fate(&self, fault: &Fault, limit: Duration) -> Fate {
        let file = self.copy.join(fault.file);
        let planted = fs::read_to_string(&file)
            .map_err(|error| format!("cannot read {}: {error}", fault.file))
            .and_then(|sound| Ok((plant(fault, &sound)?, sound)));
        let (planted, sound) = match planted {
            Ok(both) => both,
            Err(why) => return Fate::Broken { why },
        };
        let end = write(&file, &planted).and_then(|()| self.try_out(&fault.notice, limit));
        let end = write(&file, &sound).and(end);
        match end {
            Err(why) => Fate::Broken { why },
            Ok(Run {
                end: End::Passed, ..
            }) => Fate::Survived {
                why: format!("{} passes", fault.notice),
            },
            Ok(Run { end, .. }) => Fate::Noticed {
                by: fault.notice.to_string(),
                end,
            },
        }
    }

    /// Builds what shall notice, as the copy stands, and runs it.
    fn try_out(&self, notice: &Notice, limit: Duration) -> Result<Run, String> {
        let mut command = match notice {
            Notice::Model(file, _) => {
                let mut command = cargo(LOOM);
                for_loom(&mut command).args(["--test", file]);
                command
            }
            Notice::Unit(package, _) => cargo_test(package, &["--lib"]),
            Notice::Test(package, test, _) => cargo_test(package, &["--test", test]),
        };
        if !matches!(notice, Notice::Model(..)) {
            command.env("CARGO_TARGET_DIR", root().join("target"));
        }
        command
            .current_dir(&self.copy)
            .env("CARGO_INCREMENTAL", "1");
        for package in PACKAGES {
            let profile = match notice {
                Notice::Model(..) => "release",
                _ => "dev",
            };
            for setting in ["debug=0", "opt-level=1"] {
                let setting = format!("profile.{profile}.package.{package}.{setting}");
                command.args(["--config", &setting]);
            }
        }
        let programs = programs(&mut command).map_err(|error| no_build(&error))?;
        let program = match &programs[..] {
            [program] => program,
            _ => programs
                .iter()
                .find(|program| matches!(notice, Notice::Model(file, _) if program.name == *file))
                .ok_or_else(|| format!("{notice} is {} programs", programs.len()))?,
        };
        run_for(&mut filtered(program, notice.filter()), limit)
    }
}

/// Some tests of a package, with all that it can do.
fn cargo_test(package: &str, which: &[&str]) -> Command {
    let mut command = cargo(&["test", "--locked", "-p", package]);
    if package == "wheel-runtime" {
        command.args(["--features", FEATURES]);
    }
    command.args(which);
    command
}

fn filtered(program: &Program, filter: &str) -> Command {
    let mut command = Command::new(&program.path);
    command
        .arg(filter)
        .current_dir(&program.folder)
        .env("LOOM_MAX_PREEMPTIONS", PREEMPTIONS)
        .env("RUST_BACKTRACE", "0");
    command
}

/// The text of the file with the fault in it.
fn plant(fault: &Fault, sound: &str) -> Result<String, String> {
    match sound.matches(fault.find).count() {
        1 => Ok(sound.replacen(fault.find, fault.replace, 1)),
        count => Err(format!(
            "the fault no longer applies: its text stands {count} times in {}",
            fault.file
        )),
    }
}

fn no_build(error: &str) -> String {
    let errors: Vec<&str> = error
        .lines()
        .filter(|line| line.starts_with("error") || line.trim_start().starts_with("--> "))
        .take(4)
        .collect();
    format!("the fault no longer builds: {}", errors.join(" "))
}

fn write(file: &Path, text: &str) -> Result<(), String> {
    fs::write(file, text).map_err(|error| format!("cannot write {}: {error}", file.display()))
}

/// Makes `to` the same as `from`. What is the same already is not touched, so that it is not built
/// again.
fn copy_project(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    let mut there = BTreeSet::new();
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let name = entry.file_name();
        if LEFT_OUT.iter().any(|left_out| name == *left_out) {
            continue;
        }
        let target = to.join(&name);
        if entry.file_type()?.is_dir() {
            copy_project(&entry.path(), &target)?;
        } else {
            let content = fs::read(entry.path())?;
            if fs::read(&target).ok().as_ref() != Some(&content) {
                fs::write(&target, content)?;
            }
        }
        there.insert(name);
    }
    for entry in fs::read_dir(to)? {
        let entry = entry?;
        if !there.contains(&entry.file_name()) {
            match entry.file_type()?.is_dir() {
                true => fs::remove_dir_all(entry.path())?,
                false => fs::remove_file(entry.path())?,
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_has_exactly_one_place() {
        let fault = Fault {
            name: "a step is left out",
            file: "a.rs",
            find: "step();",
            replace: "",
            notice: Notice::Unit("a", ""),
        };
        assert_eq!(plant(&fault, "step(); go();").unwrap(), " go();");
        assert!(plant(&fault, "go();").unwrap_err().contains("0 times"));
        assert!(
            plant(&fault, "step(); step();")
                .unwrap_err()
                .contains("2 times")
        );
    }

    #[test]
    fn every_fault_applies_to_the_project_as_it_stands() {
        for fault in faults::all() {
            let sound = fs::read_to_string(root().join(fault.file)).unwrap();
            let planted =
                plant(fault, &sound).unwrap_or_else(|why| panic!("{}: {why}", fault.name));
            assert_ne!(planted, sound, "{}", fault.name);
        }
    }
}
