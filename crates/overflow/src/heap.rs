//! A heap whose entries know their place: removal by key is O(log n), wherever the entry stands.
//!
//! `std::collections::BinaryHeap` can only drop a cancelled timer lazily, when it reaches the top:
//! a timeout that is set and cancelled again and again then holds memory for its whole length. Here
//! the key leads to the node of the value, the node knows the place in the heap array, and every
//! sift keeps it up to date.
//!
//! ```text
//!   HeapKey {heap, index, generation}
//!                    |
//!                    v
//!   slab       [ node | node | node | node ]       value, generation, place
//!                  \_____________,  ^
//!                                v  |
//!   heap array   (due, index)  (due, index)  ...   4-ary order by due, see `quad`
//! ```
//!
//! Single-owner: every change takes `&mut self`.

use std::collections::hash_map::RandomState;
use std::fmt;
use std::hash::BuildHasher;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use wheel_core::Tick;

use crate::quad::Quad;
use crate::slab::Slab;

/// Names one entry of one heap, for ever.
///
/// Once the entry has left, its key does nothing, however often the memory is used again. A key
/// does nothing on another heap either: each heap draws a random number of 64 bits for its keys, so
/// two heaps would have to draw the same. There is no way to make a key but
/// [`insert`](IndexedHeap::insert).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct HeapKey {
    heap: u64,
    index: u32,
    generation: u32,
}

/// A 4-ary min-heap by due tick with removal and change of the due tick by key.
///
/// Insert, pop, remove and reset cost O(log n), [`next_due`](IndexedHeap::next_due) and lookups
/// O(1). Entries that are due at the same tick leave in no particular order.
///
/// Memory: 16 bytes an entry in the heap array, and a node of 16 bytes for a value of 4 bytes, 24
/// for a boxed closure (in general 8 bytes and an `Option` of the value, rounded up to its
/// alignment). At most 4,294,967,295 entries.
///
/// What a burst took is given back. The heap array frees its pages of 1,024 entries as they empty.
/// The nodes stand in a vector that drains from its end; one removal in very many reads all of them
/// and drops that end (when the last entry has left, or less than a quarter is in use). So two
/// calls can take longer than O(log n), with a million entries some milliseconds: that removal, and
/// an insert that moves the vector to a larger place (which is remapped and not copied on Linux
/// with glibc). A single entry that was inserted late and stays for long keeps the nodes before it.
///
/// # Examples
///
/// ```
/// use wheel_core::Tick;
/// use wheel_overflow::IndexedHeap;
///
/// let mut heap = IndexedHeap::new();
/// let late = heap.insert(Tick::new(30), "late");
/// let early = heap.insert(Tick::new(10), "early");
///
/// assert_eq!(heap.next_due(), Some(Tick::new(10)));
/// assert_eq!(heap.remove(early), Some((Tick::new(10), "early")));
/// assert_eq!(heap.remove(early), None);
///
/// assert!(heap.reset(late, Tick::new(5)));
/// assert_eq!(heap.pop(), Some((Tick::new(5), "late")));
/// ```
pub struct IndexedHeap<V> {
    quad: Quad<u32>,
    slab: Slab<V>,
    id: u64,
}

impl<V> IndexedHeap<V> {
    /// An empty heap. Allocates nothing yet.
    pub fn new() -> IndexedHeap<V> {
        IndexedHeap {
            quad: Quad::new(),
            slab: Slab::new(),
            id: RandomState::new().hash_one(()),
        }
    }

    /// Adds a value that is due at `due`; any tick will do.
    ///
    /// # Panics
    ///
    /// When the heap holds 4,294,967,295 entries.
    pub fn insert(&mut self, due: Tick, value: V) -> HeapKey {
        let (index, generation) = self.slab.insert(value);
        self.quad.push(due, index, &mut self.slab);
        HeapKey {
            heap: self.id,
            index,
            generation,
        }
    }

    /// Removes the entry that `key` names. `None` when it has left already.
    pub fn remove(&mut self, key: HeapKey) -> Option<(Tick, V)> {
        let place = self.place(key)?;
        let due = self.quad.remove(place, &mut self.slab).due;
        Some((due, self.slab.take(key.index)))
    }

    /// Makes the entry that `key` names due at `due`, earlier or later than before. The key stays
    /// valid.
    ///
    /// Returns whether it was still there.
    pub fn reset(&mut self, key: HeapKey, due: Tick) -> bool {
        let Some(place) = self.place(key) else {
            return false;
        };
        self.quad.set_due(place, due, &mut self.slab);
        true
    }

    /// The due tick and the value of the entry that `key` names. `None` when it has left.
    pub fn get(&self, key: HeapKey) -> Option<(Tick, &V)> {
        let due = self.quad.at(self.place(key)?).0;
        Some((due, self.slab.get(key.index, key.generation)?))
    }

    /// The earliest due tick.
    pub fn next_due(&self) -> Option<Tick> {
        self.quad.next_due()
    }

    /// The earliest entry.
    pub fn first(&self) -> Option<(Tick, &V)> {
        if self.is_empty() {
            return None;
        }
        let (due, index) = self.quad.at(0);
        Some((due, self.slab.held(index).0))
    }

    /// Removes the earliest entry.
    pub fn pop(&mut self) -> Option<(Tick, V)> {
        let (due, index) = self.quad.pop(&mut self.slab)?;
        Some((due, self.slab.take(index)))
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.quad.len()
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All entries with their keys, in no particular order. O(1) for each.
    pub fn iter(&self) -> impl Iterator<Item = (HeapKey, Tick, &V)> {
        (0..self.len()).map(|place| {
            let (due, index) = self.quad.at(place);
            let (value, generation) = self.slab.held(index);
            (
                HeapKey {
                    heap: self.id,
                    index,
                    generation,
                },
                due,
                value,
            )
        })
    }

    /// Removes everything, in order of due tick. What the iterator has not handed out when it is
    /// dropped is dropped with it.
    pub fn drain(&mut self) -> Drain<'_, V> {
        Drain { heap: self }
    }

    fn place(&self, key: HeapKey) -> Option<usize> {
        if key.heap != self.id {
            return None;
        }
        self.slab
            .place(key.index, key.generation)
            .map(|place| place as usize)
    }
}

impl<V> Default for IndexedHeap<V> {
    fn default() -> IndexedHeap<V> {
        IndexedHeap::new()
    }
}

/// Hands out what was in a heap, in order of due tick; made by [`IndexedHeap::drain`].
pub struct Drain<'a, V> {
    heap: &'a mut IndexedHeap<V>,
}

impl<V> Iterator for Drain<'_, V> {
    type Item = (Tick, V);

    fn next(&mut self) -> Option<(Tick, V)> {
        self.heap.pop()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.heap.len(), Some(self.heap.len()))
    }
}

impl<V> ExactSizeIterator for Drain<'_, V> {}

impl<V> Drop for Drain<'_, V> {
    /// When a value panics as it is dropped, the others are dropped all the same, and the first
    /// panic goes on afterwards; a second one that unwound beside it would end the process.
    fn drop(&mut self) {
        let mut first = None;
        // From the last place, where a removal moves nothing.
        while let Some(last) = self.heap.len().checked_sub(1) {
            let index = self.heap.quad.remove(last, &mut self.heap.slab).entry;
            let value = self.heap.slab.take(index);
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(value))) {
                match first {
                    None => first = Some(panic),
                    // What a panic carries may panic as it is dropped.
                    Some(_) => std::mem::forget(panic),
                }
            }
        }
        match first {
            // tidy: allow sync-only, asks about this thread and shares nothing
            Some(panic) if std::thread::panicking() => std::mem::forget(panic),
            Some(panic) => resume_unwind(panic),
            None => {}
        }
    }
}

impl<V> Drop for IndexedHeap<V> {
    fn drop(&mut self) {
        if std::mem::needs_drop::<V>() {
            drop(self.drain());
        }
    }
}

impl fmt::Debug for HeapKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HeapKey({}.{})", self.index, self.generation)
    }
}

impl<V> fmt::Debug for IndexedHeap<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IndexedHeap")
            .field("len", &self.len())
            .field("next_due", &self.next_due())
            .finish()
    }
}

impl<V> fmt::Debug for Drain<'_, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Drain")
            .field("len", &self.heap.len())
            .finish()
    }
}

#[cfg(test)]
impl<V> IndexedHeap<V> {
    /// Panics unless the heap is in order, the slab accounts for every node, and every node knows
    /// its place.
    pub(crate) fn assert_consistent(&self) {
        self.quad.assert_ordered();
        self.slab.assert_accounted();
        for place in 0..self.len() {
            let index = self.quad.at(place).1;
            let generation = self.slab.held(index).1;
            assert_eq!(
                self.slab.place(index, generation),
                Some(place as u32),
                "index {index}"
            );
        }
    }

    /// How many pages the heap array has, and how many nodes there is memory for.
    pub(crate) fn room(&self) -> (usize, usize) {
        (self.quad.pages(), self.slab.capacity())
    }

    /// Lets the free node that `key` once named be as old as if it had held that many values.
    pub(crate) fn age(&mut self, key: HeapKey, generation: u32) {
        self.slab.age(key.index, generation);
    }
}
