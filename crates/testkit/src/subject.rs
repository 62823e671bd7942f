//! What an engine offers to be judged: the operations of a timer engine on plain numbers.
//!
//! An adapter of some thirty lines stands in the tests of each engine. The values are numbers that
//! the judge hands out, each once, so that it knows every timer again when it fires.

use std::fmt::Debug;

/// A timer engine under test.
pub trait Subject {
    /// Names one timer.
    type Key: Copy + PartialEq + Debug;

    /// Whether `Setup::max_timers` is honoured. Streams for an engine without a limit set none.
    const LIMITS: bool;

    /// Whether inserts are refused after `close`. Where not, `close` only takes everything back.
    const CLOSES: bool;

    /// Adds a timer.
    ///
    /// # Errors
    ///
    /// Refuses with the value when the limit is reached or the engine was closed.
    fn insert(&mut self, due: u64, value: u64) -> Result<Self::Key, Refused>;

    /// Takes the timer's value back, if it is still pending.
    fn cancel(&mut self, key: Self::Key) -> Option<u64>;

    /// Makes the timer due at another tick, if it is still pending, and returns the key to use from
    /// now on: the same, or a new one that makes the old one stale.
    fn reset(&mut self, key: Self::Key, due: u64) -> Option<Self::Key>;

    /// Fires what is due at `now`, touching at most `budget` timers. `fire` gets the due tick and
    /// the value.
    fn advance(&mut self, now: u64, budget: usize, fire: &mut dyn FnMut(u64, u64)) -> Step;

    /// When to call `advance` again.
    fn next_due(&mut self) -> Option<u64>;

    /// How often the engine has called for its driver so far; `None` for one that has nobody to
    /// wake.
    ///
    /// From the return of `next_due` until the next `advance`, it must call for each timer that
    /// becomes due earlier.
    fn wakes(&mut self) -> Option<u64> {
        None
    }

    /// How many timers are pending.
    fn pending(&mut self) -> usize;

    /// Where what it holds is at the moment; `None` for an engine that cannot tell.
    fn places(&mut self) -> Option<Places> {
        None
    }

    /// Takes back the values of all timers that never fired.
    fn close(&mut self) -> Vec<u64>;
}

/// What one `advance` did.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    /// How many timers fired.
    pub fired: usize,
    /// How many timers were moved without firing.
    pub moved: usize,
    /// Whether the budget ended before the work.
    pub more: bool,
}

/// Where an engine says that its timers are, the places of cancelled ones included.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Places {
    /// Of each slot the first tick that belongs to it, and how many it holds; in any order.
    pub slots: Vec<(u64, usize)>,
    /// How many wait outside of the slots.
    pub elsewhere: usize,
    /// How many of all are pending timers.
    pub live: usize,
    /// How many of all are places of cancelled ones.
    pub vacant: usize,
}

/// An insert that was refused, with its value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refused {
    /// The limit is reached.
    Full(u64),
    /// The engine was closed.
    Closed(u64),
}
