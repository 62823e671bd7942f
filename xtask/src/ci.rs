//! `cargo xtask ci`: every check that must hold before a change goes in.
//!
//! The cheap steps come first and the first failure ends the run, so that the last lines on the
//! screen are about what is wrong. At the end, or at the failure, a table of steps and durations.

use std::time::{Duration, Instant};

use crate::step::{cargo, execute, seconds};
use crate::{bench, crontabs, deploy, fuzz, layers, loom, mutate, shuttle, test, tidy};

struct Step {
    name: &'static str,
    run: fn() -> Result<(), String>,
}

const STEPS: &[Step] = &[
    Step {
        name: "fmt",
        run: fmt,
    },
    Step {
        name: "tidy",
        run: || tidy::run(&[]),
    },
    Step {
        name: "layers",
        run: || layers::run(&[]),
    },
    Step {
        name: "clippy",
        run: clippy,
    },
    Step {
        name: "test",
        run: || test::run(&[]),
    },
    Step {
        name: "docs",
        run: docs,
    },
    // With a Prometheus from the archive of apt; left out, in words, where neither is.
    Step {
        name: "deploy",
        run: || deploy::run(&[]),
    },
    // As above, with the crontabs of packages.
    Step {
        name: "crontabs",
        run: || crontabs::run(&[]),
    },
    Step {
        name: "loom",
        run: || loom::run(&[]),
    },
    // After test and loom: it plants faults where those have passed and built.
    Step {
        name: "mutate",
        run: || mutate::run(&["--quick".to_owned()]),
    },
    Step {
        name: "fuzz",
        run: fuzz,
    },
    Step {
        name: "shuttle",
        run: || shuttle::run(&[]),
    },
    Step {
        name: "bench",
        run: bench::quick_in_ci,
    },
    // Instructions, which a busy machine does not change; left out, in words, where valgrind is not.
    Step {
        name: "counts",
        run: || bench::run(&["--counts".to_owned()]),
    },
];

/// All steps, or those named.
pub(crate) fn run(args: &[String]) -> Result<(), String> {
    let steps = select(args)?;
    let mut done: Vec<(&str, Duration)> = Vec::new();
    for step in steps {
        println!("\n== {} ==", step.name);
        let started = Instant::now();
        let result = (step.run)();
        done.push((step.name, started.elapsed()));
        println!(
            "== {}: {} in {} ==",
            step.name,
            verdict(&result),
            seconds(started.elapsed())
        );
        if let Err(message) = result {
            print_table(&done, "FAILED");
            return Err(format!("step {}: {message}", step.name));
        }
    }
    print_table(&done, "ok");
    Ok(())
}

fn select(names: &[String]) -> Result<Vec<&'static Step>, String> {
    if names.is_empty() {
        return Ok(STEPS.iter().collect());
    }
    names
        .iter()
        .map(|name| {
            STEPS.iter().find(|step| step.name == name).ok_or_else(|| {
                let known: Vec<&str> = STEPS.iter().map(|step| step.name).collect();
                format!(
                    "`ci` has no step `{name}`; the steps are {}",
                    known.join(", ")
                )
            })
        })
        .collect()
}

fn verdict(result: &Result<(), String>) -> &'static str {
    if result.is_ok() { "ok" } else { "FAILED" }
}

fn print_table(done: &[(&str, Duration)], last: &str) {
    println!();
    for (index, (name, took)) in done.iter().enumerate() {
        let state = if index + 1 == done.len() { last } else { "ok" };
        println!("  {name:<8} {state:<7} {:>8}", seconds(*took));
    }
    let total: Duration = done.iter().map(|(_, took)| *took).sum();
    println!("  {:<16} {:>8}", "total", seconds(total));
}

fn fmt() -> Result<(), String> {
    execute(&mut cargo(&["fmt", "--all", "--check"])).map(drop)
}

/// Three times: the features of `wheel-runtime` add files that its default build never sees, and the
/// whole workspace turns one of them on.
fn clippy() -> Result<(), String> {
    let deny = ["--", "-D", "warnings"];
    let clippy = ["clippy", "--locked", "--all-targets"];
    let whole = ["--workspace"];
    let plain = ["-p", "wheel-runtime"];
    let features = ["-p", "wheel-runtime", "--features", test::FEATURES];
    for of in [&whole[..], &plain, &features] {
        execute(cargo(&clippy).args(of).args(deny))?;
    }
    Ok(())
}

fn docs() -> Result<(), String> {
    let mut command = cargo(&[
        "doc",
        "--locked",
        "--workspace",
        "--no-deps",
        "--features",
        test::FEATURES,
    ]);
    execute(command.env("RUSTDOCFLAGS", "-D warnings")).map(drop)
}

/// On the random driver, which needs nothing installed and does the same everywhere.
fn fuzz() -> Result<(), String> {
    let args = ["--seconds", "30", "--random"];
    fuzz::run(&args.map(str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_names_mean_all_steps() {
        assert_eq!(select(&[]).unwrap().len(), STEPS.len());
    }

    #[test]
    fn an_unknown_step_is_refused_and_the_known_ones_are_named() {
        let error = select(&["fmt".into(), "frobnicate".into()]).err().unwrap();
        assert!(
            error.contains("`frobnicate`") && error.contains("clippy, test"),
            "{error}"
        );
    }
}
