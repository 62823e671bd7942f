//! Where entries live, and the stock of free ones.
//!
//! Entries are never moved, and never freed while the engine lives: a stale reader meets a recycled
//! state word and its step fails. That is why neither epochs nor hazard pointers are needed.
//!
//! Free entries travel in batches: the driver chains what it frees, a full chain goes to a shared
//! stack (`tagged`), and a thread that runs dry takes one chain, or indices that were never used.

use wheel_sync::atomic::{AtomicU64, Ordering};
use wheel_sync::{CachePadded, MODELLED};

use crate::entry::Entry;
use crate::prefetch::prefetch;
use crate::segments::Segments;
use crate::tagged::Tagged;

/// Free entries that move at once.
pub(crate) const BATCH: u32 = if MODELLED { 2 } else { 64 };
const FIRST_BITS: u32 = if MODELLED { 1 } else { 10 };
// Every segment begins at a multiple of a batch, so the indices of a batch lie side by side.
const _: () = assert!(BATCH <= 1 << FIRST_BITS && BATCH.is_power_of_two());

/// `len` free entries linked by `next` from `head` on. All zero bytes when empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Chain {
    head: u32,
    len: u32,
}

impl Chain {
    /// Puts a free entry in front.
    #[inline]
    pub(crate) fn push<T>(&mut self, index: u32, arena: &Arena<T>) {
        arena.get(index).set_next(self.head);
        self.head = index;
        self.len += 1;
    }

    /// Takes the first entry.
    #[inline]
    pub(crate) fn pop<T>(&mut self, arena: &Arena<T>) -> Option<u32> {
        self.len = self.len.checked_sub(1)?;
        let index = self.head;
        self.head = arena.get(index).next();
        if self.len > 0 {
            // Another core may have freed it.
            arena.prefetch(self.head);
        }
        Some(index)
    }

    pub(crate) fn is_full(&self) -> bool {
        self.len >= BATCH
    }

    #[cfg(wheel_model)]
    pub(crate) fn len(&self) -> usize {
        self.len as usize
    }
}

type Entries<T> = Segments<Entry<T>, FIRST_BITS>;

/// Every entry of an engine. An entry's *index* is its spot (see [`segments`](crate::segments)).
pub(crate) struct Arena<T> {
    entries: Entries<T>,
    /// Running numbers from here on were never used.
    unused: CachePadded<AtomicU64>,
    /// Full chains, each by its first entry. That entry's due tick, which is idle while it is free,
    /// holds the length of the chain in its upper half and the chain below in the lower.
    stock: Tagged,
}

impl<T> Arena<T> {
    pub(crate) fn new() -> Arena<T> {
        Arena {
            entries: Segments::new(),
            unused: CachePadded::new(AtomicU64::new(0)),
            stock: Tagged::new(),
        }
    }

    /// The entry at an index that this arena has given out.
    #[inline]
    pub(crate) fn get(&self, index: u32) -> &Entry<T> {
        self.entries.existing(index)
    }

    /// The entry with a running number below [`used`](Arena::used) and its index, if there is
    /// memory behind it.
    pub(crate) fn find(&self, number: u32) -> Option<(u32, &Entry<T>)> {
        let index = Entries::<T>::spot(number);
        Some((index, self.entries.get(index)?))
    }

    /// Brings an entry near that will be looked at soon.
    #[inline]
    pub(crate) fn prefetch(&self, index: u32) {
        prefetch(self.get(index));
    }

    /// How many entries were ever used: an upper bound of all running numbers.
    pub(crate) fn used(&self) -> u32 {
        // Relaxed: whoever needs more has it from the intake's head, which comes later. [O15]
        let used = self.unused.load(Ordering::Relaxed);
        u32::try_from(used).expect("the last batch begins below the capacity")
    }

    /// A batch of indices that were never used, as (first, how many). `None` when memory or the
    /// index space does not suffice.
    pub(crate) fn take_unused(&self) -> Option<(u32, u32)> {
        // Relaxed: it hands out numbers; what stands behind them is ordered elsewhere. [O15]
        let mut first = self.unused.load(Ordering::Relaxed);
        while first < Entries::<T>::CAPACITY {
            let number = u32::try_from(first).expect("the capacity fits");
            let index = Entries::<T>::spot(number);
            // Memory first, so that no index is lost when there is none. A batch lies within one
            // segment, as both sizes are powers of two.
            self.entries.get_or_grow(index)?;
            // Relaxed: as above. [O15]
            match self.unused.compare_exchange_weak(
                first,
                first + u64::from(BATCH),
                Ordering::Relaxed,
                Ordering::Relaxed,
            ) {
                Ok(_) => return Some((index, BATCH)),
                Err(now) => first = now,
            }
        }
        None
    }

    /// Gives a chain of free entries to whoever needs some. Race: free-list.
    pub(crate) fn give(&self, chain: Chain) {
        if chain.len == 0 {
            return;
        }
        let entry = self.get(chain.head);
        self.stock.push(chain.head, |below| {
            entry.set_due(u64::from(chain.len) << 32 | u64::from(below));
        });
    }

    /// A chain of free entries, if some are in stock. Race: free-list.
    pub(crate) fn take(&self) -> Option<Chain> {
        let link = |head| self.get(head).due();
        let head = self.stock.pop(|head| link(head) as u32)?;
        Some(Chain {
            head,
            len: (link(head) >> 32) as u32,
        })
    }
}

#[cfg(all(test, not(wheel_model)))]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn a_batch_is_handed_out_once_and_comes_back_as_it_was_given() {
        let arena = Arena::<u8>::new();
        let mut seen = HashSet::new();
        for _ in 0..100 {
            let (first, count) = arena.take_unused().unwrap();
            let mut chain = Chain::default();
            for index in first..first + count {
                assert!(seen.insert(index));
                chain.push(index, &arena);
            }
            assert!(chain.is_full());
            arena.give(chain);
        }
        let mut back = HashSet::new();
        while let Some(mut chain) = arena.take() {
            while let Some(index) = chain.pop(&arena) {
                assert!(back.insert(index));
            }
        }
        assert_eq!(back, seen);
    }

    #[test]
    fn the_last_index_of_the_space_counts_as_used() {
        let arena = Arena::<u8>::new();
        let capacity = Entries::<u8>::CAPACITY;
        arena.unused.store(capacity, Ordering::Relaxed);
        assert_eq!(u64::from(arena.used()), capacity);
        assert_eq!(arena.take_unused(), None, "the index space is used up");
    }

    #[test]
    fn indices_are_not_lost_when_memory_does_not_suffice() {
        // A segment of these is larger than any address space.
        let arena = Arena::<[u8; 1 << 40]>::new();
        for _ in 0..10 {
            assert_eq!(arena.take_unused(), None);
        }
        assert_eq!(arena.used(), 0);
    }
}
