//! What is fuzzed: functions from bytes to a panic, or not.
//!
//! ```text
//! fuzz_targets/NAME.rs    libFuzzer, guided by coverage ----.
//! main.rs, drive/         a seeded random driver ------------+--> the function NAME here
//! tests/corpus.rs         the committed inputs --------------'
//! ```
//!
//! Any bytes are an input. A target panics when a promise is broken, and its message says which.
//! `cargo xtask fuzz` runs all of them; README.md says how to keep an input and how the corpus was
//! made.

pub mod levels;

pub mod engines;

pub mod texts;

pub mod calendar;

pub mod definitions;

/// A function to feed with anything.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// What it is called: in `fuzz_targets/`, in `corpus/` and on the command line.
    pub name: &'static str,
    /// Panics when the bytes break a promise.
    pub run: fn(&[u8]),
}

macro_rules! targets {
    ($($module:ident: $name:ident,)+) => {
        &[$(Target { name: stringify!($name), run: $module::$name },)+]
    };
}

/// All targets.
pub const TARGETS: &[Target] = targets![

    levels: levels,
    engines: shared_wheel,
    engines: local_wheel,
    engines: heap,
    engines: far_wheel,
    texts: task_file,
    texts: duration,
    calendar: cron,
    definitions: definition,
];
