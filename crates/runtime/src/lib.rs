//! Timers and scheduled tasks for services, on one timing-wheel engine.
//!
//! There are two doors. [`Timers`] is the bare one: callbacks after a delay or at an instant, no
//! names, no allocation beyond the closure. [`Scheduler`] has tasks with ids, schedules, states and
//! workers. Below both stand the driver (one thread, tickless) and the [`Clock`]; beside them the
//! [`Executor`]s, which run what is due away from the driver thread.
//!
//! Never early: a delay is rounded up to the tick (1 ms unless told otherwise), a reading of the
//! clock down. On a [`ManualClock`] the same code runs without waiting, for tests and simulation.
//!
//! ```text
//!  Timers -------------------------> driver <--- clock
//!  Scheduler --> task --> schedule      |
//!                  ^                    v
//!                  '--- worker <--- executor
//! ```
//!
//! Reading order: `clock` (what time is), `driver` (who waits for it), `timers` (the bare door),
//! `executor` (where due work runs), then `schedule`, `policy`, `task` and `scheduler`.

mod clock;
mod driver;
mod timers;

mod executor;

mod schedule;
mod policy;
mod task;
mod scheduler;

mod observe;
mod panics;
mod error;

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
