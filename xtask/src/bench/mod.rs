//! `cargo xtask bench`: the wheel beside its rivals, built, run, printed.
//!
//! The comparison itself is the program `wheel-bench` of the package in `benches/`; this builds it
//! optimised, with the rivals or without, and starts it. All arguments are its own, but for
//! `--counts`, which is no comparison (counts.rs).

mod counts;

use std::path::PathBuf;
use std::process::Command;

use counts::Purpose;

use crate::step::{cargo, execute, root};

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
    !args.windows(2).any(|pair| pair == ["--rivals", "heap"])
}

fn program() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR");
    let target = target.map_or_else(|| root().join("target"), PathBuf::from);
    target.join("release").join("wheel-bench")
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
    }
}
