//! The scheduler's end of the driver: what is due becomes a job, at the gate if its task has limits
//! (`gate/`), and the jobs of a pass go to the executor as one batch.
//!
//! Everything here runs on the driver thread, and takes no lock: of tasks it only tries them, and
//! comes back to one that is taken in its next pass, when everything else that is due has been
//! handed over.

use std::sync::Arc;

use wheel_sync::thread;

use super::counters::Counters;
use super::events::{EventKind, Events};
use super::gate::{Gate, Ready, TokenTimer};
use super::limits::Limits;
use super::mark::Mark;
use super::told::{Telling, Told};
use crate::clock::{ClockJump, Moment};
use crate::driver::{DueTimer, Engine, Sink};
use crate::executor::{Executor, Job};
use crate::panics::{contain, discard, tell_stderr};
use crate::policy::{OnFull, Priority};
use crate::task::{Epoch, Errand, Looked, Task, Ticket, WaitingRun};

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
    Run(Box<WaitingRun>),
    /// Several of one task.
    #[expect(clippy::box_collection, reason = "a vector is three words")]
    Runs(Box<Vec<WaitingRun>>),
    /// Something else for an executor.
    Errand(Box<Errand>),
    /// Somebody is to be told something.
    Tell(Box<Told>),
    /// The same, after a look that found the lock taken that waking takes.
    TellAgain(Box<Told>),
    /// A run of a concurrency key is over.
    Freed(Arc<Limits>),
    /// A rate key has a token, or is full again.
    Tokens(Box<TokenTimer>),
    /// Somebody at the gate is to be looked at again.
    Gate(Arc<Limits>),
    /// Many of those at the gate may have become void.
    Sweep(Engine<Fire>),
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

/// What of a task has come.
#[derive(Clone, Copy)]
enum What {
    /// The occurrence that was armed under this epoch.
    Occurrence(Epoch),
    /// The instant of the attempt with this ticket.
    Retry(Ticket),
    /// The end of the time of the attempt with this ticket.
    Timeout(Ticket),
    /// Nothing else will.
    End,
}

/// Where the jobs of some tasks run: one without a name, and the named pools.
pub(super) struct Line {
    executor: Arc<dyn Executor>,
    on_full: OnFull,
    jobs: Vec<Job>,
    /// How many more fit in this pass, if somebody has asked.
    room: Option<usize>,
}

/// Lives on the driver thread.
pub(super) struct TaskSink {
    lines: Vec<Line>,
    gate: Gate,
    counters: Arc<Counters>,
    events: Arc<Events>,
    queue_max: usize,
    /// When the latest run came to the gate.
    now: Moment,
    marks: Vec<Mark>,
    /// Told, but somebody had the lock that waking takes.
    #[expect(clippy::vec_box, reason = "it goes back in the box in which it came")]
    told: Vec<Box<Told>>,
    /// Met in this pass: those whose task had its lock taken. They go back into the engine
    /// after the pass and not in it, or the pass would meet them again and again and not get to
    /// anything else.
    busy: Vec<Came>,
    /// How many of those are in the engine.
    to_see_again: usize,
}

impl TaskSink {
    /// The first line is that of tasks without a pool of their own.
    pub(super) fn new(
        lines: Vec<Line>,
        gate: Gate,
        counters: Arc<Counters>,
        events: Arc<Events>,
        queue_max: usize,
    ) -> TaskSink {
        TaskSink {
            lines,
            gate,
            counters,
            events,
            queue_max,
            now: Moment::ZERO,
            marks: Vec::new(),
            told: Vec::new(),
            busy: Vec::new(),
            to_see_again: 0,
        }
    }

    fn look(&mut self, came: Came, now: Moment) {
        let Came { task, what, due } = came;
        let looked = match what {
            What::Occurrence(epoch) => task.occur(epoch, due, now),
            What::Retry(ticket) => task.try_again(ticket, due, now),
            What::Timeout(ticket) => task.run_out(ticket, now),
            What::End => task.end_if_over(),
        };
        match looked {
            Looked::Run(run) => self.go(run, now),
            Looked::Runs(runs) => runs.into_iter().for_each(|run| self.go(run, now)),
            Looked::Errand(errand) => self.do_errand(errand),
            Looked::Nothing => {}
            Looked::Busy(task) => self.busy.push(Came { task, what, due }),
            Looked::Over(task) => {
                let what = What::End;
                self.busy.push(Came { task, what, due });
            }
        }
    }

    /// Where the runs of its task go: it does not wait for other pools, nor they for it.
    fn do_errand(&mut self, errand: Errand) {
        self.lines[errand.pool].jobs.push(errand.job);
    }

    /// A run is due: it goes, or waits at the gate.
    fn go(&mut self, run: WaitingRun, now: Moment) {
        match run.limits().filter(|limits| limits.is_gated()) {
            None => self.queue(run, now),
            Some(limits) => {
                let limits = Arc::clone(limits);
                self.gate.admit(run, limits, now);
                self.now = now;
            }
        }
    }

    fn queue_ready(&mut self) {
        for Ready { run, found } in self.gate.take_ready() {
            self.queue(run, found);
        }
    }

    /// A run that was `found` due goes to its executor with the others of this pass.
    fn queue(&mut self, run: WaitingRun, found: Moment) {
        let line = run.limits().map_or(0, |limits| limits.pool);
        let line = &mut self.lines[line];
        let job = if line.on_full == OnFull::Reject && !line.has_room(self.queue_max) {
            self.counters.run_rejected();
            refusal(run)
        } else {
            run.into_job(found)
        };
        line.jobs.push(job);
    }

    /// Puts what was busy back, due already, so that it comes in the next pass.
    fn look_again(&mut self) {
        for busy in std::mem::take(&mut self.busy) {
            let (engine, due) = (busy.task.core().engine.clone(), busy.due);
            // A closed engine is being shut down with all its tasks.
            let inserted = engine.at_moment(due, Fire::Again(Box::new(busy)));
            self.to_see_again += usize::from(inserted.is_ok());
        }
        for (engine, limits) in self.gate.take_busy() {
            let now = engine.clock().now();
            let inserted = engine.at_moment(now, Fire::Gate(limits));
            self.to_see_again += usize::from(inserted.is_ok());
        }
        for told in std::mem::take(&mut self.told) {
            let engine = told.task.core().engine.clone();
            // A closed engine is being shut down, which wakes everybody when its time has come.
            let inserted = engine.at_moment(Moment::ZERO, Fire::TellAgain(told));
            self.to_see_again += usize::from(inserted.is_ok());
        }
    }

    fn tell(&mut self, mut told: Box<Told>) {
        match told.try_tell() {
            Telling::Done => {}
            Telling::Again => self.told.push(told),
            Telling::Errand(errand) => self.do_errand(errand),
        }
    }
}

impl Line {
    pub(super) fn new(executor: Arc<dyn Executor>, on_full: OnFull) -> Line {
        Line {
            executor,
            on_full,
            jobs: Vec::new(),
            room: None,
        }
    }

    /// Calls the executor. One of the user's may panic: that ends here, and there is no answer
    /// then.
    fn guard<R>(&self, call: impl FnOnce(&dyn Executor) -> R) -> Option<R> {
        contain(|| call(&*self.executor))
            .map_err(|message| tell_stderr("the executor panicked", &message))
            .ok()
    }

    fn queued(&self) -> usize {
        self.guard(|executor| executor.queued()).unwrap_or(0)
    }

    /// Whether another one fits into the queue, and if so, that it is there now.
    fn has_room(&mut self, queue_max: usize) -> bool {
        let room = self
            .room
            .unwrap_or_else(|| queue_max.saturating_sub(self.queued()));
        self.room = Some(room.saturating_sub(1));
        room > 0
    }

    /// Hands over what the pass has brought.
    fn flush(&mut self, counters: &Counters, queue_max: usize) {
        self.room = None;
        if self.jobs.is_empty() {
            return;
        }
        let over = self.queued().saturating_add(self.jobs.len());
        let over = over.saturating_sub(queue_max);
        if over > 0 {
            let over = over.min(self.jobs.len());
            counters.queue_was_full(over as u64);
        }
        let mut jobs = std::mem::take(&mut self.jobs);
        // What it left or dropped, it refused.
        self.guard(|executor| executor.execute(&mut jobs));
        discard(jobs);
    }
}

impl Fire {
    /// Where it stands among what is due at the same instant, if that is to be the same each time:
    /// first what makes room, then what has begun, then what is new.
    pub(super) fn turn(&self) -> (u8, u64, Ticket, [Option<&str>; 2]) {
        match self {
            Fire::Again(came) => came.what.turn(&came.task),
            Fire::Occurrence { task, epoch } => What::Occurrence(*epoch).turn(task),
            Fire::Retry { task, ticket } => What::Retry(*ticket).turn(task),
            Fire::Timeout { task, ticket } => What::Timeout(*ticket).turn(task),
            Fire::Mark(_) | Fire::Errand(_) | Fire::Sweep(_) => (0, 0, 0, [None; 2]),
            Fire::Tell(told) | Fire::TellAgain(told) => (1, told.task.id.serial, 0, [None; 2]),
            Fire::Freed(limits) => (3, 0, 0, limits.keys()),
            Fire::Tokens(timer) => (4, 0, 0, timer.keys()),
            Fire::Gate(limits) => (5, 0, 0, limits.keys()),
            Fire::Run(run) => run_turn(run),
            Fire::Runs(runs) => runs.first().map_or((7, 0, 0, [None; 2]), run_turn),
        }
    }
}

fn run_turn(run: &WaitingRun) -> (u8, u64, Ticket, [Option<&str>; 2]) {
    let (serial, ticket) = run.turn();
    (7, serial, ticket, [None; 2])
}

impl What {
    fn turn(self, task: &Task) -> (u8, u64, Ticket, [Option<&'static str>; 2]) {
        let (sort, number) = match self {
            What::Timeout(ticket) => (2, ticket),
            What::Retry(ticket) => (6, ticket),
            What::Occurrence(epoch) => (8, epoch),
            What::End => (9, 0),
        };
        (sort, task.id.serial, number, [None; 2])
    }
}

/// A job that refuses the run, in front of all others: that takes the lock of its task, and may drop
/// or call what is the user's, which is nothing for the driver.
fn refusal(run: WaitingRun) -> Job {
    Job::due_at(0, move || drop(run)).of_class(Priority::High)
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
            Fire::Run(run) => self.go(*run, now),
            Fire::Runs(runs) => runs.into_iter().for_each(|run| self.go(run, now)),
            Fire::Errand(errand) => self.do_errand(*errand),
            Fire::Tell(told) => self.tell(told),
            Fire::TellAgain(told) => {
                self.to_see_again -= 1;
                self.tell(told);
            }
            Fire::Freed(limits) => {
                self.gate.freed(&limits, now);
                self.queue_ready();
            }
            Fire::Tokens(timer) => {
                self.gate.tokens_came(*timer, now);
                self.queue_ready();
            }
            Fire::Gate(limits) => {
                self.to_see_again -= 1;
                self.gate.look(&limits, now);
                self.queue_ready();
            }
            Fire::Sweep(engine) => {
                if self.gate.sweep() {
                    let again = Fire::Sweep(engine.clone());
                    let _ = engine.at_moment(now, again);
                }
            }
            Fire::Mark(mark) => self.marks.push(mark),
        }
    }

    fn flush(&mut self) {
        self.gate.settle(self.now);
        self.queue_ready();
        for line in &mut self.lines {
            line.flush(&self.counters, self.queue_max);
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

    fn clock_jumped(&mut self, jump: ClockJump) {
        self.events
            .tell_of_scheduler(EventKind::ClockJumped { jump });
    }
}
