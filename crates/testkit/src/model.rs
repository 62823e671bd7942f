//! The oracle: what a timer engine holds, in a sorted map.
//!
//! Too slow to be used and too simple to be wrong. It does not fire by itself; it is told what the
//! engine did and says whether that was right.

use std::collections::{BTreeMap, BTreeSet};

/// A pending timer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Timer {
    /// The tick it is due at.
    pub due: u64,
    /// Whether it was overdue already when it got that due tick. Such a timer fires at the next
    /// chance, in no order.
    pub overdue: bool,
}

/// The timers that an engine must hold, by value.
#[derive(Clone, Default, Debug)]
pub struct Model {
    now: u64,
    timers: BTreeMap<u64, Timer>,
    by_due: BTreeSet<(u64, u64)>,
    last_value: u64,
}

impl Model {
    /// No timers, at the tick `start`.
    pub fn new(start: u64) -> Model {
        Model {
            now: start,
            ..Model::default()
        }
    }

    /// The latest tick that `advance` was called with.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// How many timers are pending.
    pub fn len(&self) -> usize {
        self.timers.len()
    }

    /// Whether no timer is pending.
    pub fn is_empty(&self) -> bool {
        self.timers.is_empty()
    }

    /// How many timers were ever inserted.
    pub fn inserted(&self) -> u64 {
        self.last_value
    }

    /// The earliest due tick.
    pub fn next_due(&self) -> Option<u64> {
        self.by_due.first().map(|&(due, _)| due)
    }

    /// Whether a timer is due now.
    pub fn is_due(&self) -> bool {
        self.next_due().is_some_and(|due| due <= self.now)
    }

    /// The pending timer at a position among all, by age; any number will do.
    pub fn pick(&self, pick: usize) -> Option<(u64, Timer)> {
        let nth = pick.checked_rem(self.len())?;
        self.timers
            .iter()
            .nth(nth)
            .map(|(&value, &timer)| (value, timer))
    }

    /// The timer that holds `value`.
    pub fn get(&self, value: u64) -> Option<Timer> {
        self.timers.get(&value).copied()
    }

    /// When each pending timer is due, in ascending order.
    pub fn dues(&self) -> impl Iterator<Item = u64> {
        self.by_due.iter().map(|&(due, _)| due)
    }

    /// The values of all pending timers, in ascending order.
    pub fn values(&self) -> impl Iterator<Item = u64> {
        self.timers.keys().copied()
    }

    /// Makes a value that no other timer has.
    pub fn new_value(&mut self) -> u64 {
        self.last_value += 1;
        self.last_value
    }

    /// Adds a timer, or gives one another due tick.
    pub fn set(&mut self, value: u64, due: u64) {
        let overdue = due <= self.now;
        if let Some(old) = self.timers.insert(value, Timer { due, overdue }) {
            self.by_due.remove(&(old.due, value));
        }
        self.by_due.insert((due, value));
    }

    /// Takes a timer out. `None` when it has left before, or never was.
    pub fn remove(&mut self, value: u64) -> Option<Timer> {
        let timer = self.timers.remove(&value)?;
        self.by_due.remove(&(timer.due, value));
        Some(timer)
    }

    /// Moves the time; it does not go back.
    pub fn move_to(&mut self, now: u64) {
        self.now = self.now.max(now);
    }
}
