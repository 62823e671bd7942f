//! `wheel run` under a service manager: what it says, and to whom.
#![cfg(target_os = "linux")]

mod workbench;

use std::os::unix::net::UnixDatagram;
use std::process::Command;

use rustix::process::Signal;
use workbench::{HANG, Started, Workbench, long, wait_until};

/// The socket on which the service manager listens.
struct Manager(UnixDatagram);

impl Manager {
    fn new(bench: &Workbench) -> Manager {
        let socket = UnixDatagram::bind(bench.dir.join("notify")).unwrap();
        socket.set_read_timeout(Some(HANG)).unwrap();
        Manager(socket)
    }

    fn hear(&self) -> String {
        let mut bytes = [0; 256];
        let len = self.0.recv(&mut bytes).expect("it says nothing");
        String::from_utf8_lossy(&bytes[..len]).trim_end().to_owned()
    }

    fn hear_until(&self, last: &str) -> Vec<String> {
        let mut heard = vec![self.hear()];
        while heard.last().is_none_or(|message| message != last) {
            heard.push(self.hear());
        }
        heard
    }
}

#[test]
fn it_is_ready_when_all_tasks_have_been_handed_over_and_says_that_it_ends() {
    let bench = Workbench::new();
    let manager = Manager::new(&bench);
    let mut command = bench.command(&long("echo $$ >> pids; exec sleep 1000"), &[]);
    let started = Started::by(command.env("NOTIFY_SOCKET", bench.dir.join("notify")));
    assert_eq!(manager.hear(), "READY=1");
    wait_until("the program runs", || !bench.read("pids").is_empty());
    started.signal(Signal::TERM);
    assert_eq!(manager.hear(), "STOPPING=1");
    assert_eq!(started.end().code, Some(143));
}

#[test]
fn a_watchdog_hears_that_it_is_alive_while_all_workers_are_busy() {
    let bench = Workbench::new();
    let manager = Manager::new(&bench);
    let mut command = bench.command(
        &long("echo $$ >> pids; exec sleep 1000"),
        &["--workers", "1"],
    );
    command.env("NOTIFY_SOCKET", bench.dir.join("notify"));
    command.env("WATCHDOG_USEC", "20000");
    let started = Started::by(&mut command);
    manager.hear_until("READY=1");
    wait_until("the program runs", || !bench.read("pids").is_empty());
    for _ in 0..20 {
        assert_eq!(manager.hear(), "WATCHDOG=1");
    }
    started.signal(Signal::TERM);
    manager.hear_until("STOPPING=1");
    let done = started.end();
    assert_eq!(done.code, Some(143), "{done:?}");
    assert!(done.out.contains("1 run: 0 succeeded"), "{done:?}");
}

#[test]
fn a_watchdog_of_another_process_is_none_of_its_business() {
    let bench = Workbench::new();
    let manager = Manager::new(&bench);
    let mut command = bench.command(&long("exec sleep 0.2"), &[]);
    command.env("NOTIFY_SOCKET", bench.dir.join("notify"));
    command
        .env("WATCHDOG_USEC", "2000")
        .env("WATCHDOG_PID", "1");
    let done = Started::by(&mut command).end();
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_eq!(manager.hear_until("STOPPING=1"), ["READY=1", "STOPPING=1"]);
}

#[test]
fn programs_do_not_inherit_what_is_meant_for_the_command() {
    let bench = Workbench::new();
    let _manager = Manager::new(&bench);
    let text = long("env > seen.new; mv seen.new seen");
    let mut command = bench.command(&text, &[]);
    command.env("NOTIFY_SOCKET", bench.dir.join("notify"));
    command.env("WATCHDOG_USEC", "20000000").env("KEPT", "1");
    let done = Started::by(&mut command).end();
    assert_eq!(done.code, Some(0), "{done:?}");
    let seen = bench.read("seen");
    assert!(seen.lines().any(|line| line == "KEPT=1"), "{seen}");
    let meant = ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"];
    assert!(!meant.iter().any(|name| seen.contains(name)), "{seen}");
}

#[test]
fn a_manager_that_has_gone_is_no_reason_not_to_run() {
    let bench = Workbench::new();
    let mut command = bench.command(&long("echo here"), &[]);
    command.env("NOTIFY_SOCKET", bench.dir.join("nobody"));
    let done = Started::by(command.env("WATCHDOG_USEC", "2000")).end();
    assert_eq!((done.code, done.lines_of("long")), (Some(0), vec!["here"]));
}

#[test]
fn the_unit_starts_the_command_with_arguments_that_it_takes() {
    let unit = include_str!("../../../deploy/systemd/wheel@.service");
    let bench = Workbench::new();
    let file = bench.file(&long("true"));
    let file = file.to_str().unwrap();
    let value = |key: &str| unit.lines().find_map(|line| line.strip_prefix(key));
    let line = value("ExecStart=").unwrap();
    let line = line.replace("/etc/wheel/%i.toml", file);
    let args = line.strip_prefix("/usr/bin/wheel ").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_wheel"));
    let done = Started::by(command.args(args.split(' '))).end();
    assert_eq!(done.code, Some(0), "{line}: {done:?}");
    // A signal is how a service is stopped, and no failure.
    assert_eq!(value("SuccessExitStatus="), Some("143 130"));
    assert_eq!(value("Type="), Some("notify"));
    assert!(value("WatchdogSec=").is_some());
}
