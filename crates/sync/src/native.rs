//! The half that ships: std's types, with thin wrappers where loom's interface differs.

use std::sync::{PoisonError, TryLockError};
use std::time::Duration;

pub use crate::cell::UnsafeCell;
#[cfg(feature = "channel")]
pub use crossbeam_channel as channel;
pub use std::sync::{Arc, OnceLock};
pub use std::thread_local;

/// True when loom's types are in force.
pub const MODELLED: bool = false;

/// How large to make what can fill up.
pub const SIZES: crate::Sizes = crate::Sizes::Full;

/// std's atomics.
pub mod atomic {
    pub use std::sync::atomic::{
        AtomicBool, AtomicI64, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
    };
}

/// std's threads, and a small number for each living one.
pub mod thread {
    pub use crate::native::slot::slot;
    pub use std::thread::{
        Builder, JoinHandle, Thread, ThreadId, available_parallelism, current, panicking, park,
        park_timeout, scope, sleep, spawn, yield_now,
    };
}

mod slot {
    //! Numbers living threads from 0, and gives a number to a new thread once its owner has ended.
    //!
    //! At any instant a number belongs to one thread, so what is kept under it needs no atomic
    //! read-modify-write. The mutex of the free list orders the last use by one owner before the
    //! first use by the next.

    use std::cell::Cell;
    use std::cmp::Reverse;
    use std::collections::BinaryHeap;
    use std::sync::{Mutex, PoisonError};

    const NONE: usize = usize::MAX;
    const ENDED: usize = usize::MAX - 1;

    struct Numbers {
        free: BinaryHeap<Reverse<usize>>,
        next: usize,
    }

    static NUMBERS: Mutex<Numbers> = Mutex::new(Numbers {
        free: BinaryHeap::new(),
        next: 0,
    });

    thread_local! {
        // No destructor, so it can be read for as long as the thread runs any code at all.
        static SLOT: Cell<usize> = const { Cell::new(NONE) };
        static LEASE: Lease = Lease::take();
    }

    struct Lease(usize);

    impl Lease {
        fn take() -> Lease {
            let mut numbers = NUMBERS.lock().unwrap_or_else(PoisonError::into_inner);
            let slot = numbers
                .free
                .pop()
                .map_or(numbers.next, |Reverse(slot)| slot);
            numbers.next = numbers.next.max(slot + 1);
            Lease(slot)
        }
    }

    impl Drop for Lease {
        fn drop(&mut self) {
            SLOT.set(ENDED);
            let mut numbers = NUMBERS.lock().unwrap_or_else(PoisonError::into_inner);
            numbers.free.push(Reverse(self.0));
        }
    }

    /// A number that no other living thread has: small, and used again after the thread has ended.
    ///
    /// `None` while the thread is being torn down and has given its number back (destructors of
    /// thread-locals that run late). Does not block but for the first call of a thread.
    #[inline]
    pub fn slot() -> Option<usize> {
        match SLOT.get() {
            NONE => lease(),
            ENDED => None,
            slot => Some(slot),
        }
    }

    #[cold]
    fn lease() -> Option<usize> {
        let slot = LEASE.try_with(|lease| lease.0).ok();
        SLOT.set(slot.unwrap_or(ENDED));
        slot
    }
}

/// Spins, then yields, while another thread is about to finish a step.
#[derive(Debug, Default)]
pub struct Backoff(crossbeam_utils::Backoff);

impl Backoff {
    /// Starts with short spins.
    pub fn new() -> Backoff {
        Backoff::default()
    }

    /// Waits a little longer than the last time.
    pub fn snooze(&self) {
        self.0.snooze();
    }
}

/// std's mutex without poisoning: what it guards stays usable after a panic elsewhere.
#[derive(Debug, Default)]
pub struct Mutex<T>(std::sync::Mutex<T>);

/// Holds the lock of a [`Mutex`] until it is dropped.
pub type MutexGuard<'a, T> = std::sync::MutexGuard<'a, T>;

impl<T> Mutex<T> {
    /// An unlocked mutex around `value`.
    pub const fn new(value: T) -> Mutex<T> {
        Mutex(std::sync::Mutex::new(value))
    }

    /// Blocks until the lock is free.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The lock, if it is free.
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        match self.0.try_lock() {
            Ok(guard) => Some(guard),
            Err(TryLockError::Poisoned(guard)) => Some(guard.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// The content, once nobody else has the mutex.
    pub fn into_inner(self) -> T {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

/// std's lock for many readers, without poisoning, for what is read without waiting and seldom
/// written: a reader never waits, and who goes first is never a question.
#[expect(clippy::disallowed_types, reason = "nobody waits for it but a writer")]
#[derive(Debug, Default)]
pub struct RwLock<T>(std::sync::RwLock<T>);

#[expect(clippy::disallowed_types, reason = "as above")]
impl<T> RwLock<T> {
    /// An unlocked lock around `value`.
    pub const fn new(value: T) -> RwLock<T> {
        RwLock(std::sync::RwLock::new(value))
    }

    /// Blocks until nobody has the lock.
    pub fn write(&self) -> std::sync::RwLockWriteGuard<'_, T> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// The lock together with other readers, unless a writer has it or waits for it.
    pub fn try_read(&self) -> Option<std::sync::RwLockReadGuard<'_, T>> {
        match self.0.try_read() {
            Ok(guard) => Some(guard),
            Err(TryLockError::Poisoned(guard)) => Some(guard.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}

/// std's condition variable for [`Mutex`].
#[derive(Debug, Default)]
pub struct Condvar(std::sync::Condvar);

impl Condvar {
    /// A condition variable that nobody waits for.
    pub const fn new() -> Condvar {
        Condvar(std::sync::Condvar::new())
    }

    /// Gives the lock up, waits to be notified, and takes it again. May return without a notice.
    pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        self.0.wait(guard).unwrap_or_else(PoisonError::into_inner)
    }

    /// As [`wait`](Condvar::wait), for `timeout` at most.
    pub fn wait_timeout<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        timeout: Duration,
    ) -> MutexGuard<'a, T> {
        let woken = self.0.wait_timeout(guard, timeout);
        woken.unwrap_or_else(PoisonError::into_inner).0
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

/// Runs a model once, plainly. Under loom it runs in every interleaving and says how many those
/// were.
pub fn model(name: &str, run: impl Fn() + Sync + Send + 'static) {
    run();
    println!("model {name}: 1 execution, without loom");
}

/// As [`model`]: only loom makes a difference.
pub fn long_model(name: &str, run: impl Fn() + Sync + Send + 'static) {
    model(name, run);
}

/// Runs `step` in one schedule and not in all of them: what comes before the race that a model is
/// about. Not inside another one.
pub fn unexplored<R>(step: impl FnOnce() -> R) -> R {
    step()
}

/// What is left of this execution is run in one schedule: what comes after the race.
pub fn rest_unexplored() {}

#[cfg(test)]
mod tests {
    use super::thread;
    use std::collections::HashSet;
    use std::sync::{Arc, Barrier};

    #[test]
    fn living_threads_have_different_slots_and_ended_ones_give_theirs_back() {
        let barrier = Arc::new(Barrier::new(8));
        let most = (0..50)
            .map(|_| {
                let threads: Vec<_> = (0..8)
                    .map(|_| {
                        let barrier = Arc::clone(&barrier);
                        thread::spawn(move || {
                            let slot = thread::slot().expect("the thread is alive");
                            barrier.wait();
                            slot
                        })
                    })
                    .collect();
                let slots: HashSet<_> = threads.into_iter().map(|t| t.join().unwrap()).collect();
                assert_eq!(slots.len(), 8, "two living threads shared a slot");
                slots.into_iter().max().unwrap()
            })
            .max()
            .unwrap();
        assert!(most < 100, "400 threads, 8 at a time, reached slot {most}");
    }

    #[test]
    fn a_slot_is_refused_not_shared_while_a_thread_is_torn_down() {
        struct Late;
        impl Drop for Late {
            fn drop(&mut self) {
                // Either order of destructors is fine; neither may panic.
                let _ = thread::slot();
            }
        }
        thread_local!(static LATE: Late = const { Late });
        thread::spawn(|| {
            LATE.with(|_| ());
            assert!(thread::slot().is_some());
        })
        .join()
        .unwrap();
    }
}
