//! What can be seen from outside: how late things were, and the numbers of a scheduler.
//!
//! Plain values and a recorder, which know nothing of engines and tasks; whoever has something to
//! count keeps its own counters.

mod histogram;
mod lateness;

mod stats;

pub(crate) use histogram::Durations;
pub use histogram::Histogram;
pub use lateness::Lateness;
pub(crate) use lateness::LatenessRecorder;
pub use stats::{NameStats, PoolStats, Stats};
