//! Running one program as a step: print what runs, let its output through, say how long it took.

use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

/// The root of the workspace, wherever the command was started.
pub(crate) fn root() -> PathBuf {
    let manifest = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().map_or(manifest.clone(), PathBuf::from)
}

/// The cargo that started us, so that a toolchain chosen with `+name` is kept.
pub(crate) fn cargo(args: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root()).args(args);
    command
}

/// Runs `command` with its output going straight through.
pub(crate) fn execute(command: &mut Command) -> Result<Duration, String> {
    let line = command_line(command);
    println!("$ {line}");
    let started = Instant::now();
    let status = command
        .status()
        .map_err(|error| format!("cannot start `{line}`: {error}"))?;
    if status.success() {
        Ok(started.elapsed())
    } else {
        Err(format!("`{line}` failed ({status})"))
    }
}

/// Runs `command` quietly and returns what it printed.
pub(crate) fn output_of(command: &mut Command) -> Result<String, String> {
    let line = command_line(command);
    let output = command
        .output()
        .map_err(|error| format!("cannot start `{line}`: {error}"))?;
    if !output.status.success() {
        return Err(format!(
            "`{line}` failed ({})\n{}",
            output.status,
            String::from_utf8_lossy(&output.stderr)
        ));
    }
    String::from_utf8(output.stdout).map_err(|error| format!("`{line}` printed no UTF-8: {error}"))
}

/// The command as one would type it, with the environment that we set for it in front.
fn command_line(command: &Command) -> String {
    let mut line = String::new();
    for (name, value) in command.get_envs() {
        if let Some(value) = value {
            line.push_str(&format!(
                "{}={:?} ",
                name.to_string_lossy(),
                value.to_string_lossy()
            ));
        }
    }
    let program = PathBuf::from(command.get_program());
    line.push_str(&program.file_stem().unwrap_or_default().to_string_lossy());
    for arg in command.get_args() {
        line.push(' ');
        line.push_str(&arg.to_string_lossy());
    }
    line
}

/// Seconds for a person: `0.4 s`, `83 s`.
pub(crate) fn seconds(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    if seconds < 10.0 {
        format!("{seconds:.1} s")
    } else {
        format!("{seconds:.0} s")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_shows_the_environment_it_sets() {
        let mut command = Command::new("/usr/bin/cargo");
        command.arg("doc").env("RUSTDOCFLAGS", "-D warnings");
        assert_eq!(
            command_line(&command),
            "RUSTDOCFLAGS=\"-D warnings\" cargo doc"
        );
    }

    #[test]
    fn a_failing_program_is_an_error_that_names_it() {
        let error = output_of(&mut cargo(&["no-such-command-here"])).unwrap_err();
        assert!(error.contains("cargo no-such-command-here"), "{error}");
    }
}
