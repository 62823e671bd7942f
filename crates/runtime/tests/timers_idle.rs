//! An idle engine does not run at all, by the kernel's own count of context switches. A test binary
//! of its own, so that no other test's driver has the same thread name.
#![cfg(target_os = "linux")]

use std::fs;
use std::sync::mpsc;
use std::time::Duration;

use wheel_runtime::Timers;
use wheel_sync::thread;

/// How often threads called `name` have gone to sleep or were preempted, each.
fn switches_of(name: &str) -> Vec<u64> {
    let tasks = fs::read_dir("/proc/self/task").unwrap();
    let states =
        tasks.filter_map(|task| fs::read_to_string(task.unwrap().path().join("status")).ok());
    let field = |line: &str| line.rsplit('\t').next().unwrap().trim().parse::<u64>();
    states
        .filter(|state| state.lines().next().unwrap().ends_with(name))
        .map(|state| {
            let counts = state.lines().filter(|line| line.contains("ctxt_switches"));
            counts.map(|line| field(line).unwrap()).sum()
        })
        .collect()
}

/// Waits until two looks 50 ms apart are equal: until then the driver may still be on its way to
/// sleep.
fn settle<T: PartialEq>(look: impl Fn() -> T) -> T {
    let mut before = look();
    for _ in 0..200 {
        thread::sleep(Duration::from_millis(50));
        let now = look();
        if now == before {
            return now;
        }
        before = now;
    }
    panic!("the driver has no rest");
}

#[test]
fn an_engine_with_nothing_to_do_does_not_wake_up() {
    let timers = Timers::builder()
        .thread_name("idle-driver")
        .build()
        .unwrap();
    let (sent, ran) = mpsc::channel();
    timers
        .after(Duration::from_millis(1), move || sent.send(()).unwrap())
        .unwrap();
    ran.recv().unwrap();
    // Far timers, of both kinds, are no reason to run either.
    let far = Duration::from_secs(86_400 * 30);
    timers.after(far, || ()).unwrap();
    timers
        .at(std::time::SystemTime::now() + far, || ())
        .unwrap();
    let look = || (switches_of("idle-driver"), timers.stats().wakeups);
    let before = settle(look);
    assert_eq!(before.0.len(), 1, "one thread has the driver's name");
    thread::sleep(Duration::from_millis(400));
    assert_eq!(look(), before, "an idle driver ran");
}

// MG-06
#[test]
fn timers_that_were_all_cancelled_stop_waking_the_driver() {
    const SLOTS: u64 = 500;
    let timers = Timers::builder()
        .thread_name("calm-driver")
        .build()
        .unwrap();
    let keys: Vec<_> = (0..10_000)
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
    let after = settle(|| timers.stats().wakeups);
    assert!(after - before <= SLOTS + 20, "{} wake-ups", after - before);
    let look = || (switches_of("calm-driver"), timers.stats().wakeups);
    let calm = settle(look);
    thread::sleep(Duration::from_millis(400));
    assert_eq!(look(), calm, "a driver without timers ran");
}
