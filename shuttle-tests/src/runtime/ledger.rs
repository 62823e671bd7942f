//! What has become of each piece of work, by its number.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use wheel_sync::{Condvar, Mutex};

/// What has become of every piece of work that was ever made.
#[derive(Clone, Debug, Default)]
pub(super) struct Ledger(Arc<Book>);

#[derive(Debug, Default)]
struct Book {
    entries: Mutex<BTreeMap<u64, Entry>>,
    changed: Condvar,
}

/// What has become of one.
#[derive(Clone, Debug, Default)]
pub(super) struct Entry {
    /// When it ran, by the clock of the scenario.
    pub(super) ran_at: Vec<Duration>,
    /// What it captured was dropped.
    pub(super) dropped: usize,
}

impl Ledger {
    /// The next piece of work.
    pub(super) fn open(&self) -> Piece {
        let mut entries = self.0.entries.lock();
        let id = entries.len() as u64;
        entries.insert(id, Entry::default());
        Piece {
            id,
            ledger: self.clone(),
        }
    }

    /// What is in it now.
    pub(super) fn read(&self) -> BTreeMap<u64, Entry> {
        self.0.entries.lock().clone()
    }

    /// Waits until all of these have run. Nothing else is done for it: whoever runs them must have
    /// been woken before.
    pub(super) fn wait_for(&self, ids: &BTreeSet<u64>) {
        let mut entries = self.0.entries.lock();
        while ids.iter().any(|id| entries[id].ran_at.is_empty()) {
            entries = self.0.changed.wait(entries);
        }
    }
}

/// What a piece of work captures.
#[derive(Debug)]
pub(super) struct Piece {
    pub(super) id: u64,
    ledger: Ledger,
}

impl Piece {
    /// It runs.
    pub(super) fn run(&self, now: Duration) {
        let mut entries = self.ledger.0.entries.lock();
        entries.entry(self.id).or_default().ran_at.push(now);
        drop(entries);
        self.ledger.0.changed.notify_all();
    }
}

impl Drop for Piece {
    fn drop(&mut self) {
        let mut entries = self.ledger.0.entries.lock();
        entries.entry(self.id).or_default().dropped += 1;
    }
}
