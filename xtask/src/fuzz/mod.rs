//! `cargo xtask fuzz`: every fuzz target for a while, and what came of it.
//!
//! ```text
//! cargo +nightly fuzz run NAME --.
//! wheel-fuzz drive NAME ---------+--lines--> this --progress, table--> terminal
//! ```
//!
//! Under cargo-fuzz, which is guided by coverage, where it and a nightly toolchain are installed;
//! else, or with `--random`, the same targets on the seeded driver of the package `wheel-fuzz`. The
//! seconds are shared evenly by the targets, and building comes on top. An input that fails is kept
//! below `fuzz/artifacts/`; the corpus is left as it is, and what libFuzzer finds for it goes below
//! `target/`.

mod engines;

use std::process::Command;
use std::time::Instant;

use crate::step::{execute, output_of, seconds};
use engines::{Done, Engine, build_driver, cargo_fuzz, driver, on_the_driver, under_cargo_fuzz};

/// What all targets share when nothing else is said.
const SECONDS: f64 = 60.0;

/// What is asked for.
#[derive(PartialEq, Debug)]
enum Asked {
    Run {
        seconds: f64,
        only: Option<String>,
        seed: u64,
        engine: Option<Engine>,
    },
    Replay {
        target: String,
        file: String,
    },
}

pub(crate) fn run(args: &[String]) -> Result<(), String> {
    match parse(args)? {
        Asked::Replay { target, file } => {
            build_driver()?;
            // Where the command was typed, not in the root, is where FILE was meant to be.
            execute(Command::new(driver()).args(["replay", &target, &file])).map(drop)
        }
        Asked::Run {
            seconds,
            only,
            seed,
            engine,
        } => run_all(seconds, only.as_deref(), seed, engine),
    }
}

fn parse(args: &[String]) -> Result<Asked, String> {
    let (mut seconds, mut only, mut seed, mut engine) = (SECONDS, None, 0, None);
    let mut args = args.iter().map(String::as_str);
    while let Some(arg) = args.next() {
        let mut value = |what| args.next().ok_or(format!("`{arg}` needs {what}"));
        match arg {
            "--seconds" => {
                let text = value("a number of seconds")?;
                let number = text
                    .parse()
                    .ok()
                    .filter(|number| *number > 0.0 && *number < 1e9);
                seconds = number.ok_or(format!("`{text}` is not a number of seconds"))?;
            }
            "--only" => only = Some(value("the name of a target")?.to_owned()),
            "--seed" => {
                let text = value("a number")?;
                seed = text
                    .parse()
                    .map_err(|_| format!("`{text}` is not a seed"))?;
            }
            "--random" => engine = Some(Engine::Random),
            "--replay" => {
                let target = value("the name of a target and a file")?.to_owned();
                let file = value("the name of a target and a file")?.to_owned();
                return Ok(Asked::Replay { target, file });
            }
            other => return Err(format!("`cargo xtask fuzz` takes no `{other}`")),
        }
    }
    Ok(Asked::Run {
        seconds,
        only,
        seed,
        engine,
    })
}

fn run_all(
    all_seconds: f64,
    only: Option<&str>,
    seed: u64,
    engine: Option<Engine>,
) -> Result<(), String> {
    let engine = engine.unwrap_or_else(Engine::choose);
    build_driver()?;
    let names = output_of(Command::new(driver()).arg("names"))?;
    let names: Vec<&str> = names.lines().collect();
    let chosen: Vec<&str> = names
        .iter()
        .copied()
        .filter(|name| only.is_none_or(|only| only == *name))
        .collect();
    if chosen.is_empty() {
        return Err(format!("the targets are {}", names.join(", ")));
    }
    if engine == Engine::CargoFuzz {
        let mut build = cargo_fuzz("build");
        execute(build.args(only))?;
    }
    let share = all_seconds / chosen.len() as f64;
    println!(
        "Fuzzing with the {}, seed {seed}: {all_seconds} s in all, {share:.1} s a target.",
        engine.name()
    );

    let mut table = Vec::new();
    let mut failed = Vec::new();
    for name in chosen {
        let started = Instant::now();
        let (done, result) = match engine {
            Engine::CargoFuzz => under_cargo_fuzz(name, share, seed),
            Engine::Random => on_the_driver(name, share, seed),
        };
        let took = match done.took.is_zero() {
            true => started.elapsed(),
            false => done.took,
        };
        table.push((name, Done { took, ..done }, result.is_ok()));
        failed.extend(result.err());
    }
    print_table(engine, &table);
    if failed.is_empty() {
        return Ok(());
    }
    Err(failed.join("\n"))
}

fn print_table(engine: Engine, table: &[(&str, Done, bool)]) {
    println!(
        "\n  {:<12} {:<14} {:>12} {:>9} {:>11} {:>8}",
        "target", "engine", "inputs", "time", "per second", "corpus"
    );
    for (name, done, passed) in table {
        println!(
            "  {name:<12} {:<14} {:>12} {:>9} {:>11.0} {:>8}  {}",
            engine.name(),
            done.inputs,
            seconds(done.took),
            done.inputs as f64 / done.took.as_secs_f64().max(0.001),
            done.corpus,
            if *passed { "ok" } else { "FAILED" }
        );
    }
    println!();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(args: &[&str]) -> Result<Asked, String> {
        let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
        parse(&args)
    }

    #[test]
    fn what_is_asked_for_is_understood() {
        let asked = parsed(&[
            "--seconds",
            "30",
            "--random",
            "--only",
            "heap",
            "--seed",
            "7",
        ]);
        let wanted = Asked::Run {
            seconds: 30.0,
            only: Some("heap".into()),
            seed: 7,
            engine: Some(Engine::Random),
        };
        assert_eq!(asked, Ok(wanted));
        let replay = Asked::Replay {
            target: "heap".into(),
            file: "a".into(),
        };
        assert_eq!(parsed(&["--replay", "heap", "a"]), Ok(replay));
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        for args in [
            &["--fast"][..],
            &["--seconds"],
            &["--seconds", "-1"],
            &["--seconds", "x"],
        ] {
            assert!(parsed(args).is_err(), "{args:?}");
        }
        assert!(parsed(&["--replay", "heap"]).is_err());
    }
}
