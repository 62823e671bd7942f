//! The heap as a scheduler of its own: timers without a wheel.
//!
//! It is what most programs would write, done well, and it has two uses here. The benches compare
//! the wheel with it: a wheel that is not faster than this is not worth its code. And where timers
//! are few and their time may step, as it is with those that follow the wall clock, a heap is the
//! better engine: it has no position that time could run away from.
//!
//! Single-owner; whoever shares it wraps it in a mutex. It calls nothing but the closure that
//! `advance` was given, and holds nothing half done while it does.

use std::fmt;

use wheel_core::{Budget, Progress, Tick};

use crate::heap::{Drain, HeapKey, IndexedHeap};

/// Timers in an indexed heap: insert, cancel and reset in O(log n), exact to the tick.
///
/// Never fires early: a timer leaves when `now >= due`. Time is what the caller says it is, at each
/// call anew, and may go back. Every tick works, the past and [`Tick::MAX`] too. Memory and limits
/// are those of [`IndexedHeap`].
///
/// # Examples
///
/// ```
/// use wheel_core::Tick;
/// use wheel_overflow::HeapTimers;
///
/// let mut timers = HeapTimers::new();
/// let order = timers.insert(Tick::new(1_000), "close the order");
/// timers.insert(Tick::new(500), "remind");
///
/// assert_eq!(timers.pop_due(Tick::new(499)), None);
/// assert_eq!(timers.pop_due(Tick::new(500)), Some((Tick::new(500), "remind")));
/// assert_eq!(timers.cancel(order), Some("close the order"));
/// assert_eq!(timers.next_due(), None);
/// ```
pub struct HeapTimers<T> {
    heap: IndexedHeap<T>,
}

impl<T> HeapTimers<T> {
    /// No timers. Allocates nothing yet.
    pub fn new() -> HeapTimers<T> {
        HeapTimers {
            heap: IndexedHeap::new(),
        }
    }

    /// Adds a timer that is due at `due`, which may have passed already: it fires at the next call
    /// then.
    ///
    /// # Panics
    ///
    /// When 4,294,967,295 timers are pending.
    pub fn insert(&mut self, due: Tick, value: T) -> HeapKey {
        self.heap.insert(due, value)
    }

    /// Takes the timer back. `None` when it has fired or was cancelled before.
    pub fn cancel(&mut self, key: HeapKey) -> Option<T> {
        self.heap.remove(key).map(|(_, value)| value)
    }

    /// Makes the timer due at `due` instead, earlier or later. The key stays valid.
    ///
    /// Returns whether it was still pending.
    pub fn reset(&mut self, key: HeapKey, due: Tick) -> bool {
        self.heap.reset(key, due)
    }

    /// When the timer is due, and its value. `None` when it is not pending any more.
    pub fn get(&self, key: HeapKey) -> Option<(Tick, &T)> {
        self.heap.get(key)
    }

    /// The earliest due tick, exactly; it is in the past when a timer is overdue.
    pub fn next_due(&self) -> Option<Tick> {
        self.heap.next_due()
    }

    /// Takes the earliest timer if it is due.
    pub fn pop_due(&mut self, now: Tick) -> Option<(Tick, T)> {
        if self.heap.next_due()? > now {
            None
        } else {
            self.heap.pop()
        }
    }

    /// Fires what is due, in order of due tick, at most as many timers as `budget` says.
    ///
    /// `fire` gets the due tick and the value of each. When it panics, that timer counts as fired
    /// and the others are pending still. The result tells how many fired, and whether more are due.
    ///
    /// # Examples
    ///
    /// ```
    /// use wheel_core::{Budget, Tick};
    /// use wheel_overflow::HeapTimers;
    ///
    /// let mut timers = HeapTimers::new();
    /// for due in [3, 1, 2, 9] {
    ///     timers.insert(Tick::new(due), due);
    /// }
    /// let mut fired = Vec::new();
    /// let progress = timers.advance(Tick::new(5), Budget::new(2), |_, value| fired.push(value));
    /// assert_eq!(fired, [1, 2]);
    /// assert!(progress.more);
    /// ```
    pub fn advance(
        &mut self,
        now: Tick,
        budget: Budget,
        mut fire: impl FnMut(Tick, T),
    ) -> Progress {
        let mut progress = Progress::default();
        while progress.fired < budget.entries() {
            let Some((due, value)) = self.pop_due(now) else {
                return progress;
            };
            progress.fired += 1;
            fire(due, value);
        }
        progress.more = self.next_due().is_some_and(|due| due <= now);
        progress
    }

    /// How many timers are pending.
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// Whether no timer is pending.
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    /// All pending timers, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = (HeapKey, Tick, &T)> {
        self.heap.iter()
    }

    /// Takes all timers back, in order of due tick. What the iterator has not handed out when it is
    /// dropped is dropped with it.
    pub fn drain(&mut self) -> Drain<'_, T> {
        self.heap.drain()
    }
}

impl<T> Default for HeapTimers<T> {
    fn default() -> HeapTimers<T> {
        HeapTimers::new()
    }
}

impl<T> fmt::Debug for HeapTimers<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HeapTimers")
            .field("len", &self.len())
            .field("next_due", &self.next_due())
            .finish()
    }
}
