//! What the scheduler promises, promise by promise. Cases of others' schedulers are named in
//! comments.
//!
//! Almost all of it lives by a manual clock. `bed.rs` says how; `real_clock.rs` is the small rest.

mod bed;

mod cancel;
mod context;
mod control;
mod cron;
mod dead_letters;
mod deadline;
mod due;
mod failing_soak;
mod hooks;
mod hung;
mod ids;
mod overlap;
mod races;
mod real_clock;
mod retry;
mod retry_meets;
mod runs;
mod shutdown;
mod timeout;
mod user_code;
mod verdicts;
