//! From a seed or from bytes to a verdict, and from a failure to a stream that a person can read.

use std::fmt::Write;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::choices::Choices;
use crate::judge::{Fault, Judge};
use crate::model::Model;
use crate::random::Random;
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
    let (setup, mut stream) = Stream::new(Choices::Seed(Random::new(seed)), scale);
    let ending = if seed.is_multiple_of(2) {
        Ending::Close
    } else {
        Ending::CancelAll
    };
    let mut left = stream.length();
    let trial = Trial::new(build, setup, ending);
    let verdict = trial.draw(|model| {
        left = left.checked_sub(1)?;
        Some(stream.next(model))
    });
    if let Err(failure) = verdict {
        let failure = trial.thin(failure);
        panic!("{}\nseed {seed}, {}", failure.fault, trial.after(&failure));
    }
}

/// Plays the stream that `bytes` stand for, as [`check`] does the one of a seed. Any bytes stand
/// for one: the first few for the scale, the setup and the ending, each group after them for an
/// operation. So a fuzzer that changes, drops and joins bytes does that with operations.
///
/// # Panics
///
/// As [`check`] does.
pub fn check_bytes<S: Subject>(bytes: &[u8], build: impl Fn(&Setup) -> S) {
    let (trial, mut stream) = Trial::of_bytes(bytes, build);
    let verdict = trial.draw(|model| (!stream.is_over()).then(|| stream.next(model)));
    if let Err(failure) = verdict {
        let failure = trial.thin(failure);
        panic!("{}\n{}", failure.fault, trial.after(&failure));
    }
}

/// Plays operations that have some bytes each to be drawn from; `start` stands for the scale, the
/// setup and the ending. For a shrinker: one operation can be taken away or made duller without a
/// change to the others.
///
/// # Errors
///
/// What was wrong, with all operations up to there.
pub fn try_choices<S: Subject>(
    start: &[u8],
    operations: &[impl AsRef<[u8]>],
    build: impl Fn(&Setup) -> S,
) -> Result<(), String> {
    let (trial, mut stream) = Trial::of_bytes(start, build);
    let mut operations = operations.iter();
    let verdict = trial.draw(|model| {
        stream.go_on_with(Choices::Bytes(operations.next()?.as_ref()));
        Some(stream.next(model))
    });
    verdict.map_err(|failure| format!("{}\n{}", failure.fault, trial.after(&failure)))
}

/// A stream that failed.
struct Failure {
    fault: Fault,
    ops: Vec<Op>,
}

/// How a trial ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Ending {
    Close,
    CancelAll,
}

/// An engine that can be built again and again to be judged.
struct Trial<B> {
    build: B,
    setup: Setup,
    ending: Ending,
}

impl<S: Subject, B: Fn(&Setup) -> S> Trial<B> {
    fn new(build: B, mut setup: Setup, ending: Ending) -> Trial<B> {
        if !S::LIMITS {
            setup.max_timers = None;
        }
        Trial {
            build,
            setup,
            ending,
        }
    }

    /// What the bytes begin with, and the stream of all others.
    fn of_bytes(bytes: &[u8], build: B) -> (Trial<B>, Stream<'_>) {
        let mut choices = Choices::Bytes(bytes);
        let scale = choices.choose(&[
            Scale::Millisecond,
            Scale::TenMicroseconds,
            Scale::FortyMicroseconds,
        ]);
        let ending = choices.choose(&[Ending::Close, Ending::CancelAll]);
        let (setup, stream) = Stream::new(choices, scale);
        (Trial::new(build, setup, ending), stream)
    }

    /// Plays what `draw` yields in view of the model.
    fn draw(&self, mut draw: impl FnMut(&Model) -> Option<Op>) -> Result<(), Failure> {
        let mut ops = Vec::new();
        self.play(|model| {
            let op = draw(model)?;
            ops.push(op);
            Some(op)
        })
        .map_err(|fault| Failure { fault, ops })
    }

    /// Plays what `next` yields to a new engine.
    fn play(&self, mut next: impl FnMut(&Model) -> Option<Op>) -> Result<(), Fault> {
        catch_unwind(AssertUnwindSafe(|| {
            let mut judge = Judge::new((self.build)(&self.setup), &self.setup);
            while let Some(op) = next(judge.model()) {
                judge.play(op)?;
            }
            match self.ending {
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
    fn thin(&self, failure: Failure) -> Failure {
        let Failure { mut fault, mut ops } = failure;
        let mut replays = 0;
        let mut piece = ops.len();
        while piece > 0 && replays < REPLAYS {
            let mut from = 0;
            while from < ops.len() && replays < REPLAYS {
                let mut fewer = ops.clone();
                fewer.drain(from..(from + piece).min(ops.len()));
                replays += 1;
                let mut left = fewer.iter().copied();
                match self.play(|_| left.next()) {
                    Ok(()) => from += piece,
                    Err(other) => (ops, fault) = (fewer, other),
                }
            }
            piece /= 2;
        }
        Failure { fault, ops }
    }

    /// The setup, the operations and the ending, for a person.
    fn after(&self, failure: &Failure) -> String {
        let (setup, ending) = (&self.setup, self.ending);
        let mut list = format!("{setup:?}, after these operations, then {ending:?}:\n");
        for (number, op) in failure.ops.iter().enumerate() {
            writeln!(list, "  {number:3} {op:?}").expect("a string takes everything");
        }
        list
    }
}
