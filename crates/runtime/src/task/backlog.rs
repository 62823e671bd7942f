//! Occurrences of a task that have no run yet: they wait for one to end, or for the task to be
//! resumed.
//!
//! ```text
//!  due, no room: QueueOne, QueueAll, CancelRunning --\
//!  missed, FireAll ----------------------------------- > backlog --release, when a run is over--> queued
//!  backfill -----------------------------------------/
//!  a worker meets a run of a paused task ----------/
//! ```

use std::collections::VecDeque;
use std::sync::Arc;

use super::waiting::{Occasion, WaitingRun};
use super::{Life, Task};
use crate::scheduler::Fire;

/// The most occurrences that may wait in one.
pub(super) const BACKLOG_MAX: usize = 100_000;

/// The oldest first.
#[derive(Debug, Default)]
pub(super) struct Backlog(VecDeque<Occasion>);

impl Backlog {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn push(&mut self, occasion: Occasion) {
        self.0.push_back(occasion);
    }

    /// Before all others.
    pub(super) fn push_front(&mut self, occasion: Occasion) {
        self.0.push_front(occasion);
    }

    /// One stands for all that wait and for `newer`.
    pub(super) fn merge(&mut self, newer: Occasion) {
        match self.0.back_mut() {
            None => self.push(newer),
            Some(older) => {
                older.missed += 1 + newer.missed;
                older.calendar.nominal = newer.calendar.nominal;
            }
        }
    }

    /// Only `newer` waits. Returns for how many occurrences those stood that did.
    pub(super) fn replace(&mut self, newer: Occasion) -> u64 {
        let older = self.occurrences();
        self.0.clear();
        self.push(newer);
        older
    }

    pub(super) fn pop(&mut self) -> Option<Occasion> {
        self.0.pop_front()
    }

    /// The newest, and for how many occurrences the others stood.
    pub(super) fn take_newest(&mut self) -> Option<(Occasion, u64)> {
        let newest = self.0.pop_back()?;
        let others = self.occurrences();
        self.0.clear();
        Some((newest, others))
    }

    /// For how many occurrences they stand.
    pub(super) fn occurrences(&self) -> u64 {
        self.0.iter().map(|occasion| occasion.missed + 1).sum()
    }
}

impl Life {
    pub(super) fn backlog(&mut self) -> &mut Backlog {
        &mut self.rare().backlog
    }

    pub(super) fn backlog_len(&self) -> usize {
        self.rare.as_ref().map_or(0, |rare| rare.backlog.len())
    }

    /// Nothing waits in it any more. Returns for how many occurrences it stood.
    pub(super) fn clear_backlog(&mut self) -> u64 {
        let backlog = self
            .rare
            .as_mut()
            .map(|rare| std::mem::take(&mut rare.backlog));
        backlog.map_or(0, |backlog| backlog.occurrences())
    }
}

impl Task {
    /// What waits in the backlog is queued, as far as there is room. The runs are to be handed over
    /// without the lock.
    pub(super) fn release(self: &Arc<Task>, life: &mut Life) -> Vec<WaitingRun> {
        let mut runs = Vec::new();
        while life.backlog_len() > 0 && !life.state.is_paused() {
            let Some(occasion) = life.backlog().pop() else {
                break;
            };
            match self.queue(life, occasion) {
                Ok(run) => runs.push(run),
                Err(_) => {
                    life.backlog().push_front(occasion);
                    break;
                }
            }
        }
        runs
    }

    /// Sends runs to the executor by way of the driver, like every run. Not under the lock: what a
    /// closed engine refuses is dropped, and tells the task.
    /// Several go as one, so that they are found due together.
    pub(super) fn hand_over(&self, mut runs: Vec<WaitingRun>) {
        let fire = match runs.len() {
            0 => return,
            1 => Fire::Run(Box::new(runs.remove(0))),
            _ => Fire::Runs(Box::new(runs)),
        };
        let engine = &self.core.engine;
        drop(engine.at_moment(engine.clock().now(), fire));
    }
}
