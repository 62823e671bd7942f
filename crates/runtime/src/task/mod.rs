//! A task: what a user scheduled, its state, and the runs that come of it.
//!
//! ```text
//!  driver:  occur.rs     due: take the run, arm the next occurrence
//!           trial.rs     the instant of another attempt has come
//!  worker:  run.rs       start, call the handler
//!           away.rs      the same of a handler that is a future, on the user's runtime
//!           conclude.rs  what came of it: record, try again or arm what follows the end
//!           after.rs     hooks, and what is to be dropped
//!           elsewhere.rs the same, where the driver has it done
//!           end.rs       the last steps of a task
//!  driver:  over_time.rs its time is over, although its handler has not returned
//!  worker:  failing.rs   the policy and the hooks that have a say in it
//!           rules.rs     what is done when runs fail again and again
//!           settlement.rs the same for an attempt that was over time
//!  anyone:  control.rs   cancel, reschedule, end
//!           pause.rs     pause, resume
//!           by_hand.rs   trigger, replay, backfill
//!  all:     backlog.rs   occurrences that wait for a run to end
//!           noted.rs     what who listens is told; traced.rs: spans
//!           upstream.rs  what comes after other tasks
//!  handler: context/     what it is told: the run, its time, its values; labels in labelled.rs
//! ```
//!
//! Ground rules: each task has one lock, held for some instructions and never while user code runs
//! (handlers, the `Drop` of what they captured). The driver only tries it: if somebody who holds it
//! has been preempted, the driver goes on with other tasks and comes back. Under the lock of a task
//! the engine and the registry may be called, never the other way round.

mod after;
mod attempt;
mod awaiting;
#[cfg(feature = "async")]
mod away;
mod backlog;
mod by_hand;
mod conclude;
mod context;
mod control;
mod elsewhere;
mod end;
mod failing;
mod handle;
mod id;
mod info;
mod labelled;
mod noted;
mod occur;
#[cfg(feature = "serde")]
mod of_kind;
mod outcome;
mod over_time;
mod pause;
mod rare;
mod rules;
mod run;
mod settlement;
mod state;
mod stop;
mod tally;
mod terms;
mod token;
mod traced;
mod trial;
mod upstream;
mod values;
mod waiting;

use std::sync::Arc;

use wheel_core::InsertError;
use wheel_sync::{Condvar, Mutex, MutexGuard};

use crate::clock::Moment;
use crate::driver::{Engine, TimerKey};
use crate::panics::discard;
use crate::policy::{Misfire, Overlap};
use crate::schedule::{Due, Plan};
use crate::scheduler::{Core, EventKind, Fire, Limits};

#[cfg(feature = "async")]
pub use awaiting::Cancelled;
#[cfg(feature = "async")]
pub(crate) use away::Away;
#[cfg(feature = "async")]
pub use away::{RunFuture, Spawner};
pub(crate) use by_hand::NotReplayed;
pub use by_hand::{BackfillError, TriggerOutcome};
pub use context::Context;
pub(crate) use control::Stopped;
pub use control::{CancelOutcome, RescheduleError};
pub(crate) use elsewhere::Errand;
pub(crate) use end::Leftovers;
pub(crate) use failing::Failing;
pub use failing::Failure;
pub use handle::TaskHandle;
pub(crate) use id::{Id, OwnId};
pub use info::{RunInfo, SkipReason, TaskInfo};
pub(crate) use occur::Looked;
pub use outcome::{IntoOutcome, Outcome};
pub use pause::{PauseOutcome, ResumeFrom, ResumeOutcome};
use rare::Rare;
pub(crate) use run::{Excuse, is_inside_run_of_core, is_inside_run_of_task};
use state::State;
pub use state::TaskState;
pub(crate) use state::Ticket;
pub use stop::StopReason;
use tally::LazyTally;
pub(crate) use terms::Terms;
pub use token::CancelToken;
pub(crate) use upstream::{Condition, Dependent, First, Listener, Then, Upstream};
pub(crate) use waiting::{Occasion, WaitingRun};

/// What a task does. Shared with the run that is going.
pub(crate) type Handler = Arc<dyn Fn(&Context) -> Outcome + Send + Sync>;

/// The user's code: what a task does, and what is to be done when that fails. A clone is the same.
#[derive(Clone)]
pub(crate) struct Code {
    pub(crate) handler: Handler,
    pub(crate) failing: Option<Arc<Failing>>,
    pub(crate) terms: Option<Arc<Terms>>,
}

/// One task of one scheduler. An id that is used again is another task.
pub(crate) struct Task {
    pub(crate) id: OwnId,
    core: Arc<Core>,
    settings: Settings,
    life: Mutex<Life>,
    /// Notified when the task has ended and somebody waits for that.
    ended: Condvar,
}

// There may be millions. What only some need, such as what has failed, is in a box of its own. The
// locks of the models are larger.
#[cfg(all(target_pointer_width = "64", not(wheel_model)))]
const _: () = assert!(size_of::<Task>() <= 248);

/// What a task was told when it was added, besides its schedule.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings {
    pub(crate) misfire: Misfire,
    pub(crate) overlap: Overlap,
    /// What it was told about order and limits, if anything.
    pub(crate) limits: Option<Arc<Limits>>,
}

/// What changes in a task's life.
struct Life {
    state: State,
    plan: Plan,
    armed: Option<Armed>,
    /// What was armed under an older epoch is void.
    epoch: Epoch,
    /// Gone once the task has ended, so that a handle keeps nothing of the user's alive.
    code: Option<Code>,
    /// Who waits until the task has ended: telling nobody would cost a system call.
    waiters: u32,
    tally: LazyTally,
    /// `None` as long as nothing has failed, waits for a run to end, or was paused.
    rare: Option<Box<Rare>>,
}

/// Tells occurrences that were armed from those that still hold. Of four thousand million that are
/// armed and withdrawn, the first one has left the hands of the driver.
pub(crate) type Epoch = u32;

/// What the task waits for.
#[derive(Clone, Copy, Debug)]
struct Armed {
    key: TimerKey,
    due: Due,
}

#[derive(Clone, Debug, Default)]
struct Tally {
    runs: u64,
    succeeded: u64,
    failed: u64,
    skipped: u64,
    missed: u64,
    last_skip: Option<SkipReason>,
    last_run: Option<RunInfo>,
    last_error: Option<Arc<str>>,
}

/// The engine took nothing: it is closed.
#[derive(Debug)]
pub(crate) struct NotArmed;

impl Code {
    /// Drops it, each part of the user's by itself: a panic in one `Drop` ends here, and one that
    /// followed it while the first unwinds would end the process.
    pub(crate) fn discard(self) {
        let Code {
            handler,
            failing,
            terms,
        } = self;
        discard([handler]);
        discard(failing);
        discard(terms);
    }
}

impl From<Handler> for Code {
    fn from(handler: Handler) -> Code {
        Code {
            handler,
            failing: None,
            terms: None,
        }
    }
}

impl Task {
    pub(crate) fn new(
        core: Arc<Core>,
        id: OwnId,
        settings: Settings,
        plan: Plan,
        code: Code,
    ) -> Arc<Task> {
        Arc::new(Task {
            id,
            core,
            settings,
            life: Mutex::new(Life {
                state: State::new(),
                plan,
                armed: None,
                epoch: 0,
                code: Some(code),
                waiters: 0,
                tally: LazyTally::default(),
                rare: None,
            }),
            ended: Condvar::new(),
        })
    }

    /// The id as text.
    pub(crate) fn name(&self) -> &str {
        self.id.text()
    }

    pub(crate) fn core(&self) -> &Core {
        &self.core
    }

    /// What it was told about order and limits, if anything.
    pub(crate) fn limits(&self) -> Option<&Arc<Limits>> {
        self.settings.limits.as_ref()
    }

    /// Adds the task to the registry and arms its first occurrence, in one step under its lock:
    /// whoever finds it there finds it armed. Else a trigger or a new schedule that comes in
    /// between would be armed beside the first occurrence.
    ///
    /// A task that could not be armed has ended.
    pub(crate) fn begin<A, E>(
        self: &Arc<Task>,
        first: impl Into<First>,
        add: impl FnOnce() -> Result<A, E>,
    ) -> Result<(A, Result<(), NotArmed>), E> {
        let mut life = self.life.lock();
        let added = add()?;
        self.core.counters.task_added();
        let armed = match first.into() {
            First::Due(due) => self.arm_first(&mut life, due),
            First::Upstream(upstream) => self.wait_upstream(&mut life, upstream),
        };
        if armed.is_err() {
            // Still under the lock, so that no report of a shutdown names a task that was refused.
            let _ = life.state.cancel();
            let leftovers = self.bury_refused(&mut life);
            drop(life);
            self.core.note_refused();
            leftovers.discard();
        } else {
            self.note(&life, || EventKind::Added);
        }
        Ok((added, armed))
    }

    /// The engine calls back when `due` comes, the first occurrence of a schedule, under the
    /// present epoch. Of a task that is paused, nothing is armed before it is resumed.
    fn arm_first(self: &Arc<Task>, life: &mut Life, due: Due) -> Result<(), NotArmed> {
        self.arm(life, due, Engine::at_moment)
    }

    /// The engine calls back when `due` comes, which follows another occurrence: in a tick of its
    /// own, however short the period.
    fn arm_next(self: &Arc<Task>, life: &mut Life, due: Due) -> Result<(), NotArmed> {
        self.arm(life, due, Engine::at_tick_of)
    }

    fn arm(
        self: &Arc<Task>,
        life: &mut Life,
        due: Due,
        at: impl FnOnce(&Engine<Fire>, Moment, Fire) -> Result<TimerKey, InsertError<Fire>>,
    ) -> Result<(), NotArmed> {
        if life.state.is_paused() {
            life.rare().suspended = Some(due);
            return Ok(());
        }
        let engine = &self.core.engine;
        let fire = Fire::Occurrence {
            task: Arc::clone(self),
            epoch: life.epoch,
        };
        let armed = match due {
            Due::Monotonic(moment) => at(engine, moment, fire),
            Due::Wall(at) => engine.at_wall(at, fire),
        };
        // What was refused holds this very task, which the caller holds as well: nothing ends here.
        let key = armed.map_err(|_| NotArmed)?;
        life.armed = Some(Armed { key, due });
        Ok(())
    }

    /// What was armed will not happen, also if the driver has it in its hands already.
    fn disarm(&self, life: &mut Life) {
        life.epoch = life.epoch.wrapping_add(1);
        if let Some(armed) = life.armed.take() {
            // What comes back holds this very task, which the caller holds as well: nothing ends
            // here.
            drop(self.core.engine.cancel(armed.key));
        }
    }

    /// The schedule has nothing to come any more, also if the task is paused.
    fn drop_next(&self, life: &mut Life) {
        self.disarm(life);
        life.forget_pause();
    }

    /// Whether as many runs have started, or are to start, as were wanted.
    fn has_enough(&self, life: &Life) -> bool {
        let limits = self.settings.limits.as_ref();
        let Some(max) = limits.and_then(|limits| limits.runs_max) else {
            return false;
        };
        let replayed = life.trials().filter(|trial| trial.begun.is_none()).count();
        let to_start = life.state.fresh() + replayed + life.backlog_len();
        life.tally.runs + to_start as u64 >= max.get()
    }

    /// Whether anything is to come: a run, or an occurrence.
    fn has_more(&self, life: &Life) -> bool {
        let is_due_later = life.has_next() || life.has_upstream();
        is_due_later || life.state.runs() > 0 || life.backlog_len() > 0
    }

    /// Lets go of the lock, under which the task has gone on from `before`.
    fn over_with(&self, life: MutexGuard<'_, Life>, before: TaskState) {
        let now = life.state.name();
        drop(life);
        self.core.counters.moved(before, now);
    }
}

impl Life {
    /// Whether an occurrence of the schedule is to come, be it after a pause.
    fn has_next(&self) -> bool {
        self.armed.is_some() || self.suspended().is_some()
    }

    fn tally_missed(&mut self, missed: u64) {
        if missed > 0 {
            self.tally.missed += missed;
        }
    }
}
