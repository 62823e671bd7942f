//! Whether and how often a task runs: what to do with what is late, what is due twice, and who goes
//! first.
//!
//! Policies are plain values; `task/` applies them.

#[cfg(feature = "serde")]
mod breaker;
mod draw;
mod error;

mod jitter;
mod misfire;
mod overlap;
mod priority;
mod retry;
mod rules;

#[cfg(feature = "serde")]
pub(crate) use breaker::{Admitted, Came, Circuit, Pass};
#[cfg(feature = "serde")]
pub use breaker::{Breaker, BreakerError, BreakerState};
pub(crate) use draw::Draws;
pub use error::PolicyError;
pub use jitter::Jitter;
pub use misfire::Misfire;
pub use overlap::Overlap;
pub use priority::Priority;
pub(crate) use retry::{DELAY_MIN, Decision, Failed};
pub use retry::{GaveUp, Retry, RetryError, RetryJitter};
pub(crate) use rules::{React, Rules, RunEnd};
pub use rules::{Reaction, RepeatedFailure};
