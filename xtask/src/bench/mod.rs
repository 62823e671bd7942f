//! `cargo xtask bench`: the wheel beside its rivals, built, run, printed.
//!
//! The comparison itself is the program `wheel-bench` of the package in `benches/`; this builds it
//! optimised, with the rivals or without, and starts it. All arguments are its own, but for
//! `--counts`, which is no comparison (counts.rs).

mod counts;
mod format;

use std::path::PathBuf;
use std::process::Command;

use counts::Purpose;

use crate::step::{cargo, execute, root};

/// `bench --quick` as a step of CI: no time is asserted, for CI machines are as fast as they are. It
/// fails when a cell fails, or when what it writes is not what programs count on.
///
/// Against the heap only: one of the other engines wants a newer compiler (1.94) than the oldest
/// that this workspace builds with, and with them all a clean machine of two cores builds for 66 s
/// of CPU time instead of 43 and measures for 35 s instead of 20. The hosted workflow has a job with
/// all of them, on the newest compiler.
pub(crate) fn quick_in_ci() -> Result<(), String> {
    let file = target().join("bench-quick.json");
    let mut args = ["--quick", "--rivals", "heap", "--json"]
        .map(str::to_owned)
        .to_vec();
    args.push(file.display().to_string());
    run(&args)?;
    let text = std::fs::read_to_string(&file)
        .map_err(|error| format!("cannot read {}: {error}", file.display()))?;
    let results = format::check(&text).map_err(|faults| format!("{}: {faults}", file.display()))?;
    println!("{results} results, all well formed: {}", file.display());
    Ok(())
}

/// Builds and runs; `--rivals heap` builds none of the other engines.
pub(crate) fn run(args: &[String]) -> Result<(), String> {
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["--counts"] => return counts::run(Purpose::Hold),
        ["--counts", "--accept"] => return counts::run(Purpose::Accept),
        _ => {}
    }
    let mut build = cargo(&["build", "--locked", "--release", "-p", "wheel-benches"]);
    build.args(["--bin", "wheel-bench"]);
    if wants_rivals(args) {
        build.args(["--features", "rivals"]);
    }
    execute(&mut build)?;
    execute(Command::new(program()).args(args)).map(drop)
}

fn wants_rivals(args: &[String]) -> bool {
    let heap_only = args.windows(2).any(|pair| pair == ["--rivals", "heap"]);
    let alone = args.iter().any(|arg| arg == "--scaling");
    !heap_only && !alone
}

fn target() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR");
    target.map_or_else(|| root().join("target"), PathBuf::from)
}

fn program() -> PathBuf {
    target().join("release").join("wheel-bench")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_other_engines_are_built_unless_only_the_heap_is_asked_for() {
        let args = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert!(wants_rivals(&args("--quick")));
        assert!(wants_rivals(&args("--rivals all")));
        assert!(!wants_rivals(&args("--quick --rivals heap")));
        assert!(!wants_rivals(&args("--scaling docs/SCALING.md")));
    }
}
