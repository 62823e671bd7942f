//! The runtime under several threads: a pool, timers and a scheduler on a clock that the threads
//! move.
//!
//! Jobs, callbacks and handlers run where panics are caught, so they assert nothing: they write
//! into a ledger, and the scenario looks at it in the end. Nobody may hang: shuttle fails a
//! schedule in which no thread can go on.

mod ledger;

mod pool;
mod scheduler;
mod timers;

pub use pool::play_pool;
pub use scheduler::play_scheduler;
pub use timers::play_timers;

/// When a scenario shuts down what it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shutdown {
    /// When the users have ended.
    Quiet,
    /// While they go on.
    Midway,
}
