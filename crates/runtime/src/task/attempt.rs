//! An attempt, from its start until what came of it is written down.

use std::time::SystemTime;

use super::failing::Verdict;
use super::rules::Counts;
use super::state::Ticket;
use super::terms::{Limit, LimitOf};
use super::trial::Begun;
use super::values::RunValues;
use super::{Life, Outcome};
use crate::clock::Moment;

/// While its handler is called; and a copy, for who looks at its time.
#[derive(Clone, Debug)]
pub(super) struct Attempt {
    pub(super) ticket: Ticket,
    /// Of the task, from 1.
    pub(super) run: u64,
    /// Of the run, from 1.
    pub(super) number: u32,
    /// From when on `max_elapsed` counts.
    pub(super) since: Moment,
    pub(super) nominal: SystemTime,
    pub(super) missed: u64,
    /// `None` if it is not limited.
    pub(super) time: Option<Box<Time>>,
    /// When it started, by both clocks.
    pub(super) started: (Moment, SystemTime),
    /// When the first attempt of the run started.
    pub(super) first_start: SystemTime,
    /// What the run carries, if anything was added.
    pub(super) values: Option<RunValues>,
    /// What is to be counted of it.
    pub(super) counts: Counts,
}

/// How much time there is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Time {
    /// For the run.
    pub(super) deadline: Limit,
    /// For the attempt, which is not longer.
    pub(super) limit: Limit,
}

/// What an attempt is started with.
pub(super) struct Start {
    pub(super) nominal: SystemTime,
    pub(super) missed: u64,
    pub(super) time: Option<Box<Time>>,
    /// By both clocks.
    pub(super) now: (Moment, SystemTime),
}

/// How an attempt came to its end.
pub(super) enum Ended {
    /// The handler returned in time, with this.
    Returned(Outcome),
    /// It did, and what comes of that has been asked for already.
    Judged(Verdict),
    /// It did not.
    OverTime(LimitOf),
}

impl Attempt {
    /// Whether its time is limited.
    pub(super) fn has_limit(&self) -> bool {
        self.limit().at != Moment::NEVER
    }

    /// When it must be over.
    pub(super) fn limit(&self) -> Limit {
        self.time.as_ref().map_or(Limit::NONE, |time| time.limit)
    }

    /// When its run must be.
    pub(super) fn deadline(&self) -> Limit {
        self.time.as_ref().map_or(Limit::NONE, |time| time.deadline)
    }
}

impl Life {
    /// The next attempt of a run begins, and whether it is the first one.
    pub(super) fn begin_attempt(&mut self, ticket: Ticket, start: Start) -> (Attempt, bool) {
        let (since, wall) = start.now;
        let run = self.tally.runs + 1;
        let first = Begun { run, since, wall };
        let trial = self.trial_mut(ticket);
        let is_first = trial.as_ref().is_none_or(|trial| trial.begun.is_none());
        let (begun, number, values) = trial.map_or((first, 1, None), |trial| {
            let begun = *trial.begun.get_or_insert(first);
            let number = trial.failed.saturating_add(1);
            (begun, number, trial.values.clone())
        });
        self.tally.runs += u64::from(is_first);
        let attempt = Attempt {
            ticket,
            run: begun.run,
            number,
            since: begun.since,
            nominal: start.nominal,
            missed: start.missed,
            time: start.time,
            started: start.now,
            first_start: begun.wall,
            values,
            counts: Counts::AsRecorded,
        };
        (attempt, is_first)
    }
}
