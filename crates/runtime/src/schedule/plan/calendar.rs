//! A cron expression in its zone, as a plan: what is due when the wall clock reads so much.
//!
//! Occurrences follow each other, whatever the clock does: the next one comes after the latest one
//! that was found due, never after what the clock reads now. So a step back repeats nothing.

use std::time::SystemTime;

use super::{Due, Occurrence, ScheduleError};
use crate::schedule::{Cron, Zone};

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Calendar {
    cron: Cron,
    zone: Zone,
}

impl Calendar {
    /// With what is due first after `wall`.
    pub(super) fn begin(
        cron: &Cron,
        zone: Zone,
        wall: SystemTime,
    ) -> Result<(Calendar, SystemTime), ScheduleError> {
        match cron.next_after(wall, &zone) {
            Some(first) => {
                let cron = cron.clone();
                Ok((Calendar { cron, zone }, first))
            }
            None => Err(ScheduleError::NeverDue(Box::new(cron.clone()), zone)),
        }
    }

    pub(super) fn next_after(&self, at: SystemTime) -> Option<SystemTime> {
        self.cron.next_after(at, &self.zone)
    }

    /// What was due at `at` is looked at when the wall clock reads `wall`.
    pub(super) fn occur(&self, at: SystemTime, wall: SystemTime) -> Occurrence {
        let next = self.next_after(at);
        let has_missed = next.is_some_and(|next| next <= wall);
        let later = has_missed
            .then(|| self.cron.last_of(at, wall, &self.zone))
            .flatten();
        match later {
            None => Occurrence {
                next: next.map(Due::Wall),
                ..Occurrence::of_one(at)
            },
            Some((latest, missed)) => Occurrence {
                nominal: latest,
                due: at,
                missed,
                next: self.next_after(latest).map(Due::Wall),
            },
        }
    }
}
