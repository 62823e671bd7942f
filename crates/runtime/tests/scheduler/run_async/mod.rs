//! Tasks whose handlers are futures: poll by poll on a runtime that is moved by hand, and on real
//! ones.

mod by_hand;
mod ends;
mod runtimes;
mod stopped;
mod told;
