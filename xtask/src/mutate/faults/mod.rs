//! Faults of logic: what is changed, and what must notice it.
//!
//! One list per crate, and of the runtime one for the pool, one for cron, one for the other schedules,
//! one for what happens when a run fails, one for occurrences that meet something, one for time
//! limits, one for other limits and kinds, one for tasks that come after others, and one for futures. A fault is a
//! mistake that somebody could make: a step left out, two steps in the other order, a bound off by
//! one. Its text stands exactly once in its file, and what notices it is a model where it takes two
//! threads, else the test that is nearest.

mod cron;
mod dependencies;
mod futures;
mod limits;
mod occurrences;
mod overflow;
mod pool;
mod retry;
mod runtime;
mod schedule;
mod time;
mod wheel_core;

use std::fmt;

/// A fault to plant.
#[derive(Debug)]
pub(in crate::mutate) struct Fault {
    /// What is wrong then, in a few words.
    pub(super) name: &'static str,
    pub(super) file: &'static str,
    /// Text of the file, and what stands there instead.
    pub(super) find: &'static str,
    pub(super) replace: &'static str,
    pub(super) notice: Notice,
}

/// What must fail. The last word is part of the names of the tests to run.
#[derive(Debug)]
pub(in crate::mutate) enum Notice {
    /// A file of `loom-tests/tests`, and a test in it.
    Model(&'static str, &'static str),
    /// A unit test of a package.
    Unit(&'static str, &'static str),
    /// A test in a file of a package's `tests`.
    Test(&'static str, &'static str, &'static str),
}

impl Notice {
    pub(super) fn filter(&self) -> &'static str {
        match self {
            Notice::Model(_, filter) | Notice::Unit(_, filter) | Notice::Test(_, _, filter) => {
                filter
            }
        }
    }
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Notice::Model(file, filter) => write!(f, "{file}: {filter}"),
            Notice::Unit(package, filter) => write!(f, "{package}, unit: {filter}"),
            Notice::Test(package, test, filter) => write!(f, "{package}, {test}: {filter}"),
        }
    }
}

/// Every fault of every crate.
pub(super) fn all() -> impl Iterator<Item = &'static Fault> {
    let crates = [
        overflow::FAULTS,
        pool::FAULTS,
        runtime::FAULTS,
        cron::FAULTS,
        retry::FAULTS,
        schedule::FAULTS,
        occurrences::FAULTS,
        time::FAULTS,
        limits::FAULTS,
        dependencies::FAULTS,
        futures::FAULTS,
    ];
    wheel_core::FAULTS.into_iter().chain(crates).flatten()
}
