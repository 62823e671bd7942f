//! After a storm everything is given back: values, places in slots, chunks, entries.
//!
//! "Given back" is tried, not only counted: as many timers as the storm has ever used entries for
//! find room in those very entries, and a second storm like the first needs no more of them.

use std::collections::VecDeque;

use wheel_sync::atomic::{AtomicBool, Ordering};
use wheel_sync::{Arc, Mutex, thread};
use wheel_testkit::Random;

use super::storms::{PER_THREAD, most_used};
use super::{PlainHeap, Rig, scaled};
use crate::state::Phase;
use crate::{Config, Key, Tick, Wheel};

const HOUR: u64 = 3_600_000;

/// Something to count: each clone is one that is somewhere.
type Value = Arc<()>;

/// Everything is cancelled or has fired: after at most a visit for each slot nothing is left
/// anywhere, and the entries can all be had again.
fn assert_all_given_back(rig: &mut Rig<Value>, value: &Value, threads: usize) {
    assert_eq!(rig.wheel.len(), 0);
    rig.run_dry(|_, _| ());
    assert_eq!(Arc::strong_count(value), 1, "values are left somewhere");
    assert_eq!(rig.driver.levels.held, 0);
    assert_eq!(rig.chunks().1, 0, "chunks of empty slots are in use");
    let (arena, used) = (&rig.driver.engine.arena, rig.used());
    let entries = (0..used as u32).filter_map(|number| arena.find(number));
    let free = entries.filter(|(_, entry)| entry.state.look().phase() == Phase::Free);
    assert_eq!(free.count(), used, "entries are left that nobody frees");
    let stacks = rig.driver.engine.exchange.stacks();
    let bound = 8 + used / 128 + threads;
    assert!(stacks <= bound, "{stacks} stacks of hints, {bound} at most");

    // They fire: cancelled ones would leave hints to the next storm.
    let room = used.saturating_sub(threads * PER_THREAD);
    for _ in 0..room {
        let due = Tick::new(rig.now + 1);
        rig.wheel.insert(due, Arc::clone(value)).unwrap();
    }
    assert_eq!(rig.used(), used, "{room} free entries were not found again");
    assert_eq!(rig.run_dry(|_, _| ()), room);
    assert_eq!(rig.driver.levels.held, 0);
}

/// Plays a storm three times: none of them needs more than `most` entries.
fn play(config: Config, threads: usize, most: usize, storm: impl Fn(&mut Rig<Value>, &Value)) {
    let mut rig = Rig::new(config);
    let value = Value::default();
    for round in 0..3 {
        // Time passes, so that no hint of the last storm is too late for this one.
        rig.advance(rig.now + 1_000 * HOUR);
        storm(&mut rig, &value);
        let used = rig.used();
        assert!(
            used <= most,
            "round {round}: {used} entries used, {most} at most"
        );
        assert_all_given_back(&mut rig, &value, threads);
    }
    let Rig { wheel, driver, .. } = rig;
    assert_eq!(driver.close().count(), 0);
    assert_eq!(wheel.len(), 0);
}

/// Keeps `live` timers, replaces the oldest again and again, and cancels all in the end.
fn replace(rig: &mut Rig<Value>, value: &Value, live: usize, ahead: impl Fn(&mut Random) -> u64) {
    let mut random = Random::new(7);
    let mut keys = VecDeque::new();
    for i in 0..scaled(400_000) {
        let due = Tick::new(rig.now + ahead(&mut random));
        keys.push_back(rig.wheel.insert(due, Arc::clone(value)).unwrap());
        if keys.len() > live {
            let oldest = keys.pop_front().expect("it was just seen");
            assert!(rig.wheel.cancel(oldest).is_some());
        }
        if i % 64 == 0 {
            rig.advance(rig.now + 1);
        }
    }
    for key in keys {
        assert!(rig.wheel.cancel(key).is_some());
    }
}

#[test]
fn after_a_storm_of_one_length() {
    let live = 1_000;
    play(Config::new(), 1, 2 * live + PER_THREAD, |rig, value| {
        replace(rig, value, live, |_| 30_000);
    });
}

#[test]
fn after_a_storm_of_jittered_lengths() {
    let live = 1_000;
    for width in [1_000, 60_000, HOUR] {
        play(Config::new(), 1, most_used(live, 1), |rig, value| {
            replace(rig, value, live, |random| 30_000 + random.below(width));
        });
    }
}

/// Beyond the span, with and without an overflow.
#[test]
fn after_a_storm_of_far_timers() {
    let live = 1_000;
    for config in [Config::new(), Config::new().overflow(PlainHeap::default())] {
        play(config, 1, most_used(live, 1), |rig, value| {
            replace(rig, value, live, |random| {
                48 * HOUR + random.below(99 * HOUR)
            });
        });
    }
}

/// Every timer fires, none is cancelled.
#[test]
fn after_all_have_fired() {
    let timers = scaled(100_000);
    play(Config::new(), 1, timers + PER_THREAD, |rig, value| {
        let mut random = Random::new(3);
        for _ in 0..timers {
            let due = Tick::new(rig.now + 1 + random.below(2 * HOUR));
            rig.wheel.insert(due, Arc::clone(value)).unwrap();
        }
        assert_eq!(rig.run_dry(|_, _| ()), timers);
    });
}

/// Four at a time; half of what each inserts it leaves to the next ones to cancel.
#[test]
fn after_threads_that_come_and_go_by_the_thousand() {
    let value = Value::default();
    let mut rig = Rig::new(Config::new());
    let left: Mutex<Vec<Key>> = Mutex::new(Vec::new());
    let most = 8 * 100;
    for round in 0..scaled(10_000) as u64 / 4 {
        thread::scope(|scope| {
            for i in 0..4 {
                let (wheel, left, value) = (&rig.wheel, &left, &value);
                scope.spawn(move || {
                    let mut random = Random::new(4 * round + i);
                    let mut keys = std::mem::take(&mut *left.lock());
                    for _ in 0..100 {
                        let due = Tick::new(round + 1_000 + random.below(60_000));
                        keys.push(wheel.insert(due, Arc::clone(value)).unwrap());
                    }
                    let kept = keys.split_off(keys.len() / 2);
                    left.lock().extend(kept);
                    for key in keys {
                        wheel.cancel(key);
                    }
                });
            }
        });
        assert!(rig.wheel.len() <= most, "{} pending", rig.wheel.len());
        // Some fire meanwhile, at their tick.
        rig.advance(rig.now + 1);
    }
    for key in std::mem::take(&mut *left.lock()) {
        rig.wheel.cancel(key);
    }
    // Other tests' threads have numbers too, so those of this one's may be spread.
    let threads = 64;
    let (used, bound) = (rig.used(), most_used(most, threads));
    assert!(used <= bound, "{used} entries used, {bound} at most");
    assert_all_given_back(&mut rig, &value, threads);
}

/// Keys on their way from the thread that inserts to the one that cancels.
const IN_FLIGHT: usize = 1_024;
const BATCH: usize = 32;
/// Pairs between two looks at the driver.
const PORTION: usize = 4_096;

/// Who runs beside the two threads.
#[derive(Clone, Copy, PartialEq)]
enum Along {
    Driver,
    Nobody,
}

/// Two threads at their own speed; the driver runs along or not at all. When it does, who inserts
/// waits for it now and then, or the entries would show how seldom the machine lets it run.
fn insert_here_cancel_there(
    rig: &mut Rig<Value>,
    value: &Value,
    pairs: usize,
    ahead: impl Fn(&mut Random, u64) -> u64 + Sync,
    along: Along,
) {
    let queue: Mutex<VecDeque<Key>> = Mutex::new(VecDeque::new());
    let ended = AtomicBool::new(false);
    let wheel: Wheel<Value> = rig.wheel.clone();
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut random = Random::new(1);
            for batch in 0..pairs / BATCH {
                while queue.lock().len() > IN_FLIGHT - BATCH {
                    thread::yield_now();
                }
                let now = wheel.now().get();
                if along == Along::Driver && batch % (PORTION / BATCH) == 0 {
                    while wheel.now().get() < now + 2 {
                        thread::yield_now();
                    }
                }
                let keys: Vec<Key> = (0..BATCH)
                    .map(|_| {
                        let due = now + ahead(&mut random, batch as u64);
                        wheel.insert(Tick::new(due), Arc::clone(value)).unwrap()
                    })
                    .collect();
                queue.lock().extend(keys);
            }
        });
        scope.spawn(|| {
            let mut cancelled = 0;
            while cancelled < pairs / BATCH * BATCH {
                let mut keys = std::mem::take(&mut *queue.lock());
                cancelled += keys.len();
                if keys.is_empty() {
                    thread::yield_now();
                }
                for key in keys.drain(..) {
                    assert!(wheel.cancel(key).is_some(), "none is due yet");
                }
            }
            // Release: what was cancelled is seen by the last round of the driver.
            ended.store(true, Ordering::Release);
        });
        // Acquire: as above.
        while !ended.load(Ordering::Acquire) {
            if along == Along::Driver {
                rig.advance(rig.now + 1);
            }
            thread::yield_now();
        }
    });
}

/// Live timers there may be: what waits to be cancelled, and what both threads have in hand.
const PEAK: usize = 2 * IN_FLIGHT + BATCH;
/// Numbers that the two threads of three rounds may have, if other tests take turns with them.
const THREADS: usize = 7;

#[test]
fn after_ten_million_pairs_of_one_length_on_two_threads_without_the_driver() {
    let most = 2 * PEAK + THREADS * PER_THREAD;
    play(Config::new(), THREADS, most, |rig, value| {
        let pairs = scaled(10_000_000) / 3;
        insert_here_cancel_there(rig, value, pairs, |_, batch| 30_000 + batch, Along::Nobody);
    });
}

#[test]
fn after_ten_million_jittered_pairs_on_two_threads_with_the_driver() {
    // Two portions may come before the driver has placed the first.
    let most = most_used(PEAK + 2 * PORTION, THREADS);
    play(Config::new(), THREADS, most, |rig, value| {
        let pairs = scaled(10_000_000) / 3;
        let ahead = |random: &mut Random, _| HOUR + random.below(HOUR);
        insert_here_cancel_there(rig, value, pairs, ahead, Along::Driver);
    });
}
