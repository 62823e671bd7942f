//! Values with a rank, for heaps that give out the least rank first.

use std::cmp::Ordering;

/// A value and its rank, by which alone it is compared: the greatest is the one of the least rank,
/// for that is what a `BinaryHeap` pops.
pub(crate) struct Ranked<R, T> {
    pub(crate) rank: R,
    pub(crate) value: T,
}

impl<R: Ord, T> Ord for Ranked<R, T> {
    fn cmp(&self, other: &Ranked<R, T>) -> Ordering {
        other.rank.cmp(&self.rank)
    }
}

impl<R: Ord, T> PartialOrd for Ranked<R, T> {
    fn partial_cmp(&self, other: &Ranked<R, T>) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<R: Ord, T> PartialEq for Ranked<R, T> {
    fn eq(&self, other: &Ranked<R, T>) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<R: Ord, T> Eq for Ranked<R, T> {}
