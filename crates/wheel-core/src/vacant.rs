//! Re-arm in place: what a thread remembers of the entries it has cancelled.
//!
//! The usual timeout is cancelled and the next one, set a moment later, is due a moment later. The
//! cancelled entry already lies where the driver will pass no later than needed, so the next insert
//! takes it over: no push, no wake-up, no work for the driver.
//!
//! A hint is the index of a vacant entry, its exact state word and its due tick. It is only a hint:
//! whoever wins the step out of that word owns the entry, so a hint may be stale, lost or doubled
//! without harm. Since the word moves with every timer, its due tick is known without touching the
//! entry.
//!
//! A thread whose stack of hints is full hands all of it over through the exchange, for threads
//! that only insert. Boxes go round between the two and are not allocated anew.

use wheel_sync::atomic::{AtomicPtr, Ordering};
use wheel_sync::{CachePadded, MODELLED, UnsafeCell};

use crate::state::Word;

const HINTS: usize = if MODELLED { 2 } else { 64 };
/// The latest hints that an insert compares with. They lie side by side, so a few cost little.
const WINDOW: usize = if MODELLED { 2 } else { 8 };
const PLACES: usize = if MODELLED { 1 } else { 4 };

/// A vacant entry as its canceller left it.
#[derive(Clone, Copy, Default)]
pub(crate) struct Hint {
    pub(crate) index: u32,
    pub(crate) word: Word,
    pub(crate) due: u64,
}

/// A stack of hints, the latest on top. Aligned to 8 bytes by its content, so its address is even.
struct Stack {
    len: usize,
    hints: [Hint; HINTS],
    /// Stands for the fields above, which loom does not see. Takes no room.
    touched: UnsafeCell<()>,
}

impl Stack {
    fn boxed() -> Box<Stack> {
        Box::new(Stack {
            len: 0,
            hints: [Hint::default(); HINTS],
            touched: UnsafeCell::new(()),
        })
    }

    /// Tells loom of a write. Nothing natively.
    #[inline]
    fn touch(&mut self) {
        self.touched.with_mut(|_| ());
    }
}

/// The hints of one thread. All zero bytes when it has none and never had any.
#[derive(Default)]
pub(crate) struct Hints(Option<Box<Stack>>);

impl Hints {
    /// Remembers an entry that was just cancelled by the thread with this slot.
    #[inline]
    pub(crate) fn remember(&mut self, hint: Hint, slot: usize, exchange: &Exchange) {
        let full = self.0.as_ref().is_some_and(|stack| stack.len == HINTS);
        if full {
            exchange.hand_over(slot, &mut self.0);
        }
        let stack = self.0.get_or_insert_with(Stack::boxed);
        stack.touch();
        stack.hints[stack.len] = hint;
        stack.len += 1;
    }

    /// The latest hint whose entry the driver passes no later than `due`, taken out.
    ///
    /// Looks at the latest few only: what does not fit stays, and no entry is touched.
    #[inline]
    pub(crate) fn take_for(&mut self, due: u64, exchange: &Exchange) -> Option<Hint> {
        if self.0.as_ref().is_none_or(|stack| stack.len == 0) {
            exchange.receive(&mut self.0);
        }
        let stack = self.0.as_mut()?;
        let from = stack.len.saturating_sub(WINDOW);
        let fits = |hint: &Hint| hint.due <= due;
        let at = from + stack.hints[from..stack.len].iter().rposition(fits)?;
        stack.touch();
        stack.len -= 1;
        let hint = stack.hints[at];
        stack.hints[at] = stack.hints[stack.len];
        Some(hint)
    }
}

/// Full stacks on their way to a thread that needs them.
pub(crate) struct Exchange {
    /// Null, or a box: its address with the lowest bit set when it is full.
    places: [CachePadded<AtomicPtr<Stack>>; PLACES],
}

impl Exchange {
    pub(crate) fn new() -> Exchange {
        Exchange {
            places: std::array::from_fn(|_| CachePadded::new(AtomicPtr::new(std::ptr::null_mut()))),
        }
    }

    /// Leaves a full stack and takes an empty one for it. What lay there unused is forgotten: its
    /// entries are freed when the driver passes them.
    #[cold]
    fn hand_over(&self, slot: usize, own: &mut Option<Box<Stack>>) {
        let full = own.take().map_or(std::ptr::null_mut(), Box::into_raw);
        // AcqRel: the content of the boxes, both ways; pairs with receive and itself. [O25]
        let old = self.places[slot % PLACES].swap(full.map_addr(|at| at | 1), Ordering::AcqRel);
        // SAFETY: it came out of a place by a swap, so it is nobody else's.
        *own = unsafe { unmark(old) };
        if let Some(stack) = own {
            stack.touch();
            stack.len = 0;
        }
    }

    /// Takes a full stack, if there is one, and leaves an empty one for it.
    fn receive(&self, own: &mut Option<Box<Stack>>) {
        let full = |place: &&CachePadded<AtomicPtr<Stack>>| {
            // Relaxed: a glance; the swap decides. [O26]
            place.load(Ordering::Relaxed).addr() & 1 == 1
        };
        if let Some(place) = self.places.iter().find(full) {
            let empty = own.take().map_or(std::ptr::null_mut(), Box::into_raw);
            // AcqRel: as in hand_over. [O25]
            let got = place.swap(empty, Ordering::AcqRel);
            // SAFETY: as in hand_over.
            *own = unsafe { unmark(got) };
        }
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        for place in &self.places {
            // Relaxed: `&mut self` says that every other thread is done. [O14]
            let left = place.load(Ordering::Relaxed);
            // SAFETY: nobody else is left to take it.
            drop(unsafe { unmark(left) });
        }
    }
}

/// The box behind what a place held, if any.
///
/// # Safety
///
/// `held` is null or came from a place of an [`Exchange`], and nobody else has it.
unsafe fn unmark(held: *mut Stack) -> Option<Box<Stack>> {
    let stack = held.map_addr(|at| at & !1);
    // SAFETY: the caller owns it, and every box in a place was made by `Stack::boxed`.
    (!stack.is_null()).then(|| unsafe { Box::from_raw(stack) })
}

#[cfg(all(test, not(wheel_loom)))]
mod tests {
    use super::*;

    fn hint(index: u32, due: u64) -> Hint {
        Hint {
            index,
            due,
            ..Hint::default()
        }
    }

    #[test]
    fn the_latest_hint_that_is_passed_in_time_is_taken_first() {
        let (mut hints, exchange) = (Hints::default(), Exchange::new());
        for (index, due) in [(1, 10), (2, 20), (3, 10)] {
            hints.remember(hint(index, due), 0, &exchange);
        }
        let mut take = |due| hints.take_for(due, &exchange).map(|hint| hint.index);
        assert_eq!(take(9), None, "due before the driver passes");
        assert_eq!([take(19), take(19), take(19)], [Some(3), Some(1), None]);
        assert_eq!([take(20), take(u64::MAX)], [Some(2), None]);
    }

    #[test]
    fn a_thread_that_only_cancels_feeds_one_that_only_inserts() {
        let (mut cancels, mut inserts) = (Hints::default(), Hints::default());
        let exchange = Exchange::new();
        for index in 0..1000 {
            cancels.remember(hint(index, 5), 3, &exchange);
            if index % HINTS as u32 == 0 {
                let got: Vec<_> = std::iter::from_fn(|| inserts.take_for(5, &exchange))
                    .map(|h| h.index)
                    .collect();
                let expected = index as usize / HINTS * HINTS;
                assert_eq!(got.len(), if expected == 0 { 0 } else { HINTS });
                assert!(got.iter().all(|&i| (i as usize) < expected));
            }
        }
    }
}
