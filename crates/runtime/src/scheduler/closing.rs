//! How far a shutdown has come.
//!
//! SeqCst throughout: who waits for `is_sealed` does so in `activity.rs`, whose protocol needs it,
//! and the other steps happen once in the life of a scheduler.

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
        let begun = self
            .0
            .compare_exchange(OPEN, BEGUN, Ordering::SeqCst, Ordering::SeqCst);
        begun.is_ok()
    }

    pub(super) fn seal(&self) {
        self.0.store(SEALED, Ordering::SeqCst);
    }

    pub(super) fn has_begun(&self) -> bool {
        self.0.load(Ordering::SeqCst) != OPEN
    }

    pub(super) fn is_sealed(&self) -> bool {
        self.0.load(Ordering::SeqCst) == SEALED
    }
}
