//! The models of `loom-tests` as programs: built once, listed, and run one at a time.
//!
//! A model is one test of one file there. Loom has its own target directory: its flag would rebuild
//! everything else each time. The same programs serve every ordering of every site, see
//! `crates/sync/src/under_loom/weaken.rs`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use crate::process::{Run, run_for};
use crate::step::{cargo, output_of, root};

/// A test program that cargo has built.
pub(crate) struct Program {
    /// The name of its file, such as `stale_key`; for unit tests that of the crate.
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    /// The package's folder, in which cargo would run it.
    pub(crate) folder: PathBuf,
}

/// One test of a program.
pub(crate) struct Model {
    pub(crate) program: PathBuf,
    /// `file::test`.
    pub(crate) name: String,
    pub(crate) test: String,
}

/// What models are built with.
pub(crate) fn for_loom(command: &mut Command) -> &mut Command {
    command
        .env("RUSTFLAGS", "--cfg wheel_model")
        .env("CARGO_TARGET_DIR", root().join("target").join("loom"))
        // Models judge the assertions of the product too.
        .env("CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS", "true")
}

/// Arguments of cargo that build and run the models.
pub(crate) const LOOM: &[&str] = &[
    "test",
    "--locked",
    "--release",
    "-p",
    "wheel-loom-tests",
    "--features",
    "loom",
    "--tests",
];

/// Builds all models; their tests by file and name. Empty files of tests are left out.
pub(crate) fn build() -> Result<Vec<Model>, String> {
    println!("Building the models.");
    let mut models = Vec::new();
    for program in programs(for_loom(&mut cargo(LOOM)))? {
        for test in tests_of(&program.path)? {
            models.push(Model {
                program: program.path.clone(),
                name: format!("{}::{test}", program.name),
                test,
            });
        }
    }
    Ok(models)
}

/// Builds the tests that a `cargo test` would run, and says where their programs are.
pub(crate) fn programs(command: &mut Command) -> Result<Vec<Program>, String> {
    command.args(["--no-run", "--message-format=json"]);
    Ok(programs_in(&output_of(command)?))
}

fn programs_in(messages: &str) -> Vec<Program> {
    let messages = messages
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    messages
        .filter_map(|message| {
            let path = message["executable"].as_str()?;
            let manifest = Path::new(message["manifest_path"].as_str()?);
            Some(Program {
                name: message["target"]["name"].as_str()?.to_owned(),
                path: PathBuf::from(path),
                folder: manifest.parent()?.to_owned(),
            })
        })
        .collect()
}

fn tests_of(program: &Path) -> Result<Vec<String>, String> {
    let listed = output_of(Command::new(program).args(["--list", "--format=terse"]))?;
    let names = listed
        .lines()
        .filter_map(|line| line.strip_suffix(": test"));
    Ok(names.map(str::to_owned).collect())
}

impl Model {
    /// Runs it within `preemptions` (`None`: all interleavings), for `limit` at most.
    pub(crate) fn run(
        &self,
        preemptions: Option<u32>,
        environment: &[(&str, &str)],
        limit: Duration,
    ) -> Result<Run, String> {
        let mut command = Command::new(&self.program);
        command
            .args([&self.test, "--exact", "--nocapture", "--test-threads=1"])
            .current_dir(root())
            .env_remove("LOOM_MAX_PREEMPTIONS")
            .env("RUST_BACKTRACE", "0")
            .envs(environment.iter().copied());
        if let Some(preemptions) = preemptions {
            command.env("LOOM_MAX_PREEMPTIONS", preemptions.to_string());
        }
        run_for(&mut command, limit)
    }
}

/// The number in a line `model NAME: N executions`.
pub(crate) fn executions_in(line: &str) -> Option<u64> {
    let (_, count) = line.strip_prefix("model ")?.rsplit_once(": ")?;
    count.strip_suffix(" executions")?.parse().ok()
}

/// Executions that all models of one test's output have explored together; `None` when it tells of
/// none.
pub(crate) fn executions_of(output: &str) -> Option<u64> {
    let starts = output
        .lines()
        .map(|line| line.split_once(" ... ").map_or(line, |(_, rest)| rest));
    let counts: Vec<u64> = starts.filter_map(executions_in).collect();
    (!counts.is_empty()).then(|| counts.iter().sum())
}

/// The file and what the model calls itself; the test's own name when it is more than one.
pub(crate) fn label_of(name: &str, output: &str) -> String {
    let labels: Vec<&str> = output
        .lines()
        .map(|line| line.split_once(" ... ").map_or(line, |(_, rest)| rest))
        .filter(|line| executions_in(line).is_some())
        .filter_map(|line| line.strip_prefix("model ")?.rsplit_once(": "))
        .map(|(label, _)| label)
        .collect();
    let file = name.split("::").next().unwrap_or(name);
    match labels[..] {
        [label] => format!("{file}: {label}"),
        _ => name.replacen("::", ": ", 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_read_from_the_messages_of_cargo() {
        let messages = "{\"reason\":\"compiler-artifact\",\"executable\":null,\"target\":{\"name\":\"a\"},\"manifest_path\":\"/a/Cargo.toml\"}\n\
             not json\n\
             {\"executable\":\"/t/b-1\",\"target\":{\"name\":\"b\"},\"manifest_path\":\"/b/Cargo.toml\"}\n";
        let programs = programs_in(messages);
        assert_eq!(programs.len(), 1);
        assert_eq!(programs[0].name, "b");
        assert_eq!(programs[0].folder, Path::new("/b"));
    }

    #[test]
    fn executions_of_several_models_in_one_test_add_up() {
        let output =
            "running 1 test\ntest x ... model a: 7 executions\nmodel b: 8 executions\nok\n";
        assert_eq!(executions_of(output), Some(15));
        assert_eq!(executions_of("test x ... ok\n"), None);
    }

    #[test]
    fn a_model_goes_by_its_label() {
        let output = "test t ... site x\nmodel push-or-park, reset: 7 executions\nok\n";
        assert_eq!(
            label_of("push_or_park::t", output),
            "push_or_park: push-or-park, reset"
        );
        assert_eq!(label_of("push_or_park::t", "ok"), "push_or_park: t");
    }
}
