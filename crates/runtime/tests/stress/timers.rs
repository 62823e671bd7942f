//! A round of `Timers`: workers set, cancel and reset, on keys that go from thread to thread.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use wheel_runtime::{Executor, Job, Pool, TimerKey, Timers};
use wheel_testkit::Random;

use super::ledger::{Ledger, survive};
use super::{End, HANG, wait_until};

const OPS: usize = 3_000;

/// A timer that this thread has set.
struct Mine {
    number: usize,
    key: TimerKey,
    /// It may not run before, in nanoseconds of the ledger's time.
    not_before: u64,
    far: bool,
}

/// What a worker has seen.
#[derive(Default)]
struct Notes {
    accepted: Vec<usize>,
    refused: Vec<usize>,
    cancelled: Vec<usize>,
    /// Timers that were pending when they were looked at last.
    left: Vec<Mine>,
}

struct Round<'a> {
    timers: &'a Timers,
    /// Another engine, to try keys on.
    other: &'a Timers,
    ledger: &'a Arc<Ledger>,
    numbers: AtomicUsize,
    end: End,
    /// Copies of keys, for another thread to cancel: with the number of the timer.
    traded: Mutex<Vec<(usize, TimerKey)>>,
}

/// A pool that the round can shut down after the timers.
struct Shared(Arc<Pool>);

impl Executor for Shared {
    fn execute(&self, jobs: &mut Vec<Job>) {
        self.0.execute(jobs);
    }
}

impl Round<'_> {
    fn work(&self, mut random: Random) -> Notes {
        let mut notes = Notes::default();
        let mut stale: Vec<TimerKey> = Vec::new();
        for _ in 0..OPS {
            let picked =
                (!notes.left.is_empty()).then(|| random.below(notes.left.len() as u64) as usize);
            match (random.below(10), picked) {
                (0..=4, _) | (_, None) => self.insert(&mut random, &mut notes),
                (5, Some(at)) => {
                    let mine = notes.left.swap_remove(at);
                    stale.push(mine.key);
                    match self.cancels(mine.key) {
                        true => notes.cancelled.push(mine.number),
                        // It has run, or somebody else has cancelled it.
                        false => notes.left.push(mine),
                    }
                }
                (6, Some(at)) => {
                    let mine = &notes.left[at];
                    self.traded.lock().unwrap().push((mine.number, mine.key));
                }
                (7, Some(_)) => {
                    let traded = self.traded.lock().unwrap().pop();
                    if let Some((number, key)) = traded
                        && self.cancels(key)
                    {
                        notes.cancelled.push(number);
                    }
                }
                (8, Some(at)) => self.reset(&mut random, &mut notes.left[at], &mut stale),
                (_, Some(at)) => {
                    assert!(
                        !self.other.cancel(notes.left[at].key),
                        "a foreign key was good"
                    );
                    if let Some(&key) = stale.get(random.below(stale.len().max(1) as u64) as usize)
                    {
                        assert!(!self.timers.cancel(key), "a stale key was good");
                        let moved = self.timers.reset(key, Duration::ZERO);
                        assert!(moved.is_none(), "a stale key was good");
                    }
                }
            }
            if random.one_in(64) {
                thread::yield_now();
            }
        }
        for &key in &stale {
            assert!(!self.timers.cancel(key), "a stale key was good");
        }
        notes
    }

    /// Soon as a rule, now, or not in this round.
    fn delay(&self, random: &mut Random) -> (Duration, bool) {
        match random.below(8) {
            0 => (Duration::ZERO, false),
            1 => (Duration::from_secs(3_600 + random.below(86_400)), true),
            2 => (Duration::MAX, true),
            _ => (Duration::from_micros(random.below(15_000)), false),
        }
    }

    fn insert(&self, random: &mut Random, notes: &mut Notes) {
        // Relaxed: it hands out numbers.
        let number = self.numbers.fetch_add(1, Ordering::Relaxed);
        let (delay, far) = self.delay(random);
        let not_before = self.not_before(delay);
        let token = self.ledger.token(number);
        match self.timers.after(delay, move || token.run()) {
            Ok(key) => {
                notes.accepted.push(number);
                notes.left.push(Mine {
                    number,
                    key,
                    not_before,
                    far,
                });
            }
            Err(refused) => {
                assert!(refused.is_closed() && self.end == End::Midway, "{refused}");
                notes.refused.push(number);
                survive(|| drop(refused.into_callback()));
            }
        }
    }

    fn reset(&self, random: &mut Random, mine: &mut Mine, stale: &mut Vec<TimerKey>) {
        let (delay, far) = self.delay(random);
        let not_before = self.not_before(delay);
        if let Some(key) = self.timers.reset(mine.key, delay) {
            stale.push(mine.key);
            (mine.key, mine.not_before, mine.far) = (key, not_before, far);
        }
    }

    fn not_before(&self, delay: Duration) -> u64 {
        let delay = u64::try_from(delay.as_nanos()).unwrap_or(u64::MAX);
        self.ledger.now().saturating_add(delay)
    }

    /// The callback is dropped in there, and may panic.
    fn cancels(&self, key: TimerKey) -> bool {
        survive(|| self.timers.cancel(key)).unwrap_or(true)
    }
}

/// Plays one round; says how many operations on how many threads it took.
pub(crate) fn play(seed: u64, end: End) -> (usize, usize) {
    let mut random = Random::new(seed);
    let workers = 2 + seed as usize % 3;
    let pool = seed
        .is_multiple_of(2)
        .then(|| Arc::new(Pool::builder().workers(2).build().unwrap()));
    let builder = Timers::builder().on_panic(|_| ());
    let builder = match seed % 5 {
        0 => builder.tick(Duration::from_micros(50)),
        _ => builder,
    };
    let builder = match &pool {
        Some(pool) => builder.executor(Shared(Arc::clone(pool))),
        None => builder,
    };
    let timers = builder.build().unwrap();
    let other = Timers::builder().build().unwrap();
    let ledger = Ledger::new(workers * OPS);
    let round = Round {
        timers: &timers,
        other: &other,
        ledger: &ledger,
        numbers: AtomicUsize::new(0),
        end,
        traded: Mutex::new(Vec::new()),
    };
    let (done, unfired) = mpsc::channel();
    let notes: Vec<Notes> = thread::scope(|scope| {
        let threads: Vec<_> = (0..workers)
            .map(|_| {
                let random = Random::new(random.number());
                let round = &round;
                scope.spawn(move || round.work(random))
            })
            .collect();
        if end == End::Midway {
            let at = random.below((workers * OPS / 3) as u64) as usize;
            let round = &round;
            scope.spawn(move || {
                // Relaxed: any instant will do.
                wait_until("it is time to shut down", || {
                    round.numbers.load(Ordering::Relaxed) >= at
                });
                done.send(round.timers.shutdown()).unwrap();
            });
        }
        threads
            .into_iter()
            .map(|thread| thread.join().expect("a worker has failed"))
            .collect()
    });
    if end == End::Quiet {
        let cancelled: Vec<usize> = notes.iter().flat_map(|n| n.cancelled.clone()).collect();
        let mut near: Vec<usize> = notes
            .iter()
            .flat_map(|notes| notes.left.iter().filter(|mine| !mine.far))
            .map(|mine| mine.number)
            .collect();
        near.retain(|number| !cancelled.contains(number));
        wait_until("all that is due has run", || {
            near.iter().all(|&number| ledger.runs(number) > 0)
        });
    }
    let unfired = match end {
        End::Quiet => timers.shutdown(),
        End::Midway => unfired.recv().unwrap(),
    };
    if let Some(pool) = &pool {
        pool.shutdown(HANG).unwrap();
    }
    judge(&notes, &ledger, unfired);
    let stats = timers.stats();
    assert_eq!((stats.pending, stats.refused), (0, 0));
    let ran: u32 = (0..workers * OPS).map(|number| ledger.runs(number)).sum();
    assert_eq!(stats.fired, u64::from(ran));
    (workers * OPS, workers + 2 + pool.map_or(0, |_| 2))
}

/// Each timer has had one end, and none was early.
fn judge(notes: &[Notes], ledger: &Ledger, unfired: usize) {
    let mut cancelled: Vec<usize> = notes.iter().flat_map(|n| n.cancelled.clone()).collect();
    cancelled.sort_unstable();
    assert!(
        cancelled.windows(2).all(|pair| pair[0] < pair[1]),
        "a timer was cancelled twice"
    );
    let mut left = 0;
    for &number in notes.iter().flat_map(|notes| &notes.accepted) {
        let (runs, drops) = (ledger.runs(number), ledger.drops(number));
        assert_eq!(drops, 1, "callback {number} was dropped {drops} times");
        let was_cancelled = cancelled.binary_search(&number).is_ok();
        match (runs, was_cancelled) {
            (0, true) | (1, false) => {}
            (0, false) => left += 1,
            _ => panic!("{number} ran {runs} times, cancelled: {was_cancelled}"),
        }
    }
    assert_eq!(left, unfired, "what the shutdown says was left");
    for &number in notes.iter().flat_map(|notes| &notes.refused) {
        assert_eq!((ledger.runs(number), ledger.drops(number)), (0, 1));
    }
    for mine in notes.iter().flat_map(|notes| &notes.left) {
        if ledger.runs(mine.number) > 0 {
            let (ran, due) = (ledger.ran_at(mine.number), mine.not_before);
            assert!(ran >= due, "{} ran {} ns early", mine.number, due - ran);
        }
    }
}
