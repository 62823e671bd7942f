//! An array that grows without moving what it holds.
//!
//! ```text
//!   segments   [0]   [1]       [2]               [3] ...      each twice as long as the one before
//!               |     |         |
//!               v     v         v
//!   items      0 1   2 3 4 5   6 7 8 9 10 11 12 13            (the first with 2 items, as under the model)
//! ```
//!
//! A segment is allocated when its first item is needed, and freed with the whole array. Until then
//! a reference to an item stays good, so a reader needs no guard of any kind.

use std::marker::PhantomData;
use std::ptr::NonNull;

use wheel_sync::atomic::{AtomicPtr, Ordering};
use wheel_sync::{SIZES, Sizes};

#[cfg(not(wheel_model))]
use std::alloc::{Layout, alloc_zeroed, dealloc};

/// What an array of [`Segments`] may hold: something that has a blank state.
///
/// # Safety
///
/// Natively, memory that is all zero bytes must be a valid value: that of an item that nobody has
/// used.
pub(crate) unsafe trait Blank: Sized {
    /// An item that nobody has used, where types are not plain memory.
    #[cfg(wheel_model)]
    fn blank() -> Self;
}

/// Segments that are enough for 2^32 items when the first one holds 1, or for the few of a model.
const SEGMENTS: usize = match SIZES {
    Sizes::Full => 33,
    Sizes::Small => 10,
    Sizes::Tiny => 4,
};

/// The array. Its first segment has `1 << FIRST_BITS` items.
pub(crate) struct Segments<E, const FIRST_BITS: u32> {
    heads: [AtomicPtr<E>; SEGMENTS],
    owns: PhantomData<E>,
}

impl<E: Blank, const FIRST_BITS: u32> Segments<E, FIRST_BITS> {
    const FIRST: u64 = 1 << FIRST_BITS;

    pub(crate) fn new() -> Self {
        Segments {
            heads: std::array::from_fn(|_| AtomicPtr::new(std::ptr::null_mut())),
            owns: PhantomData,
        }
    }

    /// Which segment an item is in, and where in it.
    #[inline]
    const fn locate(index: u32) -> (usize, usize) {
        let shifted = index as u64 + Self::FIRST;
        let segment = shifted.ilog2() - FIRST_BITS;
        let first = Self::FIRST << segment;
        (segment as usize, (shifted - first) as usize)
    }

    const fn length(segment: usize) -> u64 {
        Self::FIRST << segment
    }

    /// The item, if its segment exists.
    #[inline]
    pub(crate) fn get(&self, index: u32) -> Option<&E> {
        let (segment, offset) = Self::locate(index);
        // Acquire: the segment's content; pairs with the release of the thread that made it. [O12]
        let head = NonNull::new(self.heads[segment].load(Ordering::Acquire))?;
        // SAFETY: a segment has `length(segment)` items, `offset` is below that, and it lives as
        // long as `self`. [U11]
        Some(unsafe { head.add(offset).as_ref() })
    }

    /// The item; makes its segment first if there is none. `None` when memory does not suffice.
    pub(crate) fn get_or_grow(&self, index: u32) -> Option<&E> {
        if let Some(item) = self.get(index) {
            return Some(item);
        }
        let (segment, offset) = Self::locate(index);
        let head = self.grow(segment)?;
        // SAFETY: as in `get`. [U11]
        Some(unsafe { head.add(offset).as_ref() })
    }

    /// Every item of the segments that exist.
    pub(crate) fn existing(&self) -> impl Iterator<Item = &E> {
        self.heads.iter().enumerate().flat_map(|(segment, head)| {
            // Relaxed: a glance; `get` acquires what it shows. [O12]
            let length = match head.load(Ordering::Relaxed).is_null() {
                true => 0,
                false => Self::length(segment) as u32,
            };
            let first = (Self::length(segment) - Self::FIRST) as u32;
            (first..first + length).filter_map(|index| self.get(index))
        })
    }

    /// Race: segment-growth. Of two threads that make the same segment, one's survives.
    #[cold]
    fn grow(&self, segment: usize) -> Option<NonNull<E>> {
        let made = allocate::<E>(Self::length(segment))?;
        // Release: the segment's content; pairs with the acquire in get. Acquire on failure: the
        // content that the other thread made. [O13]
        let won = self.heads[segment].compare_exchange(
            std::ptr::null_mut(),
            made.as_ptr(),
            Ordering::Release,
            Ordering::Acquire,
        );
        match won {
            Ok(_) => Some(made),
            Err(other) => {
                // SAFETY: allocated just above with this length, and never shared. [U12]
                unsafe { release(made, Self::length(segment)) };
                NonNull::new(other)
            }
        }
    }
}

impl<E, const FIRST_BITS: u32> Drop for Segments<E, FIRST_BITS> {
    fn drop(&mut self) {
        for (segment, head) in self.heads.iter().enumerate() {
            // Relaxed: `&mut self` says that every other thread is done. [O14]
            if let Some(head) = NonNull::new(head.load(Ordering::Relaxed)) {
                // SAFETY: made by `allocate` with this length, and nobody has a reference any more.
                // [U13]
                unsafe { release(head, 1 << (FIRST_BITS as usize + segment)) };
            }
        }
    }
}

/// Zeroed memory: the operating system gives out the pages as they are first touched, so a large
/// segment costs little until it is used.
#[cfg(not(wheel_model))]
fn allocate<E: Blank>(length: u64) -> Option<NonNull<E>> {
    let layout = Layout::array::<E>(usize::try_from(length).ok()?).ok()?;
    debug_assert_ne!(layout.size(), 0);
    // SAFETY: the layout is not empty, since neither an entry nor a place is. [U14]
    NonNull::new(unsafe { alloc_zeroed(layout) }.cast::<E>())
}

/// # Safety
///
/// `head` came from `allocate` with the same length and is not used again.
#[cfg(not(wheel_model))]
unsafe fn release<E>(head: NonNull<E>, length: u64) {
    if std::mem::needs_drop::<E>() {
        for offset in 0..length as usize {
            // SAFETY: within the segment, initialised (zeroes are valid), dropped once. [U15]
            unsafe { head.add(offset).drop_in_place() };
        }
    }
    let layout = Layout::array::<E>(length as usize).expect("the layout it was allocated with");
    // SAFETY: the caller vouches for pointer and length. [U15]
    unsafe { dealloc(head.as_ptr().cast(), layout) };
}

/// loom's types are not zeroes, so each item is made.
#[cfg(wheel_model)]
fn allocate<E: Blank>(length: u64) -> Option<NonNull<E>> {
    let items: Box<[E]> = (0..length).map(|_| E::blank()).collect();
    NonNull::new(Box::into_raw(items).cast::<E>())
}

/// # Safety
///
/// As above.
#[cfg(wheel_model)]
unsafe fn release<E>(head: NonNull<E>, length: u64) {
    let items = std::ptr::slice_from_raw_parts_mut(head.as_ptr(), length as usize);
    // SAFETY: made by `allocate` from a box of this length. [U16]
    drop(unsafe { Box::from_raw(items) });
}

#[cfg(all(test, not(wheel_model)))]
mod tests {
    use super::*;
    use wheel_sync::atomic::AtomicU64;

    // SAFETY: zero bytes are AtomicU64::new(0).
    unsafe impl Blank for AtomicU64 {}

    type Small = Segments<AtomicU64, 1>;

    #[test]
    fn every_index_has_a_place_of_its_own() {
        let mut expected = (0, 0);
        for index in 0..100_000 {
            assert_eq!(Small::locate(index), expected, "index {index}");
            expected.1 += 1;
            if expected.1 as u64 == Small::length(expected.0) {
                expected = (expected.0 + 1, 0);
            }
        }
        let (segment, offset) = Small::locate(u32::MAX);
        assert!(segment < SEGMENTS && (offset as u64) < Small::length(segment));
    }

    #[test]
    fn an_item_stays_where_it_was_when_the_array_grows() {
        let array = Small::new();
        assert!(array.get(0).is_none());
        let first: *const _ = array.get_or_grow(0).unwrap();
        for index in 0..1000 {
            array
                .get_or_grow(index)
                .unwrap()
                .store(index.into(), Ordering::Relaxed);
        }
        assert_eq!(first, std::ptr::from_ref(array.get(0).unwrap()));
        for index in 0..1000 {
            assert_eq!(
                array.get(index).unwrap().load(Ordering::Relaxed),
                index.into()
            );
        }
    }
}
