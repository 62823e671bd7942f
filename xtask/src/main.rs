//! The project's own commands: `cargo xtask test`, `ci`, `loom`, `shuttle`, `fuzz`, `tidy`...
//!
//! A build script in Rust instead of shell, so that it runs wherever the toolchain runs and a
//! hosted workflow, `.ci/run` and a person at a keyboard all start the very same thing.
//!
//! Ground rules: one file per command; every command takes its arguments as a slice and returns
//! `Err(message)` when something does not hold; nothing here changes a file of the project unless it
//! is told to write one.

mod bench;
mod ci;
mod crontabs;
mod debian;
mod deploy;
mod fuzz;
mod layers;
mod loom;
mod models;
mod mutate;
mod process;
mod sanitize;
mod shuttle;
mod step;
mod stress;
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
        about: "everything that must hold: fmt, tidy, layers, clippy, test, docs, deploy, crontabs,\n\
                loom, mutate, fuzz, shuttle, bench, counts\n\
                `ci STEP...` runs the named steps only",
        run: ci::run,
    },
    Command {
        name: "loom",
        about: "model-check the concurrent protocols and count the executions explored\n\
                --deep         more preemptions for as long as it ends, then without a bound\n\
                --seconds N    for each step of that (120)\n\
                --markdown     the table of a deep run for docs/PROOF.md\n\
                --only NAME    only models whose test name contains NAME",
        run: loom::run,
    },
    Command {
        name: "mutate",
        about: "weaken each memory ordering and plant faults: something must notice\n\
                --quick        a few of each\n\
                --only TEXT    only those with this id, or this text in what is printed\n\
                --orderings    no faults; --faults: no orderings\n\
                --markdown     the tables for docs/PROOF.md",
        run: mutate::run,
    },
    Command {
        name: "stress",
        about: "count what is bounded at full size, then play rounds on real threads, in release\n\
                --seconds N    so long in all (60)\n\
                --seed S       the seed of the first round (0)",
        run: stress::run,
    },
    Command {
        name: "sanitize",
        about: "run the tests and the stress under AddressSanitizer, and Miri where it is\n\
                installed; what this machine does not have is skipped",
        run: sanitize::run,
    },
    Command {
        name: "fuzz",
        about: "feed every fuzz target, under cargo-fuzz or on a seeded random driver\n\
                --seconds N    in all, shared by the targets (default 60; building comes on top)\n\
                --only NAME    one target\n\
                --seed S       other random inputs\n\
                --random       the random driver even where cargo-fuzz is installed\n\
                --replay NAME FILE    one input that was kept",
        run: fuzz::run,
    },
    Command {
        name: "crontabs",
        about: "fetch the crontabs that Debian's packages ship, and compare what is planned of them\n\
                with the oracle",
        run: crontabs::run,
    },
    Command {
        name: "shuttle",
        about: "run long scenarios in random schedules and count the schedules explored\n\
                --seconds N     for so long together (40)\n\
                --iterations N  so many schedules of each kind instead\n\
                --seed S        where random choices begin\n\
                --only NAME     only scenarios whose name contains NAME\n\
                --replay WHAT   play a schedule that failed again: its file, or itself",
        run: shuttle::run,
    },
    Command {
        name: "deploy",
        about: "check what deploy/ ships with the Prometheus of Debian, against the running product",
        run: deploy::run,
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
                --quick        the least that shows the order of things, under a minute\n\
                --against FILE what moved since an earlier run that wrote FILE with --json\n\
                --counts       instructions per operation, held to benches/counts.json",
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
