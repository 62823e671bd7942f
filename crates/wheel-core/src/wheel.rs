//! The handle for any thread: insert, cancel, reset, replace.
//!
//! Each is a few atomic steps on one entry and, for a fresh one, a push; none waits for another
//! thread. No code of the user runs inside: values are moved, never dropped or called, and the
//! waker is woken when all is done.

use std::fmt;

use wheel_sync::Arc;

use crate::Tick;
use crate::engine::Engine;
use crate::entry::Entry;
use crate::error::InsertError;
use crate::key::Key;
use crate::places::Mine;
use crate::state::{Generation, Word};
use crate::vacant::{Hint, STALE_MAX};

/// An entry that belongs to an inserting thread until it is published.
struct Claim<'a, T> {
    index: u32,
    entry: &'a Entry<T>,
    word: Word,
    /// It has no place: it must be pushed.
    fresh: bool,
}

/// A timing wheel, for any thread. Clones are handles to the same wheel.
///
/// The wheel knows no clock: due ticks are computed by the caller, from a clock reading rounded as
/// [`TickLength`](crate::TickLength) says. Timers fire in
/// [`Driver::advance`](crate::Driver::advance).
pub struct Wheel<T> {
    engine: Arc<Engine<T>>,
}

impl<T> Wheel<T> {
    pub(crate) fn new(engine: Arc<Engine<T>>) -> Wheel<T> {
        Wheel { engine }
    }

    /// Sets a timer: `value` fires at the first advance that reaches `due`.
    ///
    /// Never fires early. What is due in the past fires at the next advance, never inside this
    /// call; what is due at [`Tick::MAX`] stays pending in any real run. Does not block; allocates
    /// only while the number of entries in use grows. What this thread wrote before is visible
    /// where the value fires.
    ///
    /// # Errors
    ///
    /// Gives the value back: [`InsertError::Full`] when as many timers are pending as the wheel may
    /// hold, or there is no memory for one more; [`InsertError::Closed`] when the driver has closed
    /// it.
    ///
    /// # Examples
    ///
    /// ```
    /// use wheel_core::{Config, Tick};
    ///
    /// let (wheel, _driver) = Config::new().build();
    /// let key = wheel.insert(Tick::new(30_000), "close connection 7")?;
    /// assert_eq!(wheel.cancel(key), Some("close connection 7"));
    /// # Ok::<(), wheel_core::InsertError<&str>>(())
    /// ```
    // Inlined, so that the key stays in registers: stored and loaded again it costs as much as a
    // CAS.
    #[inline(always)]
    pub fn insert(&self, due: Tick, value: T) -> Result<Key, InsertError<T>> {
        let engine = &*self.engine;
        let mine = engine.places.mine();
        let Some(claim) = self.claim_for_insert(&mine, due) else {
            return Err(match engine.is_closed() {
                true => InsertError::Closed(value),
                false => InsertError::Full(value),
            });
        };
        let entry = claim.entry;
        entry.set_due(due.get());
        // SAFETY: the claim makes the entry this thread's; vacant or free, it holds no value.
        // [U22]
        unsafe { entry.write(value) };
        let generation = entry.state.publish(claim.word);
        mine.count(1);
        if claim.fresh {
            match self.push(&mine, claim.index, generation) {
                Ok(shard_len) => engine.wake.after_push(&mine, due.get(), shard_len),
                Err(value) => {
                    mine.count(-1);
                    engine.limit.release();
                    return Err(InsertError::Closed(value));
                }
            }
        }
        Ok(self.key(claim.index, generation))
    }

    /// An entry for a new timer: one that was cancelled and lies where the driver passes in time,
    /// or a fresh one. `None` when there is no room. Races: rearm-or-reap, rearm-or-rearm.
    #[inline(always)]
    fn claim_for_insert(&self, mine: &Mine<'_>, due: Tick) -> Option<Claim<'_, T>> {
        let engine = &*self.engine;
        if !engine.limit.reserve() {
            return None;
        }
        for _ in 0..STALE_MAX {
            let hint = mine.with(|caches| caches.hints.take_for(due.get(), &engine.exchange));
            let Some(hint) = hint.flatten() else { break };
            let entry = engine.arena.get(hint.index);
            if entry.state.claim_vacant(hint.word) {
                return Some(Claim {
                    index: hint.index,
                    entry,
                    word: hint.word.claimed(),
                    fresh: false,
                });
            }
        }
        // Not when closed: each one refused would leave an entry that nobody visits.
        let free = (!engine.is_closed()).then(|| engine.take_free(mine));
        let Some(index) = free.flatten() else {
            engine.limit.release();
            return None;
        };
        let entry = engine.arena.get(index);
        Some(Claim {
            index,
            entry,
            word: entry.state.owned(),
            fresh: true,
        })
    }

    /// Hands a published fresh entry to the driver and says how many its shard holds now. Gives the
    /// value back if the wheel was closed, unless the close has found it first; the entry is then
    /// left free, as nobody will visit it. Race: close-or-insert.
    #[inline(never)]
    fn push(&self, mine: &Mine<'_>, index: u32, generation: Generation) -> Result<u32, T> {
        let engine = &*self.engine;
        let entry = engine.arena.get(index);
        let shard_len = engine.intake.push(mine.slot, index, entry);
        if engine.is_closed() && entry.state.take_live(Word::live(generation)) {
            // SAFETY: taken out of live, so the value is this thread's. [U23]
            return Err(unsafe { entry.read() });
        }
        Ok(shard_len)
    }

    /// Takes a pending timer out. `None` when it has fired, was cancelled or reset, or is another
    /// wheel's.
    ///
    /// Exactly one of cancel, fire and close gets the value. It comes back at once and is never
    /// kept by the wheel. Does not block. `None` does not say that what the value does when it
    /// fires has ended.
    // Inlined, so that the value is not copied through memory a second time.
    #[inline(always)]
    pub fn cancel(&self, key: Key) -> Option<T> {
        let engine = &*self.engine;
        // Before the claim: a thread's first look may lock and allocate, and others meet a busy
        // entry.
        let mine = engine.places.mine();
        let (entry, live) = self.claim(key)?;
        // SAFETY: claimed out of live, so it holds a value that is this thread's. [U24]
        let value = unsafe { entry.read() };
        self.vacate(&mine, key.index(), entry, live);
        engine.limit.release();
        mine.count(-1);
        Some(value)
    }

    /// Moves a pending timer to `due`, earlier or later. Its new key; `None` when it is too late:
    /// the timer has fired or was cancelled or reset, or is another wheel's.
    ///
    /// The timer fires once: at the new tick, or before it was reset, which `None` says. Does not
    /// block. A timer that becomes earlier stays as it was if no memory can be had for it or the
    /// driver is closing the wheel: `None`, and the old key is good.
    ///
    /// # Examples
    ///
    /// ```
    /// use wheel_core::{Config, Tick};
    ///
    /// let (wheel, _driver) = Config::new().build();
    /// let old = wheel.insert(Tick::new(30), "idle")?;
    /// let new = wheel.reset(old, Tick::new(60)).expect("nothing has fired");
    /// assert_eq!(wheel.cancel(old), None, "the old key does nothing any more");
    /// assert_eq!(wheel.cancel(new), Some("idle"));
    /// # Ok::<(), wheel_core::InsertError<&str>>(())
    /// ```
    #[inline]
    pub fn reset(&self, key: Key, due: Tick) -> Option<Key> {
        if !key.is_of(self.engine.id) {
            return None;
        }
        let entry = self.engine.arena.get(key.index());
        // If the claim succeeds, this was the due tick of the timer that the key names: another one
        // is written under another generation only.
        let later = due.get() >= entry.due();
        if !later || Word::live(key.generation()).is_spent() {
            return self.reset_elsewhere(key, due);
        }
        let (entry, live) = self.claim(key)?;
        entry.set_due(due.get());
        let generation = entry.state.publish(live.claimed());
        Some(self.key(key.index(), generation))
    }

    /// Moves a timer to an entry of its own, obtained before the old one is claimed: when there is
    /// none, the timer must survive.
    fn reset_elsewhere(&self, key: Key, due: Tick) -> Option<Key> {
        let engine = &*self.engine;
        if engine.is_closed() {
            return None;
        }
        let mine = engine.places.mine();
        let index = engine.take_free(&mine)?;
        let Some((old, live)) = self.claim(key) else {
            engine.put_free(&mine, index);
            return None;
        };
        let entry = engine.arena.get(index);
        entry.set_due(due.get());
        // SAFETY: the old entry is claimed out of live; the new one is free and this thread's.
        // [U25]
        unsafe { entry.write(old.read()) };
        let generation = entry.state.publish(entry.state.owned());
        match self.push(&mine, index, generation) {
            Ok(shard_len) => {
                self.vacate(&mine, key.index(), old, live);
                engine.wake.after_push(&mine, due.get(), shard_len);
            }
            Err(value) => {
                // The close has not found the new entry and may have passed it. It waits for the
                // old one, which is busy, and takes the value from there. Race: close-or-insert.
                // SAFETY: the old entry is still claimed, and its value was moved out above.
                // [U26]
                unsafe { old.write(value) };
                old.state.unclaim(live);
                return None;
            }
        }
        Some(self.key(index, generation))
    }

    /// Whether a timer is pending: it has not fired and was neither cancelled nor reset. False for a
    /// key of another wheel. One look at the entry.
    ///
    /// A timer that is pending may fire as this returns; one that is not never will be again, unless
    /// another thread is in the midst of [`replace`](Wheel::replace).
    #[inline]
    pub fn is_pending(&self, key: Key) -> bool {
        key.is_of(self.engine.id) && {
            let entry = self.engine.arena.get(key.index());
            entry.state.look() == Word::live(key.generation())
        }
    }

    /// Puts another value in the place of that of a pending timer, and returns the old one. Due tick
    /// and key stay what they are, and so does the number of pending timers: where there is a limit,
    /// nobody else can take the place meanwhile.
    ///
    /// What this thread wrote before is visible where the value fires. Does not block. It is for who
    /// owns the key: a `cancel` or `reset` by another thread in the midst of it finds nothing, as if
    /// the timer had fired.
    ///
    /// # Errors
    ///
    /// Gives the new value back when it is too late: the timer has fired or was cancelled or reset,
    /// or is another wheel's.
    ///
    /// # Examples
    ///
    /// ```
    /// use wheel_core::{Config, Tick};
    ///
    /// let (wheel, _driver) = Config::new().build();
    /// let key = wheel.insert(Tick::new(30), "tell one")?;
    /// assert_eq!(wheel.replace(key, "tell the other"), Ok("tell one"));
    /// assert_eq!(wheel.cancel(key), Some("tell the other"));
    /// assert_eq!(wheel.replace(key, "tell a third"), Err("tell a third"));
    /// # Ok::<(), wheel_core::InsertError<&str>>(())
    /// ```
    pub fn replace(&self, key: Key, value: T) -> Result<T, T> {
        let Some((entry, live)) = self.claim(key) else {
            return Err(value);
        };
        // SAFETY: claimed out of live, so it holds a value that is this thread's. [U30]
        let old = unsafe { entry.read() };
        // SAFETY: as above, and the value has just been moved out. [U31]
        unsafe { entry.write(value) };
        // The due tick did not move, so who looked at it before may act on it still.
        entry.state.unclaim(live);
        Ok(old)
    }

    /// How many timers are pending. Exact when no call is in flight, else off by a few per thread.
    pub fn len(&self) -> usize {
        self.engine.places.live()
    }

    /// True when no timer is pending; as exact as [`len`](Wheel::len).
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many entries wait for the driver to give them a place and have not been taken by it, those
    /// that were cancelled meanwhile included. Reads a few counters that the driver changes, and
    /// disturbs nobody.
    ///
    /// [`Driver::snapshot`](crate::Driver::snapshot) tells of everything that the wheel holds.
    pub fn intake_len(&self) -> usize {
        self.engine.intake.len()
    }

    /// The tick of the latest advance.
    ///
    /// For display. A due tick is computed from a clock: a driver that sleeps until something is
    /// due may have advanced an hour ago.
    pub fn now(&self) -> Tick {
        Tick::new(self.engine.now())
    }

    /// How many entries were ever in use, so that a model sees whether they come back.
    #[cfg(wheel_model)]
    pub fn entries_used(&self) -> u32 {
        self.engine.arena.used()
    }

    fn key(&self, index: u32, generation: Generation) -> Key {
        Key::new(self.engine.id, index, generation)
    }

    /// Claims the pending timer that a key names. Races: cancel-or-fire, stale-key.
    #[inline]
    fn claim(&self, key: Key) -> Option<(&Entry<T>, Word)> {
        if !key.is_of(self.engine.id) {
            return None;
        }
        let entry = self.engine.arena.get(key.index());
        let live = Word::live(key.generation());
        entry.state.claim_live(live).then_some((entry, live))
    }

    /// Leaves a claimed entry vacant, and remembers it for the next insert.
    #[inline]
    fn vacate(&self, mine: &Mine<'_>, index: u32, entry: &Entry<T>, live: Word) {
        let due = entry.due();
        let word = entry.state.vacate(live.claimed());
        if !word.is_spent() {
            let hint = Hint { index, word, due };
            mine.with(|caches| {
                let engine = &*self.engine;
                let entries = || engine.arena.used();
                caches.hints.remember(hint, &engine.exchange, entries);
            });
        }
    }
}

impl<T> Clone for Wheel<T> {
    fn clone(&self) -> Wheel<T> {
        Wheel::new(Arc::clone(&self.engine))
    }
}

impl<T> fmt::Debug for Wheel<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wheel")
            .field("now", &self.now())
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, not(wheel_model)))]
mod tests {
    use super::*;
    use crate::arena::BATCH;
    use crate::{Budget, Config};

    #[test]
    fn a_closed_wheel_uses_no_memory_for_what_it_refuses() {
        let (wheel, driver) = Config::new().build();
        let key = wheel.insert(Tick::new(5), 0).unwrap();
        let unfired = driver.close();
        for value in 0..1000 {
            let refused = wheel.insert(Tick::new(1), value);
            assert!(matches!(refused, Err(InsertError::Closed(v)) if v == value));
            assert!(wheel.reset(key, Tick::new(1)).is_none());
        }
        assert_eq!(wheel.engine.arena.used(), BATCH);
        assert_eq!(unfired.collect::<Vec<_>>(), [0]);
    }
    #[test]
    fn with_a_limit_cancelled_timers_do_not_pile_up_for_ever_behind_a_driver_that_does_not_run() {
        let (wheel, mut driver) = Config::new().max_timers(10).build();
        let mut refused = None;
        // Each is due before the one cancelled last, so no entry is used again.
        for due in (0..200_000).rev() {
            match wheel.insert(Tick::new(due), due) {
                Ok(key) => assert_eq!(wheel.cancel(key), Some(due)),
                Err(error) => {
                    refused = Some(error);
                    break;
                }
            }
        }
        assert!(refused.is_some_and(|error| error.is_full()));
        let engine = &wheel.engine;
        let at_hand = (3 * engine.places.count() + 1) * u64::from(BATCH);
        assert!(u64::from(engine.arena.used()) <= engine.limit.entries_max() + at_hand);
        driver.advance(Tick::ZERO, Budget::UNLIMITED, |_| ());
        assert!(
            wheel.insert(Tick::ZERO, 0).is_ok(),
            "room again once the driver has run"
        );
    }
}
