//! The commands of the README and of the pages that show the command, run as they are written there.
//!
//! Each line of a block of `sh` is a step. Those that call `wheel` are run from the folder of the
//! workspace, with the built command in the place of `cargo run`. Only what would take long or meet
//! others is changed: `--for` becomes a second, and the port one that is free. What else stands
//! there has to be known here, so that no step is left out in silence.

mod workbench;

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use rustix::process::Signal;
use workbench::http::{free_port, get};
use workbench::{Done, Started, Workbench, terminal, wait_until};

/// The port that the pages name, and that `deploy/prometheus/prometheus.yml` scrapes.
const PORT: &str = "9753";
const BY_CARGO: &str = "cargo run --release --bin wheel -- ";
/// Run by other steps of the checks: the tests of the workspace, and of the examples.
const ELSEWHERE: [&str; 5] = [
    "cargo xtask ",
    "cargo run -p example-gateway ",
    "cargo run -p example-order_timeout",
    "cargo install ",
    "prometheus ",
];

#[derive(Debug, PartialEq)]
enum Step {
    /// What stands behind `wheel`, for a shell.
    Wheel(String),
    /// The same, ended by `&`.
    Behind(String),
    /// The path of an URL on the loopback device.
    Curl(String),
    Elsewhere(String),
}

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn page(name: &str) -> String {
    std::fs::read_to_string(workspace().join(name)).unwrap()
}

/// The blocks of a language, without their fences.
fn blocks<'p>(page: &'p str, language: &str) -> Vec<&'p str> {
    let fence = format!("\n```{language}\n");
    let begun = page.split(fence.as_str()).skip(1);
    begun
        .map(|rest| rest.split("\n```").next().unwrap())
        .collect()
}

fn steps(block: &str) -> Vec<Step> {
    block.lines().filter_map(step).collect()
}

fn step(line: &str) -> Option<Step> {
    let line = line.split(" #").next().unwrap().trim();
    if line.is_empty() || line.starts_with('#') {
        return None;
    }
    let wheel = line.strip_prefix(BY_CARGO).or(line.strip_prefix("wheel "));
    let step = match wheel.map(|args| (args, args.strip_suffix(" &"))) {
        Some((_, Some(args))) => Step::Behind(args.to_owned()),
        Some((args, None)) => Step::Wheel(args.to_owned()),
        None if line.starts_with("curl ") => {
            let address = format!(" http://127.0.0.1:{PORT}");
            let (_, path) = line.split_once(&address).expect("an URL of the command");
            Step::Curl(path.to_owned())
        }
        None => Step::Elsewhere(line.to_owned()),
    };
    Some(step)
}

/// What `wheel run` gets is made short; all else stays.
fn short(args: &str, port: u16) -> String {
    let args = args.replace(PORT, &port.to_string());
    if !args.starts_with("run ") {
        return args;
    }
    let Some((before, behind)) = args.split_once("--for ") else {
        return format!("{args} --for 1s");
    };
    let rest = behind.split_once(' ').map_or("", |(_, rest)| rest);
    format!("{before}--for 1s {rest}")
}

fn shell(args: &str) -> Command {
    let mut command = Command::new("sh");
    command
        .args(["-c", &format!("exec \"$WHEEL\" {args}")])
        .env("WHEEL", env!("CARGO_BIN_EXE_wheel"))
        .env("TERM", "xterm")
        .current_dir(workspace())
        .stdin(Stdio::null());
    command
}

/// With standard error on a terminal, which is read to its end.
fn on_terminal(mut command: Command) -> Done {
    let (ours, theirs) = terminal::open(40);
    let child = command.stdout(Stdio::piped()).stderr(theirs).spawn();
    drop(command);
    let reader = thread::spawn(move || {
        // The end of the terminal is an error on Linux.
        let _ = File::from(ours).read_to_end(&mut Vec::new());
    });
    let done = Started::from(child.unwrap()).end();
    reader.join().unwrap();
    done
}

/// Runs the steps of a block, and returns how many of them it has run.
fn run(block: &str) -> usize {
    let port = free_port();
    let mut behind = Vec::new();
    let mut count = 0;
    for step in steps(block) {
        count += 1;
        match &step {
            Step::Wheel(args) => {
                let command = shell(&short(args, port));
                let done = if args.contains("--watch") {
                    on_terminal(command)
                } else {
                    Started::by(&mut { command }).end()
                };
                assert_eq!(done.code, Some(0), "{step:?}: {done:?}");
                assert!(!done.out.is_empty(), "{step:?} prints nothing");
            }
            Step::Behind(args) => {
                let args = args.replace(PORT, &port.to_string());
                behind.push(Started::by(&mut shell(&args)));
            }
            Step::Curl(path) => wait_until("the command answers", || {
                let answer = get(port, path);
                assert!(
                    answer.is_empty() || answer.starts_with("HTTP/1.1 200"),
                    "{step:?}: {answer}"
                );
                !answer.is_empty()
            }),
            Step::Elsewhere(line) => {
                let is_known = ELSEWHERE.iter().any(|known| line.starts_with(known));
                assert!(is_known, "nobody runs `{line}`: say here who does");
                count -= 1;
            }
        }
    }
    for started in behind {
        started.signal(Signal::TERM);
        let done = started.end();
        assert_eq!(done.code, Some(143), "{done:?}");
    }
    count
}

#[test]
fn the_commands_of_the_pages_work_as_written() {
    for (name, least) in [
        ("README.md", 7),
        ("docs/MIGRATING.md", 3),
        ("docs/SCHEDULES.md", 1),
    ] {
        let count: usize = blocks(&page(name), "sh").into_iter().map(run).sum();
        assert!(count >= least, "{name}: only {count} commands were found");
    }
}

#[test]
fn the_task_files_of_the_pages_are_without_a_fault() {
    for name in ["README.md", "docs/MIGRATING.md", "crates/cli/README.md"] {
        let text = page(name);
        let files = blocks(&text, "toml").into_iter();
        let files: Vec<&str> = files.filter(|file| file.contains("[[task]]")).collect();
        assert!(!files.is_empty(), "{name}");
        for file in files {
            let done = Workbench::new().check(file);
            assert_eq!(done.code, Some(0), "{name}: {done:?}");
        }
    }
}

#[test]
fn prometheus_scrapes_the_port_that_the_readme_names() {
    let config = page("deploy/prometheus/prometheus.yml");
    assert!(
        config.contains(&format!("\"127.0.0.1:{PORT}\"")),
        "{config}"
    );
    let readme = page("README.md");
    assert!(readme.contains(&format!("--metrics-addr {PORT}")));
    let (_, file) = readme.split_once("--config.file=").unwrap();
    let file = file.split_whitespace().next().unwrap();
    assert!(workspace().join(file).exists(), "{file}");
}

#[test]
fn a_step_is_read_as_a_shell_would() {
    let block = "cargo run --release --bin wheel -- run a.toml --for 10s    # a summary\n\n\
                 wheel cron next \"*/5 * * * *\"\nwheel run b.toml --metrics-addr 9753 &\n\
                 # a comment\ncurl -s http://127.0.0.1:9753/health\nrm -r /\n";
    let wheel = |args: &str| Step::Wheel(args.to_owned());
    assert_eq!(
        steps(block),
        [
            wheel("run a.toml --for 10s"),
            wheel("cron next \"*/5 * * * *\""),
            Step::Behind("run b.toml --metrics-addr 9753".to_owned()),
            Step::Curl("/health".to_owned()),
            Step::Elsewhere("rm -r /".to_owned()),
        ]
    );
    assert_eq!(short("run a --for 10s --json", 1), "run a --for 1s --json");
    assert_eq!(short("run a", 1), "run a --for 1s");
    assert_eq!(short("plan a --for 7d", 1), "plan a --for 7d");
}
