//! A cron expression in its zone, as points of the wall clock.

use std::time::SystemTime;

use crate::schedule::{Cron, Zone};

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Calendar {
    pub(super) cron: Cron,
    pub(super) zone: Zone,
}

impl Calendar {
    pub(super) fn next_after(&self, at: SystemTime) -> Option<SystemTime> {
        self.cron.next_after(at, &self.zone)
    }

    pub(super) fn first_from(&self, from: SystemTime) -> Option<SystemTime> {
        self.cron.first_from(from, &self.zone)
    }

    pub(super) fn last_in(&self, after: SystemTime, until: SystemTime) -> Option<SystemTime> {
        // Most often there is none, and that is told much sooner than which is the last.
        let next = self.next_after(after)?;
        if next > until {
            return None;
        }
        let last = self.cron.last_of(after, until, &self.zone);
        last.map(|(last, _)| last)
    }

    pub(super) fn count_in(&self, after: SystemTime, until: SystemTime) -> u64 {
        self.cron.count_in(after, until, &self.zone)
    }
}
