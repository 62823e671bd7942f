//! Timer engines measured side by side: ours, what one would write first, and those of others.
//!
//! ```text
//!  plan (which cells)                            one cell = workload, engine, threads, pending
//!    |
//!  rounds  ---- a process per cell and round --->  workloads/*.rs  --->  trait Contestant
//!    |                                                                        |
//!    |  <--- one line of figures ---------------------                 contestants/*.rs
//!  report  (table, JSON, HTML page with plots, and where the wheel loses)
//! ```
//!
//! Ground rules: every engine stands behind [`Contestant`], does what its user would do and nothing
//! more, and is run on the same seeded work. Each cell has a process to itself, so that no engine
//! finds another's memory, threads or statics; the contestants of a workload take turns, round by
//! round. What an engine cannot do is left out with a reason, never approximated in silence.
//!
//! Reading order: `contestant`, `contestants`, `workloads`, `plan`, `rounds`, `report`.

#![allow(missing_debug_implementations, reason = "nobody prints a contestant")]

mod contestant;
pub mod contestants;
pub mod measure;
pub mod workloads;

pub mod plan;
pub mod rounds;
pub mod report;

pub use contestant::{Contestant, Hand, Moment, NoHand, Pulse, Recorder, Shared, Time, Value};
pub use wheel_core::Tick;
pub use workloads::Workload;
