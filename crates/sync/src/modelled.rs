//! The half for the model checker: loom's types under the paths of `native`.

use std::time::Duration;

pub use loom::cell::UnsafeCell;
pub use loom::sync::{Arc, MutexGuard};

/// True when loom's types are in force.
pub const MODELLED: bool = true;

/// loom's atomics.
pub mod atomic {
    pub use loom::sync::atomic::{
        AtomicBool, AtomicI64, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
    };
}

/// loom's threads, and a small number for each one.
pub mod thread {
    pub use loom::thread::{JoinHandle, Thread, ThreadId, current, park, spawn, yield_now};

    /// A number that no other thread of the execution has.
    ///
    /// loom numbers its threads from 0 in each execution and shows the number only in `Debug`.
    pub fn slot() -> Option<usize> {
        let id = format!("{:?}", current().id());
        id.trim_matches(|c: char| !c.is_ascii_digit()).parse().ok()
    }
}

/// Lets another thread run, since nothing changes until one does.
#[derive(Debug, Default)]
pub struct Backoff(());

impl Backoff {
    /// Ready to wait.
    pub fn new() -> Backoff {
        Backoff(())
    }

    /// Yields.
    pub fn snooze(&self) {
        thread::yield_now();
    }
}

/// loom's mutex, with the interface of `native`.
#[derive(Debug, Default)]
pub struct Mutex<T>(loom::sync::Mutex<T>);

impl<T> Mutex<T> {
    /// An unlocked mutex around `value`.
    pub fn new(value: T) -> Mutex<T> {
        Mutex(loom::sync::Mutex::new(value))
    }

    /// Blocks until the lock is free.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().expect("loom's mutex is not poisoned")
    }

    /// The lock, if it is free.
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        self.0.try_lock().ok()
    }

    /// The content, once nobody else has the mutex.
    pub fn into_inner(self) -> T {
        self.0.into_inner().expect("loom's mutex is not poisoned")
    }
}

/// loom's condition variable, with the interface of `native`.
#[derive(Debug, Default)]
pub struct Condvar(loom::sync::Condvar);

impl Condvar {
    /// A condition variable that nobody waits for.
    pub fn new() -> Condvar {
        Condvar(loom::sync::Condvar::new())
    }

    /// Gives the lock up, waits to be notified, and takes it again.
    pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        self.0.wait(guard).expect("loom's mutex is not poisoned")
    }

    /// Waits to be notified: a model has no time, so the timeout never comes.
    pub fn wait_timeout<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        _timeout: Duration,
    ) -> MutexGuard<'a, T> {
        self.wait(guard)
    }

    /// Wakes one waiter.
    pub fn notify_one(&self) {
        self.0.notify_one();
    }

    /// Wakes all waiters.
    pub fn notify_all(&self) {
        self.0.notify_all();
    }
}

/// Runs a model in every interleaving within loom's bounds and says how many those were.
///
/// `LOOM_MAX_PREEMPTIONS` bounds the search, as in loom itself.
pub fn model(name: &str, run: impl Fn() + Sync + Send + 'static) {
    // std's own: loom's would add interleavings. Relaxed: loom runs everything on this thread.
    let executions = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let count = std::sync::Arc::clone(&executions);
    loom::model(move || {
        // Relaxed: as above.
        count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        run();
    });
    // Relaxed: as above.
    let executions = executions.load(std::sync::atomic::Ordering::Relaxed);
    println!("model {name}: {executions} executions");
}
