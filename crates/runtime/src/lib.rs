//! Timers and scheduled tasks for services, on one timing-wheel engine.
//!
//! Two doors lead to the engine. Each starts a driver thread of its own, which sleeps until the
//! next timer is due.
//!
//! | | [`Timers`] | [`Scheduler`] |
//! |---|---|---|
//! | for | a timeout per connection or request, by the million | jobs that have a name |
//! | takes | a callback, which runs once | a handler, which runs once or again and again |
//! | names it by | a [`TimerKey`], a new one from each reset | an id, and a [`TaskHandle`] |
//! | runs it on | the driver thread, or an [`Executor`] | workers of its own, or an [`Executor`] |
//! | when it is late | runs at once | one run stands for all that were missed: [`Misfire`] |
//! | tells | [`TimersStats`] | [`Stats`], [`TaskInfo`], [`ShutdownReport`] |
//!
//! Nothing is early: durations are rounded up to the tick, 1 ms unless a builder is told otherwise.
//! Both doors live by a [`Clock`]: the system's, or a [`ManualClock`] that tests move by hand.
//!
//! # Examples
//!
//! ```
//! use std::time::Duration;
//! use wheel_runtime::{CancelOutcome, InlineExecutor, ManualClock, Scheduler, TaskState, Timers};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let clock = ManualClock::new();
//! let timers = Timers::builder().clock(clock.clone()).build()?;
//! let shop = Scheduler::builder().clock(clock.clone()).executor(InlineExecutor).build()?;
//!
//! let idle = timers.after(Duration::from_secs(30), || println!("closing an idle connection"))?;
//! let half_an_hour = Duration::from_secs(30 * 60);
//! let unpaid = shop.task("order-1001").after(half_an_hour).run(|_| println!("not paid"))?;
//! let paid = shop.task("order-1002").after(half_an_hour).run(|_| println!("not paid"))?;
//!
//! assert!(timers.cancel(idle));
//! assert_eq!(paid.cancel(), CancelOutcome::Cancelled);
//! clock.run_for(half_an_hour);
//! assert_eq!(unpaid.wait(), TaskState::Succeeded);
//! assert!(shop.shutdown(Duration::from_secs(5))?.pending.is_empty());
//! # Ok(())
//! # }
//! ```
//!
//! # Features
//!
//! All are off by default.
//!
//! - `async`: futures on the engine of a [`Timers`]: `sleep`, `timeout` and `interval`; tasks whose
//!   handlers are futures: `run_async`. For any runtime.
//! - `rayon`: `RayonExecutor`, which runs due work on a rayon pool of yours.
//! - `metrics`: `MetricsPublisher`, the numbers through the facade of the crate `metrics`.
//! - `prometheus`: `Exposition::text` and `MetricsServer`, the numbers for Prometheus.
//! - `serde`: kinds of tasks, which are handlers with a name and a payload (`Kind`), tasks as data
//!   (`TaskDefinition`), and a circuit breaker for a kind (`Breaker`).
//! - `tracing`: a span of the crate `tracing` around every attempt of a run.

// Reading order: `clock` (what time is), `driver` (who waits for it), `timers` (the bare door),
// `executor` (where due work runs), `schedule`, `task` and `scheduler` (the door for jobs),
// `observe` (what it counts).
//
// Locks, atomics and threads come from `wheel_sync`, so that a checker can replace them. `Arc` is
// std's, under a checker too: it holds trait objects, makes wakers, and is what methods are called
// on, none of which the checkers' own can do.

mod clock;
mod driver;
mod timers;

mod executor;

pub mod duration;
#[cfg(feature = "serde")]
mod written;
mod schedule;
mod policy;
mod task;
mod scheduler;

mod observe;
#[cfg(any(feature = "metrics", feature = "prometheus"))]
mod metrics;
mod panics;
mod ranked;
mod error;

#[cfg(feature = "rayon")]
pub use ::rayon;
pub use clock::{
    Clock, ClockDiscipline, ClockJump, ClockJumpKind, ClockSource, ManualClock, SystemClock,
};
pub use driver::{EngineSnapshot, SnapshotError, TimerKey};
pub use error::BuildError;
#[cfg(feature = "rayon")]
pub use executor::RayonExecutor;
pub use executor::{Executor, InlineExecutor, Job, Pool, PoolBuilder, PoolStillBusy, Ran, Workers};
#[cfg(any(feature = "metrics", feature = "prometheus"))]
pub use metrics::Exposition;
#[cfg(feature = "metrics")]
pub use metrics::MetricsPublisher;
#[cfg(feature = "prometheus")]
pub use metrics::{MetricsServer, ServeError};
pub use observe::{ClockJumps, Histogram, Lateness, NameStats, PoolStats, Stats};
#[cfg(feature = "serde")]
pub use policy::{Breaker, BreakerState};
pub use policy::{
    Concurrency, GaveUp, Jitter, Misfire, OnConflict, OnFull, Overlap, PolicyError, Priority,
    RateLimit, Reaction, RepeatedFailure, Retry, RetryJitter, When,
};
pub use schedule::{
    Cron, CronError, CronField, Occurrences, Schedule, ScheduleError, Upcoming, Zone, ZoneError,
};
pub use scheduler::{
    DeadLetter, DeadLetterId, DeadLetters, Death, Event, EventKind, EventReceiver, GraphBuilder,
    GraphError, GraphHandle, GraphInfo, History, HungRun, NoEvent, NodeInfo, PoolSpec, ReplayError,
    Scheduler, SchedulerBuilder, ShutdownReport, ShutdownTimeout, SubmitError, TaskBuilder,
    TaskFilter, WhenNodeFails, global,
};
#[cfg(feature = "serde")]
pub use scheduler::{
    DefinitionError, Kind, KindError, KindInfo, RegisterError, Submitted, TaskDefinition,
    UnresolvedTask,
};
pub use task::{
    BackfillError, CancelOutcome, CancelToken, Context, Failure, IntoOutcome, Outcome,
    PauseOutcome, RescheduleError, ResumeFrom, ResumeOutcome, RunInfo, SkipReason, StopReason,
    TaskHandle, TaskInfo, TaskState, TriggerOutcome,
};
#[cfg(feature = "async")]
pub use task::{Cancelled, RunFuture, Spawner};
#[cfg(feature = "async")]
pub use timers::{
    Instant, Interval, MissedTicks, Sleep, SleepError, Timeout, TimeoutError, ZeroPeriod,
};
pub use timers::{TimerError, Timers, TimersBuilder, TimersStats};
// A field of `BuildError`, and those of `EngineSnapshot`.
pub use wheel_core::{LevelSnapshot, Snapshot as WheelSnapshot, Tick, TickLengthError};

/// Insides for the models in `loom-tests`, which run the product's own code; not there without a
/// checker.
#[cfg(wheel_model)]
#[doc(hidden)]
pub mod modelled {
    pub use crate::clock::modelled::*;
    pub use crate::driver::modelled::*;
    pub use crate::scheduler::modelled::*;
}

/// The README's programs, compiled and run as tests.
#[cfg(all(doctest, feature = "async"))]
#[doc = include_str!("../../../README.md")]
pub struct Readme;

/// The program of the page about schedules.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/SCHEDULES.md")]
pub struct Schedules;

/// Those of the page about order and limits.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/ORDER.md")]
pub struct OrderAndLimits;

/// Those of the page about failure.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/FAILURE.md")]
pub struct OnFailure;

/// Those of the page about what is late, or due again.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/OCCURRENCES.md")]
pub struct OnOccurrences;

/// Those of the page about kinds.
#[cfg(all(doctest, feature = "serde"))]
#[doc = include_str!("../../../docs/KINDS.md")]
pub struct OfKinds;

/// Those of the page about time limits.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/TIME_LIMITS.md")]
pub struct TimeLimits;

/// Those of the page about async code.
#[cfg(all(doctest, feature = "async"))]
#[doc = include_str!("../../../docs/ASYNC.md")]
pub struct FromAsync;

/// Those of the page about moving here from others.
#[cfg(all(doctest, feature = "async"))]
#[doc = include_str!("../../../docs/MIGRATING.md")]
pub struct MovingHere;

/// Those of the page about clocks.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/CLOCKS.md")]
pub struct OfClocks;

/// Those of the page about dependencies.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/DEPENDENCIES.md")]
pub struct Dependencies;

/// Those of the page about observation.
#[cfg(all(doctest, feature = "metrics", feature = "prometheus"))]
#[doc = include_str!("../../../docs/OBSERVATION.md")]
pub struct Observation;
