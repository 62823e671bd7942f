//! Tasks that come after others, and those that others wait for.
//!
//! ```text
//!  child: waits for its conditions            parent: knows who waits
//!    register ------------ under the parent's lock -------> dependents
//!    hear <--- without a lock, by whoever ended the run --- take_dependents
//!      all hold   --> a run waits for a worker, or the timer of its delay is armed
//!      one cannot --> skipped, and its own dependents are told: a list, no recursion
//! ```
//!
//! Ground rules: never are the locks of two tasks held at once. A parent's dependents are taken out
//! under its lock in the step that makes its run over, and told after it, so each of them is told
//! once, whatever comes later under an old ticket. A parent that has ended answers at once, so it
//! makes no difference whether the child or the end came first.
//!
//! Who ends a run tells: a worker, or whoever cancels. The driver does not, as it must not wait for
//! the lock of a child: it has an executor do it (`elsewhere.rs`).

use std::collections::VecDeque;
use std::sync::{Arc, Weak};
use std::time::{Duration, SystemTime};

use wheel_sync::MutexGuard;

use super::state::End;
use super::waiting::{Occasion, WaitingRun};
use super::{Leftovers, Life, NotArmed, SkipReason, Task, TaskState};
use crate::clock::Moment;
use crate::policy::When;
use crate::schedule::{Due, Schedule};

/// What a task waits for before it is due at all.
#[derive(Debug)]
pub(crate) struct Upstream {
    /// By number; `None` once it holds.
    conditions: Vec<Option<Condition>>,
    /// How many do not hold yet.
    open: usize,
    then: Then,
}

/// How another task must have ended.
#[derive(Debug)]
pub(crate) struct Condition {
    pub(crate) parent: Weak<Task>,
    pub(crate) id: Box<str>,
    pub(crate) wanted: When,
}

/// When a task is due whose conditions hold.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Then {
    /// So long from then.
    After(Duration),
    /// Then, but not before this.
    At(SystemTime),
    /// Then, for this instant.
    For(SystemTime),
}

/// What a new task begins with.
pub(crate) enum First {
    Due(Due),
    Upstream(Box<Upstream>),
}

/// Those that wait for a task, in the order in which they came.
#[derive(Debug, Default)]
pub(super) struct Dependents {
    list: Vec<Dependent>,
    /// When the list is as long as this, those that are gone leave it.
    sift_at: usize,
}

#[derive(Debug)]
pub(crate) enum Dependent {
    /// Weak: one that was cancelled is not kept by what it waited for.
    Task { child: Weak<Task>, condition: usize },
    /// The run of a graph, of which this is a node.
    Node(Arc<dyn Listener>, usize),
}

/// Is told how a node has ended. Called with no lock held, and not on the driver.
pub(crate) trait Listener: std::fmt::Debug + Send + Sync {
    fn node_ended(self: Arc<Self>, node: usize, how: TaskState);
}

/// Dependents that are to be told how a run, or its task, has ended.
#[derive(Debug)]
#[must_use = "they wait to be told"]
pub(super) struct News {
    dependents: Vec<Dependent>,
    how: TaskState,
}

impl Upstream {
    pub(crate) fn new(conditions: Vec<Condition>, then: Then) -> Box<Upstream> {
        Box::new(Upstream {
            open: conditions.len(),
            conditions: conditions.into_iter().map(Some).collect(),
            then,
        })
    }
}

impl Then {
    /// For a task that runs once and would be `first` due, were it not for others.
    pub(crate) fn of(first: Due, now: Moment) -> Then {
        match first {
            Due::Monotonic(Moment::NEVER) => Then::After(Duration::MAX),
            Due::Monotonic(due) => Then::After(due.since(now)),
            Due::Wall(at) => Then::At(at),
        }
    }
}

impl From<Due> for First {
    fn from(due: Due) -> First {
        First::Due(due)
    }
}

impl Dependents {
    fn add(&mut self, dependent: Dependent) {
        const SIFT_MIN: usize = 16;
        if self.list.len() >= self.sift_at.max(SIFT_MIN) {
            self.list.retain(|dependent| match dependent {
                Dependent::Task { child, .. } => child.strong_count() > 0,
                Dependent::Node(..) => true,
            });
            // So that each one pays for a look at two.
            self.sift_at = self.list.len() * 2;
        }
        self.list.push(dependent);
    }
}

impl Life {
    /// Whether the task waits for others.
    pub(super) fn has_upstream(&self) -> bool {
        self.rare
            .as_ref()
            .is_some_and(|rare| rare.upstream.is_some())
    }

    /// It waits for nobody any more.
    pub(super) fn forget_upstream(&mut self) {
        if let Some(rare) = &mut self.rare {
            rare.upstream = None;
        }
    }

    /// What holds from when its conditions do, if it waits for any.
    pub(super) fn set_then(&mut self, then: Then) {
        let upstream = self.rare.as_mut().and_then(|rare| rare.upstream.as_mut());
        if let Some(upstream) = upstream {
            upstream.then = then;
        }
    }

    /// The conditions that do not hold yet.
    pub(super) fn open_conditions(&self) -> impl Iterator<Item = &Condition> {
        let upstream = self.rare.iter().filter_map(|rare| rare.upstream.as_ref());
        upstream.flat_map(|upstream| upstream.conditions.iter().flatten())
    }

    /// Those that wait for the task, to be told that it, or its run, has ended so.
    pub(super) fn take_dependents(&mut self, how: TaskState) -> Option<News> {
        let rare = self.rare.as_mut()?;
        let dependents = std::mem::take(&mut rare.dependents).list;
        (!dependents.is_empty()).then_some(News { dependents, how })
    }
}

impl Task {
    /// The task waits for others from now on. Not if the scheduler shuts down: the task is in the
    /// registry already, so a shutdown that begins after this look finds it there.
    pub(super) fn wait_upstream(
        &self,
        life: &mut Life,
        upstream: Box<Upstream>,
    ) -> Result<(), NotArmed> {
        if self.core.engine.is_closed() {
            return Err(NotArmed);
        }
        life.rare().upstream = Some(upstream);
        Ok(())
    }

    /// Tells each of `parents` that this task waits for it: the n-th is what the n-th condition is
    /// about. One that has ended answers at once.
    pub(crate) fn register(self: &Arc<Task>, parents: &[Arc<Task>]) {
        for (condition, parent) in parents.iter().enumerate() {
            let child = Arc::downgrade(self);
            if let Err(how) = parent.add_dependent(Dependent::Task { child, condition }) {
                self.hear(condition, how).discard();
            }
        }
    }

    /// `dependent` will be told when the next run of this task is over, or the task has ended. How,
    /// if that was before.
    pub(crate) fn add_dependent(&self, dependent: Dependent) -> Result<(), TaskState> {
        let mut life = self.life.lock();
        let state = life.state.name();
        if state.has_ended() {
            return Err(state);
        }
        life.rare().dependents.add(dependent);
        Ok(())
    }

    /// Who it waits for, of those that are live.
    pub(crate) fn upstream(&self) -> Vec<Arc<Task>> {
        let life = self.life.lock();
        let parents = life.open_conditions().map(|open| open.parent.upgrade());
        parents.flatten().collect()
    }

    /// The first condition, which is about no task, holds.
    pub(crate) fn let_start(self: &Arc<Task>) {
        self.hear(0, TaskState::Succeeded).discard();
    }

    /// What the condition of this number is about has ended so. Not for the driver.
    fn hear(self: &Arc<Task>, condition: usize, how: TaskState) -> Leftovers {
        if self.core.engine.is_closed() {
            // The scheduler shuts down. That ends the task, and names it in its report.
            return Leftovers::NOTHING;
        }
        let mut life = self.life.lock();
        let upstream = life.rare.as_mut().and_then(|rare| rare.upstream.as_mut());
        let Some(upstream) = upstream else {
            // Triggered, cancelled or skipped meanwhile.
            return Leftovers::NOTHING;
        };
        let Some(heard) = upstream.conditions[condition].take() else {
            return Leftovers::NOTHING;
        };
        if !heard.wanted.holds(how) {
            return self.skip_downstream(life);
        }
        upstream.open -= 1;
        if upstream.open == 0 {
            let then = upstream.then;
            life.forget_upstream();
            self.go_on(life, then);
        }
        Leftovers::NOTHING
    }

    /// A condition cannot hold any more.
    fn skip_downstream(self: &Arc<Task>, mut life: MutexGuard<'_, Life>) -> Leftovers {
        let before = life.state.name();
        self.skip(&mut life, 1, SkipReason::Upstream);
        let ended = life.state.end(End::Skipped);
        ended.expect("a task that waits for others has no run");
        let leftovers = self.bury(&mut life);
        self.over_with(life, before);
        self.core.activity.tell();
        leftovers
    }

    /// All conditions hold.
    fn go_on(self: &Arc<Task>, mut life: MutexGuard<'_, Life>, then: Then) {
        let clock = self.core.engine.clock();
        let (now, wall) = (clock.now(), clock.wall());
        let before = life.state.name();
        let due = match then {
            Then::After(delay) => {
                life.plan = Schedule::after(delay).plan_single(now, wall);
                Due::Monotonic(now.after(delay))
            }
            Then::At(at) | Then::For(at) => Due::Wall(at),
        };
        let is_due = match due {
            Due::Monotonic(due) => due <= now,
            Due::Wall(at) => at <= wall || matches!(then, Then::For(_)),
        };
        let mut runs: Vec<WaitingRun> = Vec::new();
        if is_due && !life.state.is_paused() {
            // At once, so that who waits for runs to end sees no gap between the two.
            // It is due when the others let it, whenever it is for.
            let at = life.plan.calendar(due);
            runs.extend(self.admit(&mut life, Occasion::of_schedule(now, at)));
        } else {
            // A closed engine is being shut down, which ends this task as well.
            let _ = self.arm_first(&mut life, due);
        }
        self.over_with(life, before);
        self.hand_over(runs);
    }
}

impl News {
    /// Tells them, and those that wait for one that ends by that.
    pub(super) fn tell(self) {
        let mut told = VecDeque::from([self]);
        while let Some(News { dependents, how }) = told.pop_front() {
            for dependent in dependents {
                match dependent {
                    Dependent::Task { child, condition } => {
                        let Some(child) = child.upgrade() else {
                            continue;
                        };
                        let mut leftovers = child.hear(condition, how);
                        told.extend(leftovers.take_news());
                        leftovers.discard();
                    }
                    Dependent::Node(graph, node) => graph.node_ended(node, how),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{InlineExecutor, ManualClock, Scheduler};

    #[test]
    fn a_parent_that_recurs_for_long_forgets_those_that_were_cancelled() {
        let builder = Scheduler::builder().clock(ManualClock::new()).history(0);
        let scheduler = builder.executor(InlineExecutor).build().unwrap();
        let hour = Duration::from_secs(3600);
        let parent = scheduler.task("a").every(hour).run(|_| ()).unwrap();
        for _ in 0..1_000 {
            let child = scheduler.task("x").depends_on("a", When::Succeeded);
            let _ = child.run(|_| ()).unwrap().cancel();
            let life = parent.0.life.lock();
            let dependents = &life.rare.as_ref().unwrap().dependents;
            assert!(dependents.list.len() <= 17, "{}", dependents.list.len());
        }
    }
}
