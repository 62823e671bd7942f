//! The queue of one who listens: a channel with a count, so that it is full at some point, and a
//! place to sleep.
//!
//! Who tells never waits, and who listens never sleeps in the channel: a receiver that slept there
//! would make the sender take the channel's lock of sleepers. It sleeps as a worker of a pool does
//! (`executor/pool/sleepers.rs`), and is woken in the same way.
//!
//! Who leaves may leave somebody behind who has seen that the place is taken and puts an event there
//! a moment later. The next one who comes finds it empty all the same, or hears of something that
//! happened a moment before it came.
//!
//! Counts are Relaxed throughout, and change by read-modify-writes: they bound the queue, and the
//! channel hands events over. [O112]

use wheel_sync::atomic::Ordering;
use wheel_sync::channel::{Receiver, Sender, unbounded};
use wheel_sync::counting::{AtomicU64, AtomicUsize};

use super::event::Event;
use crate::clock::Patience;
use crate::executor::Sleepers;

pub(super) struct Place {
    inbound: Sender<Told>,
    outbound: Receiver<Told>,
    /// 0: nobody listens here.
    capacity: AtomicUsize,
    queued: AtomicUsize,
    /// Since somebody has listened here.
    dropped: AtomicU64,
    /// Of those, the ones that it has not been told of.
    lost: AtomicU64,
    sleepers: Sleepers,
}

/// An event in the queue.
pub(super) struct Told {
    pub(super) event: Event,
    /// How many were lost before it.
    pub(super) lost: u64,
}

impl Place {
    pub(super) fn new() -> Place {
        let (inbound, outbound) = unbounded();
        Place {
            inbound,
            outbound,
            capacity: AtomicUsize::new(0),
            queued: AtomicUsize::new(0),
            dropped: AtomicU64::new(0),
            lost: AtomicU64::new(0),
            sleepers: Sleepers::new(1),
        }
    }

    pub(super) fn is_taken(&self) -> bool {
        self.capacity.load(Ordering::Relaxed) != 0
    }

    /// One who listens comes. With the door closed.
    pub(super) fn take(&self, capacity: usize) {
        self.clear();
        self.dropped.store(0, Ordering::Relaxed);
        self.lost.store(0, Ordering::Relaxed);
        self.capacity.store(capacity, Ordering::Relaxed);
    }

    /// And goes.
    pub(super) fn leave(&self) {
        self.capacity.store(0, Ordering::Relaxed);
        self.clear();
    }

    fn clear(&self) {
        while self.pop().is_some() {}
    }

    /// Does not block.
    pub(super) fn put(&self, event: Event) {
        let capacity = self.capacity.load(Ordering::Relaxed);
        let one_more = |queued| (queued < capacity).then_some(queued + 1);
        let relaxed = Ordering::Relaxed;
        if self
            .queued
            .fetch_update(relaxed, relaxed, one_more)
            .is_err()
        {
            // Nobody is woken: who is behind with as many as these does not sleep.
            self.dropped.fetch_add(1, relaxed);
            self.lost.fetch_add(1, relaxed);
            return;
        }
        let lost = self.take_lost();
        if self.inbound.send(Told { event, lost }).is_err() {
            unreachable!("a place holds both ends of its channel");
        }
        self.sleepers.wake_one();
    }

    /// What has waited longest.
    pub(super) fn pop(&self) -> Option<Told> {
        let told = self.outbound.try_iter().next()?;
        self.queued.fetch_sub(1, Ordering::Relaxed);
        Some(told)
    }

    /// How many were lost since somebody was told.
    pub(super) fn take_lost(&self) -> u64 {
        match self.lost.load(Ordering::Relaxed) {
            0 => 0,
            _ => self.lost.swap(0, Ordering::Relaxed),
        }
    }

    pub(super) fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    /// Sleeps until something is put here, unless there is something, or `is_over` says that nothing
    /// will be; at most as long as patience lasts.
    pub(super) fn sleep(&self, patience: Patience, is_over: impl Fn() -> bool) {
        // Who listens may be another thread than the last time.
        self.sleepers.introduce(0);
        self.sleepers
            .sleep_unless(0, Some(patience), || !self.outbound.is_empty() || is_over());
    }

    /// Wakes who sleeps here.
    pub(super) fn wake(&self) {
        self.sleepers.wake_all();
    }
}
