//! The half for random schedules: shuttle's types under the paths of `native`.
//!
//! shuttle knows one memory order, the strictest, whatever an operation asks for: it finds faults
//! of logic in runs that are far too long for loom, and none of ordering.

pub use crate::backoff::Backoff;
pub use crate::cell::UnsafeCell;
pub use crate::lock::{Condvar, Mutex, MutexGuard, RwLock};
pub use shuttle::sync::Arc;
pub use shuttle::thread_local;
// Its steps are whole ones in every schedule.
pub use std::sync::OnceLock;

/// True when sizes shrink for a model.
pub const MODELLED: bool = true;

/// How large to make what can fill up.
pub const SIZES: crate::Sizes = crate::Sizes::Small;

/// shuttle's atomics.
pub mod atomic {
    pub use shuttle::sync::atomic::{
        AtomicBool, AtomicI64, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
    };
}

/// shuttle's threads, and a small number for each living one.
pub mod thread {
    use std::io;

    pub use shuttle::thread::{Builder, JoinHandle, ThreadId, panicking, spawn, yield_now};

    /// How many threads a model should think of as at work at once.
    ///
    /// # Errors
    ///
    /// None.
    pub fn available_parallelism() -> io::Result<std::num::NonZeroUsize> {
        Ok(std::num::NonZeroUsize::MIN)
    }

    pub use super::parking::{Thread, current, park, park_timeout};
    pub use super::slot::slot;
}

mod parking {
    //! Parking that ends by a token only.
    //!
    //! shuttle's own may end at any time, as std's may: then a lost wake is made up for, and no
    //! schedule shows it.

    use std::sync::Arc;
    use std::time::Duration;

    use shuttle::sync::{Condvar, Mutex};
    use shuttle::thread::ThreadId;

    #[derive(Debug, Default)]
    struct Parking {
        token: Mutex<bool>,
        given: Condvar,
    }

    shuttle::thread_local! {
        static PARKING: Arc<Parking> = Arc::default();
    }

    fn parking() -> Arc<Parking> {
        // A thread that is being torn down is not unparked any more.
        PARKING.try_with(Arc::clone).unwrap_or_default()
    }

    /// A handle to a thread.
    #[derive(Clone, Debug)]
    pub struct Thread {
        thread: shuttle::thread::Thread,
        parking: Arc<Parking>,
    }

    impl Thread {
        /// Its number within the execution.
        pub fn id(&self) -> ThreadId {
            self.thread.id()
        }

        /// What it is called, if anything.
        pub fn name(&self) -> Option<&str> {
            self.thread.name()
        }

        /// Gives it the token, which ends its park or the next one.
        pub fn unpark(&self) {
            *self.parking.token.lock().expect("a panic ends the model") = true;
            self.parking.given.notify_one();
        }
    }

    /// The calling thread.
    pub fn current() -> Thread {
        Thread {
            thread: shuttle::thread::current(),
            parking: parking(),
        }
    }

    /// Waits for the token, and takes it.
    pub fn park() {
        let parking = parking();
        let mut token = parking.token.lock().expect("a panic ends the model");
        while !*token {
            token = parking.given.wait(token).expect("a panic ends the model");
        }
        *token = false;
    }

    /// As [`park`]: a model has no time, so the timeout never comes.
    pub fn park_timeout(_timeout: Duration) {
        park();
    }
}

mod slot {
    //! Numbers living threads as `native` does: from 0, and again once their owner has ended.
    //!
    //! Each execution begins at 0, so that it can be played again.

    use std::cmp::Reverse;
    use std::collections::BinaryHeap;

    use shuttle::sync::Mutex;

    #[derive(Default)]
    struct Numbers {
        free: BinaryHeap<Reverse<usize>>,
        next: usize,
    }

    shuttle::lazy_static! {
        static ref NUMBERS: Mutex<Numbers> = Mutex::new(Numbers::default());
    }

    shuttle::thread_local! {
        static LEASE: Lease = Lease::take();
    }

    struct Lease(usize);

    impl Lease {
        fn take() -> Lease {
            let mut numbers = NUMBERS.lock().expect("a panic ends the model");
            let slot = numbers.free.pop().map(|Reverse(slot)| slot);
            let slot = slot.unwrap_or(numbers.next);
            numbers.next = numbers.next.max(slot + 1);
            Lease(slot)
        }
    }

    impl Drop for Lease {
        fn drop(&mut self) {
            // A panic has ended the model already.
            if let Ok(mut numbers) = NUMBERS.lock() {
                numbers.free.push(Reverse(self.0));
            }
        }
    }

    /// A number that no other living thread has: small, and used again after the thread has ended.
    ///
    /// `None` while the thread is being torn down and has given its number back.
    pub fn slot() -> Option<usize> {
        LEASE.try_with(|lease| lease.0).ok()
    }
}

/// Runs a model in `SHUTTLE_ITERATIONS` random schedules, 100 unless told otherwise.
pub fn model(name: &str, run: impl Fn() + Sync + Send + 'static) {
    let iterations = std::env::var("SHUTTLE_ITERATIONS").map_or(100, |text| {
        text.parse()
            .expect("SHUTTLE_ITERATIONS must be a number of schedules")
    });
    let mut config = shuttle::Config::new();
    // That every order is taken for the strictest is said above.
    config.silence_warnings = true;
    let scheduler = shuttle::scheduler::RandomScheduler::new(iterations);
    shuttle::Runner::new(scheduler, config).run(run);
    println!("model {name}: {iterations} executions");
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
