//! The content of slots: what is to be looked at, in arrays that are copied in order.
//!
//! A slot is a queue of fixed chunks of items, 8 bytes each: which entry, and the low half of the
//! tick at which to look at it. Links through the entries themselves would cost a cache miss per
//! timer and cascade; one growing vector per slot would copy megabytes in one tick, and keep its
//! capacity.
//!
//! ```text
//!   slot   front -> [ . . c d e f ] -> [ g h i j k l ] -> [ m n . . . . ] <- back
//! ```
//!
//! Chunks come from one pool that the driver owns and go back to it when they are empty. The pool
//! keeps what it has needed at most.

use wheel_sync::MODELLED;

use crate::bitmap::Bitmap;
use crate::entry::NIL;
use crate::prefetch::prefetch;

/// An entry to look at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) index: u32,
    /// The low half of the tick at which to look. No slot is 2^32 ticks long, so the slot gives the
    /// rest.
    pub(crate) low: u32,
}

pub(crate) const CHUNK: usize = if MODELLED { 2 } else { 31 };
/// Items to a line of the cache.
const LINE: usize = 8;
const SEGMENT_BITS: u32 = if MODELLED { 1 } else { 6 };
const SEGMENT: usize = 1 << SEGMENT_BITS;

/// Items alone, so that one is added without a look at what is there: which are in use is said in
/// the slot. Four lines of the cache.
#[repr(align(64))]
struct Chunk {
    items: [Item; CHUNK],
    next: u32,
}

const _: () = assert!(MODELLED || size_of::<Chunk>() == 256);

/// Chunks, in segments that are never moved.
#[derive(Default)]
pub(crate) struct Pool {
    segments: Vec<Box<[Chunk; SEGMENT]>>,
    /// Chunks not in use, linked by `next`, when `free_len` is not 0.
    free: u32,
    free_len: usize,
}

impl Pool {
    /// Chunks that exist, and how many of them hold items.
    #[cfg(test)]
    pub(crate) fn chunks(&self) -> (usize, usize) {
        let made = self.segments.len() * SEGMENT;
        (made, made - self.free_len)
    }

    #[inline]
    fn at(&mut self, chunk: u32) -> &mut Chunk {
        &mut self.segments[chunk as usize >> SEGMENT_BITS][chunk as usize & (SEGMENT - 1)]
    }

    fn take(&mut self) -> u32 {
        if self.free_len == 0 {
            self.grow();
        }
        self.free_len -= 1;
        let chunk = self.free;
        self.free = self.at(chunk).next;
        chunk
    }

    fn give(&mut self, chunk: u32) {
        let free = self.free;
        self.at(chunk).next = free;
        self.free = chunk;
        self.free_len += 1;
    }

    #[cold]
    fn grow(&mut self) {
        let first = self.segments.len() * SEGMENT;
        let end = u32::try_from(first + SEGMENT).expect("2^32 entries need fewer chunks");
        let chunks = (first as u32..end).map(|chunk| Chunk {
            items: [Item::default(); CHUNK],
            next: chunk + 1,
        });
        let segment: Box<[Chunk]> = chunks.collect();
        let segment = segment.try_into().ok();
        self.segments.push(segment.expect("so many were made"));
        self.free = first as u32;
        self.free_len = SEGMENT;
    }
}

/// The items of one slot, first in, first out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    front: u32,
    back: u32,
    len: u32,
    /// The oldest item in the front chunk.
    from: u16,
    /// Where the next item goes in the back chunk. All chunks before that one are full.
    to: u16,
}

impl Slot {
    const EMPTY: Slot = Slot {
        front: NIL,
        back: NIL,
        len: 0,
        from: 0,
        to: CHUNK as u16,
    };

    #[inline]
    pub(crate) fn len(&self) -> u32 {
        self.len
    }

    #[inline]
    pub(crate) fn push(&mut self, item: Item, pool: &mut Pool) {
        if usize::from(self.to) == CHUNK {
            self.add_chunk(pool);
        }
        pool.at(self.back).items[usize::from(self.to)] = item;
        self.to += 1;
        self.len += 1;
    }

    #[inline]
    fn add_chunk(&mut self, pool: &mut Pool) {
        let chunk = pool.take();
        match self.len {
            0 => self.front = chunk,
            _ => pool.at(self.back).next = chunk,
        }
        self.back = chunk;
        self.to = 0;
    }

    /// Where the items of the front chunk end.
    #[inline]
    fn front_end(&self) -> usize {
        match self.front == self.back {
            true => usize::from(self.to),
            false => CHUNK,
        }
    }

    /// Takes the oldest item. `ahead` is told of items that will follow soon, each once.
    #[inline]
    pub(crate) fn pop(&mut self, pool: &mut Pool, mut ahead: impl FnMut(u32)) -> Option<Item> {
        if self.len == 0 {
            return None;
        }
        const AHEAD: usize = 8;
        let (from, to) = (usize::from(self.from), self.front_end());
        let items = &pool.at(self.front).items[..to];
        let item = items[from];
        if from == 0 {
            items.iter().take(AHEAD).for_each(|item| ahead(item.index));
        }
        if let Some(next) = items.get(from + AHEAD) {
            ahead(next.index);
        }
        self.drop_front(1, to, pool);
        Some(item)
    }

    /// Takes the oldest items, `most` at most and as many as lie side by side, into `into`. Returns
    /// how many: none only when the slot holds none.
    #[inline]
    pub(crate) fn pop_some(
        &mut self,
        pool: &mut Pool,
        most: usize,
        into: &mut [Item; CHUNK],
    ) -> usize {
        if self.len == 0 {
            return 0;
        }
        let (from, to) = (usize::from(self.from), self.front_end());
        let count = most.min(to - from);
        let chunk = pool.at(self.front);
        into[..count].copy_from_slice(&chunk.items[from..from + count]);
        if self.front != self.back {
            let next = chunk.next;
            pool.at(next).items.iter().step_by(LINE).for_each(prefetch);
        }
        self.drop_front(count, to, pool);
        count
    }

    /// Forgets the oldest `count` items, of the front chunk whose items end at `to`.
    #[inline]
    fn drop_front(&mut self, count: usize, to: usize, pool: &mut Pool) {
        self.from += count as u16;
        self.len -= count as u32;
        if usize::from(self.from) == to {
            let empty = self.front;
            self.front = pool.at(empty).next;
            self.from = 0;
            if self.len == 0 {
                *self = Slot::EMPTY;
            }
            pool.give(empty);
        }
    }
}

/// The slots of one level, and which of them hold something.
pub(crate) struct Ring {
    slots: Box<[Slot]>,
    occupied: Bitmap,
    /// How often a slot was looked for.
    #[cfg(test)]
    pub(crate) looks: std::cell::Cell<u64>,
}

impl Ring {
    /// A ring of so many slots: a power of two, or none.
    pub(crate) fn new(slots: usize) -> Ring {
        assert!(slots == 0 || slots.is_power_of_two(), "{slots} slots");
        Ring {
            slots: vec![Slot::EMPTY; slots].into(),
            occupied: Bitmap::default(),
            #[cfg(test)]
            looks: std::cell::Cell::new(0),
        }
    }

    #[inline]
    fn at(&self, number: u64) -> usize {
        #[cfg(test)]
        self.looks.set(self.looks.get() + 1);
        // The length is a power of two.
        number as usize & (self.slots.len() - 1)
    }

    /// How many items the slot with this number holds.
    #[inline]
    pub(crate) fn len(&self, number: u64) -> u32 {
        self.slots[self.at(number)].len()
    }

    /// Adds an item and says how many the slot holds now.
    #[inline]
    pub(crate) fn push(&mut self, number: u64, item: Item, pool: &mut Pool) -> u32 {
        let at = self.at(number);
        self.slots[at].push(item, pool);
        self.occupied.set(at);
        self.slots[at].len()
    }

    #[inline]
    pub(crate) fn pop(
        &mut self,
        number: u64,
        pool: &mut Pool,
        ahead: impl FnMut(u32),
    ) -> Option<Item> {
        let at = self.at(number);
        let item = self.slots[at].pop(pool, ahead)?;
        self.has_shrunk(at);
        Some(item)
    }

    /// As [`Slot::pop_some`], for the slot with this number.
    #[inline]
    pub(crate) fn pop_some(
        &mut self,
        number: u64,
        pool: &mut Pool,
        most: usize,
        into: &mut [Item; CHUNK],
    ) -> usize {
        let at = self.at(number);
        let count = self.slots[at].pop_some(pool, most, into);
        self.has_shrunk(at);
        count
    }

    #[inline]
    fn has_shrunk(&mut self, at: usize) {
        if self.slots[at].len() == 0 {
            self.occupied.clear(at);
        }
    }

    /// The first slot from position `slot` up that holds something, and how many items.
    pub(crate) fn occupied_from(&self, slot: usize) -> Option<(usize, u32)> {
        if slot >= self.slots.len() {
            return None;
        }
        let found = self.occupied.first_from(slot)?;
        Some((found, self.slots[found].len()))
    }

    /// Takes the oldest item of the slot at position `slot`, and adds it again if `keep` wants
    /// that. Says whether it did; `None` when the slot holds nothing.
    pub(crate) fn rotate(
        &mut self,
        slot: usize,
        pool: &mut Pool,
        keep: &mut impl FnMut(u32) -> bool,
    ) -> Option<bool> {
        let item = self.slots[slot].pop(pool, |_| ())?;
        let kept = keep(item.index);
        if kept {
            self.slots[slot].push(item, pool);
        } else {
            self.has_shrunk(slot);
        }
        Some(kept)
    }

    /// The number of the first slot that holds something, from `number` on, once around.
    #[inline]
    pub(crate) fn next_occupied(&self, number: u64) -> Option<u64> {
        if self.slots.is_empty() {
            return None;
        }
        let at = self.at(number);
        let ahead = match self.occupied.first_from(at) {
            Some(found) => found - at,
            None => self.occupied.first_from(0)? + self.slots.len() - at,
        };
        Some(number.saturating_add(ahead as u64))
    }
}

#[cfg(all(test, not(wheel_model)))]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, VecDeque};

    proptest! {
        #[test]
        fn slots_are_queues_and_the_bitmap_knows_which_hold_something(
            steps in proptest::collection::vec((0u64..2048, 0usize..100, any::<bool>()), 1..200)
        ) {
            let mut pool = Pool::default();
            let mut ring = Ring::new(2048);
            let mut model: BTreeMap<u64, VecDeque<Item>> = BTreeMap::new();
            for (number, count, push) in steps {
                let queue = model.entry(number).or_default();
                for index in 0..count as u32 {
                    if push {
                        let item = Item { index, low: number as u32 };
                        queue.push_back(item);
                        prop_assert_eq!(ring.push(number, item, &mut pool) as usize, queue.len());
                    } else {
                        prop_assert_eq!(ring.pop(number, &mut pool, |_| ()), queue.pop_front());
                    }
                }
                model.retain(|_, queue| !queue.is_empty());
                for from in [0, 63, 64, number, 2047] {
                    let next = model.range(from..).next().map(|(&n, _)| n);
                    let around = model.keys().next().map(|n| n + 2048);
                    prop_assert_eq!(ring.next_occupied(from), next.or(around));
                }
            }
            let held: usize = model.values().map(VecDeque::len).sum();
            let (_, in_use) = pool.chunks();
            prop_assert!(in_use <= held / CHUNK + 2 * model.len(), "{in_use} chunks for {held} items");
        }
    }

    #[test]
    fn each_item_is_announced_once_before_it_is_taken() {
        let (mut pool, mut slot) = (Pool::default(), Slot::EMPTY);
        for index in 0..1000 {
            slot.push(Item { index, low: 0 }, &mut pool);
        }
        let mut announced = Vec::new();
        for index in 0..1000 {
            let item = slot.pop(&mut pool, |index| announced.push(index)).unwrap();
            assert_eq!(item.index, index);
            assert!(announced.contains(&index));
        }
        announced.sort_unstable();
        assert_eq!(announced, (0..1000).collect::<Vec<_>>());
    }
}
