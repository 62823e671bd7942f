//! A stack of indices that any thread pushes to and pops from, without ABA.
//!
//! Treiber's stack ("Systems Programming: Coping with Parallelism", 1986) with a tag that moves at
//! each push. What lies below an item is a link that the caller keeps with the item, in memory that
//! is never freed: a popper may read the link of an item that was popped, and used, meanwhile.

use wheel_sync::CachePadded;
use wheel_sync::atomic::{AtomicU64, Ordering};

use crate::entry::NIL;

/// The top of a stack: the tag in the upper half, the index in the lower.
pub(crate) struct Tagged(CachePadded<AtomicU64>);

const fn tagged(tag: u32, index: u32) -> u64 {
    (tag as u64) << 32 | index as u64
}

impl Tagged {
    pub(crate) fn new() -> Tagged {
        Tagged(CachePadded::new(AtomicU64::new(tagged(0, NIL))))
    }

    /// True when it looks as if there were something to pop.
    #[inline]
    pub(crate) fn seems_to_hold_some(&self) -> bool {
        // Relaxed: a glance; pop decides. [O26]
        self.0.load(Ordering::Relaxed) as u32 != NIL
    }

    /// Pushes an item that is the caller's; `link` is told what lies below it, to be kept with it.
    pub(crate) fn push(&self, index: u32, link: impl Fn(u32)) {
        // Relaxed: nothing is read through the top. [O16]
        let mut top = self.0.load(Ordering::Relaxed);
        loop {
            let (tag, below) = ((top >> 32) as u32, top as u32);
            link(below);
            // Release: the link and the content; pairs with pop. Relaxed on failure: as above.
            // [O16]
            match self.0.compare_exchange_weak(
                top,
                tagged(tag.wrapping_add(1), index),
                Ordering::Release,
                Ordering::Relaxed,
            ) {
                Ok(_) => return,
                Err(now) => top = now,
            }
        }
    }

    /// Pops an item, which is the caller's then; `link` says what lies below an item.
    pub(crate) fn pop(&self, link: impl Fn(u32) -> u32) -> Option<u32> {
        // Acquire, also on failure: link and content of the item on top; pairs with push. [O17]
        let mut top = self.0.load(Ordering::Acquire);
        loop {
            let (tag, index) = ((top >> 32) as u32, top as u32);
            if index == NIL {
                return None;
            }
            // If another thread has popped it meanwhile, its link may be any, and the tag has moved
            // by the time it could be on top again.
            let below = link(index);
            // Relaxed on success: a top is stored once, so this meets the store that was acquired.
            // [O17]
            match self.0.compare_exchange_weak(
                top,
                tagged(tag, below),
                Ordering::Relaxed,
                Ordering::Acquire,
            ) {
                Ok(_) => return Some(index),
                Err(now) => top = now,
            }
        }
    }
}

#[cfg(all(test, not(wheel_model)))]
mod tests {
    use super::*;
    use wheel_sync::atomic::{AtomicBool, AtomicU32};
    use wheel_sync::thread;

    /// Few items and much traffic: a top that is the same again by chance is soon met.
    #[test]
    fn an_item_has_one_owner_at_a_time() {
        const ITEMS: usize = 3;
        let stack = Tagged::new();
        let below: [AtomicU32; ITEMS] = Default::default();
        let owned: [AtomicBool; ITEMS] = Default::default();
        let push = |index: u32| stack.push(index, |b| below[index as usize].store(b, RELAXED));
        let pop = || stack.pop(|index| below[index as usize].load(RELAXED));
        // Relaxed: what the stack itself does is to be seen here, and nothing else. [O16]
        const RELAXED: Ordering = Ordering::Relaxed;
        (0..ITEMS as u32).for_each(push);
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..400_000 {
                        let mine = [pop(), pop()];
                        for &index in mine.iter().flatten() {
                            let was_owned = owned[index as usize].swap(true, RELAXED);
                            assert!(!was_owned, "item {index} has two owners");
                        }
                        for &index in mine.iter().flatten() {
                            owned[index as usize].store(false, RELAXED);
                            push(index);
                        }
                    }
                });
            }
        });
        let mut left: Vec<u32> = std::iter::from_fn(pop).collect();
        left.sort_unstable();
        assert_eq!(left, [0, 1, 2]);
    }
}
