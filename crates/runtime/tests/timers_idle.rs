//! An idle engine does not run at all, by the kernel's own count of context switches. A test binary
//! of its own, so that no other test's threads have the same names.
//!
//! Five seconds without a wake-up are asked of every thread of every engine here; they all idle
//! side by side, through the same five seconds.
#![cfg(target_os = "linux")]

use std::fs;
use std::sync::mpsc;
use std::time::{Duration, Instant, SystemTime};

use wheel_runtime::{Scheduler, Timers};
use wheel_sync::thread;

/// How long nothing may happen.
const CALM: Duration = Duration::from_secs(5);
const SOON: Duration = Duration::from_millis(50);
const HANG: Duration = Duration::from_secs(60);
/// Timers that come and go before an engine is idle.
const STORM: u64 = 10_000;

/// A thread as the kernel sees it: its name, and how often it has gone to sleep by itself or was
/// preempted.
type Switches = (String, u64, u64);

/// The threads whose names begin with `prefix`, by name.
fn switches_of(prefix: &str) -> Vec<Switches> {
    let tasks = fs::read_dir("/proc/self/task").unwrap();
    let states =
        tasks.filter_map(|task| fs::read_to_string(task.unwrap().path().join("status")).ok());
    let mut threads: Vec<Switches> = states.map(|state| read(&state)).collect();
    threads.retain(|(name, ..)| name.starts_with(prefix));
    threads.sort();
    threads
}

fn read(state: &str) -> Switches {
    let field = |name: &str| {
        let line = state.lines().find_map(|line| line.strip_prefix(name));
        line.unwrap_or_else(|| panic!("no {name} in {state}"))
            .trim()
    };
    let count = |name| field(name).parse().expect("a count");
    (
        field("Name:").to_owned(),
        count("voluntary_ctxt_switches:"),
        count("nonvoluntary_ctxt_switches:"),
    )
}

/// Waits until two looks that are `apart` are equal: until then threads may still be on their way
/// to sleep.
fn settle<T: PartialEq>(apart: Duration, look: impl Fn() -> T) -> T {
    let begun = Instant::now();
    let mut before = look();
    while begun.elapsed() < HANG {
        thread::sleep(apart);
        let now = look();
        if now == before {
            return now;
        }
        before = now;
    }
    panic!("the engines have no rest");
}

/// Something that must be idle: what is kept alive, and its own count of wake-ups.
struct Idle {
    name: &'static str,
    threads: usize,
    wakeups: Box<dyn Fn() -> u64>,
}

fn of_timers(name: &'static str, prepare: impl FnOnce(&Timers)) -> Idle {
    let timers = Timers::builder().thread_name(name).build().unwrap();
    prepare(&timers);
    let wakeups = Box::new(move || timers.stats().wakeups);
    Idle {
        name,
        threads: 1,
        wakeups,
    }
}

fn of_scheduler(name: &'static str, prepare: impl FnOnce(&Scheduler)) -> Idle {
    const WORKERS: usize = 3;
    let scheduler = Scheduler::builder().workers(WORKERS).thread_name(name);
    let scheduler = scheduler.build().unwrap();
    prepare(&scheduler);
    // It tells no wake-ups: the kernel's counts must do. Asking keeps it alive.
    let wakeups = Box::new(move || scheduler.stats().runs);
    Idle {
        name,
        threads: 1 + WORKERS,
        wakeups,
    }
}

const FAR: Duration = Duration::from_secs(86_400 * 30);

fn fire_one(timers: &Timers) {
    let (sent, ran) = mpsc::channel();
    let send = move || sent.send(()).unwrap();
    timers.after(Duration::from_millis(1), send).unwrap();
    ran.recv_timeout(HANG).unwrap();
}

/// The kernel keeps 15 bytes of a thread's name, so these are short.
fn engines() -> Vec<Idle> {
    let far_timers = |timers: &Timers| {
        // Of both kinds, and one that can never come.
        timers.after(FAR, || ()).unwrap();
        timers.at(SystemTime::now() + FAR, || ()).unwrap();
        timers.after(Duration::MAX, || ()).unwrap();
    };
    let cancelled_timers = |timers: &Timers| {
        let keys: Vec<_> = (0..STORM)
            .map(|n| timers.after(Duration::from_secs(1 + n % 7_200), || ()))
            .collect();
        for key in keys {
            // On a slow machine the first ones may have fired by now.
            timers.cancel(key.unwrap());
        }
        assert!(timers.is_empty());
    };
    let cancelled_tasks = |scheduler: &Scheduler| {
        for n in 0..STORM {
            // Each is set in the entry of the one before. Where the driver comes in between, it
            // comes back for that one: far from now, unless it was the first.
            let task = scheduler.after(Duration::from_secs(1 + n % 120 * 60), |_| ());
            let _ = task.unwrap().cancel();
        }
    };
    let run_tasks = |scheduler: &Scheduler| {
        for _ in 0..100 {
            scheduler.after(Duration::from_millis(1), |_| ()).unwrap();
        }
        assert!(scheduler.wait_empty_timeout(HANG));
    };
    let far_tasks = |scheduler: &Scheduler| {
        scheduler.after(FAR, |_| ()).unwrap();
        scheduler.every(FAR, |_| ()).unwrap();
        scheduler.at(SystemTime::now() + FAR, |_| ()).unwrap();
    };
    vec![
        of_timers("ti-empty", |_| ()),
        of_timers("ti-fired", fire_one),
        of_timers("ti-far", far_timers),
        of_timers("ti-cancelled", cancelled_timers),
        of_scheduler("se", |_| ()),
        of_scheduler("sr", run_tasks),
        of_scheduler("sf", far_tasks),
        of_scheduler("sc", cancelled_tasks),
    ]
}

#[test]
fn an_engine_with_nothing_to_do_does_not_wake_up() {
    let engines = engines();
    let look = || {
        let look = |idle: &Idle| (switches_of(idle.name), (idle.wakeups)());
        engines.iter().map(look).collect::<Vec<_>>()
    };
    // What was cancelled is visited when its first tick comes, which is a second away, and if not
    // all had been cancelled by then, a second later once more.
    thread::sleep(Duration::from_millis(1_100));
    let before = settle(Duration::from_millis(1_200), look);
    for (idle, (threads, _)) in engines.iter().zip(&before) {
        assert_eq!(threads.len(), idle.threads, "threads of {}", idle.name);
    }
    thread::sleep(CALM);
    for ((idle, before), after) in engines.iter().zip(before).zip(look()) {
        assert_eq!(after, before, "{} ran", idle.name);
    }
}

// MG-06
#[test]
fn timers_that_were_all_cancelled_stop_waking_the_driver() {
    const SLOTS: u64 = 500;
    let timers = Timers::builder().thread_name("calm").build().unwrap();
    let keys: Vec<_> = (0..STORM)
        .map(|n| timers.after(Duration::from_millis(5 + n % SLOTS), || ()))
        .collect();
    let before = timers.stats().wakeups;
    for key in keys {
        // The first ones may have fired by now.
        timers.cancel(key.unwrap());
    }
    assert!(timers.is_empty());
    // At most once for each slot that held some, and for the way there; then not at all.
    thread::sleep(Duration::from_millis(600));
    let after = settle(SOON, || timers.stats().wakeups);
    assert!(after - before <= SLOTS + 20, "{} wake-ups", after - before);
    let look = || (switches_of("calm"), timers.stats().wakeups);
    let calm = settle(SOON, look);
    thread::sleep(Duration::from_millis(400));
    assert_eq!(look(), calm, "a driver without timers ran");
}
