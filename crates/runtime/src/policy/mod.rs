//! Whether and how often a task runs: what to do with what is late, what is due twice, who goes
//! first, and how many go at once.
//!
//! Policies are plain values; `task/` applies them.

#[cfg(feature = "serde")]
mod breaker;
mod hash;
mod draw;
mod error;
mod jitter;
mod misfire;
mod overlap;
mod priority;
mod on_full;
mod labels;
mod concurrency;
mod rate;
mod retry;
mod rules;
mod condition;
mod on_conflict;

#[cfg(feature = "serde")]
pub(crate) use breaker::{Admitted, Came, Circuit, Pass};
#[cfg(feature = "serde")]
pub use breaker::{Breaker, BreakerState};
pub use concurrency::Concurrency;
pub use condition::When;
pub(crate) use draw::Draws;
pub use error::PolicyError;
#[cfg(feature = "serde")]
pub(crate) use hash::mixed;
pub(crate) use hash::{fnv1a, mixed_otherwise};
pub use jitter::Jitter;
pub(crate) use labels::Labels;
pub use misfire::Misfire;
pub use on_conflict::OnConflict;
pub use on_full::OnFull;
pub use overlap::Overlap;
pub(crate) use priority::AGEING_DEFAULT;
pub use priority::Priority;
pub use rate::RateLimit;
pub(crate) use rate::{Bucket, Rate};
pub(crate) use retry::{DELAY_MIN, Decision, Failed};
pub use retry::{GaveUp, Retry, RetryJitter};
pub(crate) use rules::{React, Rules, RunEnd};
pub use rules::{Reaction, RepeatedFailure};
