//! The heap order: a 4-ary min-heap by due tick, one cache line for each four siblings.
//!
//! Four children instead of two halve the depth, and what a heap of a million timers pays for is
//! the number of cache lines on the way from the root to a leaf. So siblings share one aligned
//! line: their due ticks side by side, then what they stand for.
//!
//! ```text
//!   place      0           1  2  3  4      5  6  7  8      9 10 11 12    ...
//!   family   [. . . 0]    [1  2  3  4]    [5  6  7  8]    [9 10 11 12]
//!                  |       |  |             |              |
//!                  +-------+  |             |              |
//!                          +--|-------------+              |     the children of place p
//!                             +----------------------------+     are family p + 1
//! ```
//!
//! A lane that holds nothing has `Tick::MAX`, so that the least of a family is found without
//! looking at the length. An entry that is due at `Tick::MAX` is safe from it: sifting moves an
//! entry only for one that is due *earlier*.
//!
//! Whoever needs to find an entry again passes a [`Places`] and is told of every move. All sifting
//! of this crate is here. Entries that are due at the same tick leave in no particular order.
//!
//! Memory: 16 bytes an entry (64 a family), in pages of 1,024 entries that never move. A vector
//! that doubles would copy everything it holds in one call, and the driver of a wheel has no time
//! for that; here growing costs one allocation of 16 KiB, shrinking frees one, and only the list of
//! pages is ever copied, eight bytes for each (78 KiB for ten million entries). One empty page is
//! kept in reserve, so that an entry that comes and goes at the edge of a page does not allocate
//! each time.

use wheel_core::Tick;

const LANES: usize = 4;
const FAMILIES: usize = 256;

/// Is told where entries are, each time that one gets or changes its place.
pub(crate) trait Places<E> {
    fn placed(&mut self, entry: E, place: u32);
}

/// For owners that never look for an entry.
pub(crate) struct Untold;

impl<E> Places<E> for Untold {
    fn placed(&mut self, _entry: E, _place: u32) {}
}

/// What a removal did, beside removing.
pub(crate) struct Removed<E> {
    pub(crate) due: Tick,
    pub(crate) entry: E,
    pub(crate) gap: Gap,
}

/// What filled the place of a removed entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Gap {
    /// Nothing: it was the last place.
    Ended,
    /// The entry of the last place, or a descendant that made room for it.
    FromBelow,
    /// An ancestor: the entry of the last place belongs above the gap.
    FromAbove,
}

/// Four siblings, in one cache line when `E` has four bytes.
#[repr(C, align(64))]
struct Family<E> {
    due: [Tick; LANES],
    entry: [E; LANES],
}

type Page<E> = Box<[Family<E>; FAMILIES]>;

/// A 4-ary min-heap of small copyable entries.
pub(crate) struct Quad<E> {
    pages: Vec<Page<E>>,
    len: usize,
}

impl<E: Copy> Quad<E> {
    pub(crate) const fn new() -> Quad<E> {
        Quad {
            pages: Vec::new(),
            len: 0,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The earliest due tick.
    pub(crate) fn next_due(&self) -> Option<Tick> {
        (self.len > 0).then(|| self.due(0))
    }

    /// What stands at `place`, which must hold something.
    pub(crate) fn at(&self, place: usize) -> (Tick, E) {
        assert!(place < self.len, "place {place} of {}", self.len);
        let (family, lane) = (self.family(family_of(place)), lane_of(place));
        (family.due[lane], family.entry[lane])
    }

    /// Adds an entry. O(log n).
    pub(crate) fn push(&mut self, due: Tick, entry: E, places: &mut impl Places<E>) {
        // A place is told as a `u32`.
        assert!(
            self.len < u32::MAX as usize,
            "a heap holds at most {} entries",
            u32::MAX
        );
        let place = self.len;
        if family_of(place) == self.pages.len() * FAMILIES {
            self.pages.push(new_page(entry));
        }
        self.len += 1;
        self.rise(place, due, entry, places);
    }

    /// Removes the earliest entry. O(log n).
    pub(crate) fn pop(&mut self, places: &mut impl Places<E>) -> Option<(Tick, E)> {
        if self.len == 0 {
            return None;
        }
        let Removed { due, entry, .. } = self.remove(0, places);
        Some((due, entry))
    }

    /// Removes what stands at `place`, which must hold something. O(log n).
    pub(crate) fn remove(&mut self, place: usize, places: &mut impl Places<E>) -> Removed<E> {
        let (due, entry) = self.at(place);
        let last = self.len - 1;
        let (last_due, last_entry) = self.at(last);
        self.family_mut(family_of(last)).due[lane_of(last)] = Tick::MAX;
        self.len = last;
        let gap = if place == last {
            Gap::Ended
        } else if place > 0 && last_due < self.due(parent_of(place)) {
            self.rise(place, last_due, last_entry, places);
            Gap::FromAbove
        } else {
            self.sink(place, last_due, last_entry, places);
            Gap::FromBelow
        };
        self.give_back();
        Removed { due, entry, gap }
    }

    /// Gives what stands at `place` another due tick. O(log n).
    pub(crate) fn set_due(&mut self, place: usize, due: Tick, places: &mut impl Places<E>) {
        let (old_due, entry) = self.at(place);
        if due < old_due {
            self.rise(place, due, entry, places);
        } else {
            self.sink(place, due, entry, places);
        }
    }

    /// Fills the hole at `place` with the entry or, as long as that is due earlier, with the
    /// parent, and so on upwards.
    fn rise(&mut self, mut place: usize, due: Tick, entry: E, places: &mut impl Places<E>) {
        while place > 0 {
            let (above_due, above) = self.at(parent_of(place));
            if above_due <= due {
                break;
            }
            self.put(place, above_due, above, places);
            place = parent_of(place);
        }
        self.put(place, due, entry, places);
    }

    /// Fills the hole at `place` with the entry or, as long as that is due later, with its earliest
    /// child, and so on downwards.
    fn sink(&mut self, mut place: usize, due: Tick, entry: E, places: &mut impl Places<E>) {
        while first_child_of(place) < self.len {
            let children = self.family(place + 1);
            let lane = earliest(&children.due);
            let (below_due, below) = (children.due[lane], children.entry[lane]);
            if due <= below_due {
                break;
            }
            self.put(place, below_due, below, places);
            place = first_child_of(place) + lane;
        }
        self.put(place, due, entry, places);
    }

    fn put(&mut self, place: usize, due: Tick, entry: E, places: &mut impl Places<E>) {
        let (family, lane) = (self.family_mut(family_of(place)), lane_of(place));
        family.due[lane] = due;
        family.entry[lane] = entry;
        places.placed(entry, place as u32);
    }

    /// Frees the last page when it and the one before it hold nothing. A removal empties at most
    /// one page.
    fn give_back(&mut self) {
        let used = if self.len == 0 {
            0
        } else {
            family_of(self.len - 1) / FAMILIES + 1
        };
        if self.pages.len() > used + 1 {
            self.pages.pop();
        }
    }

    fn due(&self, place: usize) -> Tick {
        self.family(family_of(place)).due[lane_of(place)]
    }

    fn family(&self, family: usize) -> &Family<E> {
        &self.pages[family / FAMILIES][family % FAMILIES]
    }

    fn family_mut(&mut self, family: usize) -> &mut Family<E> {
        &mut self.pages[family / FAMILIES][family % FAMILIES]
    }
}

/// A page without an entry: no lane is due, whatever it stands for.
fn new_page<E: Copy>(entry: E) -> Page<E> {
    let empty = || Family {
        due: [Tick::MAX; LANES],
        entry: [entry; LANES],
    };
    let families: Vec<Family<E>> = std::iter::repeat_with(empty).take(FAMILIES).collect();
    match families.try_into() {
        Ok(page) => page,
        Err(_) => unreachable!("a page is made of {FAMILIES} families"),
    }
}

/// The lane that is due first; the lower one of two that are due together.
fn earliest(due: &[Tick; LANES]) -> usize {
    let left = if due[1] < due[0] { 1 } else { 0 };
    let right = if due[3] < due[2] { 3 } else { 2 };
    if due[right] < due[left] { right } else { left }
}

// The root is the last lane of family 0, so that each four siblings share a family.
const fn family_of(place: usize) -> usize {
    place.div_ceil(LANES)
}

const fn lane_of(place: usize) -> usize {
    (place + LANES - 1) % LANES
}

const fn parent_of(place: usize) -> usize {
    (place - 1) / LANES
}

const fn first_child_of(place: usize) -> usize {
    place * LANES + 1
}

const _: () = {
    assert!(size_of::<Family<u32>>() == 64);
    let mut place = 0;
    while place < 1_000 {
        let child = first_child_of(place);
        assert!(family_of(child) == place + 1 && lane_of(child) == 0);
        assert!(parent_of(child) == place && parent_of(child + LANES - 1) == place);
        place += 1;
    }
};

#[cfg(test)]
impl<E: Copy> Quad<E> {
    /// Panics unless every entry is due no earlier than its parent and every free lane holds
    /// `Tick::MAX`.
    pub(crate) fn assert_ordered(&self) {
        for place in 1..self.len {
            let (above, here) = (self.due(parent_of(place)), self.due(place));
            assert!(
                above <= here,
                "place {place} is due at {here:?}, its parent at {above:?}"
            );
        }
        let lanes = self.pages.len() * FAMILIES * LANES;
        for place in self.len..lanes.saturating_sub(LANES - 1) {
            assert_eq!(
                self.due(place),
                Tick::MAX,
                "free place {place} of {}",
                self.len
            );
        }
    }

    pub(crate) fn pages(&self) -> usize {
        self.pages.len()
    }
}
