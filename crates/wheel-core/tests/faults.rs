//! Values whose `Drop` panics, and `fire` that does, at every moment at which the engine lets go of
//! one: the engine stays usable, and each value is dropped exactly once.
//!
//! The same table for `Wheel` with its `Driver` and for `LocalWheel`. What calls back instead of
//! panicking is in `from_inside.rs`.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use wheel_core::{Budget, Config, Driver, InsertError, Key, LocalWheel, Progress, Tick, Wheel};

/// A value that counts itself, and panics as it is dropped if it is armed.
#[derive(Debug)]
struct Value {
    alive: Arc<AtomicUsize>,
    name: u64,
    armed: bool,
}

impl Drop for Value {
    fn drop(&mut self) {
        self.alive.fetch_sub(1, Ordering::Relaxed);
        assert!(!self.armed, "a value of this test panics");
    }
}

/// An engine as these tests need it.
trait Door: Sized {
    fn of(config: Config) -> Self;
    fn insert(&mut self, due: u64, value: Value) -> Result<Key, InsertError<Value>>;
    fn cancel(&mut self, key: Key) -> Option<Value>;
    fn reset(&mut self, key: Key, due: u64) -> Option<Key>;
    fn advance(&mut self, now: u64, budget: Budget, fire: &mut dyn FnMut(Value)) -> Progress;
    fn len(&self) -> usize;
    fn close(self) -> impl Iterator<Item = Value>;
}

struct Shared(Wheel<Value>, Driver<Value>);

impl Door for Shared {
    fn of(config: Config) -> Shared {
        let (wheel, driver) = config.build();
        Shared(wheel, driver)
    }

    fn insert(&mut self, due: u64, value: Value) -> Result<Key, InsertError<Value>> {
        self.0.insert(Tick::new(due), value)
    }

    fn cancel(&mut self, key: Key) -> Option<Value> {
        self.0.cancel(key)
    }

    fn reset(&mut self, key: Key, due: u64) -> Option<Key> {
        self.0.reset(key, Tick::new(due))
    }

    fn advance(&mut self, now: u64, budget: Budget, fire: &mut dyn FnMut(Value)) -> Progress {
        self.1
            .advance(Tick::new(now), budget, |timer| fire(timer.value))
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn close(self) -> impl Iterator<Item = Value> {
        self.1.close()
    }
}

impl Door for LocalWheel<Value> {
    fn of(config: Config) -> LocalWheel<Value> {
        config.build_local()
    }

    fn insert(&mut self, due: u64, value: Value) -> Result<Key, InsertError<Value>> {
        self.insert(Tick::new(due), value)
    }

    fn cancel(&mut self, key: Key) -> Option<Value> {
        self.cancel(key)
    }

    fn reset(&mut self, key: Key, due: u64) -> Option<Key> {
        self.reset(key, Tick::new(due))
    }

    fn advance(&mut self, now: u64, budget: Budget, fire: &mut dyn FnMut(Value)) -> Progress {
        self.advance(Tick::new(now), budget, |timer| fire(timer.value))
    }

    fn len(&self) -> usize {
        self.len()
    }

    fn close(self) -> impl Iterator<Item = Value> {
        self.close()
    }
}

/// An engine and the count of the values that are somewhere.
struct Scene<D> {
    door: D,
    alive: Arc<AtomicUsize>,
}

impl<D: Door> Scene<D> {
    fn new(config: Config) -> Scene<D> {
        Scene {
            door: D::of(config),
            alive: Arc::default(),
        }
    }

    fn value(&self, name: u64, armed: bool) -> Value {
        self.alive.fetch_add(1, Ordering::Relaxed);
        Value {
            alive: Arc::clone(&self.alive),
            name,
            armed,
        }
    }

    /// A timer whose value panics when it is dropped.
    fn bomb(&mut self, due: u64) -> Key {
        let value = self.value(due, true);
        self.door.insert(due, value).expect("there is room")
    }

    fn alive(&self) -> usize {
        self.alive.load(Ordering::Relaxed)
    }

    /// Advances until nothing is left that is due, dropping what fires in `fire`. How many calls
    /// panicked.
    fn advance(&mut self, now: u64, budget: usize) -> usize {
        let mut panics = 0;
        loop {
            let call = catch_unwind(AssertUnwindSafe(|| {
                self.door.advance(now, Budget::new(budget), &mut drop)
            }));
            match call {
                Ok(done) if !done.more => return panics,
                Ok(_) => {}
                Err(_) => panics += 1,
            }
            assert!(panics < 100_000, "it does not end");
        }
    }

    /// What is inserted now fires on its tick.
    fn assert_usable(&mut self, now: u64) {
        let before = self.door.len();
        let (kept, gone) = (self.value(1, false), self.value(2, false));
        self.door.insert(now + 1, kept).expect("there is room");
        let gone = self.door.insert(now + 1, gone).expect("room");
        let gone = self.door.reset(gone, now + 2).expect("it is pending");
        assert_eq!(self.door.cancel(gone).map(|value| value.name), Some(2));
        let mut fired = Vec::new();
        for tick in [now, now + 1, now + 2] {
            self.door.advance(tick, Budget::UNLIMITED, &mut |value| {
                fired.push((tick, value.name))
            });
        }
        assert_eq!(fired, [(now + 1, 1)]);
        assert_eq!(self.door.len(), before);
    }
}

fn caught<R>(call: impl FnOnce() -> R) -> bool {
    catch_unwind(AssertUnwindSafe(call)).is_err()
}

/// A test for each engine.
macro_rules! for_each_door {
    ($($test:ident)+) => {
        mod the_wheel {
            $(#[test] fn $test() { super::$test::<super::Shared>(); })+
        }
        mod the_local_wheel {
            $(#[test] fn $test() { super::$test::<super::LocalWheel<super::Value>>(); })+
        }
    };
}

for_each_door! {
    a_value_that_panics_at_cancel_is_gone
    a_value_that_panics_when_it_fires_has_fired
    a_value_that_panics_when_it_is_refused_was_not_taken
    a_reset_drops_nothing
    values_that_all_panic_at_the_end_are_all_dropped
    values_that_panic_while_their_owner_unwinds_are_all_dropped
    a_fire_that_always_panics_holds_nothing_up_whatever_the_budget
}

/// Ticks that lie on every level, in the past and at the end of time.
const DUES: [u64; 8] = [
    0,
    7,
    1_500,
    90_000,
    5_400_000,
    200_000_000,
    1 << 40,
    u64::MAX,
];

fn a_value_that_panics_at_cancel_is_gone<D: Door>() {
    let mut scene = Scene::<D>::new(Config::new().max_timers(DUES.len() + 2));
    for round in 0..3 {
        let keys = DUES.map(|due| scene.bomb(due.max(10)));
        if round == 1 {
            assert_eq!(scene.advance(1, usize::MAX), 0);
        }
        for (n, key) in keys.into_iter().enumerate() {
            assert!(caught(|| drop(scene.door.cancel(key))));
            assert!(scene.door.cancel(key).is_none());
            let left = DUES.len() - 1 - n;
            assert_eq!((scene.alive(), scene.door.len()), (left, left));
        }
        scene.assert_usable(1);
    }
}

fn a_value_that_panics_when_it_fires_has_fired<D: Door>() {
    for budget in [1, 2, 3, 100, usize::MAX] {
        let mut scene = Scene::<D>::new(Config::new().max_timers(31));
        // Several to a tick, so that the panic comes in the middle of one.
        for due in DUES.into_iter().filter(|due| *due < 1 << 40) {
            for _ in 0..5 {
                scene.bomb(due);
            }
        }
        scene.bomb(1 << 40);
        assert_eq!(scene.advance(300_000_000, budget), 30, "budget {budget}");
        assert_eq!((scene.alive(), scene.door.len()), (1, 1));
        scene.assert_usable(300_000_000);
        assert_eq!(scene.advance(1 << 40, budget), 1);
        assert_eq!((scene.alive(), scene.door.len()), (0, 0));
    }
}

fn a_value_that_panics_when_it_is_refused_was_not_taken<D: Door>() {
    let mut scene = Scene::<D>::new(Config::new().max_timers(3));
    let key = scene.bomb(10);
    let value = scene.value(9, false);
    scene.door.insert(1 << 40, value).expect("there is room");
    let third = scene.value(9, false);
    let third = scene.door.insert(50, third).expect("there is room");
    for _ in 0..100 {
        let refused = scene.value(11, true);
        let refused = scene.door.insert(11, refused);
        assert!(matches!(refused, Err(InsertError::Full(_))));
        assert!(caught(|| drop(refused)));
        assert_eq!((scene.alive(), scene.door.len()), (3, 3));
    }
    assert!(scene.door.cancel(third).is_some());
    assert!(caught(|| drop(scene.door.cancel(key))));
    scene.assert_usable(60);
    assert_eq!(scene.door.len(), 1);
}

fn a_reset_drops_nothing<D: Door>() {
    let mut scene = Scene::<D>::new(Config::new());
    let mut key = scene.bomb(50);
    for due in DUES.iter().rev().chain(&DUES) {
        key = scene.door.reset(key, *due).expect("it is pending");
        assert_eq!((scene.alive(), scene.door.len()), (1, 1));
    }
    assert!(caught(|| drop(scene.door.cancel(key))));
    assert!(scene.door.reset(key, 3).is_none());
    assert_eq!(scene.alive(), 0);
}

fn values_that_all_panic_at_the_end_are_all_dropped<D: Door>() {
    // Dropped with the engine; with what close returned; after some of it was taken.
    for taken in [None, Some(0), Some(4), Some(7)] {
        let mut scene = Scene::<D>::new(Config::new());
        let keys = DUES.map(|due| scene.bomb(due.max(10)));
        scene.advance(5, usize::MAX);
        assert!(caught(|| drop(scene.door.cancel(keys[2]))));
        assert_eq!(scene.alive(), DUES.len() - 1);
        let Scene { door, alive } = scene;
        match taken {
            None => assert!(caught(|| drop(door))),
            Some(taken) => {
                let mut unfired = door.close();
                for _ in 0..taken {
                    assert!(caught(|| drop(unfired.next())));
                }
                let left = taken < DUES.len() - 1;
                assert_eq!(caught(|| drop(unfired)), left);
            }
        }
        assert_eq!(alive.load(Ordering::Relaxed), 0, "taken {taken:?}");
    }
}

fn values_that_panic_while_their_owner_unwinds_are_all_dropped<D: Door>() {
    let mut scene = Scene::<D>::new(Config::new());
    for due in DUES {
        scene.bomb(due);
    }
    let alive = Arc::clone(&scene.alive);
    assert!(caught(move || {
        let scene = scene;
        assert_eq!(scene.alive(), 0, "the owner panics");
    }));
    assert_eq!(alive.load(Ordering::Relaxed), 0);
}

fn a_fire_that_always_panics_holds_nothing_up_whatever_the_budget<D: Door>() {
    for budget in [1, 2, 7, 64, usize::MAX] {
        let mut scene = Scene::<D>::new(Config::new());
        for n in 0..1_000 {
            // A slot of one tick, slots of each level, and far ones.
            let due = [100, 100 + n, n * 1_000, n * 60_000, n * 3_600_000][n as usize % 5];
            let value = scene.value(due, false);
            scene.door.insert(due, value).expect("there is room");
        }
        let (mut fired, mut panics, mut calls) = (0, 0, 0);
        let mut now = 0;
        while scene.door.len() > 0 {
            let call = catch_unwind(AssertUnwindSafe(|| {
                scene.door.advance(now, Budget::new(budget), &mut |value| {
                    assert!(value.name <= now, "{} fired at {now}", value.name);
                    fired += 1;
                    panic!("of the test");
                })
            }));
            panics += usize::from(call.is_err());
            if call.is_ok_and(|done| !done.more) {
                now += 1_800_000;
            }
            calls += 1;
            assert!(
                calls < 1_000_000,
                "budget {budget}: {} are left",
                scene.door.len()
            );
        }
        assert_eq!((fired, panics), (1_000, 1_000), "budget {budget}");
        assert_eq!(scene.alive(), 0);
        scene.assert_usable(now);
    }
}

/// What threads leave behind that end: timers that go on, entries that others use.
#[test]
fn timers_outlive_the_thousands_of_threads_that_set_them() {
    const THREADS: u64 = 3_000;
    let scene = Scene::<Shared>::new(Config::new());
    let Scene {
        door: Shared(wheel, mut driver),
        alive,
    } = scene;
    let mut fired = 0_u64;
    let mut kept: Vec<Key> = Vec::new();
    for wave in 0..THREADS / 10 {
        let threads = (0..10).map(|n| {
            let (wheel, alive) = (wheel.clone(), Arc::clone(&alive));
            thread::spawn(move || {
                let value = |armed| {
                    alive.fetch_add(1, Ordering::Relaxed);
                    let (alive, name) = (Arc::clone(&alive), wave);
                    Value { alive, name, armed }
                };
                let insert = |due, armed| wheel.insert(Tick::new(due), value(armed)).unwrap();
                insert(wave + 5, false);
                let kept = insert(wave + 1_000_000, false);
                let doomed = insert(wave + 10, n == 3);
                // Some die of it, with entries of theirs in every state.
                drop(wheel.cancel(doomed));
                kept
            })
        });
        for thread in threads.collect::<Vec<_>>() {
            // The one that panicked has lost its key; its timer is there all the same.
            kept.extend(thread.join());
        }
        driver.advance(Tick::new(wave), Budget::UNLIMITED, |_| fired += 1);
    }
    assert_eq!(kept.len() as u64, THREADS - THREADS / 10);
    for key in kept {
        assert!(wheel.cancel(key).is_some(), "its thread has ended");
    }
    driver.advance(Tick::new(2_000_000), Budget::UNLIMITED, |_| fired += 1);
    assert_eq!(fired, THREADS + THREADS / 10);
    assert_eq!((wheel.len(), alive.load(Ordering::Relaxed)), (0, 0));
}
