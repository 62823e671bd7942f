//! Memory in pieces that never move.
//!
//! A vector that doubles copies everything it holds in one call, and keeps the capacity of its largest day. The arrays
//! of this crate are lists of pages instead: growing costs one allocation of some 16 KiB, shrinking frees one page, and
//! the only thing that is ever copied is the list itself, eight bytes a page (78 KiB for ten million timers).
//!
//! Whoever owns the pages keeps one empty page in reserve, so that a timer that comes and goes at the edge of a page
//! does not allocate each time. Beyond that one, a page that holds nothing is freed at once.

/// `N` places, allocated together.
pub(crate) type Page<T, const N: usize> = Box<[T; N]>;

/// A page whose places hold what `fill` makes of their number.
pub(crate) fn page<T, const N: usize>(fill: impl FnMut(usize) -> T) -> Page<T, N> {
    let filled: Vec<T> = (0..N).map(fill).collect();
    match filled.try_into() {
        Ok(page) => page,
        Err(filled) => unreachable!("{} places were filled, not {N}", filled.len()),
    }
}
