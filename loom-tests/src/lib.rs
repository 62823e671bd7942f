//! What the models share: values that count themselves, and a bed for the driver.
//!
//! The models run the product's own code, with sizes shrunk: 2 entries to the first segment, 2
//! slots to a turn of each level (1, 2, 4 and 8 ticks to a slot), one shard, batches of 2. Each
//! model asserts that every value leaves exactly once, nothing fires early, and nothing is lost.
//!
//! Loom explores no eventual visibility, so what is promised "by the next call" is asserted after
//! one more call. Without loom each model runs once, plainly.

pub mod jobs;
pub mod shop;

use std::sync::Arc as StdArc;
// tidy: allow sync-only, a count for assertions; as loom's it would add interleavings
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Wake, Waker};

use wheel_core::{Budget, Config, Driver, Fired, Key, Tick, Wheel};
use wheel_sync::atomic::AtomicBool;
use wheel_sync::{Condvar, Mutex, UnsafeCell};

/// Counts the values that are alive. std's counter, so that it adds no interleavings.
#[derive(Clone, Debug, Default)]
pub struct Census(StdArc<AtomicUsize>);

impl Census {
    /// A value that is counted until it is dropped.
    pub fn value(&self, id: u32) -> Value {
        self.0.fetch_add(1, Ordering::Relaxed);
        Value {
            id,
            census: self.clone(),
        }
    }

    /// How many are alive.
    pub fn alive(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

/// A timer's value.
#[derive(Debug)]
pub struct Value {
    /// Which one it is.
    pub id: u32,
    census: Census,
}

impl Drop for Value {
    fn drop(&mut self) {
        self.census.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What came about in some execution of a model, so that a model in which nothing races is noticed.
#[derive(Clone, Debug, Default)]
pub struct Seen(StdArc<AtomicUsize>);

impl Seen {
    /// Outcome number `outcome` has come about.
    pub fn note(&self, outcome: usize) {
        // Relaxed: loom runs everything on one thread of the system.
        self.0.fetch_or(1 << outcome, Ordering::Relaxed);
    }

    /// Outcomes 0 to `count`, that one apart, came about, each in some execution. To be called
    /// after the model.
    ///
    /// # Panics
    ///
    /// When one has not, and loom had all schedules to find it.
    pub fn all(&self, count: usize) {
        // Relaxed: as above.
        let seen = self.0.load(Ordering::Relaxed);
        assert!(
            !cfg!(feature = "loom") || seen == (1 << count) - 1,
            "of {count} outcomes the model has seen {seen:#b}"
        );
    }
}

/// Plain memory that a thread writes before it calls the engine. Loom fails the model when a reader
/// has no order behind that write.
#[derive(Debug, Default)]
pub struct Note(UnsafeCell<u32>);

// SAFETY: a model reads it only where the engine promises that the write came before, and loom
// checks it.
unsafe impl Sync for Note {}

impl Note {
    /// Writes it.
    pub fn write(&self, what: u32) {
        // SAFETY: as above.
        self.0.with_mut(|note| unsafe { *note = what });
    }

    /// Reads it.
    pub fn read(&self) -> u32 {
        // SAFETY: as above.
        self.0.with(|note| unsafe { *note })
    }
}

/// Where a driver sleeps: a wake is kept until it has ended a sleep.
///
/// Not loom's `park`, which does not bear two threads that unpark at once.
#[derive(Debug, Default)]
pub struct Bed {
    woken: Mutex<bool>,
    changed: Condvar,
}

impl Bed {
    /// Sleeps until woken, or not at all if it was woken since the last sleep.
    pub fn sleep(&self) {
        let mut woken = self.woken.lock();
        while !*woken {
            woken = self.changed.wait(woken);
        }
        *woken = false;
    }

    /// A waker of whoever sleeps here.
    pub fn waker(self: &StdArc<Bed>) -> Waker {
        Waker::from(StdArc::clone(self))
    }
}

impl Wake for Bed {
    fn wake(self: StdArc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &StdArc<Self>) {
        *self.woken.lock() = true;
        self.changed.notify_one();
    }
}

/// Knows whether the driver was woken. Orders nothing itself, so that the engine must.
#[derive(Debug, Default)]
pub struct Alarm(AtomicBool);

impl Alarm {
    /// True when somebody has called the waker before.
    pub fn has_rung(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// A waker that rings.
    pub fn waker(self: &StdArc<Alarm>) -> Waker {
        Waker::from(StdArc::clone(self))
    }
}

impl Wake for Alarm {
    fn wake(self: StdArc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &StdArc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A wheel with one timer, which has left the intake and waits in a slot.
///
/// # Panics
///
/// When the timer is refused or fires at tick 0.
pub fn with_a_placed_timer(due: u64, value: Value) -> (Wheel<Value>, Driver<Value>, Key) {
    let (wheel, mut driver) = Config::new().build();
    let key = wheel.insert(Tick::new(due), value).unwrap();
    assert!(advance(&mut driver, 0).is_empty());
    (wheel, driver, key)
}

/// Every value has left, no entry waits for the driver, and none is lost.
///
/// Entries that were cancelled, or were being written when the driver passed them, get one more
/// visit each.
///
/// # Panics
///
/// When that is not so.
pub fn assert_at_rest(driver: &mut Driver<Value>, census: &Census) {
    for _ in 0..3 {
        if let Some(due) = driver.next_due() {
            assert!(advance(driver, due.get()).is_empty(), "a timer was left");
        }
    }
    assert_eq!(driver.next_due(), None, "an entry was left behind");
    assert_eq!(census.alive(), 0, "values are still alive");
    #[cfg(wheel_model)]
    {
        let entries = driver.entries();
        assert_eq!((entries.held, entries.lost), (0, 0), "{entries:?}");
    }
}

/// The ids of what fired, in order of id: within a tick there is no other.
pub fn ids_of(fired: &[Fired<Value>]) -> Vec<u32> {
    let mut ids: Vec<u32> = fired.iter().map(|timer| timer.value.id).collect();
    ids.sort_unstable();
    ids
}

/// Advances without a limit and returns what fired.
///
/// # Panics
///
/// When something fires early.
pub fn advance(driver: &mut Driver<Value>, now: u64) -> Vec<Fired<Value>> {
    advance_within(driver, now, Budget::UNLIMITED)
}

/// Advances within a budget, as often as it says that there is more, and returns what fired.
///
/// # Panics
///
/// When something fires early.
pub fn advance_within(driver: &mut Driver<Value>, now: u64, budget: Budget) -> Vec<Fired<Value>> {
    let mut fired = Vec::new();
    loop {
        let progress = driver.advance(Tick::new(now), budget, |timer| {
            assert!(timer.due <= Tick::new(now), "early");
            fired.push(timer);
        });
        if !progress.more {
            return fired;
        }
    }
}
