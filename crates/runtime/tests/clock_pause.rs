//! A process that is stopped and goes on, as a frozen container does: what it had set fires late, once
//! each, and no clock has jumped. Played for real, in a process of its own: this program starts itself
//! again, for the one test that is told to play.

#![cfg(target_os = "linux")]

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use wheel_runtime::{Scheduler, Timers};
use wheel_sync::atomic::{AtomicUsize, Ordering};
use wheel_sync::{Arc, thread};

/// Set for the process that is stopped.
const PLAYS: &str = "WHEEL_IS_STOPPED";
/// How long it is stopped at least.
const PAUSE: Duration = Duration::from_millis(400);
/// A wait that takes longer is a hang.
const HANG: Duration = Duration::from_secs(60);
/// One is due every other millisecond for ten seconds, so that there is always one to come.
const TIMERS: usize = 5_000;

const fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// What this process says, on lines of their own.
fn say(words: &str) {
    println!("\nwheel: {words}");
}

/// Does nothing unless the test below plays it.
#[test]
fn the_process_that_is_stopped() {
    if std::env::var_os(PLAYS).is_none() {
        return;
    }
    let timers = Timers::builder().build().unwrap();
    let scheduler = Scheduler::builder().workers(1).build().unwrap();
    let fired = Arc::new(AtomicUsize::new(0));
    let count = |fired: &Arc<AtomicUsize>| {
        let fired = Arc::clone(fired);
        move || {
            fired.fetch_add(1, Ordering::Relaxed);
        }
    };
    let set = |nth: usize| timers.after(ms(nth as u64 * 2), count(&fired)).unwrap();
    let keys: Vec<_> = (0..TIMERS).map(set).collect();
    // It also follows the wall clock.
    timers
        .at(std::time::SystemTime::now() + HANG, || ())
        .unwrap();
    let beat = scheduler.task("beat").every(ms(5)).run(|_| ()).unwrap();
    say("up");
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
    // It has gone on. What is set now is behind all that had become due.
    let (done, wait) = std::sync::mpsc::channel();
    timers
        .after(ms(20), move || done.send(()).unwrap())
        .unwrap();
    wait.recv_timeout(HANG).unwrap();
    let cancelled = keys.iter().filter(|&&key| timers.cancel(key)).count();
    let runs = beat.info().runs;
    while beat.info().runs == runs {
        thread::yield_now();
    }
    let (bare, named) = (timers.stats(), scheduler.stats());
    timers.shutdown();
    let all = fired.load(Ordering::Relaxed) + cancelled;
    assert_eq!(all, TIMERS, "each fires once, or not at all");
    assert_eq!(
        (bare.clock_jumps, named.clock_jumps),
        (0, 0),
        "{:?}",
        bare.jumps
    );
    assert_eq!((named.early, named.misfired), (0, 0));
    assert!(named.missed + named.skipped > 0, "{named:?}");
    // The task may have been on its way to its next occurrence: then the driver was in time, and the
    // run was late.
    let of_task = named.driver_lag.max.max(named.lateness.max);
    for late in [bare.lateness.max, bare.driver_lag.max, of_task] {
        assert!(
            late >= PAUSE - ms(20),
            "{late:?} at most: {bare:?}, {named:?}"
        );
    }
    say("sound");
}

/// Ends the process whatever becomes of the test.
struct Stopped(Child);

impl Drop for Stopped {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Stopped {
    fn tell(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.0), signal).unwrap();
    }

    fn state(&self) -> String {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.0.id())).unwrap();
        let (_, behind_the_name) = stat.rsplit_once(") ").unwrap();
        behind_the_name[..1].to_owned()
    }
}

fn hear(from: &mut BufReader<ChildStdout>, words: &str) {
    let mut all = String::new();
    loop {
        let from_here = all.len();
        let read = from.read_line(&mut all).unwrap();
        assert!(read > 0, "it ended without a word of {words:?}: {all}");
        if all[from_here..].trim() == format!("wheel: {words}") {
            return;
        }
    }
}

// DR-03
#[test]
fn a_stopped_process_fires_late_and_once_and_sees_no_jump_of_a_clock() {
    let mut program = Command::new(std::env::current_exe().unwrap());
    program.args(["--exact", "the_process_that_is_stopped", "--nocapture"]);
    program.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut process = Stopped(program.env(PLAYS, "1").spawn().unwrap());
    let mut out = BufReader::new(process.0.stdout.take().unwrap());
    hear(&mut out, "up");
    process.tell(Signal::STOP);
    let asked = Instant::now();
    while process.state() != "T" {
        assert!(asked.elapsed() < HANG, "it does not stop");
        thread::yield_now();
    }
    // The one thing that cannot be played on a clock in the hand.
    thread::sleep(PAUSE);
    process.tell(Signal::CONT);
    let mut stdin = process.0.stdin.take().unwrap();
    stdin.write_all(b"it goes on\n").unwrap();
    hear(&mut out, "sound");
    assert!(process.0.wait().unwrap().success());
}
