//! Everything that one thread says to another goes through here: atomics, cells, locks, threads.
//!
//! Normally these are std's own types. Built with `--cfg wheel_model` they are those of a checker,
//! so that the models in `loom-tests` run the product's code itself and not a copy of it: loom's
//! with the feature `loom` (every interleaving of a few steps), shuttle's with the feature
//! `shuttle` (random schedules of long runs). No other crate of the project names
//! `std::sync::atomic` or `std::thread`.
//!
//! All three offer the same items under the same paths; [`MODELLED`] says whether a checker's are
//! in force and [`SIZES`] which, so that sizes can shrink under the model while the logic stays.
//!
//! ```
//! use wheel_sync::atomic::{AtomicU64, Ordering};
//!
//! let state = AtomicU64::new(1);
//! assert_eq!(state.swap(2, Ordering::AcqRel), 1);
//! ```

#[cfg(wheel_model)]
mod backoff;
#[cfg(not(all(wheel_model, feature = "loom")))]
mod cell;
#[cfg(all(wheel_model, feature = "channel"))]
pub mod channel;
#[cfg(wheel_model)]
mod lock;
#[cfg(not(wheel_model))]
mod native;
mod sizes;
#[cfg(all(wheel_model, feature = "loom"))]
mod under_loom;
#[cfg(all(wheel_model, feature = "shuttle", not(feature = "loom")))]
mod under_shuttle;

#[cfg(not(wheel_model))]
pub use native::*;
#[cfg(all(wheel_model, feature = "loom"))]
pub use under_loom::*;
#[cfg(all(wheel_model, feature = "shuttle", not(feature = "loom")))]
pub use under_shuttle::*;

#[cfg(all(wheel_model, not(any(feature = "loom", feature = "shuttle"))))]
compile_error!("`--cfg wheel_model` needs one of the features `loom` and `shuttle`");

/// Atomics for what is counted for people and orders nothing: std's, under a checker too, where
/// other ones would add schedules and teach nothing.
pub mod counting {
    pub use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize};
}

pub use crossbeam_utils::CachePadded;
#[cfg(all(wheel_model, feature = "loom"))]
#[doc(hidden)]
pub use loom;
pub use sizes::Sizes;

/// What maps hash with: std's random keys, or none under a checker, which has to meet the same
/// order of a map, and so of locks, when it plays an execution again.
#[cfg(not(wheel_model))]
pub use std::collections::hash_map::RandomState;
/// What maps hash with: without random keys, or an execution could not be played again.
#[cfg(wheel_model)]
pub type RandomState = std::hash::BuildHasherDefault<std::hash::DefaultHasher>;
