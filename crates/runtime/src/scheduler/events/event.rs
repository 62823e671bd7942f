//! An event: what has happened, to which task, and when.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use crate::clock::ClockJump;
use crate::policy::GaveUp;
use crate::scheduler::DeadLetterId;
use crate::task::{SkipReason, TaskState};

/// Something that has happened. A clone shares its texts.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Event {
    /// When, by the wall clock of the scheduler.
    pub at: SystemTime,
    /// The id of the task; `None` if it happened to the scheduler, or to the receiver.
    pub task: Option<Arc<str>>,
    /// What the task is [counted under](crate::TaskBuilder::name), if it was given a name, or is of a
    /// kind.
    pub name: Option<Arc<str>>,
    /// Tells tasks apart that had the same id one after the other; 0 if there is no task.
    pub serial: u64,
    /// What has happened.
    pub kind: EventKind,
}

/// What has happened.
///
/// Of a task that is observed from its start until its end: `Added` comes first and `Ended` last.
/// Each run that has `Started` has one `Finished`, be it that its task was cancelled between two
/// attempts.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EventKind {
    /// The task is live.
    Added,
    /// It has another schedule.
    Rescheduled,
    /// Nothing of it is due until it is resumed.
    Paused,
    /// It goes on after a pause.
    Resumed,
    /// An attempt starts on a worker.
    #[non_exhaustive]
    Started {
        /// Which run of the task, from 1.
        run: u64,
        /// Which attempt of the run, from 1.
        attempt: u32,
        /// The occurrence that the run is for.
        nominal: SystemTime,
        /// When it was due: the earliest occurrence that it stands for, or the instant of the
        /// attempt.
        due: SystemTime,
        /// How long after that it starts, not counting what was rounded up to the tick.
        late: Duration,
        /// How many further occurrences it stands for.
        missed: u64,
    },
    /// The attempt that starts next is later than the
    /// [misfire threshold](crate::SchedulerBuilder::misfire_threshold).
    #[non_exhaustive]
    Misfired {
        /// Which run of the task, from 1.
        run: u64,
        /// How late.
        late: Duration,
    },
    /// An attempt has failed, and the run will be tried again.
    #[non_exhaustive]
    AttemptFailed {
        /// Which run of the task, from 1.
        run: u64,
        /// Which attempt of the run, from 1.
        attempt: u32,
        /// What the handler said, `panicked: ` and the message, or which limit has passed.
        error: Arc<str>,
        /// How long it took.
        took: Duration,
        /// When the next attempt is due, as the wall clock stands now.
        next_at: SystemTime,
    },
    /// The handler wants the rest of the run to be put off, which is no failure.
    #[non_exhaustive]
    Snoozed {
        /// Which run of the task, from 1.
        run: u64,
        /// Which attempt of the run, from 1.
        attempt: u32,
        /// When the run goes on, as the wall clock stands now.
        next_at: SystemTime,
    },
    /// A run is over.
    #[non_exhaustive]
    Finished {
        /// Which run of the task, from 1.
        run: u64,
        /// Its last attempt, from 1.
        attempt: u32,
        /// How it ended: [`Succeeded`](TaskState::Succeeded), [`Failed`](TaskState::Failed),
        /// [`Dead`](TaskState::Dead), [`TimedOut`](TaskState::TimedOut) or
        /// [`Cancelled`](TaskState::Cancelled).
        outcome: TaskState,
        /// Of the last attempt, if that has failed.
        error: Option<Arc<str>>,
        /// How long the last attempt took; zero for a run that was given up between two attempts.
        took: Duration,
    },
    /// The run that has just finished is a dead letter.
    #[non_exhaustive]
    Dead {
        /// Which run of the task, from 1.
        run: u64,
        /// Which letter.
        letter: DeadLetterId,
        /// Why it was given up.
        gave_up: GaveUp,
    },
    /// The time of an attempt is over, and its handler has not returned.
    #[non_exhaustive]
    Hung {
        /// Which run of the task, from 1.
        run: u64,
        /// Which attempt of the run, from 1.
        attempt: u32,
    },
    /// The handler of an attempt that hung has returned after all. May come after the end of the
    /// task.
    #[non_exhaustive]
    CameBack {
        /// Which run of the task, from 1.
        run: u64,
        /// Which attempt of the run, from 1.
        attempt: u32,
    },
    /// Occurrences were left out.
    #[non_exhaustive]
    Skipped {
        /// How many.
        occurrences: u64,
        /// Why.
        why: SkipReason,
    },
    /// The task has ended. Its id may be in use again.
    #[non_exhaustive]
    Ended {
        /// How.
        state: TaskState,
    },
    /// A clock has jumped: the wall clock was set, or the machine was suspended. Told when the driver
    /// notices, before what has become due by it; after that the wall clock reads
    /// [`at`](Event::at).
    #[non_exhaustive]
    ClockJumped {
        /// Which clock, in which direction, and how far.
        jump: ClockJump,
    },
    /// The scheduler refuses new tasks and starts nothing more.
    ShuttingDown,
    /// So many events found the queue of this receiver full, at about this place among the others.
    #[non_exhaustive]
    Lost {
        /// How many.
        events: u64,
    },
}
