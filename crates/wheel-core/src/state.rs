//! The state word of an entry: who may touch it now, and which timer it is.
//!
//! One `u64` holds a generation (62 bits) and a phase (2 bits). Every legal step is a method here,
//! and no other file changes the word.
//!
//! ```text
//!            publish                    claim_live
//!   free  ------------->  live(g+1)  ------------->  busy
//!    ^   inserter, owns    |   ^       cancel, reset   |
//!    |   the free entry    |   |                       | vacate
//!    |                     |   '------- publish -------+
//!    |      take_live      |          reset, re-arm    v
//!    +---------------------'                         vacant
//!    |      driver: fire, close                        |  claim_vacant (re-arm) leads to busy
//!    '-------------------------------------------------'
//!           reap: driver, sweep, close
//! ```
//!
//! One step is not in the picture: a reset that meets a close gives its claim back (`unclaim`, busy
//! to live) and has changed nothing.
//!
//! Ground rules. Whoever wins a step out of *live* or *vacant* owns the entry's value and due tick
//! until its next step; a *free* entry belongs to whoever holds its index in a cache. The
//! generation moves at each publication and never back, so a word that was seen once names that one
//! timer for ever: a stale key or hint meets another word, and its step fails.

use wheel_sync::atomic::{AtomicU64, Ordering};

const PHASE_BITS: u32 = 2;
const PHASE_MASK: u64 = (1 << PHASE_BITS) - 1;
const GENERATION_MAX: u64 = u64::MAX >> PHASE_BITS;

/// Counts the timers that an entry has been.
///
/// At 65 million uses a second of one entry, 62 bits last 2,000 years; an entry that reaches the
/// last one is retired all the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Generation(u64);

impl Generation {
    /// The next one, for a wheel that counts all its timers in one row: 2^64 do not run out.
    pub(crate) const fn next(self) -> Generation {
        Generation(self.0 + 1)
    }
}

/// Who may touch an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub(crate) enum Phase {
    /// In a cache of entries to use, or on the way there. Holds no value.
    Free = 0,
    /// A pending timer: holds a value.
    Live = 1,
    /// Cancelled, but still in the place where the driver will visit it. Holds no value.
    Vacant = 2,
    /// A user thread is about to write it, within a few instructions.
    Busy = 3,
}

/// A state word as it was seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Word(u64);

impl Word {
    const fn new(generation: Generation, phase: Phase) -> Word {
        Word(generation.0 << PHASE_BITS | phase as u64)
    }

    /// The word of the pending timer that a key of this generation names.
    pub(crate) const fn live(generation: Generation) -> Word {
        Word::new(generation, Phase::Live)
    }

    pub(crate) const fn generation(self) -> Generation {
        Generation(self.0 >> PHASE_BITS)
    }

    pub(crate) const fn phase(self) -> Phase {
        match self.0 & PHASE_MASK {
            0 => Phase::Free,
            1 => Phase::Live,
            2 => Phase::Vacant,
            _ => Phase::Busy,
        }
    }

    const fn to(self, phase: Phase) -> Word {
        Word::new(self.generation(), phase)
    }

    /// True when the entry has been its last timer and must not be used again.
    pub(crate) const fn is_spent(self) -> bool {
        self.0 >> PHASE_BITS == GENERATION_MAX
    }
}

/// The state word of one entry. A fresh one is free, in generation 0.
#[derive(Debug)]
pub(crate) struct State(AtomicU64);

impl State {
    #[cfg(any(test, wheel_model))]
    pub(crate) fn free() -> State {
        State(AtomicU64::new(0))
    }

    #[cfg(test)]
    pub(crate) fn nearly_spent() -> State {
        State(AtomicU64::new(
            Word::new(Generation(GENERATION_MAX - 1), Phase::Free).0,
        ))
    }

    /// Makes a free entry look as if it had one timer left to be.
    #[cfg(test)]
    pub(crate) fn wear_out(&self) {
        assert_eq!(self.owned().phase(), Phase::Free);
        // Relaxed: a test's own entry. [O2]
        let nearly_spent = State::nearly_spent().owned();
        self.0.store(nearly_spent.0, Ordering::Relaxed);
    }

    /// The word now, for one who may act on it.
    #[inline]
    pub(crate) fn look(&self) -> Word {
        // Acquire: the due tick read next is not older than this word; pairs with publish. [O1]
        Word(self.0.load(Ordering::Acquire))
    }

    /// The word of a free entry, for the one who owns it.
    #[inline]
    pub(crate) fn owned(&self) -> Word {
        // Relaxed: the index came with an acquire from whoever freed the entry last. [O2]
        Word(self.0.load(Ordering::Relaxed))
    }

    /// live to busy, for cancel, reset and replace: the winner owns value and due tick. Race:
    /// cancel-or-fire.
    #[inline]
    pub(crate) fn claim_live(&self, seen: Word) -> bool {
        debug_assert_eq!(seen.phase(), Phase::Live);
        // Acquire: the value read next is the one stored; pairs with publish and unclaim. [O3]
        self.step(seen, Phase::Busy, Ordering::Acquire)
    }

    /// vacant to busy, for a re-arm. Races: rearm-or-reap, rearm-or-rearm.
    #[inline]
    pub(crate) fn claim_vacant(&self, seen: Word) -> bool {
        debug_assert_eq!(seen.phase(), Phase::Vacant);
        // Acquire: the value written next comes after the canceller's read of the old one; pairs
        // with vacate. [O4]
        self.step(seen, Phase::Busy, Ordering::Acquire)
    }

    /// free or busy to live under the next generation; the caller has written due tick and value.
    #[inline]
    pub(crate) fn publish(&self, owned: Word) -> Generation {
        debug_assert!(matches!(owned.phase(), Phase::Free | Phase::Busy) && !owned.is_spent());
        let generation = Generation(owned.generation().0 + 1);
        // Release: publishes value and due tick; pairs with look, claim_live and take_live. [O5]
        self.0.store(Word::live(generation).0, Ordering::Release);
        generation
    }

    /// busy back to live under the same generation, for a reset that meets a close and for another
    /// value in the same place: the due tick is what it was, so the key stays good. Races:
    /// close-or-insert, replace-or-fire.
    pub(crate) fn unclaim(&self, live: Word) {
        debug_assert_eq!(live.phase(), Phase::Live);
        // Release: the value was written anew; pairs with claim_live and take_live. [O30]
        self.0.store(live.0, Ordering::Release);
    }

    /// busy to vacant, after the canceller has taken the value out.
    #[inline]
    pub(crate) fn vacate(&self, claimed: Word) -> Word {
        let vacant = claimed.to(Phase::Vacant);
        // Release: the read of the value is over; pairs with look and claim_vacant. [O6]
        self.0.store(vacant.0, Ordering::Release);
        vacant
    }

    /// live to free, for the driver that fires the timer, or the one that takes it back at close.
    /// The winner owns the value. Races: cancel-or-fire, reset-or-fire, close-or-insert.
    #[inline]
    pub(crate) fn take_live(&self, seen: Word) -> bool {
        debug_assert_eq!(seen.phase(), Phase::Live);
        // Acquire: as claim_live. A look before may have acquired publish only, and unclaim has
        // stored the same word since; pairs with both. [O7]
        self.step(seen, Phase::Free, Ordering::Acquire)
    }

    /// vacant to free, for driver, sweep and close, after a look. Race: rearm-or-reap.
    #[inline]
    pub(crate) fn reap(&self, seen: Word) -> bool {
        debug_assert_eq!(seen.phase(), Phase::Vacant);
        // Relaxed: the look that showed this word has acquired it, and a vacant word is stored
        // once, so this meets the same store. [O8]
        self.step(seen, Phase::Free, Ordering::Relaxed)
    }

    // Under a model, the site of a step is that of its caller.
    #[inline]
    #[cfg_attr(wheel_model, track_caller)]
    fn step(&self, seen: Word, phase: Phase, success: Ordering) -> bool {
        // Relaxed on failure: whoever loses touches nothing. [O9]
        self.0
            .compare_exchange(seen.0, seen.to(phase).0, success, Ordering::Relaxed)
            .is_ok()
    }
}

impl Word {
    /// The word that `claim_live` or `claim_vacant` has put in place of this one.
    pub(crate) const fn claimed(self) -> Word {
        self.to(Phase::Busy)
    }
}

#[cfg(all(test, not(wheel_model)))]
mod tests {
    use super::*;

    #[test]
    fn each_publication_is_another_generation() {
        let state = State::free();
        let first = state.publish(state.owned());
        assert!(state.claim_live(Word::live(first)));
        let vacant = state.vacate(Word::live(first).claimed());
        assert!(state.claim_vacant(vacant));
        let second = state.publish(vacant.claimed());
        assert_ne!(first, second);
        assert!(
            !state.claim_live(Word::live(first)),
            "a stale key claimed the new timer"
        );
        assert!(state.take_live(Word::live(second)));
        assert_eq!(state.look().phase(), Phase::Free);
    }

    #[test]
    fn a_claim_that_is_given_back_leaves_the_key_good_even_at_the_last_generation() {
        let state = State::nearly_spent();
        let live = Word::live(state.publish(state.owned()));
        assert!(live.is_spent());
        assert!(state.claim_live(live));
        state.unclaim(live);
        assert!(state.claim_live(live));
    }

    #[test]
    fn a_spent_entry_says_so_at_its_last_generation() {
        let state = State::nearly_spent();
        assert!(!state.look().is_spent());
        state.publish(state.owned());
        assert!(state.look().is_spent());
    }
}
