//! Which slots of a ring hold something.
//!
//! A bit for each slot, and a summary with a bit for each word of bits, so that the next slot to
//! visit is found in a few instructions however far it lies ahead.

use crate::level::RING_MAX;

const WORDS: usize = RING_MAX.div_ceil(64);

/// Which slots hold something: a bit each, and a bit for each word of bits.
#[derive(Default)]
pub(crate) struct Bitmap {
    words: [u64; WORDS],
    summary: u32,
}

const _: () = assert!(WORDS <= u32::BITS as usize);

impl Bitmap {
    #[inline]
    pub(crate) fn set(&mut self, at: usize) {
        self.words[at / 64] |= 1 << (at % 64);
        self.summary |= 1 << (at / 64);
    }

    #[inline]
    pub(crate) fn clear(&mut self, at: usize) {
        self.words[at / 64] &= !(1 << (at % 64));
        if self.words[at / 64] == 0 {
            self.summary &= !(1 << (at / 64));
        }
    }

    /// The first bit that is set, from `at` up.
    #[inline]
    pub(crate) fn first_from(&self, at: usize) -> Option<usize> {
        let here = self.words[at / 64] >> (at % 64);
        if here != 0 {
            return Some(at + here.trailing_zeros() as usize);
        }
        let above = u64::from(self.summary) >> (at / 64 + 1);
        if above == 0 {
            return None;
        }
        let word = at / 64 + 1 + above.trailing_zeros() as usize;
        Some(word * 64 + self.words[word].trailing_zeros() as usize)
    }
}

#[cfg(all(test, not(wheel_model)))]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn the_first_bit_from_anywhere_is_found(
            steps in proptest::collection::vec((0..RING_MAX, any::<bool>()), 1..100)
        ) {
            let (mut bitmap, mut model) = (Bitmap::default(), BTreeSet::new());
            for (at, is_set) in steps {
                if is_set {
                    bitmap.set(at);
                    model.insert(at);
                } else {
                    bitmap.clear(at);
                    model.remove(&at);
                }
                for from in [0, at / 2, at, RING_MAX - 1] {
                    let first = model.range(from..).next().copied();
                    prop_assert_eq!(bitmap.first_from(from), first);
                }
            }
        }
    }
}
