//! Whether and how often a task runs: what to do with what is late, what is due twice, and who goes
//! first.
//!
//! Policies are plain values; `task/` applies them.

mod misfire;
mod overlap;
mod priority;

pub use misfire::Misfire;
pub use overlap::Overlap;
pub use priority::Priority;
