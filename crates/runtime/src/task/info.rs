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
    /// The instant of its next occurrence, as the wall clock stands now. `None` if there is none,
    /// or never.
    pub next_due: Option<SystemTime>,
    /// How long until then; zero if that has passed.
    pub next_in: Option<Duration>,
    /// Runs started.
    pub runs: u64,
    /// Runs that succeeded.
    pub succeeded: u64,
    /// Runs that failed, panics included.
    pub failed: u64,
    /// Occurrences left out because the run before had not ended.
    pub skipped: u64,
    /// Occurrences that were found due together with a later one, whose run stood for them.
    pub missed: u64,
    /// When the last run started.
    pub last_start: Option<SystemTime>,
    /// What the last run that failed said.
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
        let (state, armed, tally) = (life.state.name(), life.armed, Tally::clone(&life.tally));
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
            skipped: tally.skipped,
            missed: tally.missed,
            last_start: tally.last_start,
            last_error: tally.last_error,
        }
    }
}
