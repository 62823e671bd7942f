//! One round: workers and drivers over some engines, until all is accounted for.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;

use wheel_core::{Budget, Config, Driver, InsertError, Key, Tick, Wheel};
use wheel_testkit::Random;

use super::value::{Ledger, Value, survive};

type Notes = wheel_testkit::Notes<Key>;

const HOUR: u64 = 3_600_000;

/// How a round goes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    /// Wheels, each with its driver on a thread of its own.
    pub(crate) engines: usize,
    /// Threads at a time, besides the drivers.
    pub(crate) workers: usize,
    /// How often all of them end and others begin.
    pub(crate) waves: usize,
    /// Operations of one thread.
    pub(crate) ops: usize,
    pub(crate) max_timers: Option<usize>,
    pub(crate) end: End,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum End {
    /// Closed when the threads are done.
    Quiet,
    /// Closed while they go on.
    Midway,
    /// The driver is dropped while they go on, and what never fired with it.
    Dropped,
}

/// A timer, and the engine that it is in.
#[derive(Clone, Copy)]
struct Pending {
    engine: usize,
    key: Key,
}

/// What the threads of a round share.
struct Round {
    wheels: Vec<Wheel<Value>>,
    ledger: Arc<Ledger>,
    plan: Plan,
    ids: AtomicUsize,
    running: AtomicUsize,
    /// Where each worker gets timers from the others.
    inboxes: Vec<(Sender<Pending>, Mutex<Receiver<Pending>>)>,
}

/// Says that a worker has ended, also when it fails: else the drivers would go on for ever.
struct Ends<'a>(&'a AtomicUsize);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        // Release: what was inserted is there at the driver's last advance.
        self.0.fetch_sub(1, Ordering::Release);
    }
}

impl Round {
    fn work(&self, me: usize, mut random: Random) -> Notes {
        let _ends = Ends(&self.running);
        let mut notes = Notes::default();
        let inbox = self.inboxes[me].1.lock().unwrap();
        let mut pending: Vec<Pending> = Vec::new();
        // All that this thread has seen the end of: tried again to the last, however often their
        // entries have been used since.
        let mut dead: Vec<Pending> = Vec::new();
        for _ in 0..self.plan.ops {
            pending.extend(inbox.try_iter());
            let picked = (!pending.is_empty()).then(|| random.below(pending.len() as u64) as usize);
            match (random.below(10), picked) {
                (0..=4, _) | (_, None) => self.insert(&mut random, &mut pending, &mut notes),
                (5..=6, Some(at)) => {
                    let timer = pending.swap_remove(at);
                    if let Some(value) = self.wheels[timer.engine].cancel(timer.key) {
                        notes.cancelled.push((timer.key, value.end()));
                    }
                    dead.push(timer);
                }
                (7, Some(at)) => self.reset(&mut random, at, &mut pending, &mut dead, &mut notes),
                (8, Some(at)) => {
                    // A copy stays here, so that two threads try the same one.
                    let to = random.below(self.inboxes.len() as u64) as usize;
                    self.inboxes[to].0.send(pending[at]).unwrap();
                }
                (_, Some(at)) => self.try_in_vain(&mut random, pending[at], &dead),
            }
            if pending.len() > 200 {
                pending.swap_remove(random.below(200) as usize);
            }
            if random.one_in(64) {
                thread::yield_now();
            }
        }
        notes
    }

    fn insert(&self, random: &mut Random, pending: &mut Vec<Pending>, notes: &mut Notes) {
        let engine = random.below(self.wheels.len() as u64) as usize;
        // Relaxed: it hands out names.
        let id = self.ids.fetch_add(1, Ordering::Relaxed) as u64;
        let due = self.due(random, engine);
        let value = Value::new(id, &self.ledger);
        match self.wheels[engine].insert(Tick::new(due), value) {
            Ok(key) => {
                notes.inserted.push((key, due, id));
                pending.push(Pending { engine, key });
            }
            Err(refused) => {
                match refused {
                    InsertError::Full(_) => assert!(self.plan.max_timers.is_some(), "no limit"),
                    _ => assert!(self.plan.end != End::Quiet, "nobody has closed it"),
                }
                notes.refused.push(refused.into_value().end());
            }
        }
    }

    fn reset(
        &self,
        random: &mut Random,
        at: usize,
        pending: &mut Vec<Pending>,
        dead: &mut Vec<Pending>,
        notes: &mut Notes,
    ) {
        let Pending { engine, key } = pending[at];
        let due = self.due(random, engine);
        match self.wheels[engine].reset(key, Tick::new(due)) {
            Some(new) => {
                notes.reset.push((key, new, due));
                pending[at].key = new;
                dead.push(Pending { engine, key });
            }
            // Too late, or closed, or there was no room for it.
            None => drop(pending.swap_remove(at)),
        }
    }

    /// A key that has had its end, and one that is good with another engine.
    fn try_in_vain(&self, random: &mut Random, alive: Pending, dead: &[Pending]) {
        let foreign = (alive.engine + 1) % self.wheels.len();
        let foreign = (foreign != alive.engine).then_some(Pending {
            engine: foreign,
            key: alive.key,
        });
        let stale = dead.get(random.below(dead.len().max(1) as u64) as usize);
        for &Pending { engine, key } in stale.into_iter().chain(&foreign) {
            let wheel = &self.wheels[engine];
            match random.one_in(2) {
                true => assert!(wheel.cancel(key).is_none(), "a stale key was good"),
                false => assert!(
                    wheel.reset(key, Tick::new(0)).is_none(),
                    "a stale key was good"
                ),
            }
        }
    }

    /// Now, soon, on another level, in the past, beyond the span, never.
    fn due(&self, random: &mut Random, engine: usize) -> u64 {
        let now = self.wheels[engine].now().get();
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

    /// Advances one engine until the workers are done, or until it is time to end it.
    fn drive(
        &self,
        mut driver: Driver<Value>,
        mut now: u64,
        mut random: Random,
        until: usize,
    ) -> (Option<Driver<Value>>, Notes) {
        let mut notes = Notes::default();
        // Relaxed: any instant will do. Acquire: with the workers' release, what they have inserted
        // is there at the last advance.
        let is_over = || self.ids.load(Ordering::Relaxed) >= until;
        while self.running.load(Ordering::Acquire) > 0 && !is_over() {
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
            let advance = || {
                let done = driver.advance(Tick::new(now), budget, |mut timer| {
                    let due = timer.due.get();
                    assert!(due <= now, "fired early: due {due}, now {now}");
                    notes.fired.push((timer.key, due, timer.value.note()));
                });
                let touched = done.fired + done.moved;
                assert!(touched <= budget.entries(), "{touched} of {budget:?}");
            };
            // When a value panics there, the timer has fired and the driver goes on.
            survive(advance);
            if random.one_in(3) {
                driver.next_due();
            }
            if random.one_in(16) {
                thread::yield_now();
            }
        }
        if !is_over() {
            return (Some(driver), notes);
        }
        match self.plan.end {
            End::Dropped => drop(survive(|| drop(driver))),
            End::Quiet | End::Midway => {
                let unfired = driver.close();
                if random.one_in(2) {
                    // The threads go on with what has not been taken out yet.
                    thread::yield_now();
                }
                notes.unfired.extend(unfired.map(Value::end));
            }
        }
        (None, notes)
    }

    /// All drivers and one wave of workers. Drivers that were not ended come back.
    fn wave(
        &self,
        drivers: Vec<Option<Driver<Value>>>,
        close_at: &[usize],
        random: &mut Random,
        notes: &mut Notes,
    ) -> Vec<Option<Driver<Value>>> {
        // Relaxed: before the threads begin.
        self.running.store(self.plan.workers, Ordering::Relaxed);
        thread::scope(|scope| {
            let workers: Vec<_> = (0..self.plan.workers)
                .map(|me| {
                    let random = Random::new(random.number());
                    scope.spawn(move || self.work(me, random))
                })
                .collect();
            let driving: Vec<_> = drivers
                .into_iter()
                .enumerate()
                .map(|(engine, driver)| {
                    let random = Random::new(random.number());
                    let now = self.wheels[engine].now().get();
                    let until = close_at[engine];
                    driver.map(|driver| scope.spawn(move || self.drive(driver, now, random, until)))
                })
                .collect();
            let drivers = driving.into_iter().map(|thread| {
                let (driver, noted) = thread?.join().expect("a driver has failed");
                notes.add(noted);
                driver
            });
            let drivers = drivers.collect();
            for worker in workers {
                notes.add(worker.join().expect("a worker has failed"));
            }
            drivers
        })
    }
}

fn build(plan: Plan, random: &mut Random) -> (Wheel<Value>, Driver<Value>) {
    let start = match random.one_in(2) {
        true => 0,
        false => random.of_any_size() / 2,
    };
    let mut config = Config::new().start(Tick::new(start));
    if let Some(max) = plan.max_timers {
        config = config.max_timers(max);
    }
    let (wheel, mut driver) = config.build();
    driver.advance(Tick::new(start), Budget::UNLIMITED, |_| ());
    (wheel, driver)
}

/// Plays one round and returns what has become of its timers, with their number.
pub(crate) fn play(seed: u64, plan: Plan) -> Notes {
    let mut random = Random::new(seed);
    let (wheels, drivers): (Vec<_>, Vec<_>) =
        (0..plan.engines).map(|_| build(plan, &mut random)).unzip();
    let round = Round {
        wheels,
        ledger: Arc::new(Ledger::default()),
        plan,
        ids: AtomicUsize::new(0),
        running: AtomicUsize::new(0),
        inboxes: (0..plan.workers)
            .map(|_| channel())
            .map(|(to, from)| (to, Mutex::new(from)))
            .collect(),
    };
    let inserts = plan.workers * plan.waves * plan.ops / 2;
    let close_at: Vec<usize> = (0..plan.engines)
        .map(|_| match plan.end {
            End::Quiet => usize::MAX,
            _ => inserts / 4 + random.below(inserts as u64 / 2) as usize,
        })
        .collect();
    let mut notes = Notes::default();
    let mut drivers = drivers.into_iter().map(Some).collect();
    for _ in 0..plan.waves {
        drivers = round.wave(drivers, &close_at, &mut random, &mut notes);
    }
    for (wheel, driver) in round.wheels.iter().zip(drivers) {
        if let Some(driver) = driver {
            let pending = wheel.len();
            let unfired = driver.close().map(Value::end);
            let before = notes.unfired.len();
            notes.unfired.extend(unfired);
            let count = notes.unfired.len() - before;
            assert_eq!(count, pending, "len was not exact when all was quiet");
        }
        assert_eq!(wheel.len(), 0, "len after everything has left");
    }
    let unnoted = round.ledger.unnoted();
    assert!(
        unnoted.is_empty() || plan.end == End::Dropped,
        "dropped by nobody: {unnoted:?}"
    );
    notes.unfired.extend(unnoted);
    let alive = round.ledger.alive();
    assert_eq!(alive, 0, "values were lost or dropped twice");
    // Relaxed: the threads have ended.
    let ids = round.ids.load(Ordering::Relaxed);
    let is_stale = |key| {
        let mut wheels = round.wheels.iter();
        wheels.all(|wheel| wheel.cancel(key).is_none() && wheel.reset(key, Tick::ZERO).is_none())
    };
    assert_eq!(notes.judge(is_stale), ids, "an insert has no outcome");
    notes
}
