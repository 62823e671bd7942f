//! A driver that sleeps is woken for whoever comes earlier than it meant to wake, each time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::task::{Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

use wheel_core::{Budget, Config, Tick};

/// Counts its calls.
struct Count(AtomicU64);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn a_driver_that_was_given_too_much_to_look_at_says_that_it_is_behind() {
    let (wheel, mut driver) = Config::new().build();
    wheel.insert(Tick::ZERO, "due now").unwrap();
    for _ in 0..5_000 {
        wheel.insert(Tick::new(90_000), "later").unwrap();
    }
    assert_eq!(driver.next_due(), Some(Tick::new(1)), "the next tick");
    assert!(driver.is_behind());
    let mut fired = Vec::new();
    driver.advance(Tick::ZERO, Budget::UNLIMITED, |timer| {
        fired.push(timer.value)
    });
    assert_eq!(fired, ["due now"]);
    assert!(driver.next_due() > Some(Tick::new(1)) && !driver.is_behind());
}

#[test]
fn whoever_is_earlier_wakes_and_nobody_else() {
    let count = Arc::new(Count(AtomicU64::new(0)));
    let config = Config::new().waker(Waker::from(Arc::clone(&count)));
    let (wheel, mut driver) = config.build();
    let calls = || count.0.load(Ordering::Relaxed);
    let insert = |due| wheel.insert(Tick::new(due), ()).unwrap();
    insert(5);
    assert_eq!(calls(), 0, "the driver has not slept yet");
    for sleep in 0..10 {
        let now = 100 * sleep + 10;
        driver.advance(Tick::new(now), Budget::UNLIMITED, |_| ());
        insert(now + 50);
        assert_eq!(calls(), sleep, "the driver is awake");
        assert_eq!(driver.next_due(), Some(Tick::new(now + 50)));
        insert(now + 50);
        insert(now + 51);
        assert_eq!(calls(), sleep, "no earlier than the driver wakes");
        insert(now + 49);
        assert_eq!(calls(), sleep + 1, "a tick earlier");
        insert(now + 48);
        assert_eq!(calls(), sleep + 1, "that sleep has been ended");
    }
    driver.advance(Tick::new(2_000), Budget::UNLIMITED, |_| ());
    insert(5_000);
    driver.next_due();
    driver.advance(Tick::new(5_000), Budget::UNLIMITED, |_| ());
    insert(0);
    assert_eq!(calls(), 10, "a driver that is awake is not woken");
}

/// A shard that fills up wakes the driver, however late its timers are due, so that what is
/// cancelled does not pile up while the driver sleeps.
#[test]
fn a_crowd_wakes_the_driver() {
    let count = Arc::new(Count(AtomicU64::new(0)));
    let config = Config::new().waker(Waker::from(Arc::clone(&count)));
    let (wheel, mut driver) = config.build();
    wheel.insert(Tick::new(10), 0).unwrap();
    for sleep in 1..4 {
        driver.advance(Tick::new(0), Budget::UNLIMITED, |_| ());
        assert_eq!(driver.next_due(), Some(Tick::new(10)));
        for i in 0..20_000 {
            wheel.insert(Tick::new(1_000_000), i).unwrap();
        }
        assert_eq!(count.0.load(Ordering::Relaxed), sleep);
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Each thread waits for its timer before it sets the next, so that a wake that is lost is a timer
/// that never fires. The clock is a counter that the threads move: a timer is due at the very tick
/// that it was set at, or has a neighbour that is due in an hour.
#[test]
fn no_wake_is_lost_between_threads_that_insert_and_a_driver_that_parks() {
    const THREADS: u64 = 3;
    const ROUNDS: u64 = 3_000;
    let clock = AtomicU64::new(0);
    let ended = AtomicBool::new(false);
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let (wheel, mut driver) = Config::new().waker(waker.clone()).build::<Sender<u64>>();
    thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|thread| {
                let (wheel, clock) = (wheel.clone(), &clock);
                scope.spawn(move || {
                    let (fired, wait) = channel();
                    let far = Tick::new(u64::MAX / 2);
                    let mut decoy = wheel.insert(far, fired.clone()).unwrap();
                    for round in 0..ROUNDS {
                        let now = clock.fetch_add(1, Ordering::Relaxed);
                        let key = wheel.insert(Tick::new(now), fired.clone()).unwrap();
                        if (round + thread) % 3 == 0 {
                            // Earlier, then later again: neither may fire, nor hide the other.
                            decoy = wheel.reset(decoy, Tick::new(now + 3_600_000)).unwrap();
                            decoy = wheel.reset(decoy, far).unwrap();
                        }
                        let due = wait.recv_timeout(Duration::from_secs(30));
                        assert_eq!(due, Ok(now), "{key:?} of round {round} was not woken for");
                    }
                    assert!(wheel.cancel(decoy).is_some());
                })
            })
            .collect();
        let driver_ends = scope.spawn(|| {
            threads
                .into_iter()
                .for_each(|thread| thread.join().unwrap());
            ended.store(true, Ordering::Release);
            waker.wake_by_ref();
        });
        while !ended.load(Ordering::Acquire) && !driver_ends.is_finished() {
            let now = Tick::new(clock.load(Ordering::Relaxed));
            let done = driver.advance(now, Budget::new(2), |timer| {
                timer.value.send(timer.due.get()).unwrap();
            });
            if done.more {
                continue;
            }
            let next = driver.next_due();
            if next.is_none_or(|next| next > Tick::new(clock.load(Ordering::Relaxed))) {
                thread::park_timeout(Duration::from_secs(60));
            }
        }
    });
    assert_eq!(wheel.len(), 0);
}
