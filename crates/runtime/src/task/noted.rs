//! What who listens is told of a task (`scheduler/events/`), and what is counted of its runs
//! (`scheduler/counters/`).
//!
//! Ground rule of telling: under the lock of the task, in the step that it is about. So who listens hears of one
//! task in the order in which things happened to it. While nobody listens it costs a load.

use std::sync::Arc;
use std::time::Duration;

use super::after::After;
use super::attempt::Attempt;
use super::conclude::Ending;
use super::waiting::Occasion;
use super::{Life, Task, TaskState};
use crate::clock::Moment;
use crate::scheduler::{EventKind, RunCounts, Subject};

impl Task {
    /// Whoever listens is told. The lock is held, as `_life` shows.
    pub(super) fn note(&self, _life: &Life, what: impl FnOnce() -> EventKind) {
        self.note_unordered(what);
    }

    /// The same of what stands behind another lock than that of the task.
    pub(super) fn note_unordered(&self, what: impl FnOnce() -> EventKind) {
        let events = &self.core.events;
        if events.are_heard() {
            events.tell(Some(self.subject()), what());
        }
    }

    fn subject(&self) -> Subject {
        Subject {
            task: self.name().into(),
            name: self.counted_as().cloned(),
            serial: self.id.serial,
        }
    }

    /// Where the calling thread counts its runs.
    pub(crate) fn counts(&self) -> &RunCounts {
        self.core.counters.runs_of(self.limits())
    }

    /// The number of the pool that its runs go to.
    pub(crate) fn pool(&self) -> usize {
        self.limits().map_or(0, |limits| limits.pool)
    }

    /// A run is over with an attempt that ended `at`.
    pub(super) fn count_over(&self, how: TaskState, attempt: &Attempt, at: Moment) {
        self.counts().run_over(how);
        let series = self.limits().and_then(|limits| limits.series.as_deref());
        if let (Some(series), TaskState::Succeeded) = (series, how) {
            let (started, wall) = attempt.started;
            series.succeeded_at(wall.checked_add(at.since(started)).unwrap_or(wall));
        }
    }

    /// What it is counted under, if it has a name.
    pub(super) fn counted_as(&self) -> Option<&Arc<str>> {
        self.limits()?.series.as_ref().map(|series| series.name())
    }

    /// An attempt starts at `now`.
    pub(super) fn note_start(
        &self,
        life: &Life,
        attempt: &Attempt,
        (occasion, now): (&Occasion, Moment),
    ) {
        if !self.core.events.are_heard() {
            return;
        }
        let late = now.since(occasion.late_from);
        if late > self.core.misfire_threshold {
            let run = attempt.run;
            self.note(life, || EventKind::Misfired { run, late });
        }
        self.note(life, || EventKind::Started {
            run: attempt.run,
            attempt: attempt.number,
            nominal: occasion.calendar.nominal,
            due: occasion.calendar.due,
            late,
            missed: occasion.missed,
        });
    }

    /// An attempt has ended, and so has its run unless it goes on.
    pub(super) fn note_end(&self, life: &Life, ending: &Ending<'_>, after: &After) {
        let Some(result) = after.result.filter(|_| self.core.events.are_heard()) else {
            return;
        };
        let (attempt, verdict) = (ending.attempt, ending.verdict);
        let (run, number) = (attempt.run, attempt.number);
        let took = ending.at.since(attempt.started.0);
        if result == TaskState::Retrying {
            self.note(life, || {
                let wall = self.core.engine.clock().wall();
                let next_in = after.next_in.unwrap_or_default();
                let next_at = wall.checked_add(next_in).unwrap_or(wall);
                match verdict.error() {
                    Some(error) => EventKind::AttemptFailed {
                        run,
                        attempt: number,
                        error: Arc::clone(error),
                        took,
                        next_at,
                    },
                    None => EventKind::Snoozed {
                        run,
                        attempt: number,
                        next_at,
                    },
                }
            });
            return;
        }
        self.note(life, || EventKind::Finished {
            run,
            attempt: number,
            outcome: result,
            error: verdict.error().cloned(),
            took,
        });
        if let Some((letter, gave_up)) = after.dead {
            self.note(life, || EventKind::Dead {
                run,
                letter,
                gave_up,
            });
        }
    }

    /// A run that waited for another attempt is not to have one.
    pub(super) fn note_abandoned(&self, life: &Life, (run, attempt): (u64, u32)) {
        self.note(life, || EventKind::Finished {
            run,
            attempt,
            outcome: TaskState::Cancelled,
            error: None,
            took: Duration::ZERO,
        });
    }
}
