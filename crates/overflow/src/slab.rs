//! Where the values of a heap live, and how a key finds an entry's place.
//!
//! An entry of the heap array moves with every sift; its node here does not. The node holds the value, the place, and
//! a generation that moves on whenever the node is emptied, so that an old key meets another generation and does
//! nothing. A node whose generations are used up (after 4,294,967,295 values) is not used again.
//!
//! The nodes stand in pages. A page that becomes empty is given back, except one that is kept in reserve; what stays
//! of it is the generation that its nodes go on with when its number is used again, so that keys stay stale for ever.
//! A single value keeps its page, but no other.
//!
//! ```text
//!   node 1,024 * page + lane           vacancy of a page
//!   [generation|place|value]           free -> lane -> lane -> none
//!   [generation|next free lane|-]      pages with a free lane: doubly linked, `open` is the first
//!                                      numbers whose page was given back: a stack
//! ```
//!
//! Memory: 16 bytes a node for a value of 4 bytes, 24 for a boxed closure.

use crate::page::{Page, page};
use crate::quad::Places;

const NODES: usize = 1024;

/// As many as an index of 32 bits can name.
const PAGES: usize = 1 << 22;

/// Ends a chain of lanes or pages.
const NONE: u32 = u32::MAX;

/// The last generation; a node that reaches it is never used again.
const RETIRED: u32 = u32::MAX;

/// A page that went further than this leaves its number unused, or its nodes would retire too often.
const WORN: u32 = u32::MAX / 2;

struct Node<V> {
    generation: u32,
    /// The place in the heap array while there is a value, else the next free lane of the page.
    link: u32,
    value: Option<V>,
}

/// What is known of a page without looking into it.
struct Vacancy {
    /// The first free lane, or `NONE`.
    free: u32,
    held: u32,
    /// The generation that the nodes start with when the page is allocated.
    first_generation: u32,
    /// Neighbours among the pages with a free lane.
    previous: u32,
    next: u32,
}

/// Nodes with values; see the file's head.
pub(crate) struct Slab<V> {
    pages: Vec<Option<Page<Node<V>, NODES>>>,
    vacancies: Vec<Vacancy>,
    open: u32,
    given_back: Vec<u32>,
    /// An empty page that was not given back.
    reserve: Option<u32>,
}

impl<V> Slab<V> {
    pub(crate) const fn new() -> Slab<V> {
        Slab {
            pages: Vec::new(),
            vacancies: Vec::new(),
            open: NONE,
            given_back: Vec::new(),
            reserve: None,
        }
    }

    /// Stores a value and returns its index and generation. The place is told afterwards, by [`Places::placed`].
    pub(crate) fn insert(&mut self, value: V) -> (u32, u32) {
        if self.open == NONE {
            self.add_page();
        }
        let number = self.open;
        if self.reserve == Some(number) {
            self.reserve = None;
        }
        let vacancy = &mut self.vacancies[number as usize];
        let lane = vacancy.free;
        let index = number * NODES as u32 + lane;
        vacancy.held += 1;

        let node = self.node_mut(index);
        node.value = Some(value);
        let (next_free, generation) = (node.link, node.generation);
        self.vacancies[number as usize].free = next_free;
        if next_free == NONE {
            self.close_page(number);
        }
        (index, generation)
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
        let page = self.pages[index as usize / NODES].as_ref();
        let node =
            &page.expect("the heap holds an index of a page that was given back")[lane_of(index)];
        (
            node.value
                .as_ref()
                .expect("the heap holds an index without a value"),
            node.generation,
        )
    }

    /// Takes the value at an index that the heap array has held until now.
    pub(crate) fn take(&mut self, index: u32) -> V {
        let number = index / NODES as u32;
        let free = self.vacancies[number as usize].free;
        let node = self.node_mut(index);
        let value = node
            .value
            .take()
            .expect("the heap held an index without a value");
        node.generation += 1;
        let retired = node.generation == RETIRED;
        node.link = free;

        let vacancy = &mut self.vacancies[number as usize];
        vacancy.held -= 1;
        let emptied = vacancy.held == 0;
        if !retired {
            vacancy.free = lane_of(index) as u32;
            if free == NONE {
                self.open_page(number);
            }
        }
        if emptied {
            self.emptied(number);
        }
        value
    }

    fn live(&self, index: u32, generation: u32) -> Option<&Node<V>> {
        let page = self.pages.get(index as usize / NODES)?.as_ref()?;
        let node = &page[lane_of(index)];
        (node.generation == generation && node.value.is_some()).then_some(node)
    }

    fn node_mut(&mut self, index: u32) -> &mut Node<V> {
        let page = self.pages[index as usize / NODES].as_mut();
        &mut page.expect("a held index or a free lane names a page that was given back")
            [lane_of(index)]
    }

    /// Allocates a page of free nodes: under a number that was given back, if there is one.
    fn add_page(&mut self) {
        let number = self.given_back.pop().unwrap_or_else(|| {
            assert!(
                self.pages.len() < PAGES,
                "a heap holds at most {} entries",
                u32::MAX
            );
            self.pages.push(None);
            self.vacancies.push(Vacancy {
                free: NONE,
                held: 0,
                first_generation: 0,
                previous: NONE,
                next: NONE,
            });
            self.pages.len() as u32 - 1
        });
        let vacancy = &mut self.vacancies[number as usize];
        vacancy.free = 0;
        let generation = vacancy.first_generation;
        self.pages[number as usize] = Some(page(|lane| Node {
            generation,
            link: if lane + 1 < NODES {
                lane as u32 + 1
            } else {
                NONE
            },
            value: None,
        }));
        self.open_page(number);
    }

    /// Keeps the emptied page in reserve if there is none, else gives it back.
    fn emptied(&mut self, number: u32) {
        let has_room = self.vacancies[number as usize].free != NONE;
        if has_room && self.reserve.is_none() {
            self.reserve = Some(number);
            return;
        }
        if has_room {
            self.close_page(number);
        }
        let page = self.pages[number as usize]
            .take()
            .expect("an emptied page was there");
        let worn = page.iter().map(|node| node.generation).max().unwrap_or(0);
        let vacancy = &mut self.vacancies[number as usize];
        vacancy.free = NONE;
        vacancy.first_generation = worn;
        if worn <= WORN {
            self.given_back.push(number);
        }
    }

    /// Puts a page first among those with a free lane.
    fn open_page(&mut self, number: u32) {
        let next = self.open;
        if next != NONE {
            self.vacancies[next as usize].previous = number;
        }
        let vacancy = &mut self.vacancies[number as usize];
        (vacancy.previous, vacancy.next) = (NONE, next);
        self.open = number;
    }

    /// Takes a page out of those with a free lane.
    fn close_page(&mut self, number: u32) {
        let Vacancy { previous, next, .. } = self.vacancies[number as usize];
        if previous == NONE {
            self.open = next;
        } else {
            self.vacancies[previous as usize].next = next;
        }
        if next != NONE {
            self.vacancies[next as usize].previous = previous;
        }
    }
}

impl<V> Places<u32> for Slab<V> {
    fn placed(&mut self, index: u32, place: u32) {
        self.node_mut(index).link = place;
    }
}

const fn lane_of(index: u32) -> usize {
    index as usize % NODES
}

const _: () = {
    assert!(NODES as u64 * PAGES as u64 == 1 << 32);
    assert!(size_of::<Node<u32>>() == 16);
    assert!(size_of::<Node<Box<dyn FnOnce()>>>() == 24);
};
