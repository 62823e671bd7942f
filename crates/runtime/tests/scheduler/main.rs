//! What the scheduler promises, promise by promise. Cases of others' schedulers are named in
//! comments.
//!
//! Almost all of it lives by a manual clock. `bed.rs` says how; `real_clock.rs` is the small rest.

mod bed;

#[cfg(feature = "async")]
mod awaited;
mod by_hand;
#[cfg(feature = "serde")]
mod breaker;
mod cancel;
mod context;
mod control;
mod cron;
mod dead_letters;
mod deadline;
#[cfg(feature = "serde")]
mod definitions;
#[cfg(feature = "serde")]
mod definitions_random;
mod dependencies;
mod due;
mod elastic;
mod events;
mod failing_soak;
mod graphs;
mod history;
mod hooks;
mod hung;
mod ids;
#[cfg(feature = "async")]
mod run_async;
mod backfill;
mod meetings;
mod misfire;
mod month;
#[cfg(feature = "serde")]
mod kinds;
mod labels;
mod limits;
mod limits_meet;
mod numbers;
mod on_full;
mod order;
mod overlap;
mod overlap_kinds;
mod pause;
mod pools;
mod races;
mod real_clock;
mod refusals;
mod retry;
mod retry_meets;
mod rules;
mod runs;
mod shutdown;
mod timeout;
#[cfg(feature = "serde")]
mod unresolved;
mod user_code;
mod verdicts;
mod when_due;
