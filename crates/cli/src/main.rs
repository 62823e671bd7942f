//! The `wheel` command: runs the programs of a task file when they are due, and checks such files.
//!
//! ```text
//! main.rs -> args.rs                      what is asked for; the exit codes
//!         -> file/                        the task file, checked completely     (duration.rs)
//!         -> run/                         from the file to the end of `wheel run`
//!              -> wheel_runtime           when a task is due, and on which worker
//!              -> child/, output/         its program, and what that prints
//!              -> record.rs               what happened
//!              -> live.rs, summary.rs     what is shown of it               (signals.rs)
//! ```

#[cfg(not(unix))]
compile_error!("the wheel command needs process groups and signals as Unix has them");

mod args;
mod duration;
mod file;

mod run;

mod child;
mod output;

mod live;
mod record;
mod signals;
mod summary;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;

use args::{CheckArgs, Cli, Command, EXIT_USAGE};

fn main() -> ExitCode {
    match Cli::parse().command {
        Command::Run(args) => ExitCode::from(run::run(&args)),
        Command::Check(args) => check(&args),
    }
}

fn check(args: &CheckArgs) -> ExitCode {
    match file::load(&args.file) {
        Ok(file) => {
            let count = file.tasks.len();
            let tasks = if count == 1 { "task" } else { "tasks" };
            // Whoever does not read the answer still gets the exit code.
            let _ = writeln!(
                io::stdout(),
                "{}: {count} {tasks}, no errors",
                file.path.display()
            );
            ExitCode::SUCCESS
        }
        Err(error) => {
            let _ = writeln!(io::stderr(), "{error}");
            ExitCode::from(EXIT_USAGE)
        }
    }
}
