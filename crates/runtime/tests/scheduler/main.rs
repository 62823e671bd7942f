//! What the scheduler promises, promise by promise. Cases of others' schedulers are named in
//! comments.
//!
//! Almost all of it lives by a manual clock. `bed.rs` says how; `real_clock.rs` is the small rest.

mod bed;

mod cancel;
mod control;
mod cron;
mod dead_letters;
mod due;
mod elastic;
mod failing_soak;
mod hooks;
mod ids;
mod limits;
mod limits_meet;
mod on_full;
mod order;
mod overlap;
mod pools;
mod races;
mod real_clock;
mod retry;
mod retry_meets;
mod runs;
mod shutdown;
mod user_code;
mod verdicts;
