//! The futures on the engine: by hand, poll by poll, and under runtimes.

mod bed;
mod dropped;
mod interval;
mod reset;
mod runtimes;
mod sleep;
mod timeout;
