//! What the `wheel` command is made of: it runs the programs of a task file, or of a crontab, when
//! they are due, and checks such files.
//!
//! ```text
//! main.rs -> lib.rs -> args.rs                 what is asked for; the exit codes
//!                   -> written.rs              completions, and pages of the manual
//!                   -> source.rs               which file it is
//!                        -> file/, crontab/    the task file, the crontab, checked completely
//!                   -> next.rs, explain/       a cron expression, its instants and its meaning
//!                   -> timeline/                what it would do in a day
//!                   -> run/                    from the file to the end of `wheel run`
//!                        -> wheel_runtime      when a task is due, and on which worker
//!                        -> child/, output/    its program, and what that prints
//!                        -> record.rs          what happened
//!                        -> live.rs, summary.rs    what is shown of it       (signals.rs, service.rs)
//!                        -> watch/             the same, on all of a terminal
//! ```
//!
//! A library only so that what reads the texts of people can be fed with anything, without a
//! process for each: [`duration`] and [`plan`]. It is no interface to build on; that is the command.

#[cfg(not(unix))]
compile_error!("the wheel command needs process groups and signals as Unix has them");

mod args;
mod crontab;
mod file;
mod source;

mod explain;
mod next;
mod run;
mod timeline;
mod written;

mod child;
mod output;

mod live;
mod record;
mod service;
mod signals;
mod summary;
mod watch;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;

pub use wheel_runtime::duration;

use args::{CheckArgs, Cli, Command, CronCommand, EXIT_USAGE};
use crontab::{Look, Owner, Reading};
use file::TaskFile;
use wheel_runtime::Zone;

/// The whole command, from the arguments of the process to its exit code.
pub fn main() -> ExitCode {
    match Cli::parse().command {
        Command::Run(args) => ExitCode::from(run::run(&args)),
        Command::Check(args) => check(&args),
        Command::Plan(args) => ExitCode::from(timeline::plan(&args)),
        Command::Cron(CronCommand::Next(args)) => ExitCode::from(next::next(&args.instants)),
        Command::Cron(CronCommand::Explain(args)) => {
            ExitCode::from(explain::explain(&args.instants))
        }
        Command::Completions(args) => ExitCode::from(written::completions(args.shell)),
        Command::Man(args) => ExitCode::from(written::man(&args)),
    }
}

/// One task of a file, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planned {
    /// Its name.
    pub id: String,
    /// What it is due by, such as `every 500ms x20`.
    pub schedule: String,
    /// The program that was found for it.
    pub program: PathBuf,
}

/// What `wheel check` makes of a task file with this content. `path` is what the file is called in
/// messages; it is not opened. Programs and folders that the tasks name are looked up, and nothing
/// is started.
///
/// # Errors
///
/// Every fault that was found, as `wheel check` shows them.
///
/// # Examples
///
/// ```
/// use std::path::Path;
///
/// let text = "[[task]]\nid = \"a\"\nevry = \"3s\"\nrun = [\"sh\"]\n";
/// let faults = wheel_cli::plan(Path::new("shop.toml"), text.into()).unwrap_err();
/// assert!(faults.contains("shop.toml:3:1") && faults.contains("did you mean `every`?"));
/// ```
pub fn plan(path: &Path, content: Vec<u8>) -> Result<Vec<Planned>, String> {
    let file = file::parse(path, content).map_err(|error| error.to_string())?;
    Ok(planned(file))
}

/// What `wheel plan --crontab` makes of a crontab with this content, on whatever machine: of the
/// system if the path is `/etc/crontab` or one in a folder `cron.d`, and in UTC where it says nothing
/// else. The program is the shell. The file is not opened, nothing is looked up or started.
///
/// # Errors
///
/// Every fault that was found, as `wheel check --crontab` shows them.
///
/// # Examples
///
/// ```
/// use std::path::Path;
///
/// let text = b"CRON_TZ=Asia/Tokyo\n30 2 * * 1-5 /opt/shop/backup\n";
/// let tasks = wheel_cli::plan_crontab(Path::new("shop.crontab"), text)?;
/// assert_eq!((tasks[0].id.as_str(), tasks[0].schedule.as_str()), ("backup", "cron 30 2 * * 1-5 in Asia/Tokyo"));
/// # Ok::<(), String>(())
/// ```
pub fn plan_crontab(path: &Path, content: &[u8]) -> Result<Vec<Planned>, String> {
    let reading = Reading {
        owner: Owner::of(path),
        zone: Zone::UTC,
        look: Look::Text,
    };
    let file = crontab::parse(path, content, &reading).map_err(|error| error.to_string())?;
    Ok(planned(file))
}

fn planned(file: TaskFile) -> Vec<Planned> {
    let planned = file.tasks.into_iter().map(|task| Planned {
        schedule: task.due(),
        id: task.id,
        program: task.program.path,
    });
    planned.collect()
}

fn check(args: &CheckArgs) -> ExitCode {
    match args.source.load(args.zone.tz.as_ref(), Look::Machine) {
        Ok(file) => {
            let tasks = summary::counted(file.tasks.len() as u64, "task");
            // Whoever does not read the answer still gets the exit code.
            let _ = writeln!(io::stdout(), "{}: {tasks}, no errors", file.path.display());
            ExitCode::SUCCESS
        }
        Err(error) => {
            let _ = writeln!(io::stderr(), "{error}");
            ExitCode::from(EXIT_USAGE)
        }
    }
}
