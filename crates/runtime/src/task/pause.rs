//! From any thread: nothing of a task is due until it is resumed.
//!
//! ```text
//!  armed --pause--> suspended --resume(Missed)--> armed, in the past if it was missed
//!                             \-resume(Now)-----> the next one that is still to come
//! ```
//!
//! A run that waits for a worker is not touched: a worker that meets it puts it into the backlog
//! (`run.rs`). Nothing is found due while a task is paused, so a pause costs nothing.

use std::sync::Arc;

use super::state::Refused;
use super::{Life, SkipReason, Task};
use crate::clock::Moment;
use crate::schedule::Due;
use crate::scheduler::EventKind;

/// What a pause came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PauseOutcome {
    /// No run starts until it is resumed, but by hand; one that has begun goes on.
    Paused,
    /// It was paused before.
    WasPaused,
    /// There is no such task, or it has ended or been cancelled.
    NotFound,
}

/// What a resume came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ResumeOutcome {
    /// It goes on.
    Resumed,
    /// It was not paused.
    NotPaused,
    /// There is no such task, or it has ended or been cancelled.
    NotFound,
}

/// Where a task goes on that was paused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ResumeFrom {
    /// With the next occurrence that is still to come, on the same grid. What was missed is left out
    /// and counted as skipped; but a task that runs once, and was missed, runs at once.
    Now,
    /// With the first one that was missed: the [`Misfire`](crate::Misfire) policy says what becomes
    /// of those, as if the machine had slept meanwhile. What waited for a worker when the task was
    /// paused runs as well.
    Missed,
}

impl Life {
    /// It will not be resumed.
    pub(super) fn forget_pause(&mut self) {
        if let Some(rare) = &mut self.rare {
            rare.suspended = None;
        }
    }
}

impl Task {
    pub(crate) fn pause(&self) -> PauseOutcome {
        let mut life = self.life.lock();
        if life.is_over() {
            return PauseOutcome::NotFound;
        }
        let before = life.state.name();
        match life.state.pause() {
            Ok(()) => {}
            Err(Refused::SamePause) => return PauseOutcome::WasPaused,
            Err(_) => return PauseOutcome::NotFound,
        }
        if let Some(armed) = life.armed {
            life.rare().suspended = Some(armed.due);
        }
        self.disarm(&mut life);
        self.note(&life, || EventKind::Paused);
        self.over_with(life, before);
        PauseOutcome::Paused
    }

    pub(crate) fn resume(self: &Arc<Task>, from: ResumeFrom) -> ResumeOutcome {
        let clock = self.core.engine.clock();
        let now = clock.now();
        let mut life = self.life.lock();
        let before = life.state.name();
        match life.state.resume() {
            Ok(()) => {}
            Err(Refused::SamePause) => return ResumeOutcome::NotPaused,
            Err(_) => return ResumeOutcome::NotFound,
        }
        self.note(&life, || EventKind::Resumed);
        let suspended = life.rare.as_mut().and_then(|rare| rare.suspended.take());
        let due = match from {
            ResumeFrom::Missed => suspended,
            ResumeFrom::Now => self.leave_missed_out(&mut life, suspended, now),
        };
        if let Some(due) = due {
            // A closed engine is being shut down, which ends this task as well.
            let _ = self.arm_first(&mut life, due);
        }
        let follow = self.release(&mut life);
        let leftovers = self.end_without_more(&mut life);
        self.over_with(life, before);
        self.hand_over(follow);
        self.core.activity.tell();
        leftovers.discard();
        ResumeOutcome::Resumed
    }

    /// What is still to come of a task that was paused while `suspended` was armed.
    fn leave_missed_out(
        &self,
        life: &mut Life,
        suspended: Option<Due>,
        now: Moment,
    ) -> Option<Due> {
        if life.plan.is_single() {
            return suspended;
        }
        let waited = life.clear_backlog();
        self.skip(life, waited, SkipReason::Paused);
        let wall = self.core.engine.clock().wall();
        let Some(mut suspended) = suspended else {
            // What was due when it was paused has been left out just now; else a run is going, or as
            // many are to start as are wanted.
            let is_next = life.state.runs() == 0 && !self.has_enough(life);
            return is_next
                .then(|| life.plan.next_from(None, now, wall))
                .flatten();
        };
        // More than once, if an edit has left one that was due before its first own one.
        loop {
            let is_ahead = match suspended {
                Due::Monotonic(due) => due > now,
                Due::Wall(at) => at > wall,
            };
            if is_ahead {
                return Some(suspended);
            }
            let missed = life.plan.occur(suspended, now, || wall);
            self.skip(life, missed.missed + 1, SkipReason::Paused);
            suspended = match missed.next {
                Some(next) => next,
                None => return life.plan.next_from(None, now, wall),
            };
        }
    }
}
