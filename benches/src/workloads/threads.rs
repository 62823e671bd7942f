//! Several threads on one engine, in real time: `mt_local`, `mt_remote`, `mt_jitter`.
//!
//! Each thread keeps 1,024 timeouts open. In `mt_remote` the next thread cancels them: batches of
//! 256 keys go round, so that handing them on is no part worth speaking of, and nobody runs ahead
//! by more than 8 batches. A thread reads the clock once in 256 operations, for every engine alike.
//! Engines that want to be driven are, by one more thread that wakes up every millisecond.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Barrier, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::held::Held;
use super::{Effort, Workload};
use crate::measure::{Random, Sample, count_own_switches, cpu_time, figure};
use crate::{Contestant, Hand, Moment, Pulse, Shared, Tick};

/// Timeouts that one thread has open.
pub(super) const OPEN: usize = 1024;
const BATCH: usize = 256;
const AHEAD_MAX: usize = 8;
const TIMEOUT_MS: u64 = 30_000;
const JITTER_MS: u64 = 1_000;

/// What the threads of a run share.
struct Field<K> {
    started: Instant,
    jitter_ms: u64,
    stop: AtomicBool,
    pairs: AtomicU64,
    start: Barrier,
    mail: Vec<Mutex<VecDeque<Vec<K>>>>,
}

pub(super) fn run<C: Contestant>(
    workload: Workload,
    threads: usize,
    effort: Effort,
) -> Result<Sample, String> {
    if workload == Workload::MtRemote && threads < 2 {
        return Err("needs another thread to cancel".to_owned());
    }
    let jitter_ms = if workload == Workload::MtJitter {
        JITTER_MS
    } else {
        1
    };
    let remote = workload == Workload::MtRemote;
    let time = effort.pick(Duration::from_millis(250), Duration::from_millis(400));
    if workload == Workload::MtJitter {
        let held = Held::look();
        let storm = measure(C::share(threads), remote, jitter_ms, time);
        return Ok(held.until_now::<C>(&storm, storm.sample(), figure::OF_W5));
    }
    Ok(measure(C::share(threads), remote, jitter_ms, time).sample())
}

/// Pairs for so long on `engine`, with timeouts of 30 s and up to `spread_ms` more.
pub(super) fn storm<C: Contestant>(engine: Shared<C>, spread_ms: u64, time: Duration) -> Storm {
    measure(engine, false, spread_ms, time)
}

/// What came of threads that set and cancelled.
pub(super) struct Storm {
    pub(super) threads: usize,
    pub(super) spread_ms: u64,
    pub(super) pairs: u64,
    /// Until the engine had settled.
    pub(super) took: Duration,
    pub(super) cpu: Option<Duration>,
    /// The longest time from the end of a driver's pass to the end of the next.
    pub(super) absence: Duration,
}

impl Storm {
    pub(super) fn sample(&self) -> Sample {
        let ns = self.took.as_nanos() as f64 / self.pairs as f64;
        let sample = Sample::new()
            .with(figure::NS_PER_OP, ns)
            .with(figure::MOPS, 1e3 / ns);
        match self.cpu {
            Some(cpu) => {
                let used = cpu.as_nanos() as f64 / self.pairs as f64;
                sample.with(figure::CPU_NS_PER_OP, used)
            }
            None => sample,
        }
    }
}

fn measure<C: Contestant>(
    engine: Shared<C>,
    remote: bool,
    jitter_ms: u64,
    time: Duration,
) -> Storm {
    let Shared {
        hands,
        drivers,
        settle,
    } = engine;
    let threads = hands.len();
    let field = Field {
        started: Instant::now(),
        jitter_ms,
        stop: AtomicBool::new(false),
        pairs: AtomicU64::new(0),
        start: Barrier::new(threads + 1),
        mail: (0..threads).map(|_| Mutex::default()).collect(),
    };
    let ended = AtomicBool::new(false);
    thread::scope(|scope| {
        let driving: Vec<_> = drivers
            .into_iter()
            .map(|pulse| scope.spawn(|| drive(pulse, &field.started, &ended)))
            .collect();
        let workers: Vec<_> = hands
            .into_iter()
            .enumerate()
            .map(|(thread, mut hand)| {
                let field = &field;
                scope.spawn(move || {
                    hand.on_thread(&mut |hand| {
                        field.start.wait();
                        if remote {
                            pass_on(hand, thread, field);
                        } else {
                            keep(hand, thread, field);
                        }
                    });
                    // Dropping what is left open is not measured.
                    std::mem::forget(hand);
                    count_own_switches();
                })
            })
            .collect();
        field.start.wait();
        let (started, cpu) = (Instant::now(), cpu_time());
        thread::sleep(time);
        field.stop.store(true, Ordering::Relaxed);
        for worker in workers {
            worker
                .join()
                .expect("a thread that found a fault has said so");
        }
        if let Some(settle) = settle {
            settle();
        }
        let took = started.elapsed();
        let cpu = cpu.and_then(|before| Some(cpu_time()? - before));
        ended.store(true, Ordering::Relaxed);
        let absences = driving
            .into_iter()
            .map(|driving| driving.join().expect("the driver does not panic"));
        Storm {
            threads,
            spread_ms: jitter_ms,
            absence: absences.max().unwrap_or_default(),
            pairs: field.pairs.load(Ordering::Relaxed),
            took,
            cpu,
        }
    })
}

/// A driver's thread; the longest time from the end of a pass to the end of the next.
fn drive(mut pulse: Pulse, started: &Instant, ended: &AtomicBool) -> Duration {
    let mut longest = Duration::ZERO;
    let mut last = Instant::now();
    while !ended.load(Ordering::Relaxed) {
        pulse(Tick::new(Moment::since(*started).tick));
        let now = Instant::now();
        longest = longest.max(now - std::mem::replace(&mut last, now));
        thread::sleep(Duration::from_millis(1));
    }
    std::mem::forget(pulse);
    longest
}

impl<K> Field<K> {
    #[inline]
    fn delay(&self, random: &mut Random) -> u64 {
        match self.jitter_ms {
            1 => TIMEOUT_MS,
            jitter => TIMEOUT_MS + random.below(jitter),
        }
    }

    fn goes_on(&self) -> bool {
        !self.stop.load(Ordering::Relaxed)
    }

    fn mail(&self, thread: usize) -> std::sync::MutexGuard<'_, VecDeque<Vec<K>>> {
        let own = &self.mail[thread % self.mail.len()];
        own.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A thread that cancels what it has set.
fn keep<H: Hand>(hand: &mut H, thread: usize, field: &Field<H::Key>) {
    let mut random = Random::new(thread as u64 + 1);
    let mut now = Moment::since(field.started);
    let mut open: VecDeque<H::Key> = VecDeque::with_capacity(OPEN + 1);
    for index in 0..OPEN as u64 {
        let delay = field.delay(&mut random);
        open.push_back(hand.insert(now, delay, (index, 0)));
    }
    let mut pairs = 0;
    while field.goes_on() {
        now = Moment::since(field.started);
        for index in 0..BATCH as u64 {
            let delay = field.delay(&mut random);
            open.push_back(hand.insert(now, delay, (index, pairs)));
            let oldest = open.pop_front().expect("some are open");
            hand.cancel(oldest);
        }
        pairs += BATCH as u64;
    }
    field.pairs.fetch_add(pairs, Ordering::Relaxed);
    std::mem::forget(open);
}

/// A thread whose timers the next one cancels; it cancels those of the one before.
fn pass_on<H: Hand>(hand: &mut H, thread: usize, field: &Field<H::Key>) {
    let mut random = Random::new(thread as u64 + 1);
    let mut pairs = 0;
    while field.goes_on() {
        let mut idle = true;
        if field.mail(thread + 1).len() < AHEAD_MAX {
            let now = Moment::since(field.started);
            let keys = (0..BATCH as u64).map(|index| {
                let delay = field.delay(&mut random);
                hand.insert(now, delay, (index, pairs))
            });
            let keys: Vec<H::Key> = keys.collect();
            field.mail(thread + 1).push_back(keys);
            idle = false;
        }
        let received = field.mail(thread).pop_front();
        if let Some(keys) = received {
            pairs += keys.len() as u64;
            for key in keys {
                hand.cancel(key);
            }
            idle = false;
        }
        if idle {
            thread::yield_now();
        }
    }
    field.pairs.fetch_add(pairs, Ordering::Relaxed);
}
