//! Under tokio and smol: many at once, each woken in its tick.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use wheel_runtime::{ManualClock, Timers};

use crate::bed::{MS, timers};

const SLEEPS: u32 = 100_000;
const TICKS: u32 = 100;
const HANG: Duration = Duration::from_secs(120);

/// Sleeps for `delay`, and sees to it that this is over in its very tick: the clock is moved on only
/// when all of a tick have been counted.
async fn sleeper(timers: Timers, delay: Duration, woken: Arc<AtomicU32>) {
    let start = timers.now();
    let sleep = timers.sleep(delay);
    assert_eq!(sleep.due(), start + delay);
    sleep.await.unwrap();
    assert_eq!(timers.now(), start + delay, "early, or a tick late");
    // Relaxed: the count says nothing of anything else.
    woken.fetch_add(1, Ordering::Relaxed);
}

/// Spawns them all, and moves the clock tick by tick.
fn all_wake_in_their_tick(spawn: impl Fn(u32, Timers, Arc<AtomicU32>)) {
    let (clock, timers) = timers();
    let woken = Arc::<AtomicU32>::default();
    for index in 0..SLEEPS {
        spawn(index, timers.clone(), Arc::clone(&woken));
    }
    wait_until(|| timers.len() == SLEEPS as usize);
    for tick in 1..=TICKS {
        clock.advance(MS);
        // Returns when everything due has been handed over: no more, and no less.
        let left = SLEEPS - tick * (SLEEPS / TICKS);
        assert_eq!(timers.len(), left as usize, "tick {tick}");
        wait_until(|| woken.load(Ordering::Relaxed) == SLEEPS - left);
    }
    assert_eq!(timers.stats().fired, u64::from(SLEEPS));
    assert_eq!(timers.stats().lateness.max, Duration::ZERO);
}

fn wait_until(reached: impl Fn() -> bool) {
    let start = std::time::Instant::now();
    while !reached() {
        assert!(start.elapsed() < HANG, "somebody was not woken");
        std::thread::yield_now();
    }
}

fn delay(index: u32) -> Duration {
    // Neighbours are far apart.
    MS * (1 + index * 37 % TICKS)
}

#[test]
fn a_hundred_thousand_sleeps_under_tokio_wake_each_in_its_tick() {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.worker_threads(2).build().unwrap();
    all_wake_in_their_tick(|index, timers, woken| {
        runtime.spawn(sleeper(timers, delay(index), woken));
    });
}

#[test]
fn a_hundred_thousand_sleeps_under_smol_wake_each_in_its_tick() {
    let executor = Arc::new(smol::Executor::new());
    let (stop, stopped) = smol::channel::bounded::<()>(1);
    let threads = [0, 1].map(|_| {
        let (executor, stopped) = (Arc::clone(&executor), stopped.clone());
        std::thread::spawn(move || {
            // An error: nobody can send any more.
            let _ = smol::block_on(executor.run(stopped.recv()));
        })
    });
    all_wake_in_their_tick(|index, timers, woken| {
        executor
            .spawn(sleeper(timers, delay(index), woken))
            .detach();
    });
    drop(stop);
    for thread in threads {
        thread.join().unwrap();
    }
}

#[test]
fn the_system_clock_wakes_nobody_early_under_either_runtime() {
    let timers = Timers::builder().build().unwrap();
    let sleeps = |timers: Timers| async move {
        for delay in [MS / 2, MS, 3 * MS] {
            let sleep = timers.sleep(delay);
            let due = sleep.due();
            sleep.await.unwrap();
            assert!(timers.now() >= due);
        }
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(sleeps(timers.clone()));
    smol::block_on(sleeps(timers));
}

#[test]
fn a_runtime_that_is_dropped_takes_its_sleeps_out_of_the_engine() {
    let clock = ManualClock::new();
    let timers = Timers::builder().clock(clock.clone()).build().unwrap();
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.worker_threads(2).build().unwrap();
    for _ in 0..100 {
        let sleep = timers.sleep(MS);
        runtime.spawn(sleep);
    }
    wait_until(|| timers.len() == 100);
    drop(runtime);
    assert!(timers.is_empty());
    clock.advance(MS);
    assert_eq!(timers.stats().fired, 0);
}
