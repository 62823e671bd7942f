//! What becomes of each callback and handler, as it sees it itself: how often it ran, whether it
//! was dropped, how early it was.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

/// Of so many, one panics when it is dropped without having run, and one when it runs.
const BOMBS: usize = 89;

/// Of so many, one takes its time.
const SLOW: usize = 16;

/// One line for each callback or handler, by its number.
pub(crate) struct Ledger {
    begun: Instant,
    lines: Vec<Line>,
}

#[derive(Default)]
pub(crate) struct Line {
    pub(crate) runs: AtomicU32,
    pub(crate) drops: AtomicU32,
    /// Runs going on right now.
    inside: AtomicU32,
    /// When it ran last, in nanoseconds from the beginning.
    at: AtomicU64,
}

/// What a callback or handler captures.
pub(crate) struct Token {
    number: usize,
    ledger: Arc<Ledger>,
}

/// The payload of the panics in here, which no hook prints.
pub(crate) struct Bomb;

impl Ledger {
    pub(crate) fn new(lines: usize) -> Arc<Ledger> {
        Arc::new(Ledger {
            begun: Instant::now(),
            lines: std::iter::repeat_with(Line::default).take(lines).collect(),
        })
    }

    pub(crate) fn token(self: &Arc<Ledger>, number: usize) -> Token {
        Token {
            number,
            ledger: Arc::clone(self),
        }
    }

    pub(crate) fn runs(&self, number: usize) -> u32 {
        // Acquire, here and below: a test that has seen a run sees what belongs to it.
        self.lines[number].runs.load(Ordering::Acquire)
    }

    pub(crate) fn drops(&self, number: usize) -> u32 {
        self.lines[number].drops.load(Ordering::Acquire)
    }

    /// When it ran last.
    pub(crate) fn ran_at(&self, number: usize) -> u64 {
        self.lines[number].at.load(Ordering::Acquire)
    }

    /// Nanoseconds since the beginning.
    pub(crate) fn now(&self) -> u64 {
        self.begun.elapsed().as_nanos() as u64
    }
}

/// Whether this one panics when it runs.
pub(crate) fn panics_when_run(number: usize) -> bool {
    number % BOMBS == 1
}

/// Whether this one panics when it is dropped without having run.
pub(crate) fn panics_when_dropped(number: usize) -> bool {
    number.is_multiple_of(BOMBS)
}

impl Token {
    /// It runs, and panics perhaps.
    pub(crate) fn run(&self) {
        let line = &self.ledger.lines[self.number];
        // SeqCst: two runs at once see each other.
        let others = line.inside.fetch_add(1, Ordering::SeqCst);
        assert_eq!(others, 0, "{} runs twice at once", self.number);
        // Release, both: pair with the looks above.
        line.at.store(self.ledger.now(), Ordering::Release);
        line.runs.fetch_add(1, Ordering::Release);
        if self.number.is_multiple_of(SLOW) {
            // So that what is due waits, and a shutdown meets it.
            thread::sleep(std::time::Duration::from_micros(100));
        }
        line.inside.fetch_sub(1, Ordering::SeqCst);
        if panics_when_run(self.number) {
            resume_unwind(Box::new(Bomb));
        }
    }
}

impl Drop for Token {
    fn drop(&mut self) {
        let line = &self.ledger.lines[self.number];
        // Release: pairs with the look above.
        line.drops.fetch_add(1, Ordering::Release);
        // Acquire: as above.
        let unused = line.runs.load(Ordering::Acquire) == 0;
        if unused && panics_when_dropped(self.number) && !thread::panicking() {
            resume_unwind(Box::new(Bomb));
        }
    }
}

/// Runs what may drop a callback. `None` when that has panicked; other panics go on.
pub(crate) fn survive<R>(run: impl FnOnce() -> R) -> Option<R> {
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(value) => Some(value),
        Err(panic) if panic.is::<Bomb>() => None,
        Err(panic) => resume_unwind(panic),
    }
}
