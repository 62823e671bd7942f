//! What can be said about a task at an instant.

use std::time::{Duration, SystemTime};

use super::{Tally, Task, TaskState};
use crate::clock::Moment;
use crate::schedule::Due;

/// A task as it stood when it was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TaskInfo {
    /// Its name, or a number such as `#17`.
    pub id: String,
    /// Where it stands.
    pub state: TaskState,
    /// The instant of its next occurrence, or of its next attempt while it is retrying, as the wall
    /// clock stands now. `None` if there is none, or never.
    pub next_due: Option<SystemTime>,
    /// How long until then; zero if that has passed.
    pub next_in: Option<Duration>,
    /// Runs started.
    pub runs: u64,
    /// Runs that succeeded.
    pub succeeded: u64,
    /// Runs that failed, panics included. Not those that succeeded in a later attempt.
    pub failed: u64,
    /// Of those, runs that a retry policy has given up: they are, or were, dead letters.
    pub dead: u64,
    /// Attempts that failed and were tried again, or will be.
    pub retried: u64,
    /// Which attempt of a run is going or waits, from 1; 0 while no run is.
    pub attempt: u32,
    /// Occurrences left out because the run before had not ended.
    pub skipped: u64,
    /// Occurrences that were found due together with a later one, whose run stood for them.
    pub missed: u64,
    /// When the last run started.
    pub last_start: Option<SystemTime>,
    /// What the last attempt that failed said.
    pub last_error: Option<String>,
}

impl Task {
    pub(crate) fn state(&self) -> TaskState {
        self.life.lock().state.name()
    }

    pub(crate) fn info(&self) -> TaskInfo {
        let clock = self.core.engine.clock();
        let (now, wall) = (clock.now(), clock.wall());
        let life = self.life.lock();
        let (state, tally) = (life.state.name(), Tally::clone(&life.tally));
        let trouble = life.trouble.as_deref();
        let (retried, dead) = trouble.map_or((0, 0), |trouble| (trouble.retried, trouble.dead));
        let trial = life.trial();
        let waits = trial.and_then(|trial| trial.timer);
        let armed = waits.or(life.armed);
        let attempt = match (trial, state) {
            (Some(trial), _) => trial.failed.saturating_add(1),
            (None, TaskState::Queued | TaskState::Running) => 1,
            (None, _) => 0,
        };
        drop(life);
        let (next_due, next_in) = match armed.map(|armed| armed.due) {
            None | Some(Due::Monotonic(Moment::NEVER)) => (None, None),
            Some(Due::Monotonic(due)) => {
                let ahead = due.since(now);
                let at = wall
                    .checked_add(ahead)
                    .and_then(|at| at.checked_sub(now.since(due)));
                (at, Some(ahead))
            }
            Some(Due::Wall(at)) => (Some(at), Some(at.duration_since(wall).unwrap_or_default())),
        };
        TaskInfo {
            id: self.name().to_owned(),
            state,
            next_due,
            next_in,
            runs: tally.runs,
            succeeded: tally.succeeded,
            failed: tally.failed,
            dead,
            retried,
            attempt,
            skipped: tally.skipped,
            missed: tally.missed,
            last_start: tally.last_start,
            last_error: tally.last_error.map(|error| error.to_string()),
        }
    }
}
