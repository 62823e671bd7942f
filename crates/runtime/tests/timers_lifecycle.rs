//! Memory, panics, executors, shutdown and drop of `Timers`.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;
use std::time::Duration;

use wheel_runtime::{Executor, Job, ManualClock, Pool, Timers};
use wheel_sync::atomic::{AtomicUsize, Ordering};
use wheel_sync::{Arc, Mutex, thread};

/// Longer than anything here takes; a wait of this length that ends by itself is a hang.
const HANG: Duration = Duration::from_secs(30);
const HOUR: Duration = Duration::from_secs(3600);

const fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

fn on_manual_clock() -> (ManualClock, Timers) {
    let clock = ManualClock::new();
    let timers = Timers::builder().clock(clock.clone()).build().unwrap();
    (clock, timers)
}

// MG-01
#[test]
fn cancel_drops_the_callback_before_it_returns() {
    let (_clock, timers) = on_manual_clock();
    let payload = Arc::new([0u8; 1024]);
    for round in 0..1_000_000 {
        let held = Arc::clone(&payload);
        let key = timers.after(HOUR, move || drop(held)).unwrap();
        assert!(timers.cancel(key));
        assert_eq!(Arc::strong_count(&payload), 1, "round {round}");
    }
    assert!(timers.is_empty());
}

// MG-03
#[test]
fn the_limit_of_pending_timers_is_exact_and_counts_both_kinds() {
    let clock = ManualClock::new();
    let timers = Timers::builder()
        .clock(clock.clone())
        .max_timers(1000)
        .build()
        .unwrap();
    let far = clock.wall() + HOUR;
    let mut keys: Vec<_> = (0..500)
        .map(|_| timers.after(HOUR, || ()).unwrap())
        .collect();
    keys.extend((0..500).map(|_| timers.at(far, || ()).unwrap()));
    assert!(timers.after(HOUR, || ()).unwrap_err().is_full());
    assert!(timers.at(far, || ()).unwrap_err().is_full());
    for key in [keys[0], keys[999]] {
        assert!(timers.cancel(key));
        assert_eq!(timers.len(), 999);
        timers.after(HOUR, || ()).unwrap();
        assert!(timers.after(HOUR, || ()).unwrap_err().is_full());
    }
    assert_eq!(timers.len(), 1000);
}

#[test]
fn a_refused_callback_comes_back_and_still_works() {
    let (_clock, timers) = on_manual_clock();
    timers.shutdown();
    let (sent, got) = mpsc::channel();
    let refused = timers
        .after(ms(1), move || sent.send(7).unwrap())
        .unwrap_err();
    assert!(refused.is_closed());
    let error: Box<dyn std::error::Error + Send + Sync> = refused.into();
    assert!(error.to_string().contains("shut down"));
    let refused = error.downcast::<wheel_runtime::TimerError>().unwrap();
    refused.into_callback()();
    assert_eq!(got.try_recv(), Ok(7));
}

// MG-05
#[test]
fn cancelling_everything_from_a_callback_leaves_nothing() {
    let (clock, timers) = on_manual_clock();
    let keys: Vec<_> = (1..=100)
        .map(|n| timers.after(ms(n), || ()).unwrap())
        .collect();
    for key in keys {
        assert!(timers.cancel(key));
    }
    assert_eq!(timers.len(), 0);

    let keys = Arc::new(Mutex::new(Vec::new()));
    let ran = Arc::new(AtomicUsize::new(0));
    for n in 1..=100 {
        let ran = Arc::clone(&ran);
        let count = move || {
            ran.fetch_add(1, Ordering::Relaxed);
        };
        let key = timers.after(ms(if n <= 50 { 10 } else { 30 }), count);
        keys.lock().push(key.unwrap());
    }
    let inside = timers.clone();
    let cancel_all = move || {
        let cancelled = keys
            .lock()
            .iter()
            .filter(|key| inside.cancel(**key))
            .count();
        assert_eq!(cancelled, 50);
    };
    timers.after(ms(20), cancel_all).unwrap();
    clock.run_for(ms(100));
    assert_eq!(ran.load(Ordering::Relaxed), 50);
    assert_eq!(timers.len(), 0);
    assert_eq!(timers.stats().panics, 0);
}

#[test]
fn a_callback_that_ran_is_gone() {
    let (clock, timers) = on_manual_clock();
    let payload = Arc::new(());
    for _ in 0..100 {
        let held = Arc::clone(&payload);
        timers.after(ms(5), move || drop(held)).unwrap();
        let held = Arc::clone(&payload);
        timers.at(clock.wall() + ms(5), move || drop(held)).unwrap();
    }
    clock.advance(ms(5));
    assert_eq!(Arc::strong_count(&payload), 1);
}

#[test]
fn a_panic_is_counted_and_reported_and_the_driver_lives_on() {
    let clock = ManualClock::new();
    let told = Arc::new(Mutex::new(Vec::new()));
    let tell = Arc::clone(&told);
    let timers = Timers::builder()
        .clock(clock.clone())
        .on_panic(move |message| {
            tell.lock().push(message.to_owned());
            panic!("and the hook panics too");
        })
        .build()
        .unwrap();
    let ran = Arc::new(AtomicUsize::new(0));
    for n in 0..3 {
        let ran = Arc::clone(&ran);
        let callback = move || {
            assert_ne!(n, 1, "callback one");
            ran.fetch_add(1, Ordering::Relaxed);
        };
        timers.after(ms(1), callback).unwrap();
    }
    clock.advance(ms(1));
    assert_eq!(ran.load(Ordering::Relaxed), 2);
    let stats = timers.stats();
    assert_eq!((stats.panics, stats.fired, stats.pending), (1, 3, 0));
    assert!(told.lock()[0].contains("callback one"));
}

// HP-03
#[test]
fn a_hanging_callback_stops_nobody_when_an_executor_runs_them() {
    let clock = ManualClock::new();
    let pool = Arc::new(Pool::builder().workers(2).build().unwrap());
    let timers = Timers::builder()
        .clock(clock.clone())
        .executor(Arc::clone(&pool))
        .build()
        .unwrap();
    let (release, held) = mpsc::channel::<()>();
    timers
        .after(ms(1), move || {
            let _ = held.recv();
        })
        .unwrap();
    clock.advance(ms(1));
    let (sent, ran) = mpsc::channel();
    for _ in 0..1000 {
        let sent = sent.clone();
        timers.after(ms(5), move || sent.send(()).unwrap()).unwrap();
    }
    clock.advance(ms(5));
    for n in 0..1000 {
        ran.recv_timeout(HANG)
            .unwrap_or_else(|_| panic!("{n} of 1000 ran"));
    }
    assert_eq!(timers.stats().fired, 1001);
    release.send(()).unwrap();
    pool.shutdown(HANG).unwrap();
}

#[test]
fn what_an_executor_does_not_take_is_dropped_and_counted() {
    struct Picky;
    impl Executor for Picky {
        fn execute(&self, jobs: &mut Vec<Job>) {
            jobs.pop().expect("a batch is never empty").run();
            assert!(jobs.len() != 3, "an executor may panic, too");
        }
    }
    let clock = ManualClock::new();
    let timers = Timers::builder()
        .clock(clock.clone())
        .executor(Picky)
        .on_panic(|_| ())
        .build()
        .unwrap();
    let payload = Arc::new(());
    for count in [3, 4] {
        for _ in 0..count {
            let held = Arc::clone(&payload);
            timers.after(ms(1), move || drop(held)).unwrap();
        }
        clock.advance(ms(1));
    }
    let stats = timers.stats();
    assert_eq!((stats.fired, stats.refused, stats.panics), (7, 5, 1));
    assert_eq!(Arc::strong_count(&payload), 1);
}

// SD-01
#[test]
fn shutdown_counts_what_never_ran_and_a_second_one_has_nothing_left() {
    let (clock, timers) = on_manual_clock();
    let payload = Arc::new(());
    let mut keys = Vec::new();
    for n in 0..5 {
        let held = Arc::clone(&payload);
        keys.push(timers.after(HOUR * n, move || drop(held)).unwrap());
    }
    clock.advance(Duration::ZERO);
    let at = clock.wall() + HOUR;
    keys.push(timers.at(at, || ()).unwrap());
    assert_eq!(timers.shutdown(), 5);
    assert_eq!(timers.shutdown(), 0);
    assert_eq!(Arc::strong_count(&payload), 1);
    assert_eq!(timers.len(), 0);
    assert!(keys.iter().all(|key| !timers.cancel(*key)));
    // The clock goes on without the driver.
    clock.advance(HOUR * 10);
    assert_eq!(timers.stats().fired, 1);
}

// SD-01
#[test]
fn shutdown_from_two_threads_at_once_returns_in_both() {
    for _ in 0..100 {
        let timers = Timers::builder().build().unwrap();
        timers.after(HOUR, || ()).unwrap();
        let counts = thread::scope(|scope| {
            let both = [0, 1].map(|_| scope.spawn(|| timers.shutdown()));
            both.map(|thread| thread.join().unwrap())
        });
        assert_eq!(counts.iter().sum::<usize>(), 1);
    }
}

// SD-07
#[test]
fn dropping_the_last_handle_stops_the_driver_and_drops_what_is_pending() {
    let clock = ManualClock::new();
    for clock in [clock.clone().into(), wheel_runtime::Clock::default()] {
        let timers = Timers::builder().clock(clock).build().unwrap();
        let (held, gone) = mpsc::channel::<()>();
        timers.after(HOUR, move || held.send(()).unwrap()).unwrap();
        drop(timers.clone());
        assert_eq!(gone.try_recv(), Err(mpsc::TryRecvError::Empty));
        drop(timers);
        let ended = gone.recv_timeout(HANG);
        assert_eq!(ended, Err(mpsc::RecvTimeoutError::Disconnected));
    }
    // A seat that nobody gave back would hold this up for ever.
    clock.advance(HOUR * 2);
}

// SD-10
#[test]
fn a_callback_that_adds_timers_without_end_is_told_to_stop() {
    let timers = Timers::builder().build().unwrap();
    let (sent, ended) = mpsc::channel();
    let inside = timers.clone();
    timers
        .after(ms(1), move || {
            loop {
                if let Err(refused) = inside.after(HOUR, || ()) {
                    sent.send(refused.is_closed()).unwrap();
                    return;
                }
            }
        })
        .unwrap();
    while timers.len() < 2 {
        thread::yield_now();
    }
    timers.shutdown();
    assert_eq!(ended.recv_timeout(HANG), Ok(true));
}

// SD-11
#[test]
fn a_shutdown_right_after_the_start_is_not_lost() {
    for round in 0..1_000 {
        let timers = Timers::builder().build().unwrap();
        if round % 2 == 0 {
            timers.shutdown();
        }
    }
}

// SD-13
#[test]
fn a_callback_may_shut_its_own_engine_down() {
    let (clock, timers) = on_manual_clock();
    let (sent, got) = mpsc::channel();
    let (inside, late) = (timers.clone(), sent.clone());
    timers
        .after(ms(1), move || {
            let pending = inside.shutdown();
            sent.send((pending, inside.shutdown())).unwrap();
            assert!(inside.after(ms(1), || ()).unwrap_err().is_closed());
        })
        .unwrap();
    // Of the same tick, but fired after the shutdown: it must not run any more.
    for _ in 0..10 {
        let late = late.clone();
        timers
            .after(ms(2), move || late.send((99, 99)).unwrap())
            .unwrap();
    }
    drop(late);
    clock.advance(ms(2));
    assert_eq!(timers.shutdown(), 0);
    assert_eq!(Vec::from_iter(got.iter()), [(10, 0)]);
    assert_eq!(timers.stats().panics, 0);
}

// SD-13
#[test]
fn a_callback_that_shuts_down_during_another_shutdown_takes_nothing_away_from_it() {
    let (clock, timers) = on_manual_clock();
    let (inside, other) = (timers.clone(), timers.clone());
    let (entered, is_in) = mpsc::channel();
    let callback = move || {
        // Before the other shutdown can begin, however slow this thread is from here on.
        inside.after(HOUR, || ()).unwrap();
        entered.send(()).unwrap();
        while inside.after(HOUR, || ()).is_ok() {
            thread::yield_now();
        }
        assert_eq!(inside.shutdown(), 0);
    };
    timers.after(ms(1), callback).unwrap();
    let pending = thread::scope(|scope| {
        scope.spawn(|| clock.advance(ms(1)));
        is_in.recv_timeout(HANG).unwrap();
        let unfired = scope.spawn(move || other.shutdown()).join().unwrap();
        (unfired, timers.stats().panics)
    });
    assert!(pending.0 > 0, "what the callback has added never fired");
    assert_eq!(pending.1, 0);
}

// SD-13
#[test]
fn a_callback_may_drop_the_last_handle() {
    let (clock, timers) = on_manual_clock();
    let (sent, got) = mpsc::channel();
    let slot = Arc::new(Mutex::new(None::<Timers>));
    let inside = Arc::clone(&slot);
    timers
        .after(ms(1), move || {
            drop(inside.lock().take());
            sent.send(()).unwrap();
        })
        .unwrap();
    let (held, gone) = mpsc::channel::<()>();
    timers.after(HOUR, move || drop(held)).unwrap();
    *slot.lock() = Some(timers);
    clock.advance(ms(1));
    got.recv_timeout(HANG).unwrap();
    let ended = gone.recv_timeout(HANG);
    assert_eq!(ended, Err(mpsc::RecvTimeoutError::Disconnected));
}

#[test]
fn callbacks_whose_drop_uses_the_engine_or_panics_harm_nobody() {
    struct Meddler(Timers, Arc<AtomicUsize>);
    impl Drop for Meddler {
        fn drop(&mut self) {
            self.1.fetch_add(1, Ordering::Relaxed);
            let _ = (self.0.len(), self.0.after(HOUR, || ()), self.0.stats());
            panic!("dropped");
        }
    }
    let (clock, timers) = on_manual_clock();
    let dropped = Arc::new(AtomicUsize::new(0));
    let add = || {
        let meddler = Meddler(timers.clone(), Arc::clone(&dropped));
        timers.after(HOUR, move || drop(meddler)).unwrap()
    };
    let key = add();
    // The panic of a cancelled callback belongs to whoever cancels it.
    assert!(catch_unwind(AssertUnwindSafe(|| timers.cancel(key))).is_err());
    add();
    clock.advance(HOUR);
    assert_eq!(timers.stats().panics, 1);
    add();
    add();
    // These two, and the one that the second has added as it was dropped.
    assert_eq!(timers.shutdown(), 3);
    assert_eq!(dropped.load(Ordering::Relaxed), 4);
}
