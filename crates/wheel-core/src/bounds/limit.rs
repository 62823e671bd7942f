//! The limit of pending timers: exact when quiet, never exceeded.

use wheel_sync::atomic::{AtomicUsize, Ordering};
use wheel_sync::thread;
use wheel_testkit::Random;

use super::{Rig, scaled};
use crate::{Budget, Config, Key, Tick};

const MAX: usize = 100;

/// Full means full, and each way out makes room for exactly one.
#[test]
fn exact_when_quiet() {
    let mut rig = Rig::new(Config::new().max_timers(MAX));
    let wheel = rig.wheel.clone();
    let fill = |due: u64| -> Vec<Key> {
        let keys = std::iter::from_fn(|| wheel.insert(Tick::new(due), 7).ok()).collect();
        let refused = wheel.insert(Tick::new(due), 8).unwrap_err();
        assert!(refused.is_full());
        assert_eq!(refused.into_value(), 8, "the value comes back");
        assert_eq!(wheel.len(), MAX);
        keys
    };
    let keys = fill(10);
    assert_eq!(keys.len(), MAX);
    for &key in &keys[..10] {
        assert!(wheel.cancel(key).is_some());
    }
    assert_eq!(fill(20).len(), 10, "re-armed in place");
    // A reset is no other timer, be it in place or not.
    let later = wheel.reset(keys[50], Tick::new(20)).unwrap();
    wheel.reset(later, Tick::new(5)).unwrap();
    assert_eq!(fill(20).len(), 0);
    assert_eq!(
        rig.driver
            .advance(Tick::new(10), Budget::UNLIMITED, |_| ())
            .fired,
        MAX - 10
    );
    assert_eq!(fill(20).len(), MAX - 10);
    let Rig { driver, .. } = rig;
    assert_eq!(driver.close().count(), MAX);
    assert_eq!(wheel.len(), 0);
    assert!(
        !wheel.insert(Tick::new(1), 9).unwrap_err().is_full(),
        "closed, not full"
    );
}

/// Threads insert and cancel as fast as they can. Each counts a timer when it surely is pending,
/// and counts it out before it begins to cancel, so the count never says more than the wheel holds.
#[test]
fn never_exceeded_under_contention() {
    let mut rig = Rig::<u64>::new(Config::new().max_timers(MAX));
    let wheel = rig.wheel.clone();
    let surely_pending = AtomicUsize::new(0);
    let refusals = AtomicUsize::new(0);
    thread::scope(|scope| {
        let threads = [0, 1, 2, 3].map(|seed| {
            let (wheel, surely_pending, refusals) = (&wheel, &surely_pending, &refusals);
            scope.spawn(move || {
                let mut random = Random::new(seed);
                let mut keys: Vec<Key> = Vec::new();
                for _ in 0..scaled(200_000) {
                    if random.one_in(2) {
                        let due = Tick::new(1 + random.below(100_000));
                        let Ok(key) = wheel.insert(due, seed) else {
                            // Relaxed, all: counts.
                            refusals.fetch_add(1, Ordering::Relaxed);
                            continue;
                        };
                        let pending = surely_pending.fetch_add(1, Ordering::Relaxed) + 1;
                        assert!(pending <= MAX, "{pending} timers are pending");
                        keys.push(key);
                    } else if let Some(key) = keys.pop() {
                        // Relaxed: a count.
                        surely_pending.fetch_sub(1, Ordering::Relaxed);
                        assert_eq!(wheel.cancel(key), Some(seed));
                    }
                    if random.one_in(50) {
                        thread::yield_now();
                    }
                }
                // Each keeps what it has.
            })
        });
        // Frees what was cancelled, or entries would run out before timers do.
        while !threads.iter().all(|thread| thread.is_finished()) {
            rig.advance(0);
            thread::yield_now();
        }
    });
    rig.advance(0);
    // Relaxed: the threads have ended.
    let pending = surely_pending.load(Ordering::Relaxed);
    assert!(refusals.load(Ordering::Relaxed) > 0, "never full");
    assert_eq!(rig.wheel.len(), pending);
    let room = std::iter::from_fn(|| rig.wheel.insert(Tick::new(1), 9).ok()).count();
    assert_eq!(pending + room, MAX, "not exact when quiet");
}
