//! How far a shutdown has come.
//!
//! Who waits for `is_sealed` does so in `activity.rs`, which wakes it.

use wheel_sync::atomic::{AtomicU32, Ordering};

const OPEN: u32 = 0;
const BEGUN: u32 = 1;
const SEALED: u32 = 2;

/// Open, begun (nothing new is accepted), sealed (no run starts any more).
pub(super) struct Closing(AtomicU32);

impl Closing {
    pub(super) fn new() -> Closing {
        Closing(AtomicU32::new(OPEN))
    }

    /// Begins. `true` for the first one, who has to seal it.
    pub(super) fn begin(&self) -> bool {
        // Relaxed: it only says who is the first one. [O51]
        let relaxed = Ordering::Relaxed;
        let begun = self.0.compare_exchange(OPEN, BEGUN, relaxed, relaxed);
        begun.is_ok()
    }

    pub(super) fn seal(&self) {
        // Relaxed: the `tell` that follows brings it to who waits. The tasks are behind their locks
        // and the runs behind their count, so it publishes nothing else. [O52]
        self.0.store(SEALED, Ordering::Relaxed);
    }

    pub(super) fn has_begun(&self) -> bool {
        // Relaxed: a glance, which spares work. Who misses it is refused by the engine. [O51]
        self.0.load(Ordering::Relaxed) != OPEN
    }

    pub(super) fn is_sealed(&self) -> bool {
        // Relaxed: as in `seal`. [O52]
        self.0.load(Ordering::Relaxed) == SEALED
    }
}
