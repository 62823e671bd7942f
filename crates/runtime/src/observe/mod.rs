//! What can be seen of a scheduler from outside: how many tasks stand where, what their runs came
//! to, how late they were.

mod lateness;

mod counters;
mod stats;

pub(crate) use counters::Counters;
pub use lateness::Lateness;
pub(crate) use lateness::LatenessRecorder;
pub use stats::Stats;
