//! For the models in `loom-tests` only: what waits inside of a scheduler, without one around it.

use std::time::Duration;

use super::activity::{self, Caller};
use super::mark::{self, MarkWait};
use crate::clock::Patience;

/// Runs, and who waits for them.
#[expect(missing_debug_implementations, reason = "nobody prints it")]
pub struct Activity(activity::Activity);

impl Activity {
    /// No run.
    #[expect(clippy::new_without_default, reason = "a model names what it makes")]
    pub fn new() -> Activity {
        Activity(activity::Activity::new())
    }

    /// One more run.
    pub fn begin(&self) {
        self.0.begin();
    }

    /// One less.
    pub fn end(&self) {
        self.0.end();
    }

    /// Something changed.
    pub fn tell(&self) {
        self.0.tell();
    }

    /// Waits for ever until no run is left.
    pub fn wait_idle(&self) -> usize {
        let patience = Patience::new(Duration::MAX);
        self.0.wait_idle(Caller::Outside, patience)
    }

    /// Waits in a run, for ever until no run is left but those that wait here.
    pub fn wait_idle_inside(&self) -> usize {
        let patience = Patience::new(Duration::MAX);
        self.0.wait_idle(Caller::InsideRun, patience)
    }

    /// Waits for ever until `reached` holds.
    pub fn wait_until(&self, reached: impl Fn() -> bool) -> bool {
        self.0.wait_until(Patience::new(Duration::MAX), reached)
    }
}

/// Passed when it is dropped.
#[expect(missing_debug_implementations, reason = "nobody prints it")]
pub struct Mark(#[expect(dead_code, reason = "dropping it is its use")] mark::Mark);

/// Waits for a mark.
#[expect(missing_debug_implementations, reason = "nobody prints it")]
pub struct Wait(MarkWait);

/// A mark for the calling thread.
pub fn mark() -> (Mark, Wait) {
    let (mark, wait) = mark::Mark::new();
    (Mark(mark), Wait(wait))
}

impl Wait {
    /// Waits for ever until the mark is dropped.
    pub fn wait(self) {
        self.0.wait(Patience::new(Duration::MAX));
    }
}
