//! What the wheel holds, by the resident memory of this process: at rest, and through a storm.
//!
//! At rest: a million and ten million pending timers with a value of 16 bytes. Through a storm: two
//! threads set and cancel 50 million timeouts, 1,024 open each, as fast as they can, while the
//! driver runs on its own thread in real time. Not a criterion bench: it prints one table. Linux
//! only, as it reads `/proc`.

use std::collections::VecDeque;
use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use wheel_benches::{Random, Value};
use wheel_core::{Budget, Config, Driver, Key, Tick, Wheel};

const MIB: f64 = 1024.0 * 1024.0;
const THREADS: usize = 2;
const PAIRS: u64 = 25_000_000;
const OPEN: usize = 1024;

fn resident_bytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let kib = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}

fn at_rest(count: u64) {
    let before = resident_bytes();
    let (wheel, mut driver) = Config::new().build::<Value>();
    let mut random = Random::new(1);
    for n in 0..count {
        let due = Tick::new(1 + random.below(3_600_000));
        wheel.insert(due, [n, n]).expect("no limit");
    }
    driver.advance(Tick::ZERO, Budget::UNLIMITED, |_| ());
    let held = resident_bytes().saturating_sub(before);
    println!(
        "{count:>9} pending, due within an hour   {:5.1} bytes each",
        held as f64 / count as f64
    );
}

/// One thread's part: sets a timeout, and cancels the one set `OPEN` before.
fn set_and_cancel(wheel: &Wheel<Value>, spread: u64, seed: u64, started: Instant) {
    let mut random = Random::new(seed);
    let mut open: VecDeque<Key> = VecDeque::with_capacity(OPEN + 1);
    let mut now = 0;
    for n in 0..PAIRS {
        if n % 256 == 0 {
            now = ticks(started.elapsed());
        }
        let due = Tick::new(now + 30_000 + random.below(spread));
        open.push_back(wheel.insert(due, [n, n]).expect("no limit"));
        if open.len() > OPEN {
            let oldest = open.pop_front().expect("some are open");
            assert!(wheel.cancel(oldest).is_some(), "nothing is due for 30 s");
        }
    }
}

fn ticks(elapsed: Duration) -> u64 {
    u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX)
}

/// Advances in real time until all threads are done; returns the most that was resident.
fn drive(driver: &mut Driver<Value>, working: &AtomicUsize, started: Instant) -> u64 {
    let mut peak = 0;
    while working.load(Ordering::Acquire) > 0 {
        let now = Tick::new(ticks(started.elapsed()));
        let progress = driver.advance(now, Budget::new(4096), |_| ());
        peak = peak.max(resident_bytes());
        if !progress.more {
            driver.next_due();
            thread::sleep(Duration::from_millis(1));
        }
    }
    peak
}

fn storm(what: &str, spread: u64) {
    let before = resident_bytes();
    let (wheel, mut driver) = Config::new().build::<Value>();
    let (started, working) = (Instant::now(), AtomicUsize::new(THREADS));
    let peak = thread::scope(|scope| {
        for seed in 0..THREADS as u64 {
            let (wheel, working) = (&wheel, &working);
            scope.spawn(move || {
                set_and_cancel(wheel, spread, seed + 1, started);
                working.fetch_sub(1, Ordering::Release);
            });
        }
        drive(&mut driver, &working, started)
    });
    let pairs = PAIRS * THREADS as u64;
    println!(
        "{what:<39} {:5.1} MiB at most, {:5.1} million pairs/s",
        peak.saturating_sub(before) as f64 / MIB,
        pairs as f64 / started.elapsed().as_secs_f64() / 1e6
    );
}

fn main() {
    // `cargo test --benches` runs this too, without --bench: then there is nothing to measure.
    if !std::env::args().any(|arg| arg == "--bench") {
        return;
    }
    storm("storm, 30 s", 1);
    storm("storm, 30 s to 31 s", 1_000);
    storm("storm, 30 s to 1 h", 3_570_000);
    at_rest(1_000_000);
    at_rest(10_000_000);
}
