//! What handlers do, and what they have seen of their own runs.
//!
//! What an attempt comes to depends on the seed and on which one it is, not on who else runs. Each
//! writes a line into the notes of its task, and goes into the hash of the whole.

use std::collections::HashMap;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use wheel_runtime::{Context, ManualClock, Outcome};
use wheel_testkit::Random;

use crate::points::{Ms, SECOND, length, ms_of, wall_ms};

/// What an attempt has said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Said {
    Success,
    Failure,
    /// Of a sort that is not tried again by some policies.
    Hopeless,
    Permanent,
    RetryAfter(Ms),
    Snooze(Ms),
    Panic,
    Cancel,
}

/// An attempt, as its handler saw it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attempt {
    /// By the monotonic clock.
    pub(crate) start: Ms,
    /// By the wall clock.
    pub(crate) nominal: Ms,
    pub(crate) run: u64,
    pub(crate) number: u32,
    pub(crate) said: Said,
}

/// How often a task fails, in a hundred attempts.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Temper {
    Steady,
    Moody,
    Hopeless,
}

/// The attempts of one task, in the order in which they started.
pub(crate) type Notes = Arc<Mutex<Vec<Attempt>>>;

/// What all handlers of a soak share.
pub(crate) struct Ledger {
    pub(crate) seed: u64,
    pub(crate) clock: ManualClock,
    /// Of every attempt, in the order in which they were made.
    hash: Mutex<u64>,
    /// Where tasks of a kind write their notes.
    errands: Mutex<HashMap<u64, Notes>>,
    pub(crate) attempts: AtomicU64,
    /// Calls of `on_failure` and `on_dead`.
    pub(crate) failures: AtomicU64,
    pub(crate) deaths: AtomicU64,
}

impl Ledger {
    pub(crate) fn new(seed: u64, clock: ManualClock) -> Arc<Ledger> {
        Arc::new(Ledger {
            seed,
            clock,
            hash: Mutex::new(0xcbf2_9ce4_8422_2325),
            errands: Mutex::default(),
            attempts: AtomicU64::new(0),
            failures: AtomicU64::new(0),
            deaths: AtomicU64::new(0),
        })
    }

    /// FNV-1a of all that has happened until now.
    pub(crate) fn hash(&self) -> u64 {
        *self.hash.lock().unwrap()
    }

    /// Goes into the hash.
    pub(crate) fn mix(&self, numbers: &[u64]) {
        let mut hash = self.hash.lock().unwrap();
        for byte in numbers.iter().flat_map(|number| number.to_le_bytes()) {
            *hash = (*hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    pub(crate) fn add_errand(&self, number: u64, notes: &Notes) {
        self.errands.lock().unwrap().insert(number, notes.clone());
    }

    pub(crate) fn errand(&self, number: u64) -> Notes {
        self.errands.lock().unwrap()[&number].clone()
    }

    pub(crate) fn count_failure(&self) {
        // Relaxed: read when nothing runs any more.
        self.failures.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn count_death(&self) {
        // Relaxed: as above.
        self.deaths.fetch_add(1, Ordering::Relaxed);
    }

    /// An attempt of task number `task`.
    pub(crate) fn attempt(
        &self,
        task: u64,
        temper: Temper,
        notes: &Notes,
        run: &Context,
    ) -> Outcome {
        let start = ms_of(self.clock.now());
        let mut notes = notes.lock().unwrap();
        let calls = notes.iter().rev().take(8);
        let calls = calls.filter(|other| other.run == run.run()).count() as u64;
        let attempt = Attempt {
            start,
            nominal: wall_ms(run.nominal()),
            run: run.run(),
            number: run.attempt(),
            said: self.said(temper, &[task, run.run(), calls]),
        };
        self.note(&mut notes, task, attempt);
        drop(notes);
        match attempt.said {
            Said::Success => Outcome::Success,
            Said::Failure => Outcome::Failure("no paper".into()),
            Said::Hopeless => Outcome::Failure("out of ink".into()),
            Said::Permanent => Outcome::Permanent("no printer".into()),
            Said::RetryAfter(after) => Outcome::RetryAfter(length(after), "busy".into()),
            Said::Snooze(length_ms) => Outcome::Snooze(length(length_ms)),
            Said::Panic => resume_unwind(Box::new("of the soak")),
            Said::Cancel => Outcome::Cancel,
        }
    }

    fn note(&self, notes: &mut MutexGuard<'_, Vec<Attempt>>, task: u64, attempt: Attempt) {
        notes.push(attempt);
        let (start, nominal) = (attempt.start as u64, attempt.nominal as u64);
        self.mix(&[task, start, nominal, attempt.run, u64::from(attempt.number)]);
        self.attempts.fetch_add(1, Ordering::Relaxed);
    }

    fn said(&self, temper: Temper, of: &[u64]) -> Said {
        let mixed = of.iter().fold(self.seed, |mixed, number| {
            (mixed ^ number)
                .wrapping_mul(0x9e37_79b9_7f4a_7c15)
                .rotate_left(29)
        });
        let rng = &mut Random::new(mixed);
        let calls = of[2];
        let bad = match temper {
            Temper::Steady => 2,
            Temper::Moody => 35,
            Temper::Hopeless => 85,
        };
        if rng.below(100) >= bad {
            return Said::Success;
        }
        match rng.below(100) {
            0..45 => Said::Failure,
            45..55 => Said::Hopeless,
            55..63 => Said::Permanent,
            63..75 => Said::RetryAfter(rng.below(900) as Ms * SECOND),
            75..85 if calls < 4 => Said::Snooze(rng.below(1_200) as Ms * SECOND),
            85..98 => Said::Panic,
            98 => Said::Cancel,
            _ => Said::Failure,
        }
    }
}
