//! Completions and pages of the manual: they name what the command takes.

mod workbench;

use std::fs;
use std::process::Command;

use workbench::{Done, Started, Workbench};

fn wheel(args: &[&str]) -> Done {
    Started::by(Command::new(env!("CARGO_BIN_EXE_wheel")).args(args)).end()
}

#[test]
fn completions_know_every_command_and_option() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let done = wheel(&["completions", shell]);
        assert_eq!(done.code, Some(0), "{shell}: {done:?}");
        for word in [
            "run",
            "check",
            "plan",
            "cron",
            "explain",
            "grace",
            "until-idle",
        ] {
            assert!(done.out.contains(word), "{shell} does not know {word}");
        }
    }
    assert_eq!(wheel(&["completions", "cmd.com"]).code, Some(2));
}

#[test]
fn a_shell_completes_with_them() {
    let bench = Workbench::new();
    let script = bench.dir.join("wheel.bash");
    fs::write(&script, wheel(&["completions", "bash"]).out).unwrap();
    let ask = "source \"$0\"; COMP_WORDS=(wheel run --gr); COMP_CWORD=2; \
               _wheel wheel --gr run; echo \"${COMPREPLY[@]}\"";
    let mut bash = Command::new("bash");
    let Ok(output) = bash.arg("-c").arg(ask).arg(script).output() else {
        // No bash, no completions for it.
        return;
    };
    let completed = String::from_utf8(output.stdout).unwrap();
    assert_eq!(completed.trim(), "--grace", "{:?}", output.stderr);
}

#[test]
fn each_command_has_a_page() {
    let bench = Workbench::new();
    let folder = bench.dir.join("man1");
    let done = wheel(&["man", "--to", folder.to_str().unwrap()]);
    assert_eq!(done.code, Some(0), "{done:?}");
    for (page, word) in [
        ("wheel.1", "runs the programs"),
        ("wheel-run.1", "SIGKILL"),
        ("wheel-cron-next.1", "RFC 3339"),
    ] {
        let text = fs::read_to_string(folder.join(page)).expect(page);
        assert!(
            text.contains(".TH ") && text.contains(word),
            "{page}: {text}"
        );
    }
    let shown = wheel(&["man"]);
    assert_eq!(shown.code, Some(0));
    assert_eq!(
        shown.out,
        fs::read_to_string(folder.join("wheel.1")).unwrap()
    );
}

#[test]
fn a_folder_that_cannot_be_written_to_is_named() {
    let bench = Workbench::new();
    let taken = bench.file("");
    let done = wheel(&["man", "--to", taken.to_str().unwrap()]);
    assert_eq!(done.code, Some(4), "{done:?}");
    assert!(done.err.contains("tasks.toml"), "{done:?}");
}
