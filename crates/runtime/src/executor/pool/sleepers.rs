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
//!
//! A worker has a place, a bit and who it is, and the next one may have it once it has left. A waker
//! may come late, with a bit that it took long ago: then it wakes whoever is there now, which costs
//! a look, or meets a worker that is just coming in, and wakes nobody. Whose bit it took has seen
//! that it was taken, and has looked at the queue before it left.

use wheel_sync::atomic::{AtomicU64, Ordering, fence};
use wheel_sync::thread::{self, Thread};
use wheel_sync::{CachePadded, MODELLED, OnceLock, RwLock};

use crate::clock::Patience;

/// Places of a block.
const BITS: usize = if MODELLED { 4 } else { u64::BITS as usize };

#[derive(Debug)]
pub(crate) struct Sleepers {
    first: Block,
    /// Those behind it, as far as they have been needed.
    more: Box<[OnceLock<Box<Block>>]>,
}

#[derive(Debug)]
struct Block {
    asleep: CachePadded<AtomicU64>,
    /// Places that have a worker.
    taken: AtomicU64,
    /// Written by a worker that comes in, else read without waiting.
    threads: Box<[RwLock<Option<Thread>>]>,
}

/// How a sleep has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slept {
    /// Somebody has taken the bit, or the look has found work, or the limit was not over.
    Called,
    /// The limit was over, and nobody had taken the bit.
    ForNothing,
}

impl Sleepers {
    /// Places for so many workers at most, of which none is taken.
    pub(crate) fn new(places_max: usize) -> Sleepers {
        let more = places_max.div_ceil(BITS).saturating_sub(1);
        Sleepers {
            first: Block::new(),
            more: (0..more).map(|_| OnceLock::new()).collect(),
        }
    }

    /// Makes room for so many workers. Not for the driver.
    pub(crate) fn make_room(&self, workers: usize) {
        for block in self.more.iter().take(workers.div_ceil(BITS).max(1) - 1) {
            if block.get().is_none() {
                let _ = block.set(Box::new(Block::new()));
            }
        }
    }

    /// A place for a new worker; `None` if all are taken for which there is room.
    pub(crate) fn claim(&self) -> Option<usize> {
        self.blocks().enumerate().find_map(|(index, block)| {
            let free = |taken: u64| {
                let bit = taken.trailing_ones() as usize;
                (bit < BITS).then(|| taken | 1 << bit)
            };
            // Relaxed: a number that nobody else has; what is behind it has a lock. [O80]
            let relaxed = Ordering::Relaxed;
            let before = block.taken.fetch_update(relaxed, relaxed, free).ok()?;
            Some(index * BITS + before.trailing_ones() as usize)
        })
    }

    /// The place of a worker that has left, or has not come, is free.
    pub(crate) fn release(&self, worker: usize) {
        let (block, bit) = self.place(worker);
        // Relaxed: as in `claim`. [O80]
        block.taken.fetch_and(!(1 << bit), Ordering::Relaxed);
    }

    /// The calling thread is worker number `worker` from now on.
    pub(crate) fn introduce(&self, worker: usize) {
        let (block, bit) = self.place(worker);
        *block.threads[bit].write() = Some(thread::current());
    }

    /// Sleeps until woken, or for `limit` at most, unless `work_is_there` after the bit has been
    /// set.
    pub(crate) fn sleep_unless(
        &self,
        worker: usize,
        limit: Option<Patience>,
        work_is_there: impl FnOnce() -> bool,
    ) -> Slept {
        let (block, bit) = self.place(worker);
        let bit = 1 << bit;
        // Release: the introduction; pairs with `wake_one`. The fence orders the bit before the
        // look at the queue. [O54]
        block.asleep.fetch_or(bit, Ordering::Release);
        // SeqCst: pairs with the fence of `wake_one`. Whichever fence comes second, its side sees
        // what the other did before its own: the worker the push, or the waker the bit. [O55]
        fence(Ordering::SeqCst);
        let mut is_over = false;
        if !work_is_there() {
            is_over = park_for(limit);
        }
        // Whether it was us or a waker who cleared it does not matter: we are up and look at the
        // queue next. Relaxed: a waker that still sees the bit wakes one that is awake, which
        // looks. [O56]
        let before = block.asleep.fetch_and(!bit, Ordering::Relaxed);
        // SeqCst: orders that before the look at how many are at work, and at who else is asleep;
        // pairs with the fence of one that leaves (`hire.rs`), and with itself in that one. [O82]
        fence(Ordering::SeqCst);
        if is_over && before & bit != 0 {
            Slept::ForNothing
        } else {
            Slept::Called
        }
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
        self.blocks().any(|block| {
            // Relaxed: the fence has ordered this look after the push, or the lock has. [O57]
            let mut seen = block.asleep.load(Ordering::Relaxed);
            while seen != 0 {
                let bit = 1 << seen.trailing_zeros();
                // Acquire: whoever takes a bit can wake its worker; pairs with `sleep_unless`. The
                // bit may be of a later sleep than the fences have ordered. [O58]
                let before = block.asleep.fetch_and(!bit, Ordering::Acquire);
                if before & bit != 0 {
                    block.unpark(bit.trailing_zeros() as usize);
                    return true;
                }
                seen = before & !bit;
            }
            false
        })
    }

    /// Whether one has its bit set; the caller has put a fence before it.
    pub(crate) fn is_anyone_asleep(&self) -> bool {
        // Relaxed: the fences order it. [O82]
        let is_asleep = |block: &Block| block.asleep.load(Ordering::Relaxed) != 0;
        self.blocks().any(is_asleep)
    }

    /// How many sleep: for people.
    pub(crate) fn count(&self) -> usize {
        // Relaxed: a number for people. [O64]
        let asleep = |block: &Block| block.asleep.load(Ordering::Relaxed).count_ones();
        self.blocks().map(asleep).sum::<u32>() as usize
    }

    /// Wakes every worker, asleep or not.
    pub(crate) fn wake_all(&self) {
        // SeqCst: pairs with the fence of `sleep_unless`, for what the caller did before. [O59]
        fence(Ordering::SeqCst);
        for block in self.blocks() {
            (0..BITS).for_each(|bit| block.unpark(bit));
        }
    }

    fn blocks(&self) -> impl Iterator<Item = &Block> {
        let more = self.more.iter().map_while(|block| Some(&**block.get()?));
        std::iter::once(&self.first).chain(more)
    }

    fn place(&self, worker: usize) -> (&Block, usize) {
        let block = self.blocks().nth(worker / BITS);
        (block.expect("a claimed place has its block"), worker % BITS)
    }
}

impl Block {
    fn new() -> Block {
        Block {
            asleep: CachePadded::new(AtomicU64::new(0)),
            taken: AtomicU64::new(0),
            threads: (0..BITS).map(|_| RwLock::new(None)).collect(),
        }
    }

    fn unpark(&self, bit: usize) {
        // `wake_one` finds every worker whose bit it took, unless that one has left since, and then
        // nobody needs to be woken. `wake_all` may miss one that has not introduced itself before
        // its fence: that one looks after its own, and sees why.
        let thread = self.threads[bit].try_read();
        if let Some(Some(thread)) = thread.as_deref() {
            thread.unpark();
        }
    }
}

/// Parks; whether a limit was over.
fn park_for(limit: Option<Patience>) -> bool {
    let Some(limit) = limit else {
        thread::park();
        return false;
    };
    if let Some(left) = limit.left() {
        thread::park_timeout(left);
    }
    limit.left().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use wheel_sync::Arc;
    use wheel_sync::atomic::AtomicUsize;

    #[test]
    fn nobody_asleep_means_nobody_woken() {
        assert!(!Sleepers::new(130).wake_one());
    }

    #[test]
    fn a_worker_does_not_sleep_on_work() {
        let sleepers = Sleepers::new(65);
        sleepers.make_room(65);
        sleepers.introduce(64);
        sleepers.sleep_unless(64, None, || true);
        assert!(!sleepers.wake_one(), "its bit is gone");
    }

    #[test]
    fn a_wake_between_the_look_and_the_sleep_is_not_lost() {
        let sleepers = Sleepers::new(1);
        sleepers.introduce(0);
        sleepers.sleep_unless(0, None, || {
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
                    sleepers.sleep_unless(n, None, || false);
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

    #[test]
    fn places_are_given_out_from_the_lowest_and_again_after_their_release() {
        let sleepers = Sleepers::new(2 * BITS);
        let claimed: Vec<_> = std::iter::from_fn(|| sleepers.claim()).collect();
        assert_eq!(
            claimed,
            (0..BITS).collect::<Vec<_>>(),
            "as far as there is room"
        );
        sleepers.make_room(2 * BITS);
        assert_eq!(sleepers.claim(), Some(BITS));
        sleepers.release(3);
        assert_eq!(
            (sleepers.claim(), sleepers.claim()),
            (Some(3), Some(BITS + 1))
        );
    }

    #[test]
    fn a_sleep_that_was_called_is_not_for_nothing() {
        let sleepers = Sleepers::new(1);
        sleepers.introduce(0);
        let at_once = || Some(Patience::new(Duration::ZERO));
        let called = sleepers.sleep_unless(0, at_once(), || !sleepers.wake_one());
        assert_eq!(called, Slept::Called);
        assert_eq!(sleepers.sleep_unless(0, at_once(), || true), Slept::Called);
        assert_eq!(
            sleepers.sleep_unless(0, at_once(), || false),
            Slept::ForNothing
        );
    }
}
