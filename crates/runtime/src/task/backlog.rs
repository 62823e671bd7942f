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

use super::waiting::{Occasion, Origin, WaitingRun};
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

    /// One stands for `newer` and those that came in the same way. Others that wait, of a time that
    /// was missed or filled in, stand for themselves.
    pub(super) fn merge(&mut self, newer: Occasion) {
        match self.latest() {
            None => self.push_latest(newer),
            Some(older) => {
                older.missed += 1 + newer.missed;
                older.calendar.nominal = newer.calendar.nominal;
            }
        }
    }

    /// `newer` takes the place of those that came in the same way. Returns for how many occurrences
    /// those stood.
    pub(super) fn replace(&mut self, newer: Occasion) -> u64 {
        let older = self.take_newest();
        self.push_latest(newer);
        older.map_or(0, |older| older.missed + 1)
    }

    fn push_latest(&mut self, occasion: Occasion) {
        let origin = Origin::Latest;
        self.push(Occasion { origin, ..occasion });
    }

    fn latest(&mut self) -> Option<&mut Occasion> {
        let mut waiting = self.0.iter_mut();
        waiting.find(|occasion| occasion.origin == Origin::Latest)
    }

    pub(super) fn pop(&mut self) -> Option<Occasion> {
        self.0.pop_front()
    }

    /// The one that `replace` has put there.
    pub(super) fn take_newest(&mut self) -> Option<Occasion> {
        let is_latest = |occasion: &Occasion| occasion.origin == Origin::Latest;
        let place = self.0.iter().position(is_latest)?;
        self.0.remove(place)
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

    /// Sends runs to the executor by way of the driver, like every run; several go as one, so that
    /// they are found due together. Not under the lock: what a closed engine refuses is dropped, and
    /// tells the task.
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
