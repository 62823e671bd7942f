//! From a seed to a verdict, and from a failure to a stream that a person can read.

use std::fmt::Write;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::judge::{Fault, Judge};
use crate::stream::{Op, Scale, Setup, Stream};
use crate::subject::Subject;

/// How often a failing stream is played again to find a shorter one.
const REPLAYS: usize = 3_000;

/// The seeds that a test should try: `0..count`, or only the one that `WHEEL_SEED` names.
///
/// # Panics
///
/// When `WHEEL_SEED` is not a number.
pub fn seeds(count: u64) -> Range<u64> {
    match std::env::var("WHEEL_SEED") {
        Ok(seed) => {
            let seed: u64 = seed.parse().expect("WHEEL_SEED must be a number");
            seed..seed + 1
        }
        Err(_) => 0..count,
    }
}

/// Plays the stream of `seed` to the engine that `build` makes, and compares it with the model
/// after every step.
///
/// `build` is called again for each replay of a stream that failed.
///
/// # Panics
///
/// When the engine is wrong, or panics itself: with the seed, the setup and a short list of
/// operations that still fails.
pub fn check<S: Subject>(seed: u64, scale: Scale, build: impl Fn(&Setup) -> S) {
    let (mut setup, mut stream) = Stream::new(seed, scale);
    if !S::LIMITS {
        setup.max_timers = None;
    }
    let ending = if seed.is_multiple_of(2) {
        Ending::Close
    } else {
        Ending::CancelAll
    };

    let length = stream.length();
    let mut ops = Vec::with_capacity(length);
    let verdict = trial(&build, &setup, ending, |judge| {
        (ops.len() < length).then(|| {
            let op = stream.next(judge.model());
            ops.push(op);
            op
        })
    });
    let Err(fault) = verdict else { return };

    let (ops, fault) = thin(ops, fault, |ops| {
        let mut left = ops.iter().copied();
        trial(&build, &setup, ending, |_| left.next())
    });
    let mut list = String::new();
    for (number, op) in ops.iter().enumerate() {
        writeln!(list, "  {number:3} {op:?}").expect("a string takes everything");
    }
    panic!("{fault}\nseed {seed}, {setup:?}, after these operations, then {ending:?}:\n{list}");
}

/// How a trial ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Ending {
    Close,
    CancelAll,
}

/// Plays what `next` yields to a new engine.
fn trial<S: Subject>(
    build: impl Fn(&Setup) -> S,
    setup: &Setup,
    ending: Ending,
    mut next: impl FnMut(&Judge<S>) -> Option<Op>,
) -> Result<(), Fault> {
    catch_unwind(AssertUnwindSafe(|| {
        let mut judge = Judge::new(build(setup), setup);
        while let Some(op) = next(&judge) {
            judge.play(op)?;
        }
        match ending {
            Ending::Close => judge.close(),
            Ending::CancelAll => judge.cancel_all_and_close(),
        }
    }))
    .unwrap_or_else(|panic| {
        let message = panic.downcast_ref::<String>().map(String::as_str);
        let message = message.or_else(|| panic.downcast_ref::<&str>().copied());
        Err(format!(
            "the engine panicked: {}",
            message.unwrap_or("with something else than a text")
        ))
    })
}

/// Leaves out of a failing stream what it fails without: large pieces first, then single
/// operations.
fn thin(
    mut ops: Vec<Op>,
    mut fault: Fault,
    mut play: impl FnMut(&[Op]) -> Result<(), Fault>,
) -> (Vec<Op>, Fault) {
    let mut replays = 0;
    let mut piece = ops.len();
    while piece > 0 && replays < REPLAYS {
        let mut from = 0;
        while from < ops.len() && replays < REPLAYS {
            let mut fewer = ops.clone();
            fewer.drain(from..(from + piece).min(ops.len()));
            replays += 1;
            match play(&fewer) {
                Ok(()) => from += piece,
                Err(other) => (ops, fault) = (fewer, other),
            }
        }
        piece /= 2;
    }
    (ops, fault)
}
