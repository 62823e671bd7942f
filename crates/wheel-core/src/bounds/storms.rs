//! Memory follows the live timers: through storms of insert and cancel, with and without the
//! driver.

use std::collections::VecDeque;

use wheel_sync::{Mutex, thread};
use wheel_testkit::Random;

use super::{Rig, scaled};
use crate::arena::BATCH;
use crate::slots::CHUNK;
use crate::sweep::SLACK;
use crate::vacant::HINTS;
use crate::{Config, Key, Tick};

/// What each thread may hold besides: entries in its caches and hints.
pub(super) const PER_THREAD: usize = 2 * BATCH as usize + HINTS + 1;

/// Entries that may be in use when so many timers were pending at the peak.
pub(super) fn most_used(peak: usize, threads: usize) -> usize {
    2 * peak + 2 * SLACK + threads * PER_THREAD
}

/// Timers of random dues, cancelled in random order: cancelled entries seldom fit the next insert.
#[test]
fn random_dues_hold_at_most_twice_the_peak_and_a_slack() {
    let live = scaled(100_000);
    for (width, each_tick) in [(60_000, 64), (3_600_000, 64), (3_600_000, 5_000)] {
        let mut rig = Rig::new(Config::new());
        let mut random = Random::new(width);
        let mut keys: Vec<Key> = Vec::new();
        for round in 0..30 * live / each_tick {
            for _ in 0..each_tick {
                let due = Tick::new(rig.now + 20_000 + random.below(width));
                let key = rig.wheel.insert(due, round).unwrap();
                if keys.len() < live {
                    keys.push(key);
                    continue;
                }
                let at = random.below(live as u64) as usize;
                // It may have fired: then there is one timer less.
                rig.wheel.cancel(std::mem::replace(&mut keys[at], key));
            }
            rig.advance(rig.now + 1);
            let bound = most_used(live + each_tick, 1);
            let used = rig.used();
            assert!(
                used <= bound,
                "dues within {width}, {each_tick} a tick, round {round}: {used} entries used, {bound} at most"
            );
        }
    }
}

/// One thread inserts and another cancels, each in bursts, so that they take turns.
fn two_threads_in_turns(
    bursts: usize,
    burst: usize,
    dues: impl Fn(&mut Random, u64) -> u64 + Sync,
    mut between: impl FnMut(&mut Rig<u64>),
) -> usize {
    let mut rig = Rig::new(Config::new());
    let wheel = rig.wheel.clone();
    let pending = Mutex::new(VecDeque::<Key>::new());
    let turns = Turns::default();
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut random = Random::new(1);
            for round in 0..bursts {
                turns.wait_for(3 * round);
                let mut pending = pending.lock();
                for i in 0..burst {
                    let due = dues(&mut random, (round * burst + i) as u64);
                    pending.push_back(wheel.insert(Tick::new(due), 0).unwrap());
                }
                turns.pass();
            }
        });
        scope.spawn(|| {
            for round in 0..bursts {
                turns.wait_for(3 * round + 1);
                let mut pending = pending.lock();
                while pending.len() > burst / 2 {
                    let key = pending.pop_front().unwrap();
                    wheel.cancel(key);
                }
                turns.pass();
            }
        });
        for round in 0..bursts {
            turns.wait_for(3 * round + 2);
            between(&mut rig);
            turns.pass();
        }
    });
    rig.used()
}

/// Whose turn it is: a counter to wait for.
#[derive(Default)]
struct Turns(Mutex<usize>, wheel_sync::Condvar);

impl Turns {
    fn wait_for(&self, turn: usize) {
        let mut now = self.0.lock();
        while *now != turn {
            now = self.1.wait(now);
        }
    }

    fn pass(&self) {
        *self.0.lock() += 1;
        self.1.notify_all();
    }
}

#[test]
fn random_dues_cancelled_by_another_thread_hold_no_more() {
    for burst in [100, 5_000] {
        let bursts = scaled(4_000_000) / burst;
        let used = two_threads_in_turns(
            bursts,
            burst,
            |random, i| i / 64 + 20_000 + random.below(60_000),
            |rig| {
                rig.advance(rig.now + burst as u64 / 64);
            },
        );
        let bound = most_used(2 * burst, 2);
        assert!(
            used <= bound,
            "bursts of {burst}: {used} entries used, {bound} at most"
        );
    }
}

#[test]
fn dues_of_one_length_cancelled_by_another_thread_need_no_driver() {
    for burst in [10, 64, 1_000, 10_000] {
        let bursts = scaled(1_000_000) / burst;
        let used = two_threads_in_turns(bursts, burst, |_, i| i + 30_000, |_| ());
        let bound = 2 * 3 * burst / 2 + 2 * PER_THREAD;
        assert!(
            used <= bound,
            "bursts of {burst}: {used} entries used, {bound} at most"
        );
    }
}

/// Whether timers are cancelled one by one as others are set, or all at once.
#[test]
fn dues_of_one_length_need_no_driver() {
    for burst in [1, 10, 1_000, 10_000] {
        let rig = Rig::new(Config::new());
        let mut keys = VecDeque::new();
        let live = 1_000;
        for i in 0..scaled(1_000_000) as u64 {
            keys.push_back(rig.wheel.insert(Tick::new(30_000 + i / 100), i).unwrap());
            if keys.len() == live + burst {
                for key in keys.drain(..burst) {
                    assert!(rig.wheel.cancel(key).is_some());
                }
            }
        }
        let bound = 2 * (live + burst) + PER_THREAD;
        assert!(
            rig.used() <= bound,
            "bursts of {burst}: {} entries used, {bound} at most",
            rig.used()
        );
    }
}

/// A reset to later leaves the timer where it is.
#[test]
fn resets_to_later_need_no_driver() {
    let rig = Rig::new(Config::new());
    let mut keys: Vec<Key> = (0..1_000)
        .map(|_| rig.wheel.insert(Tick::new(30_000), 1).unwrap())
        .collect();
    for round in 1..scaled(1_000) as u64 {
        for key in &mut keys {
            *key = rig.wheel.reset(*key, Tick::new(30_000 + round)).unwrap();
        }
    }
    assert!(rig.used() <= keys.len() + PER_THREAD, "{} used", rig.used());
}

/// Resets that go back and forth leave entries behind, which the driver frees.
#[test]
fn resets_to_earlier_hold_no_more() {
    let live = scaled(20_000);
    let mut rig = Rig::new(Config::new());
    let mut random = Random::new(5);
    let mut keys: Vec<Key> = (0..live)
        .map(|_| rig.wheel.insert(Tick::new(3_600_000), 1).unwrap())
        .collect();
    for _ in 0..30 * live / 64 {
        for _ in 0..64 {
            let at = random.below(live as u64) as usize;
            let due = Tick::new(rig.now + 1_000_000 + random.below(3_600_000));
            keys[at] = rig.wheel.reset(keys[at], due).unwrap();
        }
        rig.advance(rig.now + 1);
    }
    let bound = most_used(live, 1);
    assert!(
        rig.used() <= bound,
        "{} entries used, {bound} at most",
        rig.used()
    );
}

/// Most timeouts are cancelled before the driver sees them. It frees their entries where it takes
/// them up, and they make it no further work.
#[test]
fn what_was_cancelled_before_the_driver_came_gets_no_place() {
    let mut rig = Rig::new(Config::new());
    for round in 0..100 {
        let keys: Vec<Key> = (0..100)
            .map(|i| rig.wheel.insert(Tick::new(1_000_000 - round * 100 - i), 1))
            .map(Result::unwrap)
            .collect();
        for key in keys {
            rig.wheel.cancel(key);
        }
        let done = rig.advance(round);
        assert!(done.moved <= 100, "{} moves for 100 entries", done.moved);
        assert_eq!(
            rig.driver.levels.held, 0,
            "vacant entries were given a place"
        );
    }
    assert_eq!(rig.next(), None);
}

/// What a thread leaves behind, the next one takes over.
#[test]
fn threads_that_come_and_go_leave_nothing() {
    let mut rig = Rig::new(Config::new());
    for round in 0..scaled(10_000) as u64 / 4 {
        thread::scope(|scope| {
            for i in 0..4 {
                let wheel = &rig.wheel;
                scope.spawn(move || {
                    let mut random = Random::new(round * 4 + i);
                    let keys: Vec<Key> = (0..100)
                        .map(|_| {
                            wheel
                                .insert(Tick::new(round + 1_000 + random.below(60_000)), 1)
                                .unwrap()
                        })
                        .collect();
                    for key in keys {
                        assert_eq!(wheel.cancel(key), Some(1));
                    }
                });
            }
        });
        rig.advance(rig.now + 1);
    }
    // Other tests' threads have numbers too, so those of this one's may be spread.
    let bound = most_used(400, 64);
    assert!(
        rig.used() <= bound,
        "{} entries used, {bound} at most",
        rig.used()
    );
}

/// Chunks that are empty go back to the pool, entries that have fired to the stock, and both are
/// used before more are made.
#[test]
fn empty_chunks_and_fired_entries_are_used_again() {
    let timers = scaled(200_000);
    let mut rig = Rig::new(Config::new());
    let mut random = Random::new(9);
    let mut made = 0;
    for round in 0..4 {
        let start = rig.now;
        for _ in 0..timers {
            let due = start + 2_000 + random.below(1_000_000);
            rig.wheel.insert(Tick::new(due), ()).unwrap();
        }
        rig.advance(start);
        let least = timers / CHUNK;
        assert!(rig.chunks().1 >= least);
        assert_eq!(rig.run_dry(|_, _| ()), timers);
        let (entries, used) = (timers + PER_THREAD, rig.used());
        assert!(used <= entries, "{used} entries used, {entries} at most");
        let (all, in_use) = rig.chunks();
        assert_eq!(in_use, 0, "chunks of empty slots are still in use");
        if round == 0 {
            made = all;
        }
        assert!(
            all <= made + made / 8,
            "the pool has grown from {made} to {all} chunks"
        );
    }
}

/// 16 bytes of value; what the arena and the slots' chunks take for it.
#[test]
fn a_pending_timer_takes_at_most_64_bytes() {
    type Value = [u64; 2];
    let timers = scaled(1_000_000);
    for width in [60_000, 3_600_000, 86_400_000] {
        let mut rig = Rig::<Value>::new(Config::new());
        let mut random = Random::new(width);
        for i in 0..timers as u64 {
            let due = Tick::new(1 + random.below(width));
            rig.wheel.insert(due, [i, i]).unwrap();
        }
        rig.advance(0);
        let chunk = size_of::<[u64; CHUNK + 1]>();
        let bytes = rig.used() * size_of::<crate::entry::Entry<Value>>() + rig.chunks().0 * chunk;
        assert!(
            bytes <= 64 * timers,
            "{} bytes for each timer",
            bytes / timers
        );
    }
}
