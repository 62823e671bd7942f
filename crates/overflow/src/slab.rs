//! Where the values of a heap live, and how a key finds an entry's place.
//!
//! An entry of the heap array moves with every sift; its node here does not. The node holds the
//! value, the place, and a generation that moves on whenever the node is emptied, so that an old
//! key meets another generation and does nothing. A node whose generations are used up (after
//! 4,294,967,295 values) is not used again.
//!
//! The nodes stand in one vector, free ones in a chain: each step of a sift writes to a random
//! node, and a table of pages in between made cancel and insert in a heap of a million a quarter
//! slower.
//!
//! ```text
//!   [ held | free | held | held | free | held | free | held | free | free ]
//!   |<---- worth keeping: twice the held, 1,024 ---->|<----- drains ----->|
//!             \____________________/____________/____________/_____/
//!   free: taken from the front of the chain; one that is worth keeping joins there,
//!         one behind joins at the end
//! ```
//!
//! **Giving back.** Nodes can only leave at the end of the vector, so it drains from there. When
//! the last value has left, or when less than a quarter of the nodes is held and as many removals
//! as half the nodes have passed since the last time, one removal drops the free nodes at the end,
//! and chains the others from front to back. That one reads every node (some milliseconds for a
//! million, rarely, and amortised a few nodes for each removal). What stays of dropped nodes is the
//! generation that new ones start with, so that old keys stay stale for ever.
//!
//! Memory: 16 bytes a node for a value of 4 bytes, 24 for a boxed closure.

use crate::quad::Places;

/// Nodes that are kept however few are held.
const KEPT: usize = 1024;

/// Ends the chain.
const NONE: u32 = u32::MAX;

/// The last generation; a node that reaches it is never used again.
const RETIRED: u32 = u32::MAX;

/// A node that went further than this is not dropped, because all new ones would have to start
/// there.
const WORN: u32 = u32::MAX / 2;

struct Node<V> {
    generation: u32,
    /// The place in the heap array while there is a value, else the next free node.
    link: u32,
    value: Option<V>,
}

/// Nodes with values; see the file's head.
pub(crate) struct Slab<V> {
    nodes: Vec<Node<V>>,
    held: usize,
    first_free: u32,
    last_free: u32,
    /// Removals since the end of the vector was dropped.
    removals: usize,
    /// No node that was dropped had a later generation.
    first_generation: u32,
}

impl<V> Slab<V> {
    pub(crate) const fn new() -> Slab<V> {
        Slab {
            nodes: Vec::new(),
            held: 0,
            first_free: NONE,
            last_free: NONE,
            removals: 0,
            first_generation: 0,
        }
    }

    /// Stores a value and returns its index and generation. The place is told afterwards, by
    /// [`Places::placed`].
    pub(crate) fn insert(&mut self, value: V) -> (u32, u32) {
        let index = self.first_free;
        if index != NONE {
            let node = &mut self.nodes[index as usize];
            node.value = Some(value);
            self.first_free = node.link;
            self.held += 1;
            return (index, node.generation);
        }
        let index = self.nodes.len();
        assert!(index < NONE as usize, "a heap holds at most {NONE} entries");
        let generation = self.first_generation;
        self.nodes.push(Node {
            generation,
            link: NONE,
            value: Some(value),
        });
        self.held += 1;
        (index as u32, generation)
    }

    /// The place of the value that index and generation name, if it is still here.
    pub(crate) fn place(&self, index: u32, generation: u32) -> Option<u32> {
        let node = self.live(index, generation)?;
        Some(node.link)
    }

    /// The value that index and generation name, if it is still here.
    pub(crate) fn get(&self, index: u32, generation: u32) -> Option<&V> {
        self.live(index, generation)?.value.as_ref()
    }

    /// The value and the generation at an index that the heap array holds.
    pub(crate) fn held(&self, index: u32) -> (&V, u32) {
        let node = &self.nodes[index as usize];
        (
            node.value
                .as_ref()
                .expect("the heap array holds a node without a value"),
            node.generation,
        )
    }

    /// Takes the value at an index that the heap array has held until now.
    pub(crate) fn take(&mut self, index: u32) -> V {
        let node = &mut self.nodes[index as usize];
        let value = node
            .value
            .take()
            .expect("the heap array held a node without a value");
        node.generation += 1;
        self.held -= 1;
        self.removals += 1;
        if node.generation != RETIRED {
            if self.first_free == NONE || (index as usize) < 2 * self.held + KEPT {
                if self.first_free == NONE {
                    self.last_free = index;
                }
                node.link = self.first_free;
                self.first_free = index;
            } else {
                node.link = NONE;
                self.nodes[self.last_free as usize].link = index;
                self.last_free = index;
            }
        }
        let nodes = self.nodes.len();
        let drained = self.held == 0 || (self.held < nodes / 4 && self.removals > nodes / 2);
        if drained && nodes > KEPT {
            self.drop_the_end();
        }
        value
    }

    fn live(&self, index: u32, generation: u32) -> Option<&Node<V>> {
        let node = self.nodes.get(index as usize)?;
        (node.generation == generation && node.value.is_some()).then_some(node)
    }

    /// Drops the free nodes at the end of the vector and chains the others from front to back.
    #[cold]
    fn drop_the_end(&mut self) {
        self.removals = 0;
        while let Some(last) = self
            .nodes
            .pop_if(|node| node.value.is_none() && node.generation <= WORN)
        {
            self.first_generation = self.first_generation.max(last.generation);
        }
        // Large allocations shrink in place on most systems; where not, at most a quarter of it is
        // copied.
        let used = self.nodes.len().max(KEPT);
        if self.nodes.capacity() / 4 >= used {
            self.nodes.shrink_to(2 * used);
        }

        (self.first_free, self.last_free) = (NONE, NONE);
        for (index, node) in self.nodes.iter_mut().enumerate().rev() {
            if node.value.is_none() && node.generation != RETIRED {
                if self.first_free == NONE {
                    self.last_free = index as u32;
                }
                node.link = self.first_free;
                self.first_free = index as u32;
            }
        }
    }
}

impl<V> Places<u32> for Slab<V> {
    fn placed(&mut self, index: u32, place: u32) {
        self.nodes[index as usize].link = place;
    }
}

const _: () = {
    assert!(size_of::<Node<u32>>() == 16);
    assert!(size_of::<Node<Box<dyn FnOnce()>>>() == 24);
};

#[cfg(test)]
impl<V> Slab<V> {
    /// Panics unless the values are counted right and the chain holds every free node once.
    pub(crate) fn assert_accounted(&self) {
        let held = self
            .nodes
            .iter()
            .filter(|node| node.value.is_some())
            .count();
        let retired = self
            .nodes
            .iter()
            .filter(|node| node.generation == RETIRED)
            .count();
        assert_eq!(held, self.held);
        let (mut free, mut index) = (0, self.first_free);
        while index != NONE {
            let node = &self.nodes[index as usize];
            assert!(
                node.value.is_none() && node.generation != RETIRED,
                "node {index} is not free"
            );
            assert!(
                node.link != NONE || index == self.last_free,
                "the chain ends at {index}"
            );
            free += 1;
            assert!(free <= self.nodes.len(), "the chain is a ring");
            index = node.link;
        }
        assert_eq!(held + retired + free, self.nodes.len());
    }

    /// Lets the free node at `index` be as old as if it had held that many values.
    pub(crate) fn age(&mut self, index: u32, generation: u32) {
        let node = &mut self.nodes[index as usize];
        assert!(node.value.is_none(), "node {index} is not free");
        node.generation = generation;
    }

    /// How many nodes there is memory for.
    pub(crate) fn capacity(&self) -> usize {
        self.nodes.capacity()
    }
}
