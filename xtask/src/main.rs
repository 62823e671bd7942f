//! The project's own commands: `cargo xtask test`, `ci`, `loom`, `layers`, `tidy`,
//! `bench`.
//!
//! A build script in Rust instead of shell, so that it runs wherever the toolchain runs and a
//! hosted workflow, `.ci/run` and a person at a keyboard all start the very same thing.
//!
//! Ground rules: one file per command; every command takes its arguments as a slice and returns
//! `Err(message)` when something does not hold; nothing here changes a file of the project.

mod bench;
mod ci;
mod layers;
mod loom;
mod step;
mod test;
mod tidy;

use std::process::ExitCode;

/// A command: what to type, what it does, and the function behind it.
struct Command {
    name: &'static str,
    about: &'static str,
    run: fn(&[String]) -> Result<(), String>,
}

const COMMANDS: &[Command] = &[
    Command {
        name: "test",
        about: "run every test of the workspace, doc examples included",
        run: test::run,
    },
    Command {
        name: "ci",
        about: "everything that must hold: fmt, tidy, layers, clippy, test, docs, loom\n\
                `ci STEP...` runs the named steps only",
        run: ci::run,
    },
    Command {
        name: "loom",
        about: "model-check the concurrent protocols and count the executions explored\n\
                --deep         allow more preemptions (slow)\n\
                --only NAME    only models whose test name contains NAME",
        run: loom::run,
    },
    Command {
        name: "layers",
        about: "check which crate uses which",
        run: layers::run,
    },
    Command {
        name: "tidy",
        about: "check the conventions that a machine can hold; --rules lists them",
        run: tidy::run,
    },
    Command {
        name: "bench",
        about: "measure the wheel beside its rivals, in a quarter of an hour; --help lists options\n\
                --quick        the least that shows the order of things, under a minute",
        run: bench::run,
    },
];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let Some((name, rest)) = args.split_first() else {
        print!("{}", help());
        return ExitCode::SUCCESS;
    };
    if matches!(name.as_str(), "help" | "--help" | "-h") {
        print!("{}", help());
        return ExitCode::SUCCESS;
    }
    let Some(command) = COMMANDS.iter().find(|command| command.name == name) else {
        eprintln!("error: there is no command `{name}`\n\n{}", help());
        return ExitCode::from(2);
    };
    match (command.run)(rest) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

fn help() -> String {
    let mut text = String::from("usage: cargo xtask COMMAND [ARGS]\n\n");
    for command in COMMANDS {
        let about = command.about.replace('\n', "\n           ");
        text.push_str(&format!("  {:<8} {about}\n", command.name));
    }
    text
}

/// The error for arguments that a command does not take.
fn refuse_arguments(command: &str, args: &[String]) -> Result<(), String> {
    match args.first() {
        None => Ok(()),
        Some(first) => Err(format!("`cargo xtask {command}` takes no `{first}`")),
    }
}
