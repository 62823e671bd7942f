//! loom's mutex and condition variable, with the interface of `native`.

use std::time::Duration;

pub use loom::sync::MutexGuard;

/// loom's mutex.
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

/// loom's condition variable.
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
