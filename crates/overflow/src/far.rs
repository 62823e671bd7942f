//! Where timers beyond the span of the wheel wait: the heap order without keys.
//!
//! The wheel never looks for a far entry. It takes the earliest when that comes within the span,
//! and from time to time it walks over all of them to drop those that were cancelled meanwhile.
//! Both go by position, so this heap needs no slab and tells nobody of its moves: 16 bytes an
//! entry.
//!
//! The walk starts at the end and goes towards the root. Removing an entry moves others, but a
//! removal only moves entries that were looked at already, with one exception: when the gap is
//! filled from above, the parent that comes down was not looked at yet, and the walk stays where it
//! is. So one round looks at every entry that was there when it started and stayed, whatever is
//! removed. Between two calls the wheel inserts and takes entries: taking moves entries towards the
//! root, where they may be looked at twice; an insert may push one entry past the walk, and that
//! one waits for the next round.
//!
//! Only the driver of a wheel touches it.

use std::fmt;

use wheel_core::{FarEntry, Overflow, Tick};

use crate::quad::{Gap, Quad, Untold};

/// A heap of far timers, for [`wheel_core::Config::overflow`].
///
/// Insert, take and each removal cost O(log n); the earliest due tick costs nothing. A call
/// allocates or frees at most one page of 16 KiB (1,024 entries) and copies no entries to do so;
/// what a burst took is given back as it shrinks. Entries that are due at the same tick leave in no
/// particular order. It holds up to 4,294,967,295 entries.
///
/// # Examples
///
/// ```
/// use wheel_core::{Budget, Config, Tick};
/// use wheel_overflow::FarHeap;
///
/// let (wheel, mut driver) = Config::new().overflow(FarHeap::new()).build::<&str>();
/// let in_a_year = Tick::new(365 * 24 * 60 * 60 * 1_000);
/// wheel.insert(in_a_year, "happy new year").unwrap();
///
/// let mut fired = Vec::new();
/// driver.advance(in_a_year, Budget::UNLIMITED, |timer| fired.push(timer.value));
/// assert_eq!(fired, ["happy new year"]);
/// ```
pub struct FarHeap<E = FarEntry> {
    quad: Quad<E>,
    /// How many places, from the root on, the round of the sweep has yet to look at. `None` between
    /// rounds.
    unseen: Option<usize>,
}

impl FarHeap {
    /// An empty heap. Allocates nothing yet.
    pub const fn new() -> FarHeap {
        FarHeap::of_entries()
    }
}

impl<E: Copy> FarHeap<E> {
    pub(crate) const fn of_entries() -> FarHeap<E> {
        FarHeap {
            quad: Quad::new(),
            unseen: None,
        }
    }

    /// The trait's `sweep`, for entries of any kind.
    pub(crate) fn sweep_entries(&mut self, limit: usize, mut keep: impl FnMut(E) -> bool) -> usize {
        let mut unseen = self.unseen.unwrap_or(usize::MAX);
        let mut looked = 0;
        while looked < limit {
            // The wheel may have taken entries since the last call, and removing the last place
            // shortens it too.
            unseen = unseen.min(self.quad.len());
            let Some(place) = unseen.checked_sub(1) else {
                break;
            };
            looked += 1;
            if keep(self.quad.at(place).1)
                || self.quad.remove(place, &mut Untold).gap != Gap::FromAbove
            {
                unseen = place;
            }
        }
        self.unseen = (looked == limit).then_some(unseen);
        looked
    }
}

impl Overflow for FarHeap {
    fn insert(&mut self, due: Tick, entry: FarEntry) {
        self.quad.push(due, entry, &mut Untold);
    }

    fn next_due(&self) -> Option<Tick> {
        self.quad.next_due()
    }

    fn pop(&mut self) -> Option<(Tick, FarEntry)> {
        self.quad.pop(&mut Untold)
    }

    fn len(&self) -> usize {
        self.quad.len()
    }

    fn sweep(&mut self, limit: usize, keep: &mut dyn FnMut(FarEntry) -> bool) -> usize {
        self.sweep_entries(limit, keep)
    }
}

impl Default for FarHeap {
    fn default() -> FarHeap {
        FarHeap::new()
    }
}

impl<E: Copy> fmt::Debug for FarHeap<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FarHeap")
            .field("len", &self.quad.len())
            .field("next_due", &self.quad.next_due())
            .finish()
    }
}

#[cfg(test)]
impl<E: Copy> FarHeap<E> {
    /// The heap order itself, to fill it with entries that no wheel has made.
    pub(crate) fn quad(&mut self) -> &mut Quad<E> {
        &mut self.quad
    }
}
