//! Who may still bring work into the pool, and whether some is on its way.
//!
//! One word: a bit that says closed, and above it how many threads are handing jobs over. It
//! changes by read-modify-writes only, so it goes through its values in one order for everybody.
//! That makes the end free of fences: once a worker has read "closed, and nobody on the way", every
//! later step on the word sees that it is closed, and every earlier one has brought what it had.

use wheel_sync::atomic::{AtomicUsize, Ordering};

const CLOSED: usize = 1;
const ONE: usize = 2;

pub(super) struct Entrance(AtomicUsize);

impl Entrance {
    pub(super) fn new() -> Entrance {
        Entrance(AtomicUsize::new(0))
    }

    /// Runs `push`, unless it is closed.
    pub(super) fn pass(&self, push: impl FnOnce()) {
        // Relaxed: what matters is the place of this step among those on the word. [O40]
        let before = self.0.fetch_add(ONE, Ordering::Relaxed);
        if before & CLOSED == 0 {
            push();
        }
        // Release: what was pushed; pairs with `is_deserted`. [O41]
        self.0.fetch_sub(ONE, Ordering::Release);
    }

    /// Closes it for ever. Who is on the way arrives all the same.
    pub(super) fn close(&self) {
        // Relaxed: the fence of `wake_all`, which follows, orders it before the look at sleepers.
        // [O42]
        self.0.fetch_or(CLOSED, Ordering::Relaxed);
    }

    pub(super) fn is_closed(&self) -> bool {
        // Relaxed: before a sleep the fence of `sleep_unless` orders it. [O43]
        self.0.load(Ordering::Relaxed) & CLOSED != 0
    }

    /// Whether it is closed and nobody is on the way: nothing comes any more, and all that came is
    /// there to be seen.
    pub(super) fn is_deserted(&self) -> bool {
        // Acquire: what those have pushed who have passed; pairs with `pass`. [O44]
        self.0.load(Ordering::Acquire) == CLOSED
    }
}
