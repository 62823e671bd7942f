//! What the threads of a run have seen of its wheel.

use std::collections::HashSet;

use wheel_core::Key;
use wheel_testkit::Notes;

/// What one thread has seen, or all of them.
#[derive(Default)]
pub(super) struct Seen {
    pub(super) notes: Notes<Key>,
    /// Keys whose timers were still to come when they were given out. What was overdue already
    /// fires at the next chance, in no order.
    pub(super) to_come: HashSet<Key>,
    /// What each advance has fired, in its order: key and due tick.
    pub(super) advances: Vec<Vec<(Key, u64)>>,
}

impl Seen {
    /// Takes in what another thread has seen.
    pub(super) fn add(&mut self, other: Seen) {
        self.notes.add(other.notes);
        self.to_come.extend(other.to_come);
        self.advances.extend(other.advances);
    }

    /// The earliest due tick of what is pending, when no call is in flight.
    pub(super) fn earliest(&self) -> Option<u64> {
        self.notes.pending().values().map(|&(_, due)| due).min()
    }

    /// Each advance has fired in order of due tick. To be asked when no call is in flight.
    pub(super) fn judge_order(&mut self) {
        for fired in self.advances.drain(..) {
            let to_come = fired.iter().filter(|(key, _)| self.to_come.contains(key));
            let mut latest = 0;
            for &(key, due) in to_come {
                assert!(due >= latest, "{key:?}, due {due}, fired after {latest}");
                latest = due;
            }
        }
    }
}
