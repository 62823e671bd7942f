//! Both doors on real threads and the real clock: everything runs at most once, and all of it is
//! accounted for.
//!
//! ```text
//!   timers.rs      callbacks, on the driver thread or on a pool: set, cancelled, reset, stale keys
//!   scheduler.rs   tasks by id: submitted, cancelled, rescheduled, triggered, looked at
//!   ledger.rs      what each callback and handler has seen of itself
//! ```
//!
//! A round ends in quiet, or is shut down under its threads. Callbacks and handlers panic now and
//! then, when they run and when they are dropped. At the end of a round the bytes are given back.
//!
//! `WHEEL_STRESS=60s` goes on with new seeds for a minute for each test; `WHEEL_SEED=n` starts at
//! that seed. The machine decides which thread comes first, so try a seed several times. `cargo
//! xtask stress` runs it in release.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use wheel_testkit::{CountedBytes, Stress};

mod ledger;
mod scheduler;
mod timers;

#[global_allocator]
static BYTES: CountedBytes = CountedBytes::new();

/// Against hangs only.
const HANG: Duration = Duration::from_secs(120);
/// Bytes that the test harness may take during a round.
const NOISE: isize = 48 * 1024;

/// How a round ends.
#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    /// When the threads are done and all that is due has run.
    Quiet,
    /// Shut down while the threads go on.
    Midway,
}

/// Rounds of one kind, one at a time, as they count bytes. `play` returns operations and threads.
fn rounds(name: &str, few: u64, play: impl Fn(u64) -> (usize, usize)) {
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let mut stress = Stress::begin(name, few);
    while let Some(seed) = stress.next_round() {
        let before = BYTES.now();
        let (operations, threads) = play(seed);
        // Threads that nobody waits for need a moment to end.
        wait_until("the bytes are given back", || BYTES.now() - before < NOISE);
        stress.played(operations, threads);
    }
    stress.end("each accounted for");
}

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < HANG, "it never came about: {what}");
        std::thread::sleep(Duration::from_micros(200));
    }
}

fn end_of(seed: u64) -> End {
    match seed % 3 {
        0 => End::Midway,
        _ => End::Quiet,
    }
}

#[test]
fn every_callback_runs_once_or_is_dropped_once() {
    let name = "every_callback_runs_once_or_is_dropped_once";
    rounds(name, 12, |seed| timers::play(seed, end_of(seed)));
}

#[test]
fn every_task_runs_as_often_as_its_state_says() {
    let name = "every_task_runs_as_often_as_its_state_says";
    rounds(name, 12, |seed| scheduler::play(seed, end_of(seed)));
}
