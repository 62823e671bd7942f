//! Everything that is printed goes through here, whole lines at a time, so that programs, messages
//! and the live line do not mix.

mod answer;
mod lines;
mod printer;

pub(crate) use answer::{print, print_all};
pub(crate) use lines::Lines;
pub(crate) use printer::Printer;

/// Where a line goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stream {
    Out,
    Err,
}
