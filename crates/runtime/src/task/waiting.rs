//! A run that waits for a worker, and what it is for.
//!
//! It ends in one of two ways: a worker starts it (`run.rs`), or it is dropped, and then the task is
//! told.

use std::sync::Arc;
use std::time::SystemTime;

use super::Task;
use super::state::Ticket;
use crate::clock::Moment;
use crate::driver::Engine;
use crate::executor::{Job, Work};
use crate::policy::Priority;
use crate::scheduler::{Fire, Limits, Permit};

/// A run that is due and waits for a worker.
#[must_use = "dropping it refuses the run"]
pub(crate) struct WaitingRun {
    /// `None` once somebody has taken the run on.
    task: Option<Arc<Task>>,
    pub(super) ticket: Ticket,
    pub(crate) occasion: Occasion,
    /// Of its concurrency key, if it has one; kept until the attempt is over.
    pub(crate) permit: Option<Permit>,
}

/// What a run is for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Occasion {
    /// The earliest of the occurrences that it stands for.
    pub(crate) due: Moment,
    /// From when on it is late: the tick at which it was due, for rounding up to that is no
    /// lateness.
    pub(crate) late_from: Moment,
    pub(super) calendar: Calendar,
    /// How many further occurrences it stands for.
    pub(crate) missed: u64,
    pub(super) origin: Origin,
}

/// Where a run comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    Schedule,
    /// The schedule, while a run was going: it stands for the latest of them.
    Latest,
    /// A pause does not hold it up.
    Hand,
}

/// What the calendar says about a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Calendar {
    /// The occurrence that it is for: the latest, if it stands for several.
    pub(super) nominal: SystemTime,
    /// The earliest of them.
    pub(super) due: SystemTime,
}

impl WaitingRun {
    pub(super) fn new(task: &Arc<Task>, ticket: Ticket, occasion: Occasion) -> WaitingRun {
        WaitingRun {
            task: Some(Arc::clone(task)),
            ticket,
            occasion,
            permit: None,
        }
    }

    /// What an executor gets, of a run that was `found` due.
    pub(crate) fn into_job(self, found: Moment) -> Job {
        let (due_ns, class) = (self.occasion.due.as_nanos(), self.priority());
        let job = Job::due_at(due_ns, self).of_class(class);
        job.found_at(found.as_nanos())
    }

    pub(crate) fn priority(&self) -> Priority {
        self.limits()
            .map_or(Priority::Normal, |limits| limits.priority)
    }

    /// What its task was told about order and limits, if anything.
    pub(crate) fn limits(&self) -> Option<&Arc<Limits>> {
        self.task.as_ref()?.limits()
    }

    pub(crate) fn engine(&self) -> Engine<Fire> {
        let task = self.task.as_ref();
        task.expect("a run that waits has its task")
            .core
            .engine
            .clone()
    }

    /// Whose it is, and which of that task's.
    pub(crate) fn turn(&self) -> (u64, Ticket) {
        let serial = self.task.as_ref().map_or(0, |task| task.id.serial);
        (serial, self.ticket)
    }

    /// Whether it would still start; `None` while somebody holds the lock of its task.
    pub(crate) fn is_wanted(&self) -> Option<bool> {
        let life = self.task.as_ref()?.life.try_lock()?;
        Some(life.state.awaits(self.ticket))
    }

    /// Drops it without telling its task, which does not want it any more.
    pub(crate) fn forget(mut self) {
        self.task = None;
    }

    /// Takes the task on: from here on dropping the run tells nobody.
    pub(super) fn take_task(&mut self) -> Arc<Task> {
        self.task.take().expect("a run is taken on once")
    }
}

impl Occasion {
    /// The only one of a task that runs once, due now for the instant `at`.
    pub(super) fn of_schedule(now: Moment, at: SystemTime) -> Occasion {
        Occasion {
            origin: Origin::Schedule,
            ..Occasion::by_hand(now, at, at)
        }
    }

    /// A run outside of the schedule, due now.
    pub(super) fn by_hand(now: Moment, nominal: SystemTime, due: SystemTime) -> Occasion {
        Occasion {
            due: now,
            late_from: now,
            calendar: Calendar { nominal, due },
            missed: 0,
            origin: Origin::Hand,
        }
    }
}

impl Work for WaitingRun {
    fn run(self: Box<Self>) {
        self.start();
    }

    fn is_void(&self) -> bool {
        self.is_wanted() == Some(false)
    }
}

impl Drop for WaitingRun {
    fn drop(&mut self) {
        if let Some(task) = self.task.take() {
            task.refuse(self);
        }
    }
}
