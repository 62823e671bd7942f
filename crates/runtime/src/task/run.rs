//! On a worker: an attempt of a run starts, and its handler is called; `conclude.rs` has the rest.

use std::cell::Cell;
use std::sync::Arc;

use wheel_sync::thread_local;

use super::attempt::{Attempt, Ended, Start, Time};
#[cfg(feature = "async")]
use super::away::Away;
use super::context::Given;
use super::terms::Terms;
use super::traced::Traced;
use super::waiting::{Occasion, Origin, WaitingRun};
use super::{
    CancelToken, Code, Context, Handler, IntoOutcome, Life, Outcome, RunInfo, SkipReason, Task,
    TaskState, Ticket,
};
use crate::clock::Moment;
use crate::panics::{contain, discard};
use crate::policy::{Misfire, Overlap};
use crate::scheduler::{Around, Core};

thread_local! {
    /// The scheduler, the task and the attempt in which this thread is.
    static INSIDE: Cell<Inside> = const { Cell::new((0, 0, 0)) };
}

/// The addresses of a scheduler and of a task, and a ticket; 0 outside of every run.
type Inside = (usize, usize, Ticket);

/// Where a handler is that waits for runs to end, of which its own cannot meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Excuse(Inside);

impl Excuse {
    /// Of the calling thread. Outside of every run, that of nobody.
    pub(crate) fn of_caller() -> Excuse {
        Excuse(inside())
    }

    /// Whether it is that of the handler of this attempt.
    pub(crate) fn is_of(self, task: &Task, ticket: Ticket) -> bool {
        (self.0.1, self.0.2) == (std::ptr::from_ref(task).addr(), ticket)
    }
}

/// From now on the calling thread is in an attempt of `task`. Returns where it was before.
pub(super) fn enter(task: &Task, ticket: Ticket) -> Inside {
    let inside = (
        Arc::as_ptr(&task.core).addr(),
        std::ptr::from_ref(task).addr(),
        ticket,
    );
    INSIDE.with(|cell| cell.replace(inside))
}

/// The calling thread is where it was before `enter`.
pub(super) fn leave(outside: Inside) {
    INSIDE.with(|cell| cell.set(outside));
}

/// Where the calling thread is.
fn inside() -> Inside {
    INSIDE.try_with(Cell::get).unwrap_or((0, 0, 0))
}

/// Whether the calling thread is in a handler of this scheduler: then it must not wait for its own
/// run.
pub(crate) fn is_inside_run_of_core(core: &Core) -> bool {
    inside().0 == std::ptr::from_ref(core).addr()
}

/// Whether the calling thread is in the handler of this task.
pub(crate) fn is_inside_run_of_task(task: &Task) -> bool {
    inside().1 == std::ptr::from_ref(task).addr()
}

/// What an attempt needs to begin.
pub(super) struct Started {
    pub(super) code: Code,
    pub(super) token: CancelToken,
    pub(super) attempt: Attempt,
    pub(super) last_error: Option<Arc<str>>,
    /// The deadline of the run has passed: its handler is not called.
    is_too_late: bool,
}

#[cfg(feature = "async")]
impl Started {
    /// The handler, if it is a future and is to be called.
    fn away(&self) -> Option<Arc<Away>> {
        let terms = self.code.terms.as_ref().filter(|_| !self.is_too_late)?;
        terms.away.clone()
    }
}

impl WaitingRun {
    /// Runs it on this thread, unless it was taken back while it waited.
    pub(super) fn start(mut self) {
        let task = self.take_task();
        let Some(started) = task.start(&mut self) else {
            return;
        };
        #[cfg(feature = "async")]
        if let Some(away) = started.away() {
            return self.depart(&task, started, away);
        }
        let Code {
            handler,
            failing,
            terms,
        } = started.code;
        let mut attempt = started.attempt;
        let given = Given {
            token: started.token,
            last_error: started.last_error,
            terms,
        };
        let context = Context::of_attempt(&task, &attempt, &self.occasion, given);
        let outside = enter(&task, attempt.ticket);
        let traced = Traced::begin(&task, &attempt, &self.occasion);
        let ended = if started.is_too_late {
            discard([handler]);
            Ended::Returned(Outcome::Success)
        } else {
            let outcome = call(&task, handler, &context);
            match &failing {
                Some(failing) => task.stand_in(&mut attempt, failing, &context, outcome),
                None => Ended::Returned(outcome),
            }
        };
        attempt.values = context.end();
        drop(context);
        // The run counts as going until its end has been written down, and what its handler
        // captured may be dropped there.
        task.finish(&mut attempt, failing, ended);
        traced.end();
        leave(outside);
    }
}

/// Calls the handler, inside of the interceptors. It, and whatever its captures do when they are
/// dropped, may panic.
fn call(task: &Task, handler: Handler, context: &Context) -> Outcome {
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

pub(super) fn panicked(task: &Task, message: &str) -> Outcome {
    task.counts().run_panicked();
    Err(format!("panicked: {message}")).into_outcome()
}

/// For an attempt that starts now, of a run whose deadline holds from attempt to attempt.
pub(super) fn time(
    terms: &Terms,
    life: &Life,
    ticket: Ticket,
    (occasion, now): (&Occasion, Moment),
) -> Time {
    let begun = life.trial(ticket).filter(|trial| trial.begun.is_some());
    let deadline = match begun {
        Some(trial) => trial.deadline,
        None => terms.deadline_of(occasion),
    };
    let limit = terms.limit(now, deadline);
    Time { deadline, limit }
}

impl Task {
    /// `None`: the run was taken back while it waited, or is not to start now.
    fn start(self: &Arc<Task>, run: &mut WaitingRun) -> Option<Started> {
        let clock = self.core.engine.clock();
        let (now, wall) = (clock.now(), clock.wall());
        let mut life = self.life.lock();
        let before = life.state.name();
        let ticket = run.ticket;
        if self.may_not_start(&life, run, now) {
            if life.state.is_paused() {
                life.state.give_back(ticket).ok()?;
                life.backlog().push_front(run.occasion);
                self.over_with(life, before);
                self.core.activity.end();
            } else {
                self.leave_out(life, run, SkipReason::Misfire);
            }
            return None;
        }
        // One by hand stands for itself.
        let may_make_way = life.state.is_fresh(ticket) && run.occasion.origin != Origin::Hand;
        let token = life.state.start(ticket).ok()?;
        if may_make_way && self.settings.overlap == Overlap::CancelRunning {
            self.make_way_for_newest(&mut life, &mut run.occasion);
        }
        let calendar = run.occasion.calendar;
        let terms = life.code.as_ref().and_then(|code| code.terms.as_deref());
        let time = terms.map(|terms| Box::new(time(terms, &life, ticket, (&run.occasion, now))));
        let is_too_late = time
            .as_ref()
            .is_some_and(|time| time.deadline.passed(now).is_some());
        let start = Start {
            nominal: calendar.nominal,
            missed: run.occasion.missed,
            time,
            now: (now, wall),
        };
        let (mut attempt, is_first) = life.begin_attempt(ticket, start);
        if is_first {
            life.tally_missed(run.occasion.missed);
        }
        if attempt.has_limit() && !is_too_late {
            // Shared from the start, so that later attempts see what this one adds.
            attempt.values.get_or_insert_default();
            self.watch(&mut life, &attempt, run.permit.take());
        }
        life.tally.last_run = Some(RunInfo {
            run: attempt.run,
            attempt: attempt.number,
            state: TaskState::Running,
            nominal: calendar.nominal,
            due: calendar.due,
            missed: run.occasion.missed,
            started: wall,
            finished: None,
        });
        let code = life.code.as_ref();
        let started = Started {
            code: code.expect("a live task has its code").clone(),
            token,
            last_error: life
                .trial(ticket)
                .and_then(|trial| trial.last_error.clone()),
            attempt,
            is_too_late,
        };
        self.note_start(&life, &started.attempt, (&run.occasion, now));
        self.over_with(life, before);
        if is_first {
            self.counts().run_started(run.occasion.missed);
        }
        self.core.note_started(self, &run.occasion, now);
        Some(started)
    }

    /// Whether a run that waits for a worker, and has not begun, is held up: by a pause, or by being
    /// too late for its policy.
    fn may_not_start(&self, life: &Life, run: &WaitingRun, now: Moment) -> bool {
        let occasion = &run.occasion;
        let is_too_late = || {
            self.settings.misfire == Misfire::Skip
                && now.since(occasion.late_from) > self.core.misfire_threshold
        };
        occasion.origin != Origin::Hand
            && (life.state.is_paused() || is_too_late())
            && life.state.is_fresh(run.ticket)
    }

    /// The run is for the newest occurrence; the others are left out.
    fn make_way_for_newest(self: &Arc<Task>, life: &mut Life, occasion: &mut Occasion) {
        if life.backlog_len() == 0 {
            return;
        }
        if let Some(newest) = life.backlog().take_newest() {
            self.skip(life, occasion.missed + 1, SkipReason::Overlap);
            *occasion = newest;
            self.arm_again(life);
        }
    }
}
