//! What can be seen of a scheduler from outside: how many tasks stand where, what their runs came to, how late they were.

mod counters;
mod stats;

pub(crate) use counters::Counters;
pub use stats::Stats;
