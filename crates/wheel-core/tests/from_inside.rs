//! User code never runs inside the wheel: not a value's `Drop`, not `fire`, not the waker. Each may
//! call back, from any thread, a thread that is being torn down included, and each may panic.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, mpsc};
use std::task::{Wake, Waker};
use std::thread;
use std::time::Duration;

use wheel_core::{Budget, Config, Driver, InsertError, Key, Tick, Wheel};

/// Runs `body` on a thread and fails, rather than hangs, when it does not end.
fn ends<R: Send + 'static>(body: impl FnOnce() -> R + Send + 'static) -> R {
    let (done, wait) = mpsc::channel();
    let runner = thread::spawn(move || {
        let result = body();
        let _ = done.send(());
        result
    });
    if let Err(mpsc::RecvTimeoutError::Timeout) = wait.recv_timeout(Duration::from_secs(60)) {
        panic!("it does not end");
    }
    runner.join().unwrap()
}

fn advance<T>(driver: &mut Driver<T>, now: u64) -> Vec<T> {
    let mut fired = Vec::new();
    driver.advance(Tick::new(now), Budget::UNLIMITED, |timer| {
        fired.push(timer.value);
    });
    fired
}

/// A waker that runs a closure, which is set once the wheel exists.
struct Calls {
    run: OnceLock<Box<dyn Fn(usize) + Send + Sync>>,
    count: AtomicUsize,
}

impl Wake for Calls {
    fn wake(self: Arc<Self>) {
        let call = self.count.fetch_add(1, Ordering::Relaxed);
        if let Some(run) = self.run.get() {
            run(call);
        }
    }
}

fn calls() -> Arc<Calls> {
    Arc::new(Calls {
        run: OnceLock::new(),
        count: AtomicUsize::new(0),
    })
}

/// A wheel of numbers whose waker is called with the wheel and the number of the call.
fn with_waker(
    run: impl Fn(&Wheel<usize>, usize) + Send + Sync + 'static,
) -> (Wheel<usize>, Driver<usize>, Arc<Calls>) {
    let calls = calls();
    let config = Config::new().waker(Waker::from(Arc::clone(&calls)));
    let (wheel, driver) = config.build();
    let inner = wheel.clone();
    let set = calls.run.set(Box::new(move |call| run(&inner, call)));
    assert!(set.is_ok());
    (wheel, driver, calls)
}

#[test]
fn a_waker_that_inserts_is_not_called_for_that_again() {
    let (wheel, mut driver, calls) = with_waker(|wheel, call| {
        assert!(
            call < 100,
            "the waker is called by its own insert, for ever"
        );
        wheel.insert(Tick::new(1), 100 + call).unwrap();
    });
    for sleep in 0..3 {
        assert_eq!(driver.next_due(), None);
        wheel.insert(Tick::new(2), sleep).unwrap();
        assert_eq!(
            calls.count.load(Ordering::Relaxed),
            sleep + 1,
            "one call for each sleep"
        );
        assert_eq!(advance(&mut driver, 2).len(), 2);
    }
}

/// Two wheels whose wakers insert into each other.
#[test]
fn wakers_that_insert_into_each_others_wheel_end() {
    let other: Arc<OnceLock<Wheel<usize>>> = Arc::default();
    let to_other = Arc::clone(&other);
    let (a, mut driver_a, calls_a) = with_waker(move |_, call| {
        assert!(call < 100, "the wakers call each other for ever");
        to_other.get().unwrap().insert(Tick::new(1), call).unwrap();
    });
    let to_a = a.clone();
    let (b, mut driver_b, calls_b) = with_waker(move |_, call| {
        assert!(call < 100, "the wakers call each other for ever");
        to_a.insert(Tick::new(1), call).unwrap();
    });
    other.set(b).unwrap();
    assert_eq!((driver_a.next_due(), driver_b.next_due()), (None, None));
    a.insert(Tick::new(1), 0).unwrap();
    for calls in [calls_a, calls_b] {
        assert_eq!(calls.count.load(Ordering::Relaxed), 1);
    }
    assert_eq!(advance(&mut driver_a, 1).len(), 2);
    assert_eq!(advance(&mut driver_b, 1).len(), 1);
}

/// The driver may be in its next sleep before the waker has returned. What the waker inserts then
/// ends that sleep too.
#[test]
fn a_waker_that_inserts_after_the_driver_slept_again_is_called_once_more() {
    let driver: Arc<Mutex<Option<Driver<usize>>>> = Arc::default();
    let sleeper = Arc::clone(&driver);
    let (wheel, own, calls) = with_waker(move |wheel, call| {
        if call > 0 {
            return;
        }
        let mut driver = sleeper.lock().unwrap();
        let driver = driver.as_mut().unwrap();
        assert_eq!(advance(driver, 2), [1]);
        assert_eq!(driver.next_due(), None);
        wheel.insert(Tick::new(5), 2).unwrap();
    });
    *driver.lock().unwrap() = Some(own);
    assert_eq!(driver.lock().unwrap().as_mut().unwrap().next_due(), None);
    wheel.insert(Tick::new(2), 1).unwrap();
    assert_eq!(calls.count.load(Ordering::Relaxed), 2);
    let mut driver = driver.lock().unwrap();
    assert_eq!(driver.as_mut().unwrap().next_due(), Some(Tick::new(5)));
}

/// Whatever an insert held, these other threads would wait for.
#[test]
fn a_waker_runs_while_nothing_is_held() {
    ends(|| {
        let (wheel, mut driver, calls) = with_waker(|wheel, _| {
            let others = (0..3).map(|i| {
                let wheel = wheel.clone();
                thread::spawn(move || {
                    let key = wheel.insert(Tick::new(50), i).unwrap();
                    let key = wheel.reset(key, Tick::new(70)).unwrap();
                    assert_eq!(wheel.cancel(key), Some(i));
                    wheel.len()
                })
            });
            for other in others.collect::<Vec<_>>() {
                assert!(other.join().unwrap() >= 1);
            }
        });
        wheel.insert(Tick::new(40), 8).unwrap();
        // The others' timers are later, so they wake nobody.
        assert_eq!(driver.next_due(), Some(Tick::new(40)));
        wheel.insert(Tick::new(30), 7).unwrap();
        assert_eq!(calls.count.load(Ordering::Relaxed), 1);
        assert_eq!(advance(&mut driver, 100), [7, 8]);
    });
}

#[test]
fn a_waker_that_panics_loses_no_timer_and_is_called_again() {
    let (wheel, mut driver, calls) = with_waker(|_, call| {
        assert!(call > 0, "the first call panics");
    });
    assert_eq!(driver.next_due(), None);
    let unwound = catch_unwind(AssertUnwindSafe(|| wheel.insert(Tick::new(1), 1)));
    assert!(unwound.is_err());
    // Nobody knows whether that call has woken the driver.
    wheel.insert(Tick::new(1), 2).unwrap();
    assert_eq!(calls.count.load(Ordering::Relaxed), 2);
    assert_eq!(wheel.len(), 2);
    let mut fired = advance(&mut driver, 1);
    fired.sort_unstable();
    assert_eq!(fired, [1, 2]);
}

#[test]
fn a_timer_whose_fire_panics_counts_as_fired_and_the_driver_goes_on() {
    let (wheel, mut driver) = Config::new().max_timers(10).build();
    let keys: Vec<Key> = (0..10)
        .map(|i| wheel.insert(Tick::new(1 + i / 5), i).unwrap())
        .collect();
    let mut fired = Vec::new();
    let mut panics = 0;
    while fired.len() < 10 {
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            driver.advance(Tick::new(2), Budget::UNLIMITED, |timer| {
                fired.push(timer.value);
                assert!(timer.value % 3 != 0, "this one panics");
            })
        }));
        panics += usize::from(outcome.is_err());
        assert_eq!(wheel.len(), 10 - fired.len());
    }
    assert_eq!(panics, 4);
    fired.sort_unstable();
    assert_eq!(fired, (0..10).collect::<Vec<_>>());
    for key in keys {
        assert_eq!(wheel.cancel(key), None);
    }
    assert_eq!(driver.next_due(), None);
    for i in 0..10 {
        assert!(
            wheel.insert(Tick::new(3), i).is_ok(),
            "the limit counts a timer that is gone"
        );
    }
}

/// A value whose `Drop` counts itself out, cancels another timer and inserts the next value.
struct Restless {
    wheel: Wheel<Restless>,
    alive: Arc<AtomicUsize>,
    on_drop: Mutex<Option<Key>>,
    lives: u32,
}

impl Restless {
    fn new(wheel: &Wheel<Restless>, alive: &Arc<AtomicUsize>, lives: u32) -> Restless {
        alive.fetch_add(1, Ordering::Relaxed);
        Restless {
            wheel: wheel.clone(),
            alive: Arc::clone(alive),
            on_drop: Mutex::default(),
            lives,
        }
    }
}

impl Drop for Restless {
    fn drop(&mut self) {
        self.alive.fetch_sub(1, Ordering::Relaxed);
        let other = self.on_drop.get_mut().unwrap().take();
        drop(other.and_then(|key| self.wheel.cancel(key)));
        if self.lives > 0 {
            let next = Restless::new(&self.wheel, &self.alive, self.lives - 1);
            let due = Tick::new(self.wheel.now().get() + 1);
            match self.wheel.insert(due, next) {
                Ok(_) => {}
                Err(InsertError::Closed(value)) => drop(value),
                Err(other) => panic!("{other}"),
            }
        }
    }
}

#[test]
fn a_value_may_call_back_wherever_it_is_dropped() {
    ends(|| {
        let (wheel, mut driver) = Config::new().build();
        let alive = Arc::new(AtomicUsize::new(0));
        let insert = |due: u64, lives: u32| {
            let value = Restless::new(&wheel, &alive, lives);
            wheel.insert(Tick::new(due), value).unwrap()
        };
        // Dropped by the caller of cancel: it sets a timer and cancels another in its turn.
        let victim = insert(40, 0);
        let key = insert(50, 1);
        let value = wheel.cancel(key).unwrap();
        *value.on_drop.lock().unwrap() = Some(victim);
        assert_eq!(wheel.len(), 1, "the value was dropped inside of cancel");
        drop(value);
        assert_eq!((wheel.len(), alive.load(Ordering::Relaxed)), (1, 1));
        // Dropped in fire: each comes back until its lives are used up.
        insert(1, 3);
        for now in 1..10 {
            driver.advance(Tick::new(now), Budget::UNLIMITED, drop);
        }
        assert_eq!((wheel.len(), alive.load(Ordering::Relaxed)), (0, 0));
        // Dropped when the driver is: what it inserts then is refused, and dropped as well.
        for _ in 0..100 {
            insert(1000, 2);
        }
        drop(driver);
        assert_eq!((wheel.len(), alive.load(Ordering::Relaxed)), (0, 0));
        // Dropped as refused.
        let refused = wheel.insert(Tick::new(1), Restless::new(&wheel, &alive, 2));
        drop(refused);
        assert_eq!((wheel.len(), alive.load(Ordering::Relaxed)), (0, 0));
    });
}

/// The waker is part of the engine, so it tells when the engine is freed.
#[test]
fn values_that_hold_their_wheel_do_not_leak_it_once_it_is_closed() {
    for close_by_hand in [true, false] {
        let calls = calls();
        let config = Config::new().waker(Waker::from(Arc::clone(&calls)));
        let (wheel, mut driver) = config.build::<Restless>();
        let alive = Arc::new(AtomicUsize::new(0));
        let mut keys = Vec::new();
        for i in 0..300 {
            let value = Restless::new(&wheel, &alive, 0);
            keys.push(wheel.insert(Tick::new(i), value).unwrap());
        }
        // Pending in a slot, pending in the intake, vacant, fired.
        driver.advance(Tick::new(99), Budget::UNLIMITED, drop);
        for key in keys.drain(150..) {
            drop(wheel.cancel(key));
        }
        for i in 0..50 {
            let value = Restless::new(&wheel, &alive, 0);
            wheel.insert(Tick::new(100 + i), value).unwrap();
        }
        assert_eq!(alive.load(Ordering::Relaxed), 100);
        drop(wheel);
        match close_by_hand {
            true => assert_eq!(driver.close().count(), 100),
            false => drop(driver),
        }
        assert_eq!(alive.load(Ordering::Relaxed), 0);
        assert_eq!(Arc::strong_count(&calls), 1, "the engine was not freed");
    }
}

/// Uses a wheel when its thread ends: a destructor that was set up before the wheel's own, or
/// after.
struct AtExit(RefCell<Option<Box<dyn FnOnce()>>>);

impl Drop for AtExit {
    fn drop(&mut self) {
        if let Some(run) = self.0.take() {
            run();
        }
    }
}

thread_local!(static AT_EXIT: AtExit = const { AtExit(RefCell::new(None)) });

#[test]
fn a_thread_that_is_torn_down_may_still_use_the_wheel() {
    let (wheel, mut driver) = Config::new().max_timers(10_000).build();
    let mut expected = 0;
    for round in 0..200 {
        let (outer, inner) = (wheel.clone(), wheel.clone());
        let body = move || {
            let kept = outer.insert(Tick::new(5), "before").unwrap();
            let at_exit = move || {
                for i in 0..70 {
                    let key = inner.insert(Tick::new(i), "at exit").unwrap();
                    let key = inner.reset(key, Tick::new(3)).unwrap();
                    if i % 2 == 0 {
                        assert_eq!(inner.cancel(key), Some("at exit"));
                        assert_eq!(inner.cancel(key), None);
                    }
                }
                assert_eq!(inner.cancel(kept), Some("before"));
            };
            AT_EXIT.with(|at| *at.0.borrow_mut() = Some(Box::new(at_exit)));
        };
        let thread = match round % 2 {
            // The destructor is registered first, so it may run when the thread has no number any
            // more.
            0 => thread::spawn(|| AT_EXIT.with(|_| body())),
            _ => thread::spawn(body),
        };
        thread.join().unwrap();
        expected += 35;
        assert_eq!(wheel.len(), expected, "round {round}");
        if round % 10 == 9 {
            let fired = advance(&mut driver, round);
            assert!(fired.iter().all(|&value| value == "at exit"));
            assert_eq!(fired.len(), expected);
            expected = 0;
        }
    }
    assert_eq!(driver.next_due(), None);
}
