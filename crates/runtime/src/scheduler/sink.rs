//! The scheduler's end of the driver: what is due becomes a job, and the jobs of a pass go to the
//! executor as one batch.
//!
//! Everything here runs on the driver thread, and takes no lock: of tasks it only tries them, and
//! comes back to one that is taken in its next pass, when everything else that is due has been
//! handed over.

use std::sync::Arc;

use wheel_sync::thread;

use super::counters::Counters;
use super::mark::Mark;
use crate::clock::Moment;
use crate::driver::{DueTimer, Sink};
use crate::executor::{Executor, Job};
use crate::panics::{contain, discard, tell_stderr};
use crate::task::{CancelToken, Epoch, Looked, StopReason, Task, Ticket, WaitingRun};

/// What the engine of a scheduler holds.
pub(crate) enum Fire {
    /// The next occurrence of a task, armed under `epoch`.
    Occurrence { task: Arc<Task>, epoch: Epoch },
    /// Another attempt of the run that a task is in.
    Retry { task: Arc<Task>, ticket: Ticket },
    /// The time of an attempt is over.
    Timeout { task: Arc<Task>, ticket: Ticket },
    /// One of these whose task had its lock taken when it was due.
    Again(Box<Came>),
    /// A run that waits already, on its way to the executor.
    Run(Box<Job>),
    /// Somebody is to be told something.
    Tell(Box<Told>),
    /// Somebody wants to know when the driver has come as far as this.
    Mark(Mark),
}

// Every task that waits for its next occurrence has one of these in the engine.
const _: () = assert!(size_of::<Fire>() <= 16);

/// Something of a task that has come; if its lock is taken, to be looked at again.
pub(crate) struct Came {
    task: Arc<Task>,
    what: What,
    due: Moment,
}

/// What somebody is to be told, of this task.
pub(crate) struct Told {
    pub(crate) task: Arc<Task>,
    pub(crate) what: Tidings,
}

/// What it is.
pub(crate) enum Tidings {
    /// To a run: it should stop.
    Stop(CancelToken, StopReason),
    /// To who waits for runs to end: one has.
    Ended,
}

impl Told {
    /// Never blocks. False if somebody has the lock that waking takes: then it is to be told again.
    fn try_tell(&self) -> bool {
        match &self.what {
            Tidings::Stop(token, reason) => token.try_stop(*reason),
            Tidings::Ended => self.task.core().activity.try_tell(),
        }
    }
}

/// What of a task has come.
#[derive(Clone, Copy)]
enum What {
    /// The occurrence that was armed under this epoch.
    Occurrence(Epoch),
    /// The instant of the attempt with this ticket.
    Retry(Ticket),
    /// The end of the time of the attempt with this ticket.
    Timeout(Ticket),
}

/// Lives on the driver thread.
pub(super) struct TaskSink {
    executor: Arc<dyn Executor>,
    counters: Arc<Counters>,
    queue_max: usize,
    jobs: Vec<Job>,
    marks: Vec<Mark>,
    /// Told, but somebody had the lock that waking takes.
    told: Vec<Box<Told>>,
    /// Met in this pass: those whose task had its lock taken. They go back into the engine
    /// after the pass and not in it, or the pass would meet them again and again and not get to
    /// anything else.
    busy: Vec<Came>,
    /// How many of those are in the engine.
    to_see_again: usize,
}

impl TaskSink {
    pub(super) fn new(
        executor: Arc<dyn Executor>,
        counters: Arc<Counters>,
        queue_max: usize,
    ) -> TaskSink {
        TaskSink {
            executor,
            counters,
            queue_max,
            jobs: Vec::new(),
            marks: Vec::new(),
            told: Vec::new(),
            busy: Vec::new(),
            to_see_again: 0,
        }
    }

    /// Calls the executor. One of the user's may panic: that ends here, and there is no answer
    /// then.
    fn guard<R>(&self, call: impl FnOnce(&dyn Executor) -> R) -> Option<R> {
        contain(|| call(&*self.executor))
            .map_err(|message| tell_stderr("the executor panicked", &message))
            .ok()
    }

    fn look(&mut self, came: Came, now: Moment) {
        let Came { task, what, due } = came;
        let looked = match what {
            What::Occurrence(epoch) => task.occur(epoch, due, now),
            What::Retry(ticket) => task.try_again(ticket, due, now),
            What::Timeout(ticket) => task.run_out(ticket, now),
        };
        match looked {
            Looked::Run(run) => self.jobs.push(run.into_job()),
            Looked::Runs(runs) => self.jobs.extend(runs.into_iter().map(WaitingRun::into_job)),
            Looked::Job(job) => self.jobs.push(job),
            Looked::Nothing => {}
            Looked::Busy(task) => self.busy.push(Came { task, what, due }),
        }
    }

    /// Puts what was busy back, due already, so that it comes in the next pass.
    fn look_again(&mut self) {
        for busy in std::mem::take(&mut self.busy) {
            let (engine, due) = (busy.task.core().engine.clone(), busy.due);
            // A closed engine is being shut down with all its tasks.
            let inserted = engine.at_moment(due, Fire::Again(Box::new(busy)));
            self.to_see_again += usize::from(inserted.is_ok());
        }
        for told in std::mem::take(&mut self.told) {
            let engine = told.task.core().engine.clone();
            // A closed engine is being shut down, which wakes everybody when its time has come.
            let _ = engine.at_moment(Moment::ZERO, Fire::Tell(told));
        }
    }
}

impl Sink<Fire> for TaskSink {
    fn fire(&mut self, timer: DueTimer<Fire>) {
        let (due, now) = (timer.due, timer.now);
        let came = |task, what| Came { task, what, due };
        match timer.value {
            Fire::Occurrence { task, epoch } => self.look(came(task, What::Occurrence(epoch)), now),
            Fire::Retry { task, ticket } => self.look(came(task, What::Retry(ticket)), now),
            Fire::Timeout { task, ticket } => self.look(came(task, What::Timeout(ticket)), now),
            Fire::Again(busy) => {
                self.to_see_again -= 1;
                self.look(*busy, now);
            }
            Fire::Run(job) => self.jobs.push(*job),
            Fire::Tell(told) => {
                if !told.try_tell() {
                    self.told.push(told);
                }
            }
            Fire::Mark(mark) => self.marks.push(mark),
        }
    }

    fn flush(&mut self) {
        if !self.jobs.is_empty() {
            let queued = self.guard(|executor| executor.queued()).unwrap_or(0);
            let over = queued.saturating_add(self.jobs.len());
            let over = over.saturating_sub(self.queue_max);
            if over > 0 {
                let over = over.min(self.jobs.len());
                self.counters.queue_was_full(over as u64);
            }
            let mut jobs = std::mem::take(&mut self.jobs);
            // What it left or dropped, it refused.
            self.guard(|executor| executor.execute(&mut jobs));
            discard(jobs);
        }
        self.look_again();
    }

    fn caught_up(&mut self) {
        if self.to_see_again == 0 {
            self.marks.clear();
        } else {
            // Who holds the lock may need this processor to let go of it.
            thread::yield_now();
        }
    }
}
