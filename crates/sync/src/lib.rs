//! Everything that one thread says to another goes through here: atomics, cells, locks, threads.
//!
//! Normally these are std's own types. Built with `--cfg wheel_loom` and the feature `loom` they
//! are loom's, so that the models in `loom-tests` run the product's code itself and not a copy of
//! it. No other crate of the project names `std::sync::atomic` or `std::thread`.
//!
//! Both halves offer the same items under the same paths; [`MODELLED`] says which one is in force,
//! so that sizes can shrink under the model while the logic stays.
//!
//! ```
//! use wheel_sync::atomic::{AtomicU64, Ordering};
//!
//! let state = AtomicU64::new(1);
//! assert_eq!(state.swap(2, Ordering::AcqRel), 1);
//! ```

#[cfg(all(wheel_loom, feature = "loom"))]
mod modelled;
#[cfg(not(all(wheel_loom, feature = "loom")))]
mod native;

#[cfg(all(wheel_loom, feature = "loom"))]
pub use modelled::*;
#[cfg(not(all(wheel_loom, feature = "loom")))]
pub use native::*;

pub use crossbeam_utils::CachePadded;
