//! `Timers` on the system's clock. Asserted is only what holds on any machine under any load: never
//! early, exactly once, and that it ends (a wait of [`HANG`] is a hang, not a bound on lateness).
//!
//! `WHEEL_STRESS` set to anything plays what takes longer at the size at which others met it.

use std::sync::mpsc;
use std::time::{Duration, Instant, SystemTime};

use wheel_runtime::{ClockSource, SystemClock, Timers, TimersBuilder};
use wheel_sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use wheel_sync::{Arc, Mutex, thread};

const HANG: Duration = Duration::from_secs(30);

const fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// `large` where `WHEEL_STRESS` is set, else `small`.
fn size(small: u32, large: u32) -> u32 {
    match std::env::var_os("WHEEL_STRESS") {
        Some(_) => large,
        None => small,
    }
}

/// Each way to set the engine up that changes how it waits or reads the clock.
fn each_setting() -> Vec<(&'static str, TimersBuilder)> {
    let fine = Duration::from_micros(10);
    vec![
        ("default", Timers::builder()),
        ("fine tick", Timers::builder().tick(fine)),
        (
            "boot time",
            Timers::builder().clock(SystemClock::with_source(ClockSource::Boottime)),
        ),
        (
            "raw",
            Timers::builder().clock(SystemClock::with_source(ClockSource::MonotonicRaw)),
        ),
        (
            "precise",
            Timers::builder().precise_wait(Duration::from_micros(30)),
        ),
        (
            "precise, fine tick",
            Timers::builder().tick(fine).precise_wait(ms(1)),
        ),
    ]
}

fn random(seed: &mut u64) -> u64 {
    // A linear congruential generator; its upper half is random enough.
    *seed = seed
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    *seed >> 33
}

// EA-01
#[test]
fn nothing_is_early_and_everything_runs_once_with_the_driver_made_late() {
    for (setting, builder) in each_setting() {
        let timers = builder.build().unwrap();
        let (sent, ran) = mpsc::channel();
        let per_thread = 1000;
        thread::scope(|scope| {
            for seed in 1..=4u64 {
                let (timers, sent) = (&timers, sent.clone());
                scope.spawn(move || {
                    let mut seed = seed;
                    for _ in 0..per_thread {
                        let delay = Duration::from_micros(random(&mut seed) % 50_000);
                        let sent = sent.clone();
                        let asked = Instant::now();
                        let callback = move || sent.send((delay, asked.elapsed())).unwrap();
                        timers.after(delay, callback).unwrap();
                    }
                });
            }
            // What keeps the driver from looking at the clock in time.
            for n in 0..10 {
                timers.after(ms(n * 5), || thread::sleep(ms(7))).unwrap();
            }
        });
        drop(sent);
        for n in 0..4 * per_thread {
            let (delay, took) = ran
                .recv_timeout(HANG)
                .unwrap_or_else(|_| panic!("{setting}: {n} ran"));
            assert!(took >= delay, "{setting}: {delay:?} ran after {took:?}");
        }
        assert!(ran.recv().is_err(), "{setting}: one ran twice");
    }
}

#[test]
fn a_precise_driver_keeps_the_exact_order_within_a_tick() {
    let builder = Timers::builder().precise_wait(Duration::from_micros(100));
    let timers = builder.build().unwrap();
    loop {
        let (sent, ran) = mpsc::channel();
        let first = Instant::now() + ms(50);
        // Fifty within a millisecond, set in another order than that in which they are due.
        for n in 0..50 {
            let at = first + Duration::from_micros(n * 7 % 50 * 20);
            let sent = sent.clone();
            let before = Instant::now();
            let delay = at.saturating_duration_since(before);
            let (tell, told) = mpsc::channel();
            let callback = move || sent.send(told.recv().unwrap()).unwrap();
            timers.after(delay, callback).unwrap();
            // It is due between these two.
            tell.send((before + delay, Instant::now() + delay)).unwrap();
        }
        let in_time = Instant::now() < first;
        drop(sent);
        let ran: Vec<(Instant, Instant)> = ran.iter().collect();
        assert_eq!(ran.len(), 50);
        if !in_time {
            // Some were due before all were set.
            continue;
        }
        let mut latest = ran[0].0;
        for (n, &(from, until)) in ran.iter().enumerate() {
            assert!(latest <= until, "number {n} ran behind a later one");
            latest = latest.max(from);
        }
        return;
    }
}

#[test]
fn wall_timers_are_not_early_by_the_wall_clock() {
    let timers = Timers::builder().build().unwrap();
    let (sent, ran) = mpsc::channel();
    for micros in (0..20_000).step_by(700) {
        let at = SystemTime::now() + Duration::from_micros(micros);
        let sent = sent.clone();
        let callback = move || sent.send((at, SystemTime::now())).unwrap();
        timers.at(at, callback).unwrap();
    }
    drop(sent);
    let mut count = 0;
    while let Ok((at, ran_at)) = ran.recv_timeout(HANG) {
        assert!(ran_at >= at, "{at:?} ran at {ran_at:?}");
        count += 1;
    }
    assert_eq!(count, 29);
}

// WK-01, OV-10
#[test]
fn an_earlier_timer_wakes_a_driver_that_sleeps_for_centuries() {
    for (setting, builder) in each_setting() {
        let timers = builder.build().unwrap();
        let centuries = Duration::from_secs(400 * 365 * 86_400);
        let far = timers.after(centuries, || ()).unwrap();
        let hour = timers.after(Duration::from_secs(3600), || ()).unwrap();
        while timers.stats().wakeups == 0 && timers.stats().fired == 0 {
            // Until the driver has slept and been woken at least once.
            timers.after(ms(1), || ()).unwrap();
            thread::yield_now();
        }
        for delay in [ms(15), ms(5), Duration::ZERO] {
            let (sent, ran) = mpsc::channel();
            timers.after(delay, move || sent.send(()).unwrap()).unwrap();
            ran.recv_timeout(HANG)
                .unwrap_or_else(|_| panic!("{setting}: {delay:?} did not run"));
        }
        let (sent, ran) = mpsc::channel();
        let moved = timers.after(Duration::MAX, move || sent.send(()).unwrap());
        timers.reset(moved.unwrap(), ms(5)).unwrap();
        ran.recv_timeout(HANG)
            .unwrap_or_else(|_| panic!("{setting}: the one that was reset did not run"));
        let (sent, ran) = mpsc::channel();
        let soon = SystemTime::now() + ms(5);
        timers.at(soon, move || sent.send(()).unwrap()).unwrap();
        ran.recv_timeout(HANG)
            .unwrap_or_else(|_| panic!("{setting}: the one by the wall clock did not run"));
        assert!(timers.cancel(far) && timers.cancel(hour));
    }
}

// WK-03
#[test]
fn no_wake_up_is_lost_when_the_wheel_runs_empty_again_and_again() {
    const THREADS: u32 = 8;
    let rounds = size(1_000, 10_000);
    let timers = Timers::builder()
        .tick(Duration::from_micros(100))
        .build()
        .unwrap();
    let (sent, ran) = mpsc::channel();
    let add = |sent: &mpsc::Sender<u32>, round, micros| {
        let sent = sent.clone();
        let delay = Duration::from_micros(micros);
        timers
            .after(delay, move || sent.send(round).unwrap())
            .unwrap();
    };
    thread::scope(|scope| {
        // A round begins when it is told to all threads, which end when nobody tells any more.
        let mut begin = Vec::new();
        for thread in 0..THREADS {
            let (tell, told) = mpsc::channel();
            begin.push(tell);
            let (sent, add) = (sent.clone(), &add);
            scope.spawn(move || {
                for round in told {
                    // Some at once and some a little later, so that each may be the first.
                    let micros = 500 + u64::from((round * 7 + thread * 3) % 5) * 100;
                    add(&sent, round, micros);
                }
            });
        }
        for round in 0..rounds {
            add(&sent, round, 200);
            assert_eq!(ran.recv_timeout(HANG), Ok(round), "the first of the round");
            begin.iter().for_each(|tell| tell.send(round).unwrap());
            for n in 0..THREADS {
                assert_eq!(ran.recv_timeout(HANG), Ok(round), "{n} of {THREADS} ran");
            }
        }
    });
    assert!(timers.is_empty());
}

// WK-04
#[test]
fn a_chain_of_short_timers_never_stalls_under_noise() {
    fn link(timers: &Timers, left: u32, done: mpsc::Sender<()>) {
        if left == 0 {
            done.send(()).unwrap();
            return;
        }
        let again = timers.clone();
        let next = move || link(&again, left - 1, done);
        timers.after(timers_step(), next).unwrap();
    }
    /// A millisecond at full size.
    fn timers_step() -> Duration {
        Duration::from_micros(u64::from(size(50, 1_000)))
    }
    let timers = Timers::builder().tick(timers_step()).build().unwrap();
    let (sent, done) = mpsc::channel();
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut seed = 7;
            while !stop.load(Ordering::Relaxed) {
                let delay = Duration::from_micros(100 + random(&mut seed) % 5000);
                let key = timers.after(delay, || ()).unwrap();
                if seed % 3 > 0 {
                    timers.cancel(key);
                }
                thread::yield_now();
            }
        });
        link(&timers, size(6_000, 30_000), sent);
        let ended = done.recv_timeout(HANG * 4);
        stop.store(true, Ordering::Relaxed);
        ended.expect("the chain stalled");
    });
}

// WK-05
#[test]
fn the_last_of_many_resets_is_the_one_that_counts() {
    let timers = Timers::builder().build().unwrap();
    let runs = Arc::new(AtomicUsize::new(0));
    let (sent, ran) = mpsc::channel();
    let keys: Vec<_> = (0..64)
        .map(|_| {
            let (runs, sent) = (Arc::clone(&runs), sent.clone());
            let callback = move || {
                runs.fetch_add(1, Ordering::Relaxed);
                sent.send(Instant::now()).unwrap();
            };
            let key = timers.after(Duration::from_secs(1000), callback).unwrap();
            Mutex::new(key)
        })
        .collect();
    let reset = |slot: &Mutex<_>, delay| {
        let mut key = slot.lock();
        *key = timers.reset(*key, delay).expect("it is far from due");
    };
    thread::scope(|scope| {
        for seed in 1..=4u64 {
            let (keys, reset) = (&keys, &reset);
            scope.spawn(move || {
                let mut seed = seed;
                for _ in 0..25_000 {
                    let slot = &keys[random(&mut seed) as usize % keys.len()];
                    reset(slot, Duration::from_secs(500 + random(&mut seed) % 1000));
                }
            });
        }
    });
    let asked = Instant::now();
    keys.iter().for_each(|slot| reset(slot, ms(30)));
    for n in 0..64 {
        let at = ran
            .recv_timeout(HANG)
            .unwrap_or_else(|_| panic!("{n} of 64 ran"));
        assert!(at - asked >= ms(30), "{:?} after the reset", at - asked);
    }
    assert_eq!(runs.load(Ordering::Relaxed), 64);
    assert!(timers.is_empty());
}

// HD-07
#[test]
fn a_new_timer_is_not_completed_by_what_is_left_of_the_old_one() {
    let timers = Timers::builder()
        .tick(Duration::from_micros(100))
        .build()
        .unwrap();
    let mut seed = 3;
    let early = Arc::new(AtomicU64::new(0));
    for _ in 0..size(20_000, 100_000) {
        let old = timers.after(Duration::from_micros(100), || ()).unwrap();
        for _ in 0..random(&mut seed) % 200 {
            std::hint::spin_loop();
        }
        timers.cancel(old);
        let (asked, early) = (Instant::now(), Arc::clone(&early));
        let check = move || {
            let was_early = asked.elapsed() < ms(20);
            early.fetch_add(u64::from(was_early), Ordering::Relaxed);
        };
        timers.after(ms(20), check).unwrap();
    }
    let (sent, last) = mpsc::channel();
    timers
        .after(ms(25), move || sent.send(()).unwrap())
        .unwrap();
    last.recv_timeout(HANG).unwrap();
    assert_eq!(early.load(Ordering::Relaxed), 0);
    assert!(timers.is_empty());
}

#[test]
fn lateness_and_counters_can_be_read_while_timers_fire() {
    let timers = Timers::builder().build().unwrap();
    let (sent, ran) = mpsc::channel();
    for n in 0..500 {
        let sent = sent.clone();
        let delay = Duration::from_micros(n * 20);
        timers.after(delay, move || sent.send(()).unwrap()).unwrap();
    }
    for _ in 0..500 {
        ran.recv_timeout(HANG).unwrap();
        let stats = timers.stats();
        assert!(stats.lateness.p50 <= stats.lateness.p99);
        assert!(stats.lateness.p99 <= stats.lateness.max);
    }
    let stats = timers.stats();
    assert_eq!((stats.fired, stats.lateness.count), (500, 500));
    assert_eq!((stats.pending, stats.panics), (0, 0));
    assert!(stats.lateness.max > Duration::ZERO);
}
