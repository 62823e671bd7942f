//! When an inserter must wake the driver.
//!
//! Before it sleeps, the driver publishes the tick at which it will wake (`arm`), and *then* swaps
//! every head of the intake. An inserter pushes, and *then* loads that tick. So either the push is
//! in a chain that the driver has taken, or the inserter has acquired the tick from the swap. No
//! fence is needed. Race: push-or-park.
//!
//! An inserter that is earlier wakes the driver first and says so afterwards (`asked`), in the name
//! of that one sleep (`epoch`), so that the next ones need not wake it again. To say so first would
//! hide the others' timers when the one who said so is preempted before it has woken anybody; and
//! without the epoch it could speak for a later sleep.
//!
//! The waker is the user's code and may insert in its turn, before or after it has woken anybody.
//! That does not call it again for the sleep that it is ending.

use std::task::Waker;

use wheel_sync::atomic::{AtomicU64, Ordering};
use wheel_sync::{CachePadded, SIZES, Sizes};

use crate::places::Mine;

/// A shard with a multiple of this many pushed entries wakes the driver whatever their due ticks,
/// so that cancelled entries do not pile up behind a driver that sleeps for an hour.
const CROWD: u32 = match SIZES {
    Sizes::Full => 4096,
    Sizes::Small => 16,
    Sizes::Tiny => 64,
};

/// The wake-up tick of the driver, and the waker to call.
pub(crate) struct Wake {
    published: CachePadded<Published>,
    waker: Option<Waker>,
}

struct Published {
    /// The driver sleeps until this tick; 0 while it runs.
    wake_at: AtomicU64,
    /// Counts the sleeps.
    epoch: AtomicU64,
    /// The latest sleep that somebody has ended.
    asked: AtomicU64,
}

impl Wake {
    pub(crate) fn new(waker: Option<Waker>) -> Wake {
        Wake {
            published: CachePadded::new(Published {
                wake_at: AtomicU64::new(0),
                epoch: AtomicU64::new(0),
                asked: AtomicU64::new(0),
            }),
            waker,
        }
    }

    /// The driver is about to sleep until `wake_at`. It must swap all heads of the intake before it
    /// does, and arm again when that brings something earlier.
    pub(crate) fn arm(&self, wake_at: u64) {
        // Relaxed: the swap of the heads that follows publishes both. Read-modify-writes, as loom
        // leaves a plain store after another thread's write unordered. [O22]
        self.published.epoch.fetch_add(1, Ordering::Relaxed);
        self.published.wake_at.swap(wake_at, Ordering::Relaxed);
    }

    /// The driver runs: it will look at the intake itself before it sleeps again.
    pub(crate) fn disarm(&self) {
        // Relaxed: who still sees the old tick wakes a driver that is awake. [O22]
        self.published.wake_at.swap(0, Ordering::Relaxed);
    }

    /// After a push: wakes the driver when it would come too late, or when the shard is crowded.
    #[inline]
    pub(crate) fn after_push(&self, mine: &Mine<'_>, due: u64, shard_len: u32) {
        // Relaxed: the push before it has acquired what the driver published. [O23]
        let wake_at = self.published.wake_at.load(Ordering::Relaxed);
        if due < wake_at || (shard_len.is_multiple_of(CROWD) && wake_at != 0) {
            self.call(mine);
        }
    }

    #[cold]
    fn call(&self, mine: &Mine<'_>) {
        let Some(waker) = &self.waker else { return };
        // Relaxed: as above. An epoch that is older than the sleep which missed the push cannot be
        // read here. [O23]
        let epoch = self.published.epoch.load(Ordering::Relaxed);
        // Acquire: when this insert returns, the wake has been called; pairs with the store. [O24]
        if self.published.asked.load(Ordering::Acquire) == epoch {
            return; // That sleep has been ended: the driver takes the push before its next one.
        }
        // A waker that inserts comes back to this line. For the same sleep there is nothing to do:
        // the call that it is in the midst of ends that sleep.
        mine.end_sleep(epoch, || {
            waker.wake_by_ref();
            // Release: the wake comes before; pairs with the load above. [O24]
            self.published.asked.store(epoch, Ordering::Release);
        });
    }
}
