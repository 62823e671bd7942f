//! Scenarios that are too long for every interleaving: some threads with hundreds of operations,
//! in schedules that shuttle picks, judged by what the threads have seen.
//!
//! `loom-tests` shows every interleaving of a few steps; here the steps are thousands and the
//! schedules a sample. The two see different faults: shuttle knows one memory order, the strictest,
//! so nothing here says anything about orderings, and loom cannot hold a sweep, a cascade and three
//! threads at once.
//!
//! ```text
//!   explore   name + scenario --> schedules: random, in bursts, few preemptions (PCT)
//!   scenario  draws its operations from a seed that belongs to the schedule, and judges itself
//!   failure   is kept as a schedule, which `cargo xtask shuttle --replay` plays again
//! ```
//!
//! The scenarios run the product's own code, with small sizes (`wheel_sync::SIZES`). Without
//! shuttle each one runs a few times on real threads.
//!
//! Reading order: `explore`, `bed`, `wheel`, `runtime`; the scenarios themselves are in `tests/`.

pub mod explore;

pub mod bed;

pub mod wheel;

pub mod runtime;
