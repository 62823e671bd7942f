//! A sorted-map oracle and seeded operation streams that judge every timer engine of this project
//! alike.
//!
//! An engine under test is a [`Subject`]. [`check()`] draws a stream of operations from a seed,
//! plays it to the subject and to the [`Model`] (a sorted map that is too simple to be wrong) side
//! by side, and compares after every step:
//!
//! - nothing fires early, and when `advance` says that nothing more is due, nothing is late;
//! - every value leaves exactly once: fired, cancelled, or returned at close;
//! - keys that have done their work do nothing;
//! - one `advance` fires in order of due tick (timers that were overdue already when they were
//!   inserted may come at any point of it);
//! - `next_due` is never later than the earliest timer, and not in the past when nothing is due;
//! - who inserts something that is due before the driver wants to wake up wakes it, and nobody else
//!   does;
//! - `len` and the limit are exact;
//! - an engine whose timers are gone soon asks for no more visits;
//! - an engine that tells of its places tells of each timer once, where it is met in time, and of
//!   nothing when it has come to rest.
//!
//! [`check_bytes()`] draws the stream from bytes instead, so that a fuzzer can look for it, and
//! [`try_choices()`] from a few bytes for each operation, so that a shrinker can take single ones
//! away.
//!
//! The streams look for trouble where engines had it: at the boundaries of the levels, give or take
//! a tick, at powers of two, at zero, in the past, at `u64::MAX`, with budgets of one and jumps of
//! years. On failure the stream is cut and thinned as long as it still fails, and printed with its
//! seed; `WHEEL_SEED=n cargo test ...` runs that seed alone.
//!
//! Ticks are plain `u64` here: this crate depends on no engine, so that each may test itself with
//! it.
//!
//! Beside the streams stand the [`cases`]: short scenes in which other engines went wrong.
//!
//! Where threads meet an engine at once, no order of their operations is known; what they have seen
//! is judged afterwards, from their [`Notes`] and a [`Census`] of the values.
//!
//! Reading order: [`subject`](Subject), `model`, `random`, `choices`, `stream`, `judge`, `places`,
//! `sleep`, `check`, `census`, `notes`, `cases`; `stress` and `bytes` stand for themselves.

mod subject;

mod model;

mod random;
mod choices;
mod stream;

mod judge;
mod places;
mod sleep;

mod check;

mod census;
mod notes;

mod stress;
mod bytes;

pub mod cases;

pub use bytes::CountedBytes;
pub use census::{Census, Value};
pub use check::{check, check_bytes, seeds, try_choices};
pub use choices::Choices;
pub use model::{Model, Timer};
pub use notes::Notes;
pub use random::Random;
pub use stream::{Scale, Setup};
pub use stress::Stress;
pub use subject::{Places, Refused, Step, Subject};
