//! Which workers sleep, and how one of them is woken without a lock.
//!
//! One bit per worker: set while it sleeps or is about to. Who clears a bit owes that worker an
//! `unpark`.
//!
//! ```text
//!  worker                          whoever brings work
//!  1 set own bit                   1 put the work into the queue
//!  2 fence                         2 fence
//!  3 look at the queue once more   3 look for a bit, clear it, unpark
//!  4 park
//! ```
//!
//! Of the two third steps at least one sees the other side's first, so that work and a sleeper
//! never miss each other. A stray `unpark` costs a look at an empty queue, nothing else. std's park
//! is a futex on Linux: the waking side takes no lock that a preempted worker could hold.

use wheel_sync::atomic::{AtomicU64, Ordering, fence};
use wheel_sync::thread::{self, Thread};
use wheel_sync::{CachePadded, OnceLock};

const BITS: usize = u64::BITS as usize;

#[derive(Debug)]
pub(crate) struct Sleepers {
    asleep: Box<[CachePadded<AtomicU64>]>,
    threads: Box<[OnceLock<Thread>]>,
}

impl Sleepers {
    pub(crate) fn new(workers: usize) -> Sleepers {
        Sleepers {
            asleep: (0..workers.div_ceil(BITS))
                .map(|_| CachePadded::new(AtomicU64::new(0)))
                .collect(),
            threads: (0..workers).map(|_| OnceLock::new()).collect(),
        }
    }

    /// The calling thread is worker number `worker` from now on.
    pub(crate) fn introduce(&self, worker: usize) {
        let fresh = self.threads[worker].set(thread::current()).is_ok();
        assert!(fresh, "worker {worker} was introduced twice");
    }

    /// Sleeps until woken, unless `work_is_there` after the bit has been set.
    pub(crate) fn sleep_unless(&self, worker: usize, work_is_there: impl FnOnce() -> bool) {
        let (word, bit) = place(worker);
        // Release: the introduction; pairs with `wake_one`. The fence orders the bit before the
        // look at the queue. [O54]
        self.asleep[word].fetch_or(bit, Ordering::Release);
        // SeqCst: pairs with the fence of `wake_one`. Whichever fence comes second, its side sees
        // what the other did before its own: the worker the push, or the waker the bit. [O55]
        fence(Ordering::SeqCst);
        if !work_is_there() {
            thread::park();
        }
        // Whether it was us or a waker who cleared it does not matter: we are up and look at the
        // queue next. Relaxed: a waker that still sees the bit wakes one that is awake, which
        // looks. [O56]
        self.asleep[word].fetch_and(!bit, Ordering::Relaxed);
    }

    /// Wakes one sleeping worker, if any sleeps. Call it after the work was put into the queue.
    pub(crate) fn wake_one(&self) -> bool {
        // SeqCst: pairs with the fence of `sleep_unless`. [O57]
        fence(Ordering::SeqCst);
        self.wake_another()
    }

    /// The same for a worker that has seen, under the lock of the queue, that there is more. A
    /// worker that goes to sleep takes that lock for its second look: before, and then the lock
    /// brings its bit here, or after, and then it finds what is left.
    pub(crate) fn wake_another(&self) -> bool {
        self.asleep.iter().enumerate().any(|(index, word)| {
            // Relaxed: the fence has ordered this look after the push, or the lock has. [O57]
            let mut seen = word.load(Ordering::Relaxed);
            while seen != 0 {
                let bit = 1 << seen.trailing_zeros();
                // Acquire: whoever takes a bit can wake its worker; pairs with `sleep_unless`. The
                // bit may be of a later sleep than the fences have ordered. [O58]
                let before = word.fetch_and(!bit, Ordering::Acquire);
                if before & bit != 0 {
                    self.unpark(index * BITS + bit.trailing_zeros() as usize);
                    return true;
                }
                seen = before & !bit;
            }
            false
        })
    }

    /// Wakes every worker, asleep or not.
    pub(crate) fn wake_all(&self) {
        // SeqCst: pairs with the fence of `sleep_unless`, for what the caller did before. [O59]
        fence(Ordering::SeqCst);
        (0..self.threads.len()).for_each(|worker| self.unpark(worker));
    }

    fn unpark(&self, worker: usize) {
        // `wake_one` finds every worker whose bit it took. `wake_all` may miss one that has not
        // introduced itself before its fence: that one looks after its own, and sees why.
        if let Some(thread) = self.threads[worker].get() {
            thread.unpark();
        }
    }
}

fn place(worker: usize) -> (usize, u64) {
    (worker / BITS, 1 << (worker % BITS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use wheel_sync::Arc;
    use wheel_sync::atomic::AtomicUsize;

    #[test]
    fn nobody_asleep_means_nobody_woken() {
        assert!(!Sleepers::new(130).wake_one());
    }

    #[test]
    fn a_worker_does_not_sleep_on_work() {
        let sleepers = Sleepers::new(65);
        sleepers.introduce(64);
        sleepers.sleep_unless(64, || true);
        assert!(!sleepers.wake_one(), "its bit is gone");
    }

    #[test]
    fn a_wake_between_the_look_and_the_sleep_is_not_lost() {
        let sleepers = Sleepers::new(1);
        sleepers.introduce(0);
        sleepers.sleep_unless(0, || {
            assert!(sleepers.wake_one());
            false
        });
    }

    #[test]
    fn each_wake_takes_another_worker() {
        const WORKERS: usize = 3;
        let sleepers = Arc::new(Sleepers::new(WORKERS));
        let up = Arc::new(AtomicUsize::new(0));
        let threads: Vec<_> = (0..WORKERS)
            .map(|n| {
                let (sleepers, up) = (sleepers.clone(), up.clone());
                thread::spawn(move || {
                    sleepers.introduce(n);
                    sleepers.sleep_unless(n, || false);
                    up.fetch_add(1, Ordering::SeqCst);
                })
            })
            .collect();
        for _ in 0..WORKERS {
            while !sleepers.wake_one() {
                thread::yield_now();
            }
        }
        threads.into_iter().for_each(|t| t.join().unwrap());
        assert_eq!(up.load(Ordering::SeqCst), WORKERS);
    }
}
