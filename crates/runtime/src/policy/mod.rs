//! Whether and how often a task runs: what to do with what is late, what is due twice, and who goes
//! first.
//!
//! Policies are plain values; `task/` applies them.

mod error;
mod misfire;
mod overlap;
mod priority;
mod retry;
mod wanted;

pub use error::PolicyError;
pub use misfire::Misfire;
pub use overlap::Overlap;
pub use priority::Priority;
pub(crate) use retry::{DELAY_MIN, Decision, Failed, draw};
pub use retry::{GaveUp, Retry, RetryError, RetryJitter};
pub use wanted::When;
