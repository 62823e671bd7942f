//! From any thread to the driver: chains of entries that have no place yet.
//!
//! ```text
//!   shard 0   head -> e7 -> e3 -> e1        a push is one CAS, taking the whole chain is one swap
//!   shard 1   head -> (empty)
//!   ...
//! ```
//!
//! There is no pop, so no ABA, and a chain that was taken is complete. Heads are changed by
//! read-modify-writes only: a push acquires every release that came before it on its head, and that
//! makes the wake protocol (`wake`) work without fences.

use std::collections::VecDeque;

use wheel_sync::atomic::{AtomicU64, Ordering};
use wheel_sync::{CachePadded, SIZES, Sizes};

use crate::entry::{Entry, NIL};

/// Shards that threads are spread over.
pub(crate) const SHARDS: usize = match SIZES {
    Sizes::Full => 8,
    Sizes::Small => 2,
    Sizes::Tiny => 1,
};

/// The stacks of pushed entries.
pub(crate) struct Intake {
    /// How many entries in the upper half, the last one pushed in the lower (NIL: none).
    heads: [CachePadded<AtomicU64>; SHARDS],
}

const EMPTY: u64 = NIL as u64;

/// A chain that was taken.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taken {
    first: u32,
    /// How many entries are on it.
    len: u32,
}

impl Intake {
    pub(crate) fn new() -> Intake {
        Intake {
            heads: std::array::from_fn(|_| CachePadded::new(AtomicU64::new(EMPTY))),
        }
    }

    /// Pushes an entry and says how many the shard holds now. Races: push-or-park, close-or-insert.
    #[inline]
    pub(crate) fn push<T>(&self, slot: usize, index: u32, entry: &Entry<T>) -> u32 {
        let head = &self.heads[slot % SHARDS];
        // Relaxed: nothing is read through the head. [O18]
        let mut seen = head.load(Ordering::Relaxed);
        loop {
            entry.set_next(seen as u32);
            let count = (seen >> 32) as u32;
            let pushed = u64::from(count + 1) << 32 | u64::from(index);
            // Release: the link, and the entry behind it; pairs with take and take_armed. Acquire:
            // sees the wake tick, or the close, that preceded the swap before it. Relaxed on
            // failure: as above. [O18]
            match head.compare_exchange_weak(seen, pushed, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return count + 1,
                Err(now) => seen = now,
            }
        }
    }

    /// Whether a glance shows no chain. It looks at all heads at once: one after the other, each with
    /// its branch, would be most of what a tick costs at which nothing is due.
    #[inline]
    pub(crate) fn seems_empty(&self) -> bool {
        // Relaxed: as in take. [O19]
        let differs = |head: &AtomicU64| head.load(Ordering::Relaxed) ^ EMPTY;
        self.heads.iter().fold(0, |some, head| some | differs(head)) == 0
    }

    /// How many entries have been pushed and not been taken.
    pub(crate) fn len(&self) -> usize {
        // Relaxed: a count for people; as in take. [O19]
        let pushed = |head: &AtomicU64| (head.load(Ordering::Relaxed) >> 32) as usize;
        self.heads.iter().map(|head| pushed(head)).sum()
    }

    /// Takes each chain that is not empty, if a glance shows one.
    pub(crate) fn take(&self) -> impl Iterator<Item = Taken> {
        self.heads.iter().filter_map(|head| {
            // Relaxed: an empty look only puts the chain off until the next call. [O19]
            if head.load(Ordering::Relaxed) == EMPTY {
                return None;
            }
            // Acquire: the chain's links and entries; pairs with push. No Release: this publishes
            // nothing, and as a read-modify-write it passes on what earlier ones have released.
            // [O20]
            Taken::of(head.swap(EMPTY, Ordering::Acquire))
        })
    }

    /// Takes every chain by a swap, glance or not: whoever pushes afterwards has seen what this
    /// thread wrote before. Races: push-or-park, close-or-insert.
    pub(crate) fn take_armed(&self) -> impl Iterator<Item = Taken> {
        // Acquire: as take. Release: the wake tick, or the close, for every later push. [O21]
        self.heads
            .iter()
            .filter_map(|head| Taken::of(head.swap(EMPTY, Ordering::AcqRel)))
    }
}

/// Chains that were taken, the oldest first, from each of which some entries may have left.
pub(crate) struct Chains {
    /// The first entry of each.
    pub(crate) firsts: VecDeque<u32>,
    /// How many entries are on all of them.
    pub(crate) entries: usize,
}

impl Chains {
    pub(crate) fn new() -> Chains {
        Chains {
            firsts: VecDeque::with_capacity(SHARDS),
            entries: 0,
        }
    }

    pub(crate) fn extend(&mut self, taken: impl Iterator<Item = Taken>) {
        for chain in taken {
            self.firsts.push_back(chain.first);
            self.entries += chain.len as usize;
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.firsts.is_empty()
    }
}

impl Taken {
    fn of(head: u64) -> Option<Taken> {
        let (first, len) = (head as u32, (head >> 32) as u32);
        (first != NIL).then_some(Taken { first, len })
    }
}
