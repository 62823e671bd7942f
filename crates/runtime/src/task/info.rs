//! What can be said about a task at an instant.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use super::attempt::Attempt;
use super::{Life, Tally, Task, TaskState};
use crate::clock::Moment;
use crate::policy::Priority;
use crate::schedule::Due;

/// A task as it stood when it was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TaskInfo {
    /// Its name, or a number such as `#17`.
    pub id: String,
    /// What its runs are [counted under](crate::TaskBuilder::name): its name, or its kind.
    pub name: Option<String>,
    /// Where it stands.
    pub state: TaskState,
    /// What it is [labelled](crate::TaskBuilder::label) with.
    pub labels: BTreeMap<String, String>,
    /// Which of what waits for a worker its runs go before.
    pub priority: Priority,
    /// The [named pool](crate::PoolSpec) in which it runs; `None` for the one without a name.
    pub pool: Option<String>,
    /// Whether it is paused, also if a run of it goes on.
    pub is_paused: bool,
    /// The instant of its next occurrence, or of its next attempt while it is retrying, as the wall
    /// clock stands now. `None` if there is none, or never.
    pub next_due: Option<SystemTime>,
    /// How long until then; zero if that has passed.
    pub next_in: Option<Duration>,
    /// Runs started.
    pub runs: u64,
    /// Runs that succeeded.
    pub succeeded: u64,
    /// Runs that failed, panics and those that were not over in time included. Not those that
    /// succeeded in a later attempt.
    pub failed: u64,
    /// Of those, runs that a retry policy has given up: they are, or were, dead letters.
    pub dead: u64,
    /// Attempts that failed and were tried again, or will be.
    pub retried: u64,
    /// Attempts that were not over in time: a [timeout](crate::TaskBuilder::timeout) or the
    /// [deadline](crate::TaskBuilder::deadline) of their run. Each failed, and may have been tried
    /// again.
    pub timed_out: u64,
    /// Which attempt of a run is going or waits, from 1; 0 while no run is. Of several runs, the one
    /// that has come furthest.
    pub attempt: u32,
    /// Occurrences left out: [`last_skip`](TaskInfo::last_skip) says why.
    pub skipped: u64,
    /// Why the last one was left out.
    pub last_skip: Option<SkipReason>,
    /// Occurrences that were found due together with a later one, whose run stood for them; and those
    /// that were more than [`Misfire::FireAll`](crate::Misfire::FireAll) allows.
    pub missed: u64,
    /// Occurrences that wait for a run to end, or for the task to be resumed.
    pub backlog: usize,
    /// The ids of the tasks that it [comes after](crate::TaskBuilder::depends_on) and that have not
    /// ended as they should yet. Nothing is due while it waits for any.
    pub waits_for: Vec<String>,
    /// The run that was started last, as it stands.
    pub last_run: Option<RunInfo>,
    /// What the last attempt that failed said.
    pub last_error: Option<String>,
}

/// One run of a task, as it stood when it was looked at: a record of its own.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use wheel_runtime::{InlineExecutor, ManualClock, Scheduler, TaskState};
///
/// let clock = ManualClock::new();
/// let scheduler = Scheduler::builder().clock(clock.clone()).executor(InlineExecutor).build()?;
/// let task = scheduler.task("report").every(Duration::from_secs(60)).run(|_| ())?;
/// let due = clock.wall() + Duration::from_secs(60);
/// clock.run_for(Duration::from_secs(60));
/// let run = task.info().last_run.expect("it has run");
/// assert_eq!((run.run, run.state, run.nominal), (1, TaskState::Succeeded, due));
/// assert_eq!(run.finished, Some(due));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunInfo {
    /// Which run of the task it is, from 1.
    pub run: u64,
    /// Its present attempt, or the last one, from 1.
    pub attempt: u32,
    /// Running or retrying, or how it ended: succeeded, failed, timed out, dead or cancelled.
    pub state: TaskState,
    /// The instant that it is for.
    pub nominal: SystemTime,
    /// From when on its present attempt was late.
    pub due: SystemTime,
    /// How many further occurrences it stands for.
    pub missed: u64,
    /// When its present attempt started, or the last one.
    pub started: SystemTime,
    /// When that ended: the wall clock at its start, and how long it took.
    pub finished: Option<SystemTime>,
}

/// Why an occurrence was left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SkipReason {
    /// Runs before it had not ended: the [`Overlap`](crate::Overlap) policy.
    Overlap,
    /// It was too late: the [`Misfire`](crate::Misfire) policy.
    Misfire,
    /// The task was paused, and went on [from then](crate::ResumeFrom::Now).
    Paused,
    /// The executor refused the run.
    Refused,
    /// A task that it was to [come after](crate::TaskBuilder::depends_on) ended otherwise.
    Upstream,
}

impl Life {
    /// What came of an attempt, in the record of its run.
    pub(super) fn record_end(
        &mut self,
        attempt: &Attempt,
        state: Option<TaskState>,
        ended: Moment,
    ) {
        let record = self.tally.last_run.as_mut();
        // Unless a later one has started meanwhile.
        let record = record.filter(|record| record.run == attempt.run);
        let (Some(record), Some(state)) = (record, state) else {
            return;
        };
        let (started, wall) = attempt.started;
        record.state = state;
        record.finished = wall.checked_add(ended.since(started));
    }
}

impl Task {
    pub(crate) fn state(&self) -> TaskState {
        self.life.lock().state.name()
    }

    pub(crate) fn info(&self) -> TaskInfo {
        let clock = self.core.engine.clock();
        let (now, wall) = (clock.now(), clock.wall());
        let life = self.life.lock();
        let (state, tally) = (life.state.name(), Tally::clone(&life.tally));
        let rare = life.rare.as_deref();
        let (retried, dead) = rare.map_or((0, 0), |rare| (rare.retried, rare.dead));
        let timed_out = rare.map_or(0, |rare| rare.timed_out);
        let timers = life.trials().filter_map(|trial| trial.timer);
        let waits = timers.min_by_key(|timer| match timer.due {
            Due::Monotonic(due) => due,
            Due::Wall(_) => Moment::NEVER,
        });
        let armed = waits.or(life.armed);
        let tried = life.trials().map(|trial| trial.failed.saturating_add(1));
        let furthest = tried.max().unwrap_or(1);
        let attempt = if life.state.runs() == 0 { 0 } else { furthest };
        let waits_for = life.open_conditions().map(|open| open.id.to_string());
        let waits_for = waits_for.collect();
        let (is_paused, backlog) = (life.state.is_paused(), life.backlog_len());
        drop(life);
        let (next_due, next_in) = match armed.map(|armed| armed.due) {
            None | Some(Due::Monotonic(Moment::NEVER)) => (None, None),
            Some(Due::Monotonic(due)) => {
                let ahead = due.since(now);
                let at = wall
                    .checked_add(ahead)
                    .and_then(|at| at.checked_sub(now.since(due)));
                (at, Some(ahead))
            }
            Some(Due::Wall(at)) => (Some(at), Some(at.duration_since(wall).unwrap_or_default())),
        };
        let limits = self.limits();
        let pool = limits.and_then(|limits| self.core.pool_name(limits.pool));
        TaskInfo {
            id: self.name().to_owned(),
            name: self.counted_as().map(|name| name.to_string()),
            state,
            labels: self.labels(),
            priority: limits.map_or_else(Priority::default, |limits| limits.priority),
            pool: pool.map(str::to_owned),
            is_paused,
            next_due,
            next_in,
            runs: tally.runs,
            succeeded: tally.succeeded,
            failed: tally.failed,
            dead,
            retried,
            timed_out,
            attempt,
            skipped: tally.skipped,
            last_skip: tally.last_skip,
            missed: tally.missed,
            backlog,
            waits_for,
            last_run: tally.last_run,
            last_error: tally.last_error.map(|error| error.to_string()),
        }
    }
}
