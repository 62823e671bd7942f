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
//!
//! An item is known by its *spot*: the segment in the upper bits, the offset in the lower. To find
//! the segment of a running number takes a logarithm, which is many instructions on the way to every
//! timer; a spot takes a shift.

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

/// Bits of a spot that are the offset.
const OFFSET_BITS: u32 = 27;

/// As many segments as the upper bits of a spot can tell apart, or enough for the few items of a
/// model. The last one is never used: `u32::MAX` is no item's spot.
const SEGMENTS: usize = match SIZES {
    Sizes::Full => 1 << (u32::BITS - OFFSET_BITS),
    Sizes::Small => 10,
    Sizes::Tiny => 4,
};

/// Items in a segment: twice as many as in the one before, until an offset has no more bits.
const fn length(first_bits: u32, segment: usize) -> u64 {
    let bits = first_bits + segment as u32;
    match bits < OFFSET_BITS {
        true => 1 << bits,
        false => 1 << OFFSET_BITS,
    }
}

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

    /// How many items there can be.
    pub(crate) const CAPACITY: u64 = {
        let (mut capacity, mut segment) = (0, 0);
        while segment < SEGMENTS - 1 {
            capacity += length(FIRST_BITS, segment);
            segment += 1;
        }
        capacity
    };

    /// The spot of the item with a running number, which is below the capacity.
    #[inline]
    pub(crate) const fn spot(number: u32) -> u32 {
        if (number as u64) < Self::FIRST {
            return number;
        }
        let doubled = (2 << OFFSET_BITS) - Self::FIRST;
        let (segment, offset) = if (number as u64) < doubled {
            let shifted = number as u64 + Self::FIRST;
            let segment = shifted.ilog2() - FIRST_BITS;
            (segment, shifted - length(FIRST_BITS, segment as usize))
        } else {
            let beyond = number as u64 - doubled;
            let first = OFFSET_BITS - FIRST_BITS + 1;
            (
                first + (beyond >> OFFSET_BITS) as u32,
                beyond % (1 << OFFSET_BITS),
            )
        };
        segment << OFFSET_BITS | offset as u32
    }

    /// The segment of a spot and the offset in it.
    #[inline]
    const fn split(spot: u32) -> (usize, usize) {
        let segment = (spot >> OFFSET_BITS) as usize;
        let offset = spot % (1 << OFFSET_BITS);
        debug_assert!((offset as u64) < length(FIRST_BITS, segment), "no spot");
        (segment, offset as usize)
    }

    /// The item, if its segment exists.
    #[inline]
    pub(crate) fn get(&self, spot: u32) -> Option<&E> {
        let (segment, offset) = Self::split(spot);
        let head = self.head(segment)?;
        // SAFETY: a spot's offset is below the length of its segment. [U11]
        Some(unsafe { Self::item(head, offset) })
    }

    /// The item at a spot that was got or grown before.
    ///
    /// # Panics
    ///
    /// When its segment does not exist.
    #[inline]
    pub(crate) fn existing(&self, spot: u32) -> &E {
        let (segment, offset) = Self::split(spot);
        let head = self.head(segment);
        let head = head.expect("what is in use has its segment");
        // SAFETY: as in `get`. [U11]
        unsafe { Self::item(head, offset) }
    }

    /// The item; makes its segment first if there is none. `None` when memory does not suffice.
    #[inline]
    pub(crate) fn get_or_grow(&self, spot: u32) -> Option<&E> {
        let (segment, offset) = Self::split(spot);
        let head = match self.head(segment) {
            Some(head) => head,
            None => self.grow(segment)?,
        };
        // SAFETY: as in `get`. [U11]
        Some(unsafe { Self::item(head, offset) })
    }

    #[inline]
    fn head(&self, segment: usize) -> Option<NonNull<E>> {
        // Acquire: the segment's content; pairs with the release of the thread that made it. [O12]
        NonNull::new(self.heads[segment].load(Ordering::Acquire))
    }

    /// # Safety
    ///
    /// `head` is that of a segment of the array that the caller has borrowed, with more than
    /// `offset` items.
    #[inline]
    unsafe fn item<'a>(head: NonNull<E>, offset: usize) -> &'a E {
        // SAFETY: as said; a segment lives as long as the array. [U11]
        unsafe { head.add(offset).as_ref() }
    }

    /// Every item of the segments that exist.
    pub(crate) fn all(&self) -> impl Iterator<Item = &E> {
        self.heads.iter().enumerate().flat_map(|(segment, head)| {
            // Relaxed: a glance; `get` acquires what it shows. [O12]
            let length = match head.load(Ordering::Relaxed).is_null() {
                true => 0,
                false => length(FIRST_BITS, segment) as u32,
            };
            let first = (segment as u32) << OFFSET_BITS;
            (first..first + length).filter_map(|spot| self.get(spot))
        })
    }

    /// Race: segment-growth. Of two threads that make the same segment, one's survives.
    #[cold]
    fn grow(&self, segment: usize) -> Option<NonNull<E>> {
        let made = allocate::<E>(length(FIRST_BITS, segment))?;
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
                unsafe { release(made, length(FIRST_BITS, segment)) };
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
                unsafe { release(head, length(FIRST_BITS, segment)) };
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

    impl<const FIRST_BITS: u32> Segments<AtomicU64, FIRST_BITS> {
        fn split_of(number: u32) -> (usize, usize) {
            Self::split(Self::spot(number))
        }
    }

    fn spots_follow_each_other<const FIRST_BITS: u32>(numbers: impl Iterator<Item = u32>) {
        for number in numbers {
            let split = |number| Segments::<AtomicU64, FIRST_BITS>::split_of(number);
            let ((segment, offset), next) = (split(number), split(number + 1));
            let ends = offset as u64 + 1 == length(FIRST_BITS, segment);
            let expected = match ends {
                true => (segment + 1, 0),
                false => (segment, offset + 1),
            };
            assert_eq!(next, expected, "after number {number}");
        }
    }

    #[test]
    fn every_number_has_a_spot_of_its_own() {
        assert_eq!(Small::split_of(0), (0, 0));
        spots_follow_each_other::<1>(0..100_000);
        spots_follow_each_other::<10>(0..100_000);
        // Around every multiple of 2^10, where all segments of the arena begin and end.
        let capacity = Segments::<AtomicU64, 10>::CAPACITY as u32;
        let around = (1..capacity >> 10).flat_map(|kilo| (kilo << 10) - 2..kilo << 10);
        spots_follow_each_other::<10>(around.step_by(if cfg!(debug_assertions) { 7 } else { 1 }));
        let (last, _) = Segments::<AtomicU64, 10>::split_of(capacity - 1);
        assert_eq!(last, SEGMENTS - 2, "the last segment stays unused");
    }

    #[test]
    fn an_item_stays_where_it_was_when_the_array_grows() {
        let array = Small::new();
        assert!(array.get(0).is_none());
        let first: *const _ = array.get_or_grow(0).unwrap();
        for number in 0..1000 {
            let item = array.get_or_grow(Small::spot(number)).unwrap();
            item.store(number.into(), Ordering::Relaxed);
        }
        assert_eq!(first, std::ptr::from_ref(array.get(0).unwrap()));
        for number in 0..1000 {
            let item = array.existing(Small::spot(number));
            assert_eq!(item.load(Ordering::Relaxed), number.into());
        }
        assert_eq!(array.all().count(), 1022, "nine segments");
    }
}
