//! For the models in `loom-tests` only: what waits inside of a scheduler, without one around it.

use std::time::Duration;

use super::activity::{self, Caller};
use super::mark::{self, MarkWait};
use crate::clock::Patience;
use crate::task::Excuse;

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

    /// One less, on a thread that waits for no lock. False if `tell` is to follow.
    pub fn try_end(&self) -> bool {
        self.0.try_end()
    }

    /// Something changed.
    pub fn tell(&self) {
        self.0.tell();
    }

    /// Waits for ever until no run is left.
    pub fn wait_idle(&self) -> usize {
        let patience = Patience::new(Duration::MAX);
        self.0.wait_idle(Caller::Outside, patience, |_| false)
    }

    /// The same beside a handler of which `is_void` says that its own run is over.
    pub fn wait_idle_beside(&self, is_void: impl Fn() -> bool) -> usize {
        let patience = Patience::new(Duration::MAX);
        self.0.wait_idle(Caller::Outside, patience, |_| is_void())
    }

    /// Waits in a run, for ever until no run is left but those that wait here.
    pub fn wait_idle_inside(&self) -> usize {
        let patience = Patience::new(Duration::MAX);
        self.0.wait_idle(inside(), patience, |_| false)
    }

    /// The same in a run that is over once `is_void` says so, which its handler outlives.
    pub fn wait_idle_beyond(&self, is_void: impl Fn() -> bool) -> usize {
        let patience = Patience::new(Duration::MAX);
        self.0.wait_idle(inside(), patience, |_| is_void())
    }

    /// Waits for ever until `reached` holds.
    pub fn wait_until(&self, reached: impl Fn() -> bool) -> bool {
        self.0.wait_until(Patience::new(Duration::MAX), reached)
    }
}

fn inside() -> Caller {
    Caller::InsideRun(Excuse::of_caller())
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
