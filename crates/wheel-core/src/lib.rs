//! A lock-free hierarchical timing wheel.
//!
//! [`Wheel::insert`], [`Wheel::cancel`] and [`Wheel::reset`] work from any thread and do not block;
//! one [`Driver`] advances it. [`LocalWheel`] is the same wheel for one thread. This crate reads no
//! clock, starts no thread, calls no handler while it holds anything, and allocates nothing per
//! timer once warm.
//!
//! ```text
//!  any thread                                 the driver (one owner)
//!  ----------                                 -----------------------------------------------------
//!  insert --> entry (arena) --> intake  ===>  place --> levels: hour -> min -> s -> ms ---->  fire
//!  cancel --> entry: one step                      \-> overflow (beyond the span) --refill-->/
//!  reset  --> entry: one step
//! ```
//!
//! # What holds
//!
//! - **Never early.** A timer fires when `now >= due`, in ticks. Waits round up, readings round
//!   down.
//! - **Exactly once.** Each value leaves once: fired, returned by `cancel`, or returned at close.
//! - **Armed on return.** Once `insert` has returned, the timer fires by the first advance at or
//!   after its due tick, whatever other threads do. A timer that a thread is writing just then is
//!   put off by a tick.
//! - **Stale keys are harmless,** for ever, and so are another engine's.
//! - **Memory follows the live timers:** about twice their peak, and a fixed slack per thread.
//! - **Bounded work.** An advance touches no more entries than its [`Budget`], and resumes where it
//!   stopped.
//! - **Jumps cost what is due,** not what has passed.
//! - **`next_due` is never later** than the earliest timer, and not in the past when nothing is
//!   due.
//! - **Every number works:** 0, the past, [`Tick::MAX`], each level's boundary.
//! - **User code never runs inside:** no closure, `Drop` or waker runs while the engine holds
//!   anything.
//! - **Order.** One advance fires in order of due ticks.
//! - **Hand-over.** What a thread wrote before `insert` or `reset` is visible where the value
//!   fires.
//!
//! # Reading order
//!
//! The modules below are declared in the order in which to read them; the protocol between threads,
//! and the races by name, are in this crate's README.

// Pure: time, slots' arithmetic, names.
mod tick;
mod level;
mod key;
mod budget;
mod error;
mod overflow;

// Shared between threads: an entry, its state, where it lives, how it reaches the driver.
mod state;
mod entry;
mod segments;
mod arena;
mod intake;
mod wake;
mod tagged;
mod vacant;
mod places;
mod prefetch;
mod limit;
mod engine;
mod wheel;

// The driver's own.
mod bitmap;
mod slots;
mod levels;
mod cascade;
mod sweep;
mod driver;
mod close;

mod local;
mod snapshot;
mod config;

#[cfg(wheel_model)]
mod probe;

#[cfg(all(test, not(wheel_model)))]
mod bounds;

pub use budget::{Budget, Progress};
pub use close::Unfired;
pub use config::Config;
pub use driver::{Driver, Fired};
pub use error::InsertError;
pub use key::Key;
pub use local::LocalWheel;
pub use overflow::{FarEntry, Overflow};
#[cfg(wheel_model)]
pub use probe::Entries;
pub use snapshot::{LevelSnapshot, Snapshot};
pub use tick::{Tick, TickLength, TickLengthError};
pub use wheel::Wheel;
