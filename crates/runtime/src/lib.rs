//! Timers and scheduled tasks for services, on one timing-wheel engine.
//!
//! [`Timers`] is the bare door: callbacks by a delay or an instant, no names, no allocation beyond
//! the closure. Below it stand the driver (one thread, tickless) and the clock; beside it the
//! executors, which run what is due away from the driver thread.
//!
//! Reading order: `clock` (what time is), `driver` (who waits for it), `timers` (what users call),
//! `executor` (where due work runs).

mod clock;
mod driver;
mod error;
mod executor;
mod observe;
mod panics;
mod policy;
mod schedule;
mod scheduler;
mod task;
mod timers;

pub use clock::{Clock, ClockSource, ManualClock, SystemClock};
pub use driver::TimerKey;
pub use error::BuildError;
#[cfg(feature = "rayon")]
pub use executor::RayonExecutor;
pub use executor::{Executor, InlineExecutor, Job, Pool, PoolBuilder, PoolStillBusy, Ran};
pub use observe::{Lateness, Stats};
pub use policy::{Misfire, Overlap, Priority};
pub use schedule::{Schedule, ScheduleError};
pub use scheduler::{
    OnConflict, Scheduler, SchedulerBuilder, ShutdownReport, ShutdownTimeout, SubmitError,
    TaskBuilder, TaskFilter, global,
};
pub use task::{
    CancelOutcome, CancelToken, Context, IntoOutcome, Outcome, RescheduleError, TaskHandle,
    TaskInfo, TaskState, TriggerOutcome,
};
pub use timers::{TimerError, Timers, TimersBuilder, TimersStats};
// A field of `BuildError`.
pub use wheel_core::TickLengthError;

/// The README's programs, compiled and run as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
pub struct Readme;
