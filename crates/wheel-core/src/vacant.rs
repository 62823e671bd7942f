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
//! ```text
//!   thread A   cancels   [h h h h . .] -- full --> exchange: full   [..] [..] [..]  <-- when its own
//!   thread B   inserts   [h . . . . .] <-- spare -           spare  [  ] [  ]           is empty
//! ```
//!
//! A thread whose stack of hints is full leaves it in the exchange and goes on with a spare one; a
//! thread that has none left takes a full one. So a burst of cancels is remembered, also by a
//! thread that only cancels for one that only inserts: as many hints as half of the entries that
//! the engine has ever used, and then entries in use stay below twice the peak of live timers
//! though the driver does not run. Beyond that the oldest but one are forgotten, and their entries
//! are freed when the driver passes them.

use std::ptr::NonNull;

use wheel_sync::atomic::{AtomicU32, Ordering};
use wheel_sync::{CachePadded, MODELLED, UnsafeCell};

use crate::segments::{Blank, Segments};
use crate::state::Word;
use crate::tagged::Tagged;

/// Hints in a stack.
pub(crate) const HINTS: usize = if MODELLED { 1 } else { 64 };
/// Hints that turn out stale before an insert takes a fresh entry instead.
pub(crate) const STALE_MAX: usize = 4;
/// Stacks that an engine may have however few its entries are.
const STACKS_MIN: u32 = if MODELLED { 2 } else { 8 };
const FIRST_BITS: u32 = if MODELLED { 1 } else { 2 };

/// A vacant entry as its canceller left it; all zero bytes for none.
#[derive(Clone, Copy, Default)]
pub(crate) struct Hint {
    pub(crate) index: u32,
    pub(crate) word: Word,
    pub(crate) due: u64,
}

impl Hint {
    /// The word of a vacant entry is never 0.
    #[inline]
    fn is_some(&self) -> bool {
        self.word != Word::default()
    }
}

/// Some hints, the latest on top.
struct Hinted {
    /// Which stack of the exchange this is.
    index: u32,
    len: u32,
    hints: [Hint; HINTS],
}

/// A stack of hints, as it lies in the exchange's memory.
struct Stack {
    /// What lies below it in the exchange.
    below: AtomicU32,
    /// Belongs to the thread that has taken the stack.
    hinted: UnsafeCell<Hinted>,
}

// SAFETY: natively, all zeroes are numbers and an empty stack. [U17]
unsafe impl Blank for CachePadded<Stack> {
    #[cfg(wheel_model)]
    fn blank() -> CachePadded<Stack> {
        CachePadded::new(Stack {
            below: AtomicU32::new(0),
            hinted: UnsafeCell::new(Hinted {
                index: 0,
                len: 0,
                hints: [Hint::default(); HINTS],
            }),
        })
    }
}

// SAFETY: `hinted` is touched only by the one thread that has the stack, and stacks pass between
// threads by release and acquire of the exchange. [U18]
unsafe impl Sync for Stack {}

/// The hints of one thread: the latest at hand, the others in a stack of its engine's exchange. All
/// zero bytes when it has none yet.
///
/// A service that sets a timeout for each one that it cancels touches the latest only.
#[derive(Default)]
pub(crate) struct Hints {
    latest: Hint,
    others: Option<NonNull<Stack>>,
}

// SAFETY: whoever has the `Hints` has the stack; nothing in it belongs to one thread. [U19]
unsafe impl Send for Hints {}

impl Hints {
    #[inline]
    fn with<R>(&mut self, use_them: impl FnOnce(&mut Hinted) -> R) -> Option<R> {
        let stack = self.others?;
        // SAFETY: it points into the exchange of the engine that this belongs to, which never moves
        // or frees a stack while the engine lives. [U20]
        let stack = unsafe { stack.as_ref() };
        Some(stack.hinted.with_mut(|hinted| {
            // SAFETY: the stack was taken out of the exchange by the owner of this, and `&mut self`
            // keeps it from being lent twice. [U21]
            use_them(unsafe { &mut *hinted })
        }))
    }

    /// Remembers an entry that was just cancelled. `entries` tells how many the engine has ever
    /// used.
    #[inline]
    pub(crate) fn remember(
        &mut self,
        hint: Hint,
        exchange: &Exchange,
        entries: impl FnOnce() -> u32,
    ) {
        if self.latest.is_some() && !self.push(self.latest) {
            exchange.hand_over(self, entries());
            self.push(self.latest);
        }
        self.latest = hint;
    }

    #[inline]
    fn push(&mut self, hint: Hint) -> bool {
        let pushed = self.with(|own| {
            let free = own.hints.get_mut(own.len as usize)?;
            *free = hint;
            own.len += 1;
            Some(())
        });
        pushed.flatten().is_some()
    }

    /// The latest hint whose entry the driver passes no later than `due`, taken out.
    ///
    /// What does not fit stays, and no entry is touched: the hints lie side by side and know their
    /// due ticks.
    #[inline]
    pub(crate) fn take_for(&mut self, due: u64, exchange: &Exchange) -> Option<Hint> {
        if self.latest.is_some() && self.latest.due <= due {
            // Field by field, as they were stored a moment ago: one wide load would wait for that.
            let Hint { index, word, due } = self.latest;
            self.latest.word = Word::default();
            return Some(Hint { index, word, due });
        }
        self.take_older_for(due, exchange)
    }

    fn take_older_for(&mut self, due: u64, exchange: &Exchange) -> Option<Hint> {
        if self.with(|own| own.len).unwrap_or(0) == 0 && !exchange.receive(self) {
            return None;
        }
        let hint = self.with(|own| {
            let len = own.len as usize;
            let at = own.hints[..len].iter().rposition(|hint| hint.due <= due)?;
            own.len -= 1;
            let hint = own.hints[at];
            own.hints[at] = own.hints[len - 1];
            Some(hint)
        });
        hint.flatten()
    }
}

/// The stacks that no thread has: full ones, on their way to a thread that needs hints, and spare
/// ones. They are never freed while the engine lives.
pub(crate) struct Exchange {
    /// Each on lines of its own, for two threads write neighbours at once.
    stacks: Segments<CachePadded<Stack>, FIRST_BITS>,
    full: Tagged,
    spare: Tagged,
    /// How many stacks there are.
    made: CachePadded<AtomicU32>,
}

impl Exchange {
    pub(crate) fn new() -> Exchange {
        Exchange {
            stacks: Segments::new(),
            full: Tagged::new(),
            spare: Tagged::new(),
            made: CachePadded::new(AtomicU32::new(0)),
        }
    }

    /// How many stacks there are.
    #[cfg(test)]
    pub(crate) fn stacks(&self) -> usize {
        // Relaxed: a count. [O15]
        self.made.load(Ordering::Relaxed) as usize
    }

    /// Takes a full stack over, if there is one, and says whether.
    #[inline]
    fn receive(&self, own: &mut Hints) -> bool {
        self.full.seems_to_hold_some() && self.receive_full(own)
    }

    #[cold]
    fn receive_full(&self, own: &mut Hints) -> bool {
        let Some(full) = self.pop(&self.full) else {
            return false;
        };
        if let Some(empty) = own.with(|own| own.index) {
            self.push(&self.spare, empty);
        }
        own.others = Some(full);
        true
    }

    /// Makes room in a thread's hints: leaves the full stack here, if there is one, for a spare
    /// one.
    #[cold]
    fn hand_over(&self, own: &mut Hints, entries: u32) {
        let full = own.with(|own| own.index);
        // The one to forget, when no more may be had, is the latest that was left here.
        let room = self
            .pop(&self.spare)
            .or_else(|| self.make(entries))
            .or_else(|| full.and_then(|_| self.pop(&self.full)));
        if let Some(room) = room {
            own.others = Some(room);
            if let Some(full) = full {
                self.push(&self.full, full);
            }
        }
        own.with(|own| own.len = 0);
    }

    /// One more stack, unless there are enough for half of the entries.
    fn make(&self, entries: u32) -> Option<NonNull<Stack>> {
        let most = STACKS_MIN + entries / (2 * HINTS as u32);
        // Relaxed: it hands out numbers. [O15]
        let number = self
            .made
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |made| {
                (made < most).then(|| made + 1)
            })
            .ok()?;
        let index = Segments::<CachePadded<Stack>, FIRST_BITS>::spot(number);
        let stack: &Stack = self.stacks.get_or_grow(index)?;
        let mut made = Hints {
            others: Some(NonNull::from(stack)),
            ..Hints::default()
        };
        made.with(|own| own.index = index);
        made.others
    }

    fn at(&self, index: u32) -> &Stack {
        self.stacks.existing(index)
    }

    fn push(&self, to: &Tagged, index: u32) {
        let stack = self.at(index);
        // Relaxed: published by the push that follows. [O25]
        to.push(index, |below| stack.below.store(below, Ordering::Relaxed));
    }

    fn pop(&self, from: &Tagged) -> Option<NonNull<Stack>> {
        // Relaxed: ordered by the pop's own load. [O25]
        let index = from.pop(|index| self.at(index).below.load(Ordering::Relaxed))?;
        Some(NonNull::from(self.at(index)))
    }
}

#[cfg(all(test, not(wheel_model)))]
mod tests {
    use super::*;
    use crate::state::Generation;

    fn hint(index: u32, due: u64) -> Hint {
        Hint {
            index,
            word: Word::live(Generation::default()),
            due,
        }
    }

    fn take_all(hints: &mut Hints, due: u64, exchange: &Exchange) -> Vec<u32> {
        std::iter::from_fn(|| hints.take_for(due, exchange))
            .map(|hint| hint.index)
            .collect()
    }

    #[test]
    fn the_latest_hint_that_is_passed_in_time_is_taken_first() {
        let (mut hints, exchange) = (Hints::default(), Exchange::new());
        for (index, due) in [(1, 10), (2, 20), (3, 10)] {
            hints.remember(hint(index, due), &exchange, || 0);
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
        let mut got = Vec::new();
        for index in 0..1000 {
            cancels.remember(hint(index, 5), &exchange, || 0);
            got.extend(take_all(&mut inserts, 5, &exchange));
            let left = (index as usize + 1) - got.len();
            assert!(
                (1..=HINTS + 1).contains(&left),
                "{left} hints are kept back"
            );
        }
        got.sort_unstable();
        assert!(got.iter().copied().eq(0..got.len() as u32));
    }

    #[test]
    fn a_burst_is_remembered_up_to_half_of_the_entries() {
        let (mut cancels, mut inserts) = (Hints::default(), Hints::default());
        let exchange = Exchange::new();
        let entries = 100_000;
        for index in 0..entries {
            cancels.remember(hint(index, 5), &exchange, || entries);
        }
        let mut got = take_all(&mut inserts, 5, &exchange);
        got.extend(take_all(&mut cancels, 5, &exchange));
        let stacks = STACKS_MIN as usize + entries as usize / (2 * HINTS);
        assert!((entries as usize / 2..=stacks * HINTS).contains(&got.len()));
        let len = got.len();
        got.sort_unstable();
        got.dedup();
        assert_eq!(got.len(), len, "a hint was handed out twice");
    }

    #[test]
    fn no_stack_is_lost_when_threads_pass_them_on() {
        let (mut cancels, mut inserts) = (Hints::default(), Hints::default());
        let exchange = Exchange::new();
        for round in 0..100 {
            for index in 0..1000 {
                cancels.remember(hint(index, round), &exchange, || 1000);
            }
            take_all(&mut inserts, round, &exchange);
        }
        let mut stacks = 2;
        while exchange.pop(&exchange.full).is_some() || exchange.pop(&exchange.spare).is_some() {
            stacks += 1;
        }
        assert_eq!(stacks, exchange.made.load(Ordering::Relaxed));
    }
}
