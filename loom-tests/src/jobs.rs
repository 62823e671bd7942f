//! For the models of the runtime: jobs that tell when they have run, and gates that hold them.
//!
//! A job catches panics, and with them what loom says inside of one. So a job asserts nothing; it
//! counts, and the model looks at the counts.

use std::sync::Arc;
// tidy: allow sync-only, counts for assertions; as loom's they would add interleavings
use std::sync::atomic::{AtomicUsize, Ordering};

use wheel_runtime::{Job, Pool};
use wheel_sync::{Condvar, Mutex};

use crate::Note;

/// A gate that is shut until somebody opens it. Loom finds the deadlock when nobody does.
#[derive(Debug, Default)]
pub struct Gate {
    open: Mutex<bool>,
    opened: Condvar,
}

impl Gate {
    /// A shut gate.
    pub fn new() -> Arc<Gate> {
        Arc::default()
    }

    /// Opens it for ever.
    pub fn open(&self) {
        *self.open.lock() = true;
        self.opened.notify_all();
    }

    /// Waits until it is open.
    pub fn pass(&self) {
        let mut open = self.open.lock();
        while !*open {
            open = self.opened.wait(open);
        }
    }
}

/// Jobs that count how often they have run, and have a note to read that was written before they
/// were handed over.
#[derive(Clone, Debug, Default)]
pub struct Jobs {
    ran: Arc<AtomicUsize>,
    note: Arc<Note>,
}

impl Jobs {
    /// None has run.
    pub fn new() -> Jobs {
        let jobs = Jobs::default();
        jobs.note.write(7);
        jobs
    }

    /// A job that counts itself, and then does `what`.
    pub fn job(&self, what: impl FnOnce() + Send + 'static) -> Job {
        let jobs = self.clone();
        Job::new(move || {
            jobs.count();
            what();
        })
    }

    /// A job that counts itself.
    pub fn counts(&self) -> Job {
        self.job(|| ())
    }

    /// A job that counts itself, and then opens `gate`.
    pub fn opens(&self, gate: &Arc<Gate>) -> Job {
        let gate = Arc::clone(gate);
        self.job(move || gate.open())
    }

    /// Counts one run. What was written before the jobs were made must be visible.
    pub fn count(&self) {
        if self.note.read() == 7 {
            // Relaxed: a count for the model, which runs on one thread of the system.
            self.ran.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// How many have run.
    pub fn ran(&self) -> usize {
        // Relaxed: as above.
        self.ran.load(Ordering::Relaxed)
    }
}

/// A pool of so many workers.
///
/// # Panics
///
/// Never: a model refuses no thread.
pub fn pool(workers: usize) -> Pool {
    let built = Pool::builder().workers(workers).build();
    built.expect("a model refuses no thread")
}
