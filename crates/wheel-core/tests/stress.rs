//! Real threads against one driver: every value leaves exactly once, at no tick before its due.
//!
//! ```text
//!   workers   insert, cancel, reset their own timers and those whose keys the others send them
//!   driver    advances at random, with budgets, asks for the next due, closes at the end or midway
//!   judge     afterwards: the threads' notes make one life for each timer, and each life one end
//! ```
//!
//! `WHEEL_STRESS=60s` goes on with new seeds for a minute for each test; `WHEEL_SEED=n` starts at
//! that seed. Which thread comes first is up to the machine, so a seed names the operations and not
//! their order; try one several times.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use wheel_core::{Budget, Config, Driver, InsertError, Key, Tick, Wheel};
use wheel_testkit::{Census, Random, Value};

const HOUR: u64 = 3_600_000;

type Notes = wheel_testkit::Notes<Key>;

/// How a round goes.
#[derive(Clone, Copy)]
struct Plan {
    /// Threads at a time.
    workers: usize,
    /// How often all of them end and others begin.
    waves: usize,
    /// Operations of one thread.
    ops: usize,
    max_timers: Option<usize>,
    end: End,
}

#[derive(Clone, Copy, PartialEq)]
enum End {
    /// Close when the threads are done.
    Quiet,
    /// Close while they go on.
    Midway,
}

/// What the threads of a round share.
struct Round<'a> {
    wheel: &'a Wheel<Value>,
    census: &'a Census,
    plan: Plan,
    ids: AtomicUsize,
    running: AtomicUsize,
    /// Where each worker gets keys from the others.
    inboxes: Vec<(Sender<Key>, Mutex<Receiver<Key>>)>,
}

impl Round<'_> {
    fn work(&self, me: usize, mut random: Random) -> Notes {
        let mut notes = Notes::default();
        let inbox = self.inboxes[me].1.lock().unwrap();
        let mut pending: Vec<Key> = Vec::new();
        let mut dead: Vec<Key> = Vec::new();
        for _ in 0..self.plan.ops {
            pending.extend(inbox.try_iter());
            let picked = (!pending.is_empty()).then(|| random.below(pending.len() as u64) as usize);
            match (random.below(10), picked) {
                (0..=4, _) | (_, None) => self.insert(&mut random, &mut pending, &mut notes),
                (5..=6, Some(at)) => {
                    let key = pending.swap_remove(at);
                    if let Some(value) = self.wheel.cancel(key) {
                        notes.cancelled.push((key, value.id));
                    }
                    dead.push(key);
                }
                (7, Some(at)) => {
                    let due = self.due(&mut random);
                    let old = pending[at];
                    match self.wheel.reset(old, Tick::new(due)) {
                        Some(new) => {
                            notes.reset.push((old, new, due));
                            pending[at] = new;
                            dead.push(old);
                        }
                        // Too late, or closed.
                        None => drop(pending.swap_remove(at)),
                    }
                }
                (8, Some(at)) => {
                    // A copy stays here, so that two threads try the same one.
                    let to = random.below(self.inboxes.len() as u64) as usize;
                    self.inboxes[to].0.send(pending[at]).unwrap();
                }
                (_, Some(_)) => {
                    if let Some(&key) = dead.get(random.below(dead.len().max(1) as u64) as usize) {
                        assert!(self.wheel.cancel(key).is_none(), "a stale key was good");
                    }
                }
            }
            if pending.len() > 200 {
                pending.swap_remove(random.below(200) as usize);
            }
            if random.one_in(64) {
                thread::yield_now();
            }
        }
        self.running.fetch_sub(1, Ordering::Release);
        notes
    }

    fn insert(&self, random: &mut Random, pending: &mut Vec<Key>, notes: &mut Notes) {
        let id = self.ids.fetch_add(1, Ordering::Relaxed) as u64;
        let due = self.due(random);
        match self.wheel.insert(Tick::new(due), self.census.value(id)) {
            Ok(key) => {
                notes.inserted.push((key, due, id));
                pending.push(key);
            }
            Err(refused) => {
                match refused {
                    InsertError::Full(_) => assert!(self.plan.max_timers.is_some(), "no limit"),
                    _ => assert!(self.plan.end == End::Midway, "nobody has closed it"),
                }
                notes.refused.push(refused.into_value().id);
            }
        }
    }

    /// Now, soon, on another level, in the past, beyond the span, never.
    fn due(&self, random: &mut Random) -> u64 {
        let now = self.wheel.now().get();
        match random.below(16) {
            0 => random.below(now + 1),
            1..=5 => now + random.below(4),
            6..=9 => now + random.below(3_000),
            10..=11 => now + random.below(200_000),
            12 => now + random.below(60 * HOUR),
            13 => now + random.of_any_size() / 2,
            14 => u64::MAX - random.below(2),
            // The same for a while, so that cancelled entries are armed anew.
            _ => (now / 64 + 1) * 64 + 30_000,
        }
    }

    /// Advances until the workers are done, or until it is time to close.
    fn drive(&self, driver: &mut Driver<Value>, random: &mut Random, until: usize) -> Notes {
        let mut notes = Notes::default();
        let mut now = self.wheel.now().get();
        // Acquire: with the workers' release, what they have inserted is there at the last advance.
        while self.running.load(Ordering::Acquire) > 0 && self.ids.load(Ordering::Relaxed) < until {
            now += match random.below(100) {
                0 => random.below(3 * HOUR),
                1..=9 => random.below(2_000),
                _ => random.below(4),
            };
            let budget = match random.below(4) {
                0 => Budget::new(random.between(1, 64) as usize),
                1 => Budget::new(1_000),
                _ => Budget::UNLIMITED,
            };
            driver.advance(Tick::new(now), budget, |timer| {
                assert!(
                    timer.due.get() <= now,
                    "fired early: due {}, now {now}",
                    timer.due
                );
                notes
                    .fired
                    .push((timer.key, timer.due.get(), timer.value.id));
            });
            if random.one_in(3) {
                driver.next_due();
            }
            if random.one_in(16) {
                thread::yield_now();
            }
        }
        notes
    }
}

/// Plays one round and says how many timers were fired, cancelled, reset, refused, unfired.
fn round(seed: u64, plan: Plan) -> [usize; 5] {
    let mut random = Random::new(seed);
    let start = if random.one_in(2) {
        0
    } else {
        random.of_any_size() / 2
    };
    let mut config = Config::new().start(Tick::new(start));
    if let Some(max) = plan.max_timers {
        config = config.max_timers(max);
    }
    let (wheel, mut driver) = config.build();
    driver.advance(Tick::new(start), Budget::UNLIMITED, |_| ());
    let census = Census::default();
    let round = Round {
        wheel: &wheel,
        census: &census,
        plan,
        ids: AtomicUsize::new(0),
        running: AtomicUsize::new(0),
        inboxes: (0..plan.workers)
            .map(|_| channel())
            .map(|(to, from)| (to, Mutex::new(from)))
            .collect(),
    };
    let mut notes = Notes::default();
    let (mut driver, mut unfired) = (Some(driver), None);
    let inserts = plan.workers * plan.waves * plan.ops / 2;
    let close_at = match plan.end {
        End::Quiet => usize::MAX,
        End::Midway => inserts / 4 + random.below(inserts as u64 / 2) as usize,
    };
    for _ in 0..plan.waves {
        round.running.store(plan.workers, Ordering::Relaxed);
        thread::scope(|scope| {
            let workers: Vec<_> = (0..plan.workers)
                .map(|me| {
                    let random = Random::new(random.number());
                    let round = &round;
                    scope.spawn(move || round.work(me, random))
                })
                .collect();
            if let Some(mut open) = driver.take() {
                notes.add(round.drive(&mut open, &mut random, close_at));
                if round.ids.load(Ordering::Relaxed) < close_at {
                    driver = Some(open);
                } else {
                    unfired = Some(open.close());
                }
            }
            if random.one_in(2) {
                // Else the threads go on with what has not been taken out yet.
                notes
                    .unfired
                    .extend(unfired.take().into_iter().flatten().map(|value| value.id));
            }
            for worker in workers {
                notes.add(worker.join().expect("a worker has failed"));
            }
            notes
                .unfired
                .extend(unfired.take().into_iter().flatten().map(|value| value.id));
        });
    }
    if let Some(driver) = driver {
        let pending = wheel.len();
        notes.unfired.extend(driver.close().map(|value| value.id));
        assert_eq!(
            notes.unfired.len(),
            pending,
            "len was not exact when all was quiet"
        );
    }
    assert_eq!(wheel.len(), 0, "len after everything has left");
    assert_eq!(census.alive(), 0, "values were lost or dropped twice");
    let ids = round.ids.load(Ordering::Relaxed);
    let is_stale = |key| wheel.cancel(key).is_none() && wheel.reset(key, Tick::new(0)).is_none();
    assert_eq!(notes.judge(is_stale), ids, "an insert has no outcome");
    let Notes {
        fired,
        cancelled,
        reset,
        refused,
        unfired,
        ..
    } = notes;
    [
        fired.len(),
        cancelled.len(),
        reset.len(),
        refused.len(),
        unfired.len(),
    ]
}

/// Says which seed it was when a test fails.
struct Seeded(u64);

impl Drop for Seeded {
    fn drop(&mut self) {
        if thread::panicking() {
            eprintln!("failed with WHEEL_SEED={}", self.0);
        }
    }
}

/// A few rounds, or as many as fit into `WHEEL_STRESS`.
fn rounds(few: u64, plan: impl Fn(u64) -> Plan) {
    let seconds = |text: String| {
        let digits = text.strip_suffix('s').unwrap_or(&text).to_owned();
        Duration::from_secs(digits.parse().expect("WHEEL_STRESS is seconds, as in 60s"))
    };
    let stress = std::env::var("WHEEL_STRESS").ok().map(seconds);
    let first = match std::env::var("WHEEL_SEED") {
        Ok(seed) => seed.parse().expect("WHEEL_SEED must be a number"),
        Err(_) => 0,
    };
    let begun = Instant::now();
    let mut played = [0; 5];
    for seed in first.. {
        let go_on = match stress {
            Some(stress) => begun.elapsed() < stress,
            None => seed - first < few,
        };
        if !go_on {
            break;
        }
        let _seeded = Seeded(seed);
        let outcomes = round(seed, plan(seed));
        played
            .iter_mut()
            .zip(outcomes)
            .for_each(|(all, one)| *all += one);
    }
    println!("[fired, cancelled, reset, refused, unfired]: {played:?}");
    let [fired, cancelled, reset, _, unfired] = played;
    assert!(
        fired.min(cancelled).min(reset).min(unfired) > 0,
        "nothing was tried: {played:?}"
    );
}

#[test]
fn every_value_leaves_once_and_never_early() {
    rounds(6, |seed| Plan {
        workers: 2 + seed as usize % 3,
        waves: 1,
        ops: 20_000,
        max_timers: None,
        end: End::Quiet,
    });
}

#[test]
fn every_value_leaves_once_when_the_wheel_is_closed_under_the_threads() {
    rounds(40, |seed| Plan {
        workers: 2 + seed as usize % 3,
        waves: 1,
        ops: 2_000,
        max_timers: None,
        end: End::Midway,
    });
}

#[test]
fn every_value_leaves_once_when_the_wheel_is_often_full() {
    rounds(4, |seed| Plan {
        workers: 3,
        waves: 1,
        ops: 10_000,
        max_timers: Some(1 + seed as usize * 40),
        end: if seed % 2 == 0 {
            End::Quiet
        } else {
            End::Midway
        },
    });
}

#[test]
fn every_value_leaves_once_when_threads_come_and_go_by_the_hundred() {
    rounds(2, |_| Plan {
        workers: 4,
        waves: 100,
        ops: 100,
        max_timers: None,
        end: End::Quiet,
    });
}
