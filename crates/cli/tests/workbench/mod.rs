//! A folder of its own for each test, task files in it, and the built command run on them.

#![allow(dead_code, reason = "each test file uses its own part of this")]

pub(crate) mod http;
pub(crate) mod terminal;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Only there to turn a hang into a failure.
pub(crate) const HANG: Duration = Duration::from_secs(60);

/// A fresh folder, removed at the end of the test.
pub(crate) struct Workbench {
    pub(crate) dir: PathBuf,
}

impl Workbench {
    pub(crate) fn new() -> Workbench {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("wheel-{}-{number}", std::process::id());
        let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(&dir).unwrap();
        Workbench { dir }
    }

    /// Writes a task file.
    pub(crate) fn file(&self, text: &str) -> PathBuf {
        let path = self.dir.join("tasks.toml");
        fs::write(&path, text).unwrap();
        path
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.dir.join(name)).unwrap_or_default()
    }

    /// Runs `wheel run` on a task file to its end.
    pub(crate) fn run(&self, text: &str, args: &[&str]) -> Done {
        Done::from(self.command(text, args).output().unwrap())
    }

    /// Writes a crontab and runs `wheel` with these arguments in front of it.
    pub(crate) fn crontab(&self, text: &str, args: &[&str]) -> Done {
        let path = self.dir.join("crontab");
        fs::write(&path, text).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_wheel"));
        command.args(args).arg("crontab").current_dir(&self.dir);
        Done::from(command.stdin(Stdio::null()).output().unwrap())
    }

    /// Runs `wheel check` on a task file.
    pub(crate) fn check(&self, text: &str) -> Done {
        let path = self.file(text);
        let mut command = Command::new(env!("CARGO_BIN_EXE_wheel"));
        Done::from(
            command
                .arg("check")
                .arg(path)
                .current_dir(&self.dir)
                .output()
                .unwrap(),
        )
    }

    /// Starts `wheel run` on a task file.
    pub(crate) fn start(&self, text: &str, args: &[&str]) -> Started {
        Started::by(&mut self.command(text, args))
    }

    pub(crate) fn command(&self, text: &str, args: &[&str]) -> Command {
        let path = self.file(text);
        let mut command = Command::new(env!("CARGO_BIN_EXE_wheel"));
        command
            .arg("run")
            .arg(path)
            .args(args)
            .current_dir(&self.dir)
            .stdin(Stdio::null());
        command
    }
}

impl Drop for Workbench {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.dir);
    }
}

/// A `wheel run` that goes on; killed if the test ends before it does.
pub(crate) struct Started {
    child: Option<Child>,
}

impl From<Child> for Started {
    fn from(child: Child) -> Started {
        Started { child: Some(child) }
    }
}

impl Started {
    pub(crate) fn by(command: &mut Command) -> Started {
        let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = Some(command.spawn().unwrap());
        Started { child }
    }

    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_child(self.child.as_ref().unwrap());
        rustix::process::kill_process(pid, signal).unwrap();
    }

    pub(crate) fn end(mut self) -> Done {
        let child = self.child.take().unwrap();
        let watched = rustix::process::Pid::from_child(&child);
        let begun = Instant::now();
        let done = thread::spawn(move || Done::from(child.wait_with_output().unwrap()));
        while !done.is_finished() {
            if begun.elapsed() > HANG {
                let _ = rustix::process::kill_process(watched, rustix::process::Signal::KILL);
                panic!("wheel does not end");
            }
            thread::sleep(Duration::from_millis(2));
        }
        done.join().unwrap()
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// A run of the command that has ended.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) out_bytes: Vec<u8>,
    pub(crate) err: String,
}

impl From<Output> for Done {
    fn from(output: Output) -> Done {
        Done {
            code: output.status.code(),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            out_bytes: output.stdout,
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl Done {
    /// All of these are on standard error.
    #[track_caller]
    pub(crate) fn says(&self, parts: &[&str]) {
        for part in parts {
            assert!(self.err.contains(part), "{part:?} is not in\n{}", self.err);
        }
    }

    /// The last line of standard output, which `--json` makes an object.
    #[track_caller]
    pub(crate) fn json(&self) -> serde_json::Value {
        let last = self.out.lines().last().unwrap_or_default();
        serde_json::from_str(last).unwrap_or_else(|error| panic!("{error} in {last:?} of {self:?}"))
    }

    /// The lines that a task printed on standard output, without the prefix.
    pub(crate) fn lines_of(&self, id: &str) -> Vec<&str> {
        let prefix = format!("[{id}] ");
        self.out
            .lines()
            .filter_map(|line| line.strip_prefix(&prefix))
            .collect()
    }
}

/// Waits for a condition that other processes bring about.
#[track_caller]
pub(crate) fn wait_until(what: &str, holds: impl Fn() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < HANG, "never so: {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// Whether a process lives. A dead one that nobody has reaped yet does not.
pub(crate) fn is_alive(pid: &str) -> bool {
    let pid = pid.trim();
    assert!(pid.parse::<i32>().is_ok(), "not a process id: {pid:?}");
    let ps = Command::new("ps")
        .args(["-o", "stat=", "-p", pid])
        .output()
        .unwrap();
    let state = String::from_utf8_lossy(&ps.stdout);
    !state.trim().is_empty() && !state.trim().starts_with('Z')
}

/// The file is refused; the message has the place (line:column) and all the parts.
#[track_caller]
pub(crate) fn refused(text: &str, place: &str, parts: &[&str]) {
    let bench = Workbench::new();
    let done = bench.check(text);
    assert_eq!(done.code, Some(2), "{done:?}");
    assert_eq!(done.out, "");
    done.says(&[&[format!("tasks.toml:{place}\n").as_str()], parts].concat());
    // What is refused is refused the same way when it should run, and then nothing runs.
    let run = bench.run(text, &[]);
    assert_eq!(
        (run.code, run.out.as_str(), run.err),
        (Some(2), "", done.err)
    );
}

/// A task with an id and these lines, which begin in line 3.
pub(crate) fn task(lines: &str) -> String {
    format!("[[task]]\nid = \"a\"\n{lines}\n")
}

/// A task that writes process ids to `pids` and then goes on for a long time.
pub(crate) fn long(script: &str) -> String {
    format!("[[task]]\nid = \"long\"\nafter = \"0s\"\nrun = [\"sh\", \"-c\", '''{script}''']\n")
}

/// The file has no fault, and the engine takes all of its tasks.
#[track_caller]
pub(crate) fn accepted(text: &str) {
    let bench = Workbench::new();
    let done = bench.check(text);
    assert_eq!(done.code, Some(0), "{text}\n{done:?}");
    let done = bench.run(text, &["--for", "1ms", "--quiet"]);
    assert_eq!(done.code, Some(0), "{text}\n{done:?}");
}
