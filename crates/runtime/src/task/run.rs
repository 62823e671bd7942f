//! On a worker: an attempt of a run starts, and its handler is called; `conclude.rs` has the rest.

use std::cell::Cell;
use std::sync::Arc;

use wheel_sync::thread_local;

use super::conclude::Attempt;
use super::occur::WaitingRun;
use super::trial::Begun;
use super::{CancelToken, Code, Context, Handler, IntoOutcome, Outcome, Task};
use crate::clock::Moment;
use crate::panics::{contain, discard};
use crate::scheduler::{Around, Core};

thread_local! {
    /// The scheduler and the task of whose run this thread is.
    static INSIDE: Cell<Inside> = const { Cell::new((0, 0)) };
}

/// The addresses of a scheduler and of a task; 0 outside of every run.
type Inside = (usize, usize);

/// From now on the calling thread is in a run of `task`. Returns where it was before.
pub(super) fn enter(task: &Task) -> Inside {
    let inside = (
        Arc::as_ptr(&task.core).addr(),
        std::ptr::from_ref(task).addr(),
    );
    INSIDE.with(|cell| cell.replace(inside))
}

/// The calling thread is where it was before `enter`.
pub(super) fn leave(outside: Inside) {
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

/// What an attempt needs to begin.
struct Started {
    code: Code,
    token: CancelToken,
    attempt: Attempt,
    last_error: Option<Arc<str>>,
    now: Moment,
}

impl WaitingRun {
    /// Runs it on this thread, unless it was taken back while it waited.
    pub(super) fn start(mut self) {
        let task = self.take_task();
        let Some(started) = task.start(&self) else {
            return;
        };
        let Code { handler, failing } = started.code;
        let mut attempt = started.attempt;
        let context = Context {
            task: Arc::clone(&task),
            number: attempt.run,
            attempt: attempt.number,
            last_error: started.last_error,
            token: started.token,
            late_from: self.late_from,
            started: started.now,
            calendar: self.calendar,
            missed: self.missed,
        };
        let outside = enter(&task);
        let outcome = call(&task, handler, &context);
        let outcome = match &failing {
            Some(failing) => task.stand_in(&mut attempt, failing, &context, outcome),
            None => outcome,
        };
        // The run counts as going until its end has been written down, and what its handler
        // captured may be dropped there.
        task.finish(&attempt, failing.as_ref(), outcome);
        discard(failing);
        leave(outside);
    }
}

/// Calls the handler, inside of the interceptors. It, and whatever its captures do when they are
/// dropped, may panic.
fn call(task: &Task, handler: Handler, context: &Context) -> Outcome {
    let outside = enter(task);
    let around = &*task.core.around;
    let called = contain(move || {
        let outcome = if around.is_empty() {
            handler(context)
        } else {
            go_around(around, context, &handler)
        };
        drop(handler);
        outcome
    });
    leave(outside);
    called.unwrap_or_else(|message| panicked(task, &message))
}

/// Calls the first interceptor, which calls the rest. A panic of the handler comes back to them as a
/// failure.
fn go_around(around: &[Around], context: &Context, handler: &Handler) -> Outcome {
    let Some((first, rest)) = around.split_first() else {
        let called = contain(|| handler(context));
        return called.unwrap_or_else(|message| panicked(&context.task, &message));
    };
    first(context, &|| go_around(rest, context, handler))
}

fn panicked(task: &Task, message: &str) -> Outcome {
    task.core.counters.run_panicked();
    Err(format!("panicked: {message}")).into_outcome()
}

impl Task {
    /// `None`: the run was taken back while it waited.
    fn start(&self, run: &WaitingRun) -> Option<Started> {
        let clock = self.core.engine.clock();
        let (now, wall) = (clock.now(), clock.wall());
        let mut life = self.life.lock();
        let token = life.state.start(run.ticket).ok()?;
        let (nominal, begun) = (run.calendar.nominal, Begun { since: now, wall });
        let (attempt, is_first) = life.begin_attempt(run.ticket, nominal, run.missed, begun);
        life.tally.last_start = Some(wall);
        let code = life.code.as_ref();
        let started = Started {
            code: code.expect("a live task has its code").clone(),
            token,
            attempt,
            last_error: life.trial().and_then(|trial| trial.last_error.clone()),
            now,
        };
        drop(life);
        if is_first {
            self.core.counters.run_started(run.missed);
        }
        self.core.note_started(run, now);
        Some(started)
    }
}
