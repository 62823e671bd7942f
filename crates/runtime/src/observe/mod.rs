//! What can be seen from outside: how late things were, jumps of the clocks, and the
//! numbers of a scheduler.
//!
//! Plain values and recorders, which know nothing of engines and tasks; whoever has something to
//! count keeps its own counters.

mod histogram;
mod jumps;
mod lateness;

mod stats;

use wheel_sync::atomic::Ordering;
use wheel_sync::counting::AtomicU64;

pub(crate) use histogram::Durations;
pub use histogram::Histogram;
pub use jumps::ClockJumps;
pub(crate) use jumps::JumpRecorder;
pub use lateness::Lateness;
pub(crate) use lateness::LatenessRecorder;
pub use stats::{NameStats, PoolStats, Stats};

/// A step of the only thread that writes: no read-modify-write needed. Relaxed, as what is counted for
/// people publishes nothing. [O64]
pub(crate) fn add_one(counter: &AtomicU64) {
    let count = counter.load(Ordering::Relaxed);
    counter.store(count.wrapping_add(1), Ordering::Relaxed);
}
