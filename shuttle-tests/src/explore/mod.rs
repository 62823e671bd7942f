//! Runs a scenario again and again, each time in another schedule and with other operations.

#[cfg(all(wheel_model, feature = "shuttle"))]
mod dice;

#[cfg(all(wheel_model, feature = "shuttle"))]
mod counted;

#[cfg(not(all(wheel_model, feature = "shuttle")))]
mod plain;
#[cfg(all(wheel_model, feature = "shuttle"))]
mod schedules;

#[cfg(not(all(wheel_model, feature = "shuttle")))]
pub use plain::explore;
#[cfg(all(wheel_model, feature = "shuttle"))]
pub use schedules::explore;
