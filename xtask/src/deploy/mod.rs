//! `cargo xtask deploy`: what `deploy/` ships works with the Prometheus of Debian.
//!
//! ```text
//! 1 promtool: the configuration and the rules can be read, and each alert fires on what it is for
//! 2 live.rs: wheel runs with too small a pool, a Prometheus scrapes it
//!     every query of the dashboard has an answer
//!     the alert about runs that start late fires
//! ```
//!
//! Prometheus is fetched with apt and unpacked, where none is installed. A machine that has neither
//! is told so, and nothing is checked there.

mod live;
mod query;

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::debian;
use crate::step::{execute, output_of, root};

/// Where its programs are.
struct Tools {
    promtool: PathBuf,
    prometheus: PathBuf,
}

pub(crate) fn run(args: &[String]) -> Result<(), String> {
    if let Some(argument) = args.first() {
        return Err(format!("`deploy` takes no `{argument}`"));
    }
    let Some(tools) = tools() else {
        println!("No Prometheus here, and none to be had with apt: deploy/ was not checked.");
        return Ok(());
    };
    let rules = root().join("deploy/prometheus");
    let promtool = |args: &[&str]| {
        let mut command = Command::new(&tools.promtool);
        execute(command.args(args).current_dir(&rules)).map(drop)
    };
    promtool(&["check", "config", "prometheus.yml"])?;
    promtool(&["test", "rules", "alerts_test.yaml"])?;
    live::check(&tools.prometheus)
}

/// Those of the machine, else those that were unpacked before, else the ones of Debian's package.
fn tools() -> Option<Tools> {
    let works = |program: &Path| output_of(Command::new(program).arg("--version")).is_ok();
    let at = |folder: &Path| Tools {
        promtool: folder.join("promtool"),
        prometheus: folder.join("prometheus"),
    };
    let folder = root().join("target/prometheus");
    let fetched = || {
        let unpacked = debian::unpack(&["prometheus"], &folder).ok()?;
        Some(at(&unpacked.join("usr/bin")))
    };
    let known = [PathBuf::new(), folder.join("all/usr/bin")];
    let known = known.iter().map(|folder| at(folder));
    let mut known = known.filter(|tools| works(&tools.promtool) && works(&tools.prometheus));
    known
        .next()
        .or_else(|| fetched().filter(|tools| works(&tools.promtool)))
}
