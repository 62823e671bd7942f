//! `cargo xtask test`: the whole workspace with plain `cargo test`, doc examples included.
//!
//! One run, with the features of `wheel-runtime` on: they only add to what there is, so the tests of
//! the default build are all in it. That the default build compiles is clippy's step. The models of
//! `loom-tests` run here too, as plain tests on real threads; `cargo xtask loom` explores them.

use crate::step::{cargo, execute, seconds};

/// What `wheel-runtime` has besides its default build.
pub(crate) const FEATURES: &str = "wheel-runtime/async,wheel-runtime/metrics,\
    wheel-runtime/prometheus,wheel-runtime/rayon,wheel-runtime/serde,wheel-runtime/tracing";

/// Arguments are handed on to `cargo test`: a filter, `-p NAME`, `-- --nocapture`.
pub(crate) fn run(args: &[String]) -> Result<(), String> {
    println!("All tests of the workspace: unit, integration, doc examples.");
    let mut command = cargo(&["test", "--locked"]);
    if !args
        .iter()
        .any(|arg| arg == "-p" || arg.starts_with("--package"))
    {
        command.args(["--workspace", "--features", FEATURES]);
    }
    let took = execute(command.args(args))?;
    println!("All tests passed in {}.", seconds(took));
    Ok(())
}
