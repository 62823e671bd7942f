//! A checker's mutex and condition variable, with the interface of `native`.

use std::time::Duration;

#[cfg(feature = "loom")]
use loom::sync as checker;
#[cfg(not(feature = "loom"))]
use shuttle::sync as checker;

pub use checker::MutexGuard;

/// The checker's mutex.
#[derive(Debug, Default)]
pub struct Mutex<T>(checker::Mutex<T>);

impl<T> Mutex<T> {
    /// An unlocked mutex around `value`.
    pub fn new(value: T) -> Mutex<T> {
        Mutex(checker::Mutex::new(value))
    }

    /// Blocks until the lock is free.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().expect("a panic ends the model")
    }

    /// The lock, if it is free.
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        self.0.try_lock().ok()
    }

    /// The content, once nobody else has the mutex.
    pub fn into_inner(self) -> T {
        self.0.into_inner().expect("a panic ends the model")
    }
}

/// The checker's lock for many readers.
#[derive(Debug, Default)]
pub struct RwLock<T>(checker::RwLock<T>);

impl<T> RwLock<T> {
    /// An unlocked lock around `value`.
    pub fn new(value: T) -> RwLock<T> {
        RwLock(checker::RwLock::new(value))
    }

    /// Blocks until nobody has the lock.
    pub fn write(&self) -> checker::RwLockWriteGuard<'_, T> {
        self.0.write().expect("a panic ends the model")
    }

    /// The lock together with other readers, unless a writer has it.
    pub fn try_read(&self) -> Option<checker::RwLockReadGuard<'_, T>> {
        self.0.try_read().ok()
    }
}

/// The checker's condition variable.
#[derive(Debug, Default)]
pub struct Condvar(checker::Condvar);

impl Condvar {
    /// A condition variable that nobody waits for.
    pub fn new() -> Condvar {
        Condvar(checker::Condvar::new())
    }

    /// Gives the lock up, waits to be notified, and takes it again.
    pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        self.0.wait(guard).expect("a panic ends the model")
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
