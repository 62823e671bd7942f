//! Timer engines behind one small trait, so that one piece of bench code measures them all.
//!
//! ```text
//! benches/insert_cancel.rs, insert.rs, fire.rs  -->  trait Contestant  <--  contestants/*.rs
//! ```
//!
//! Inserting and cancelling take `&self`, as a service would share the engine; an engine that is
//! not made for that stands in a mutex here. Time is a tick counter in the bench's hand, so that
//! nothing waits and every run does the same work.

#![allow(missing_debug_implementations, reason = "nobody prints a contestant")]

mod contestants;
mod random;
mod rounds;

pub use contestants::{LockedHeap, LockedLocalWheel, WheelAndDriver};
pub use random::Random;
pub use rounds::in_whole_rounds;
pub use wheel_core::Tick;

/// What every timer carries: 16 bytes, as an `Arc<dyn Fn>` would be.
pub type Value = [u64; 2];

/// An engine that takes part.
pub trait Contestant {
    /// Names a timer.
    type Key: Copy;

    /// The name in the report.
    const NAME: &'static str;

    /// An empty engine at tick 0.
    fn new() -> Self;

    /// Adds a timer.
    fn insert(&self, due: Tick, value: Value) -> Self::Key;

    /// Removes a timer that has not fired.
    fn cancel(&self, key: Self::Key) -> Option<Value>;

    /// Fires everything due by `now`, with all the work that belongs to the driver. Returns how
    /// many fired.
    fn advance(&mut self, now: Tick) -> usize;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A contestant that loses timers would win every bench.
    fn fires_what_was_not_cancelled<C: Contestant>() {
        let mut engine = C::new();
        let kept = engine.insert(Tick::new(5), [5, 0]);
        let cancelled = engine.insert(Tick::new(6), [6, 0]);
        assert_eq!(engine.cancel(cancelled), Some([6, 0]), "{}", C::NAME);
        assert_eq!(engine.advance(Tick::new(4)), 0, "{}", C::NAME);
        assert_eq!(engine.advance(Tick::new(7)), 1, "{}", C::NAME);
        assert_eq!(engine.cancel(kept), None, "{}", C::NAME);
    }

    #[test]
    fn every_contestant_fires_what_was_not_cancelled() {
        fires_what_was_not_cancelled::<WheelAndDriver>();
        fires_what_was_not_cancelled::<LockedLocalWheel>();
        fires_what_was_not_cancelled::<LockedHeap>();
    }
}
