//! How the runs of one task are written down, each once.
//!
//! A program that ends by itself is seen by its handler. What becomes of a failure, another attempt
//! or none, is known to the scheduler alone, which tells the hook; so is a run whose deadline passed
//! while its program went on, and one whose deadline passed before it could begin. The handler may
//! come to its end before the hook or behind it.
//!
//! ```text
//! handler:  begun ---------------> succeeded, cut: written down here
//!             |                \-> failed --.
//!             '--- deadline ---------> hook: written down there, and the handler is told so
//! ```

use std::collections::HashMap;

use wheel_runtime::Failure;
use wheel_sync::{Arc, Mutex};

use crate::record::{Outcome, Record};

/// A run, and which attempt of it.
type Attempt = (u64, u32);

/// Ended attempts of which the hook may still tell, at most.
const KEPT_MAX: usize = 2_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Its handler runs.
    Going,
    /// The handler has returned with a failure.
    Failed,
    /// It has been written down.
    Settled,
}

/// The account of one task; all clones write the same one.
#[derive(Debug, Clone)]
pub(super) struct Account {
    task: usize,
    record: Record,
    stages: Arc<Mutex<HashMap<Attempt, Stage>>>,
    /// The run that waits for another attempt, and for which; of several the last one.
    waits: Arc<Mutex<Option<Attempt>>>,
}

/// What a failure has come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Told {
    /// There will be another attempt.
    Again,
    /// The run is over.
    ForGood,
    /// It is none: the run was cut.
    Nothing,
}

impl Account {
    pub(super) fn new(task: usize, record: Record) -> Account {
        Account {
            task,
            record,
            stages: Arc::default(),
            waits: Arc::default(),
        }
    }

    /// The handler has something to do.
    pub(super) fn begun(&self, attempt: Attempt) {
        let mut stages = self.stages.lock();
        stages.insert(attempt, Stage::Going);
        if stages.len() > KEPT_MAX {
            stages.retain(|_, stage| *stage != Stage::Settled);
        }
    }

    /// The task is one of which a run that waits for another attempt gives way to the next run, and
    /// this is what there is to do. Nobody else tells that it has.
    pub(super) fn begun_instead(&self, (run, attempt): Attempt) {
        let waited = self.waits.lock().take();
        if let Some((other, next)) = waited
            && other < run
        {
            self.record.ended(self.task, super::cut_before(next));
        }
        self.begun((run, attempt));
    }

    /// The handler has failed: the hook writes it down.
    pub(super) fn failed(&self, attempt: Attempt) {
        if let Some(stage) = self.stages.lock().get_mut(&attempt) {
            *stage = Stage::Failed;
        }
    }

    /// The handler knows how the run has ended, unless the hook was told before.
    pub(super) fn ended(&self, attempt: Attempt, outcome: Outcome) {
        match self.stages.lock().get_mut(&attempt) {
            Some(stage) => *stage = Stage::Settled,
            None => return,
        }
        self.record.ended(self.task, outcome);
    }

    /// What the scheduler tells of an attempt that has failed.
    pub(super) fn told(&self, failure: &Failure) -> Told {
        let (attempt, record) = ((failure.run, failure.attempt), &self.record);
        let stage = self.stages.lock().remove(&attempt);
        match stage {
            Some(Stage::Settled) => return Told::Nothing,
            Some(Stage::Going | Stage::Failed) => {}
            None => record.not_started(self.task, failure.attempt),
        }
        if failure.next_in.is_some() {
            record.retried(self.task);
            *self.waits.lock() = Some((failure.run, failure.attempt + 1));
            return Told::Again;
        }
        record.ended(self.task, Outcome::Failed(failure.error.clone()));
        Told::ForGood
    }
}
