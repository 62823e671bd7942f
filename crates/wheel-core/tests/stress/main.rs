//! Real threads against drivers: every value leaves exactly once, at no tick before its due.
//!
//! ```text
//!   workers   insert, cancel, reset their own timers and those whose keys the others send them;
//!             try keys that have had their end, and those of another engine
//!   drivers   one to an engine: advance at random, with budgets, ask for the next due; close or are
//!             dropped at the end or midway
//!   values    are counted; one in a hundred panics when it is dropped, wherever that happens
//!   judge     afterwards: the threads' notes make one life for each timer, and each life one end;
//!             every key that there ever was is stale; all memory is given back
//! ```
//!
//! `WHEEL_STRESS=60s` goes on with new seeds for a minute for each test; `WHEEL_SEED=n` starts at
//! that seed. Which thread comes first is up to the machine, so a seed names the operations and not
//! their order; try one several times. `cargo xtask stress` runs it in release.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use wheel_testkit::{CountedBytes, Stress};

mod round;
mod value;

use round::{End, Plan};

#[global_allocator]
static BYTES: CountedBytes = CountedBytes::new();

/// Bytes that the test harness may take during a round. A segment of entries takes more.
const NOISE: isize = 48 * 1024;

/// One test at a time, as they count bytes.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A few rounds, or as many as fit into `WHEEL_STRESS`.
fn rounds(name: &str, few: u64, plan: impl Fn(u64) -> Plan) {
    let _alone = alone();
    let mut stress = Stress::begin(name, few);
    let mut played = [0; 5];
    while let Some(seed) = stress.next_round() {
        let plan = plan(seed);
        let before = BYTES.now();
        let counts = round::play(seed, plan).counts();
        let kept = BYTES.now() - before;
        assert!(kept < NOISE, "{kept} bytes are left of {plan:?}");
        let operations = plan.workers * plan.waves * plan.ops + counts[0];
        stress.played(operations, plan.workers + plan.engines);
        for (all, one) in played.iter_mut().zip(counts) {
            *all += one;
        }
    }
    stress.end(&format!(
        "[fired, cancelled, reset, refused, unfired] {played:?}"
    ));
    let [fired, cancelled, reset, _, unfired] = played;
    assert!(
        fired.min(cancelled).min(reset).min(unfired) > 0,
        "nothing was tried: {played:?}"
    );
}

const PLAIN: Plan = Plan {
    engines: 1,
    workers: 2,
    waves: 1,
    ops: 20_000,
    max_timers: None,
    end: End::Quiet,
};

#[test]
fn every_value_leaves_once_and_never_early() {
    rounds("every_value_leaves_once_and_never_early", 4, |seed| Plan {
        workers: 2 + seed as usize % 3,
        ..PLAIN
    });
}

#[test]
fn every_value_leaves_once_when_the_wheel_is_closed_under_the_threads() {
    let name = "every_value_leaves_once_when_the_wheel_is_closed_under_the_threads";
    rounds(name, 30, |seed| Plan {
        workers: 2 + seed as usize % 3,
        ops: 2_000,
        end: End::Midway,
        ..PLAIN
    });
}

#[test]
fn every_value_leaves_once_when_the_driver_is_dropped_under_the_threads() {
    let name = "every_value_leaves_once_when_the_driver_is_dropped_under_the_threads";
    rounds(name, 30, |seed| Plan {
        engines: 1 + seed as usize % 2,
        workers: 2 + seed as usize % 3,
        ops: 2_000,
        end: End::Dropped,
        ..PLAIN
    });
}

#[test]
fn every_value_leaves_once_when_the_wheel_is_often_full() {
    let name = "every_value_leaves_once_when_the_wheel_is_often_full";
    rounds(name, 4, |seed| Plan {
        workers: 3,
        ops: 10_000,
        max_timers: Some(1 + seed as usize % 50 * 40),
        end: match seed % 2 {
            0 => End::Quiet,
            _ => End::Midway,
        },
        ..PLAIN
    });
}

#[test]
fn every_value_leaves_once_when_threads_come_and_go_by_the_hundred() {
    let name = "every_value_leaves_once_when_threads_come_and_go_by_the_hundred";
    rounds(name, 2, |_| Plan {
        workers: 4,
        waves: 100,
        ops: 100,
        ..PLAIN
    });
}

#[test]
fn every_value_leaves_once_from_several_engines_with_a_driver_each() {
    let name = "every_value_leaves_once_from_several_engines_with_a_driver_each";
    rounds(name, 6, |seed| Plan {
        engines: 2 + seed as usize % 2,
        workers: 3,
        ops: 8_000,
        end: match seed % 3 {
            0 => End::Midway,
            _ => End::Quiet,
        },
        ..PLAIN
    });
}

/// The count of bytes must see what is left.
#[test]
fn what_is_left_is_seen() {
    let _alone = alone();
    let before = BYTES.now();
    let kept = thread::spawn(|| vec![0_u8; 2 * NOISE as usize]);
    let kept = kept.join().unwrap();
    assert!(BYTES.now() - before > NOISE);
    drop(kept);
}
