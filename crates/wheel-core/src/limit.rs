//! How many timers may be pending at once.
//!
//! Without a limit this costs nothing. With one, each insert and each end of a timer changes one
//! counter that all threads share: about 5 ns when it is at hand, and a trip of its cache line when
//! another thread was the last to change it.

use wheel_sync::atomic::{AtomicUsize, Ordering};
use wheel_sync::{CachePadded, SIZES, Sizes};

/// Entries for each timer that may be pending: twice as many as a sweep leaves at worst.
const ENTRIES_PER_TIMER: u64 = 4;
/// Entries besides: about twice what threads push before a sleeping driver is woken.
const ENTRIES_SLACK: u64 = match SIZES {
    Sizes::Full | Sizes::Tiny => 1 << 16,
    Sizes::Small => 32,
};

/// Counts pending timers against the limit, if there is one.
pub(crate) struct Limit(Option<(usize, CachePadded<AtomicUsize>)>);

impl Limit {
    pub(crate) fn new(max: Option<usize>) -> Limit {
        Limit(max.map(|max| (max, CachePadded::new(AtomicUsize::new(0)))))
    }

    /// Makes room for one timer. False when there is none; never lets more in than the limit.
    #[inline]
    pub(crate) fn reserve(&self) -> bool {
        let Some((max, pending)) = &self.0 else {
            return true;
        };
        // Relaxed: it is a count; the timers themselves are ordered by their state words. [O27]
        let reserved = pending.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |pending| {
            (pending < *max).then(|| pending + 1)
        });
        reserved.is_ok()
    }

    /// How many entries may be in use besides those that threads keep at hand: with those that were
    /// cancelled and that the driver has not come by to free. Without it a limit would not bound
    /// memory while the driver does not run.
    pub(crate) fn entries_max(&self) -> u64 {
        self.0.as_ref().map_or(u64::MAX, |(max, _)| {
            (*max as u64)
                .saturating_mul(ENTRIES_PER_TIMER)
                .saturating_add(ENTRIES_SLACK)
        })
    }

    /// A timer has left.
    #[inline]
    pub(crate) fn release(&self) {
        if let Some((_, pending)) = &self.0 {
            // Relaxed: as above. [O27]
            pending.fetch_sub(1, Ordering::Relaxed);
        }
    }
}
