//! What a task was told about order and limits: who goes first, where it runs, with how many others,
//! and how often. Few tasks are told anything, and the others have none of it.

use std::fmt;
use std::num::{NonZeroU32, NonZeroU64};
use std::sync::Arc;

use crate::driver::Engine;
use crate::policy::{Labels, Priority, Rate};

use super::counters::Series;
use super::sink::Fire;

/// Never changes once the task is there.
#[derive(Debug, Default)]
pub(crate) struct Limits {
    pub(crate) priority: Priority,
    /// The task ends after so many runs.
    pub(crate) runs_max: Option<NonZeroU64>,
    pub(crate) labels: Labels,
    /// Which pool: 0 is the one without a name.
    pub(crate) pool: usize,
    pub(super) concurrency: Option<AtOnce>,
    pub(super) rate: Option<Often>,
    /// What it is counted under, if it has a name.
    pub(crate) series: Option<Arc<Series>>,
}

#[derive(Debug)]
pub(super) struct AtOnce {
    pub(super) key: Arc<str>,
    pub(super) at_most: NonZeroU32,
}

#[derive(Debug)]
pub(super) struct Often {
    pub(super) key: Arc<str>,
    pub(super) rate: Rate,
}

/// A run of a concurrency key may go, until this is dropped: on whatever thread, which does not
/// wait. The driver is told by way of the engine.
pub(crate) struct Permit(Box<Held>);

struct Held {
    engine: Engine<Fire>,
    limits: Arc<Limits>,
}

impl Limits {
    /// Whether runs may have to wait at the gate.
    pub(super) fn is_gated(&self) -> bool {
        self.concurrency.is_some() || self.rate.is_some()
    }

    /// The names of its concurrency key and of its rate key.
    pub(super) fn keys(&self) -> [Option<&str>; 2] {
        let at_once = self.concurrency.as_ref().map(|at_once| &*at_once.key);
        [at_once, self.rate.as_ref().map(|often| &*often.key)]
    }
}

impl Permit {
    pub(super) fn new(engine: Engine<Fire>, limits: Arc<Limits>) -> Permit {
        Permit(Box::new(Held { engine, limits }))
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let Held { engine, limits } = &*self.0;
        let now = engine.clock().now();
        // A closed engine is being shut down, with whatever waits for this.
        let _ = engine.at_moment(now, Fire::Freed(Arc::clone(limits)));
    }
}

impl fmt::Debug for Permit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Permit")
            .field(&self.0.limits.concurrency)
            .finish()
    }
}
