//! How many runs wait at the gate, and how many of them may have become void.
//!
//! Relaxed throughout: numbers for a threshold, they publish nothing. [O86]

use wheel_sync::atomic::Ordering;
use wheel_sync::counting::AtomicUsize;

/// Shared by the driver and whoever cancels.
#[derive(Debug, Default)]
pub(in crate::scheduler) struct Watch {
    waiting: AtomicUsize,
    /// Runs that have become void since the last sweep, at the gate or behind it.
    void: AtomicUsize,
    #[cfg(test)]
    keys: AtomicUsize,
}

impl Watch {
    /// So many wait now.
    pub(super) fn set_waiting(&self, runs: usize) {
        self.waiting.store(runs, Ordering::Relaxed);
    }

    /// How many wait, and how many keys there are.
    #[cfg(test)]
    pub(super) fn seen(&self) -> (usize, usize) {
        let relaxed = Ordering::Relaxed;
        (self.waiting.load(relaxed), self.keys.load(relaxed))
    }

    #[cfg(test)]
    pub(super) fn set_keys(&self, keys: usize) {
        self.keys.store(keys, Ordering::Relaxed);
    }

    /// A run that was due has become void. Whether the gate should be swept: those that are void may
    /// be half of all that wait there.
    pub(in crate::scheduler) fn note_void(&self) -> bool {
        const FEW: usize = 1024;
        let waiting = self.waiting.load(Ordering::Relaxed);
        if waiting == 0 {
            return false;
        }
        let void = self.void.fetch_add(1, Ordering::Relaxed) + 1;
        let is_time = void >= FEW && void >= waiting / 2;
        if is_time {
            self.void.store(0, Ordering::Relaxed);
        }
        is_time
    }
}
