//! What can be seen from outside: how late things were, jumps of the clocks, and the
//! numbers of a scheduler.
//!
//! Plain values and recorders, which know nothing of engines and tasks; whoever has something to
//! count keeps its own counters.

mod histogram;
mod jumps;
mod lateness;

mod stats;

pub(crate) use histogram::Durations;
pub use histogram::Histogram;
pub use jumps::ClockJumps;
pub(crate) use jumps::JumpRecorder;
pub use lateness::Lateness;
pub(crate) use lateness::LatenessRecorder;
pub use stats::{NameStats, PoolStats, Stats};
