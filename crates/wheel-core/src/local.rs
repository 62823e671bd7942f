//! The same wheel for one thread, without atomics.
//!
//! For a service that runs one loop per core and drives its timers from it. Levels, budgets, sweep
//! and re-arm in place are those of [`Driver`](crate::Driver); entries live in a slab, and there is
//! no intake, as an insert places its timer at once.

use std::collections::VecDeque;
use std::fmt;

use slab::Slab;

use crate::Tick;
use crate::budget::{Budget, Progress, Work};
use crate::close::drop_each;
use crate::driver::Fired;
use crate::error::InsertError;
use crate::key::{EngineId, Key};
use crate::levels::{Levels, Step};
use crate::state::Generation;
use crate::sweep::{Outcome, Visited};
use crate::vacant::STALE_MAX;

/// Vacant entries that are remembered for an insert, at least; else half as many as have a place.
/// So entries stay below twice the peak of live timers when nobody advances.
const HINTS_MIN: usize = 64;

/// An entry has a place until it is looked at; without a value it is vacant.
struct Entry<T> {
    generation: Generation,
    due: u64,
    value: Option<T>,
}

/// An entry that was cancelled, if it is still of this generation.
#[derive(Clone, Copy)]
struct Vacant {
    index: u32,
    generation: Generation,
    due: u64,
}

/// A timing wheel for one thread. Built by [`Config::build_local`](crate::Config::build_local).
///
/// ```
/// use wheel_core::{Budget, Config, Tick};
///
/// let mut wheel = Config::new().build_local();
/// let key = wheel.insert(Tick::new(5), "retry")?;
/// assert_eq!(wheel.next_due(), Some(Tick::new(5)));
/// wheel.reset(key, Tick::new(9));
///
/// let mut due = Vec::new();
/// wheel.advance(Tick::new(9), Budget::UNLIMITED, |timer| due.push(timer.value));
/// assert_eq!(due, ["retry"]);
/// # Ok::<(), wheel_core::InsertError<&str>>(())
/// ```
pub struct LocalWheel<T> {
    id: EngineId,
    levels: Levels,
    entries: Slab<Entry<T>>,
    /// The entry that was cancelled last. A service that sets a timeout for each one that it cancels
    /// touches no other.
    latest: Option<Vacant>,
    /// Those cancelled before it, the latest last.
    vacant: VecDeque<(u32, Generation)>,
    /// Entries that were given a place since the last advance.
    placed: usize,
    live: usize,
    max_timers: usize,
    now: u64,
    last: Generation,
}

impl<T> LocalWheel<T> {
    pub(crate) fn new(levels: Levels, start: Tick, max_timers: usize) -> LocalWheel<T> {
        LocalWheel {
            id: EngineId::unique(),
            levels,
            entries: Slab::new(),
            latest: None,
            vacant: VecDeque::with_capacity(HINTS_MIN),
            placed: 0,
            live: 0,
            max_timers,
            now: start.get(),
            last: Generation::default(),
        }
    }

    /// Sets a timer, as [`Wheel::insert`](crate::Wheel::insert) does.
    ///
    /// # Errors
    ///
    /// [`InsertError::Full`] gives the value back when as many timers are pending as the wheel may
    /// hold.
    #[inline]
    pub fn insert(&mut self, due: Tick, value: T) -> Result<Key, InsertError<T>> {
        if self.live >= self.max_timers || self.entries.len() >= u32::MAX as usize {
            return Err(InsertError::Full(value));
        }
        self.live += 1;
        Ok(self.arm(due.get(), value))
    }

    /// Takes a pending timer out; `None` when the key names none (any more).
    #[inline]
    pub fn cancel(&mut self, key: Key) -> Option<T> {
        let value = self.vacate(key)?;
        self.live -= 1;
        Some(value)
    }

    /// Moves a pending timer to `due`, earlier or later. Its new key, or `None` when the key names
    /// none.
    #[inline]
    pub fn reset(&mut self, key: Key, due: Tick) -> Option<Key> {
        let value = self.vacate(key)?;
        Some(self.arm(due.get(), value))
    }

    /// Fires what is due at `now` or before, as [`Driver::advance`](crate::Driver::advance) does.
    ///
    /// `fire` cannot use the wheel; collect what it gets, and insert afterwards.
    pub fn advance(
        &mut self,
        now: Tick,
        budget: Budget,
        mut fire: impl FnMut(Fired<T>),
    ) -> Progress {
        let now = now.get();
        self.now = self.now.max(now);
        let mut work = Work::new(budget);
        let mut fired = 0;
        let cut = loop {
            match self.levels.next(now, &mut work, |_| ()) {
                Step::Look { index, at } => {
                    if let Some(timer) = self.look(index, at) {
                        fired += 1;
                        fire(timer);
                    }
                }
                Step::Done => break false,
                Step::Cut => break true,
            }
        };
        let (entries, live) = (&mut self.entries, self.live);
        let placed = std::mem::take(&mut self.placed);
        let outcome = Outcome::of(fired, &work);
        let owing = self.levels.sweep(
            Visited { placed, outcome },
            &mut work,
            || live,
            |index| !free_if_vacant(entries, index),
        );
        Progress {
            fired,
            moved: work.spent() - fired,
            more: cut || owing,
        }
    }

    /// When to call [`advance`](LocalWheel::advance) next; never later than the earliest timer, and
    /// `None` when nothing is pending.
    pub fn next_due(&mut self) -> Option<Tick> {
        let entries = &mut self.entries;
        self.levels.review_overdue(|index| {
            let freed = free_if_vacant(entries, index);
            (!freed).then(|| entries[index as usize].due)
        });
        self.levels.next_visit().map(Tick::new)
    }

    /// How many timers are pending.
    pub fn len(&self) -> usize {
        self.live
    }

    /// True when no timer is pending.
    pub fn is_empty(&self) -> bool {
        self.live == 0
    }

    /// The tick of the latest advance.
    pub fn now(&self) -> Tick {
        Tick::new(self.now)
    }

    /// Takes the wheel apart: everything that never fired, in no order.
    pub fn close(mut self) -> impl Iterator<Item = T> {
        LocalUnfired(std::mem::take(&mut self.entries).into_iter())
    }

    pub(crate) fn levels(&self) -> &Levels {
        &self.levels
    }

    /// Entries that have a place.
    #[cfg(test)]
    pub(crate) fn held(&self) -> usize {
        assert_eq!(self.levels.held, self.entries.len());
        self.levels.held
    }

    fn look(&mut self, index: u32, at: u64) -> Option<Fired<T>> {
        let entry = &self.entries[index as usize];
        let due = entry.due;
        if entry.value.is_some() && due > at {
            self.levels.put(index, due);
            return None;
        }
        self.levels.held -= 1;
        let entry = self.entries.remove(index as usize);
        let value = entry.value?;
        self.live -= 1;
        Some(Fired {
            value,
            due: Tick::new(due),
            key: self.key(index, entry.generation),
        })
    }

    /// Puts a value into the latest vacant entry, if that is looked at no later than `due`, else
    /// into an older one or a fresh one.
    #[inline]
    fn arm(&mut self, due: u64, value: T) -> Key {
        self.last = self.last.next();
        let generation = self.last;
        if let Some(latest) = self.latest
            && latest.due <= due
        {
            self.latest = None;
            let entry = self.entries.get_mut(latest.index as usize);
            // Another generation: it was freed, and perhaps used again, since.
            if let Some(entry) = entry.filter(|entry| entry.generation == latest.generation) {
                entry.generation = generation;
                entry.due = due;
                entry.value = Some(value);
                return self.key(latest.index, generation);
            }
        }
        self.arm_older(due, value)
    }

    fn arm_older(&mut self, due: u64, value: T) -> Key {
        let entry = Entry {
            generation: self.last,
            due,
            value: Some(value),
        };
        for _ in 0..STALE_MAX {
            let Some(&(index, vacated)) = self.vacant.back() else {
                break;
            };
            let older = self.entries.get_mut(index as usize);
            match older.filter(|older| older.generation == vacated) {
                Some(older) if older.due > due => break,
                Some(older) => {
                    self.vacant.pop_back();
                    *older = entry;
                    return self.key(index, self.last);
                }
                // As above.
                None => drop(self.vacant.pop_back()),
            }
        }
        let index = u32::try_from(self.entries.insert(entry)).expect("checked at insert");
        self.levels.place(index, due);
        self.placed += 1;
        self.key(index, self.last)
    }

    #[inline]
    fn vacate(&mut self, key: Key) -> Option<T> {
        if !key.is_of(self.id) {
            return None;
        }
        let entry = self.entries.get_mut(key.index() as usize)?;
        if entry.generation != key.generation() {
            return None;
        }
        let value = entry.value.take()?;
        let latest = Vacant {
            index: key.index(),
            generation: key.generation(),
            due: entry.due,
        };
        if let Some(older) = self.latest.replace(latest) {
            self.remember(older);
        }
        Some(value)
    }

    fn remember(&mut self, older: Vacant) {
        if self.vacant.len() >= HINTS_MIN.max(self.entries.len() / 2) {
            self.vacant.pop_front();
        }
        self.vacant.push_back((older.index, older.generation));
    }

    fn key(&self, index: u32, generation: Generation) -> Key {
        Key::new(self.id, index, generation)
    }
}

impl<T> Drop for LocalWheel<T> {
    fn drop(&mut self) {
        drop(LocalUnfired(std::mem::take(&mut self.entries).into_iter()));
    }
}

/// What never fired; what is left when it is dropped is dropped one by one.
struct LocalUnfired<T>(slab::IntoIter<Entry<T>>);

impl<T> Iterator for LocalUnfired<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.0.find_map(|(_, entry)| entry.value)
    }
}

impl<T> Drop for LocalUnfired<T> {
    fn drop(&mut self) {
        drop_each(self);
    }
}

fn free_if_vacant<T>(entries: &mut Slab<Entry<T>>, index: u32) -> bool {
    let vacant = entries[index as usize].value.is_none();
    if vacant {
        entries.remove(index as usize);
    }
    vacant
}

impl<T> fmt::Debug for LocalWheel<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalWheel")
            .field("now", &self.now)
            .field("len", &self.live)
            .finish_non_exhaustive()
    }
}
