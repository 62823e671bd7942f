//! On a worker: a run starts, its handler is called, and what came of it is recorded.
//!
//! The order at the end matters: first what follows is armed and the id is free, then waiters are
//! told, and only then the run no longer counts as going. So whoever waited for it finds everything
//! done.

use std::cell::Cell;
use std::sync::Arc;

use wheel_sync::thread_local;

use super::occur::WaitingRun;
use super::state::{End, Next, Ticket};
use super::{CancelToken, Context, Handler, Leftovers, Outcome, Task};
use crate::clock::Moment;
use crate::panics::contain;
use crate::scheduler::Core;

thread_local! {
    /// The scheduler and the task of whose run this thread is.
    static INSIDE: Cell<Inside> = const { Cell::new((0, 0)) };
}

/// The addresses of a scheduler and of a task; 0 outside of every run.
type Inside = (usize, usize);

/// From now on the calling thread is in a run of `task`. Returns where it was before.
fn enter(task: &Task) -> Inside {
    let inside = (
        Arc::as_ptr(&task.core).addr(),
        std::ptr::from_ref(task).addr(),
    );
    INSIDE.with(|cell| cell.replace(inside))
}

/// The calling thread is where it was before `enter`.
fn leave(outside: Inside) {
    INSIDE.with(|cell| cell.set(outside));
}

/// Whether the calling thread is in a handler of this scheduler: then it must not wait for its own
/// run.
pub(crate) fn is_inside_run_of_core(core: &Core) -> bool {
    let inside = INSIDE.try_with(Cell::get).unwrap_or((0, 0));
    inside.0 == std::ptr::from_ref(core).addr()
}

/// Whether the calling thread is in the handler of this task.
pub(crate) fn is_inside_run_of_task(task: &Task) -> bool {
    let inside = INSIDE.try_with(Cell::get).unwrap_or((0, 0));
    inside.1 == std::ptr::from_ref(task).addr()
}

/// What a run needs to begin.
struct Started {
    handler: Handler,
    token: CancelToken,
    number: u64,
    now: Moment,
}

impl WaitingRun {
    /// Runs it on this thread, unless it was taken back while it waited.
    pub(super) fn start(mut self) {
        let task = self.take_task();
        let Some(started) = task.start(&self) else {
            return;
        };
        let context = Context {
            task: Arc::clone(&task),
            number: started.number,
            token: started.token,
            late_from: self.late_from,
            started: started.now,
            calendar: self.calendar,
            missed: self.missed,
        };
        let outside = enter(&task);
        let outcome = call(&task, started.handler, &context);
        // The run counts as going until its end has been written down, and what its handler
        // captured may be dropped there.
        task.finish(self.ticket, outcome);
        leave(outside);
    }
}

/// Calls the handler. It, and whatever its captures do when they are dropped, may panic.
fn call(task: &Task, handler: Handler, context: &Context) -> Outcome {
    let outside = enter(task);
    let called = contain(move || {
        let outcome = handler(context);
        drop(handler);
        outcome
    });
    leave(outside);
    called.unwrap_or_else(|message| {
        task.core.counters.run_panicked();
        Outcome::Failure(format!("panicked: {message}"))
    })
}

impl Task {
    /// `None`: the run was taken back while it waited.
    fn start(&self, run: &WaitingRun) -> Option<Started> {
        let clock = self.core.engine.clock();
        let (now, wall) = (clock.now(), clock.wall());
        let mut life = self.life.lock();
        let token = life.state.start(run.ticket).ok()?;
        life.tally.runs += 1;
        life.tally.last_start = Some(wall);
        let started = Started {
            handler: Arc::clone(life.handler.as_ref().expect("a live task has its handler")),
            token,
            number: life.tally.runs,
            now,
        };
        drop(life);
        self.core.note_started(run, now);
        Some(started)
    }

    /// The handler has returned.
    fn finish(self: &Arc<Task>, ticket: Ticket, outcome: Outcome) {
        self.core.counters.run_ended(&outcome);
        let mut life = self.life.lock();
        let was_cancelled = life.state.is_cancelled_run();
        let was_leaving = life.is_leaving;
        let result = match outcome {
            Outcome::Success => {
                life.tally.succeeded += 1;
                End::Succeeded
            }
            Outcome::Failure(message) => {
                life.tally.failed += 1;
                life.tally.last_error = Some(message);
                End::Failed
            }
        };
        let next = if life.armed.is_some() {
            Next::MoreToCome
        } else if life.plan.is_once() || self.is_spent(&life.tally) {
            Next::Nothing(result)
        } else {
            let now = self.core.engine.clock().now();
            let due = life.plan.after_end(now).filter(|_| !was_cancelled);
            match due.map(|due| self.arm_next(&mut life, due)) {
                Some(Ok(())) => Next::MoreToCome,
                // The engine is closed: no more runs, although more were wanted.
                Some(Err(_)) | None => Next::Nothing(End::Cancelled),
            }
        };
        let end = life.state.finish(ticket, next);
        let end = end.expect("only this run can finish itself");
        let leftovers = end.map(|_| self.bury(&mut life));
        let state = life.state.name();
        drop(life);
        if was_leaving {
            self.core.leaving.lock().remove(&self.id.serial);
        }
        leftovers.unwrap_or(Leftovers::NOTHING).discard();
        self.core.note_finished(state);
    }
}
