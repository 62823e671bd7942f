//! A run of a graph: a task for each node, and who counts their ends.
//!
//! All tasks of a run are added before the first one is let go, so a run that cannot be added as a
//! whole has done nothing. One lock for the counts, taken with no other one held; while it is held,
//! no task is touched.

use std::fmt;
use std::sync::{Arc, OnceLock, Weak};
use std::time::SystemTime;

use wheel_sync::{Condvar, Mutex};

use super::check::Shape;
use super::{Core, WhenNodeFails};
use crate::clock::Patience;
use crate::policy::{OnConflict, When};
use crate::schedule::Schedule;
use crate::scheduler::registry::NotAdded;
use crate::task::{
    Code, Condition, Dependent, First, Listener, Outcome, Settings, Task, TaskState, Then, Upstream,
};

/// What a listener is told of the task that starts runs.
const STARTER: usize = usize::MAX;

/// A graph that was started: what its handles and its tasks share.
pub(super) struct Graph {
    pub(super) shape: Shape,
    starter: OnceLock<Weak<Task>>,
    state: Mutex<State>,
    changed: Condvar,
}

/// What has come of it.
#[derive(Default)]
pub(super) struct State {
    /// Those of the run that is going, or of the last one.
    pub(super) tasks: Vec<Arc<Task>>,
    /// Nodes of the run that have not ended.
    pub(super) left: usize,
    pub(super) nominal: Option<SystemTime>,
    pub(super) counts: Counts,
    /// How the last run ended.
    pub(super) last: Option<TaskState>,
    /// The worst that has happened in the run that is going.
    worst: Option<TaskState>,
    /// The rest of the run is being cancelled.
    is_stopping: bool,
    /// Nothing starts any more.
    is_cancelled: bool,
    has_starter_ended: bool,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) runs: u64,
    pub(super) succeeded: u64,
    pub(super) failed: u64,
    pub(super) cancelled: u64,
    pub(super) skipped: u64,
}

/// What the nodes do. In the hands of the task that starts runs, and gone with it.
pub(super) struct Work {
    graph: Arc<Graph>,
    core: Arc<Core>,
    nodes: Vec<(Settings, Code)>,
}

impl Graph {
    pub(super) fn new(shape: Shape) -> Arc<Graph> {
        Arc::new(Graph {
            shape,
            starter: OnceLock::new(),
            state: Mutex::default(),
            changed: Condvar::new(),
        })
    }

    /// This task starts its runs.
    pub(super) fn follow(self: &Arc<Graph>, starter: &Arc<Task>) {
        let _ = self.starter.set(Arc::downgrade(starter));
        self.listen_to_starter(starter);
    }

    fn listen_to_starter(self: &Arc<Graph>, starter: &Task) {
        let listener = Arc::clone(self) as Arc<dyn Listener>;
        if starter
            .add_dependent(Dependent::Node(listener, STARTER))
            .is_err()
        {
            self.state.lock().has_starter_ended = true;
            self.changed.notify_all();
        }
    }

    pub(super) fn read<R>(&self, read: impl FnOnce(&State) -> R) -> R {
        read(&self.state.lock())
    }

    /// No run starts any more, and the one that is going is cancelled.
    pub(super) fn cancel(&self) {
        let mut state = self.state.lock();
        state.is_cancelled = true;
        state.is_stopping = true;
        let tasks = state.tasks.clone();
        drop(state);
        cancel_all(&tasks);
    }

    /// Waits until no run is going and none will come. How the last one ended; `None` if patience
    /// ends before.
    pub(super) fn wait(&self, patience: Patience) -> Option<TaskState> {
        let mut state = self.state.lock();
        while state.left > 0 || !state.has_starter_ended {
            let left = patience.left()?;
            state = self.changed.wait_timeout(state, left);
        }
        Some(state.last.unwrap_or(TaskState::Cancelled))
    }
}

impl State {
    /// Nodes have ended, of which the worst ended so.
    fn count_ended(&mut self, nodes: usize, how: TaskState) {
        let rank = |state: TaskState| match state {
            TaskState::Succeeded | TaskState::Skipped => 0,
            TaskState::Cancelled => 1,
            _ => 2,
        };
        if self.worst.is_none_or(|worst| rank(how) > rank(worst)) {
            self.worst = Some(how);
        }
        self.left -= nodes;
        if self.left > 0 {
            return;
        }
        let (counter, result) = match self.worst.map_or(0, rank) {
            0 => (&mut self.counts.succeeded, TaskState::Succeeded),
            1 => (&mut self.counts.cancelled, TaskState::Cancelled),
            _ => (&mut self.counts.failed, TaskState::Failed),
        };
        *counter += 1;
        self.last = Some(result);
    }
}

impl Listener for Graph {
    fn node_ended(self: Arc<Graph>, node: usize, how: TaskState) {
        if node == STARTER {
            // A run of it is over, or it has ended.
            match self.starter.get().and_then(Weak::upgrade) {
                Some(starter) => self.listen_to_starter(&starter),
                None => {
                    self.state.lock().has_starter_ended = true;
                    self.changed.notify_all();
                }
            }
            return;
        }
        let mut state = self.state.lock();
        state.count_ended(1, how);
        let is_over = state.left == 0;
        let is_first = self.shape.on_failure == WhenNodeFails::CancelRest
            && When::Failed.holds(how)
            && !state.is_stopping;
        let mut rest = Vec::new();
        if is_first {
            state.is_stopping = true;
            rest.clone_from(&state.tasks);
        }
        drop(state);
        if is_over {
            self.changed.notify_all();
        }
        cancel_all(&rest);
    }
}

fn cancel_all(tasks: &[Arc<Task>]) {
    for task in tasks {
        // Those that have ended stay as they are.
        let _ = task.cancel();
    }
}

impl Work {
    pub(super) fn new(graph: Arc<Graph>, core: Arc<Core>, nodes: Vec<(Settings, Code)>) -> Work {
        Work { graph, core, nodes }
    }

    /// An occurrence of the graph, for `nominal`: all nodes are added, and the first ones let go.
    pub(super) fn begin(&self, nominal: SystemTime) -> Outcome {
        let mut state = self.graph.state.lock();
        if state.left > 0 {
            state.counts.skipped += 1;
            return Outcome::Success;
        }
        if state.is_cancelled {
            return Outcome::Cancel;
        }
        state.left = self.nodes.len();
        let old = std::mem::take(&mut state.tasks);
        state.nominal = Some(nominal);
        state.counts.runs += 1;
        (state.worst, state.is_stopping) = (None, false);
        drop(state);
        drop(old);
        let mut tasks: Vec<Option<Arc<Task>>> = vec![None; self.nodes.len()];
        for (added, &node) in self.graph.shape.order.iter().enumerate() {
            match self.add(node, nominal, &tasks) {
                Ok(task) => tasks[node] = Some(task),
                Err(error) => {
                    let tasks: Vec<Arc<Task>> = tasks.into_iter().flatten().collect();
                    return self.give_up(&tasks, self.nodes.len() - added, &error);
                }
            }
        }
        let tasks: Vec<Arc<Task>> = tasks.into_iter().flatten().collect();
        let mut state = self.graph.state.lock();
        state.tasks.clone_from(&tasks);
        let is_stopping = state.is_stopping;
        drop(state);
        if is_stopping {
            cancel_all(&tasks);
            return Outcome::Success;
        }
        let roots = self.graph.shape.before.iter().zip(&tasks);
        for (_, root) in roots.filter(|(before, _)| before.is_empty()) {
            root.let_start();
        }
        Outcome::Success
    }

    /// The task of a node, which waits for those before it, or to be let go.
    fn add(
        &self,
        node: usize,
        nominal: SystemTime,
        tasks: &[Option<Arc<Task>>],
    ) -> Result<Arc<Task>, String> {
        let (core, shape) = (&self.core, &self.graph.shape);
        let clock = core.engine.clock();
        let plan = Schedule::at(nominal).plan_single(clock.now(), clock.wall());
        let before = shape.before[node].iter().map(|&(from, wanted)| {
            let parent = tasks[from].as_ref();
            (parent.expect("it was added before"), from, wanted)
        });
        let parents: Vec<Arc<Task>> = before.clone().map(|(parent, ..)| parent.clone()).collect();
        let mut conditions: Vec<Condition> = before
            .map(|(parent, _, wanted)| Condition {
                parent: Arc::downgrade(parent),
                id: parent.name().into(),
                wanted: shape.meaning(wanted),
            })
            .collect();
        if conditions.is_empty() {
            conditions.push(Condition {
                parent: Weak::new(),
                id: shape.id.as_str().into(),
                wanted: When::Finished,
            });
        }
        let name = shape.task_id(node);
        let id = core.registry.id(core.serial(), Some(&name));
        let id = id.ok_or_else(|| format!("{name:?} is not possible as an id"))?;
        let (settings, code) = &self.nodes[node];
        let task = Task::new(Arc::clone(core), id, settings.clone(), plan, code.clone());
        let first = First::Upstream(Upstream::new(conditions, Then::For(nominal)));
        let added = task.begin(first, || core.registry.add(&task, OnConflict::Refuse));
        match added {
            Ok((_, Ok(()))) => {}
            Ok((_, Err(_))) => return Err("the scheduler is shutting down".to_owned()),
            Err(NotAdded::Full) => return Err(format!("{name}: there are too many live tasks")),
            Err(_) => return Err(format!("a live task has the id {name:?} already")),
        }
        let listener = Arc::clone(&self.graph) as Arc<dyn Listener>;
        if let Err(how) = task.add_dependent(Dependent::Node(listener, node)) {
            Arc::clone(&self.graph).node_ended(node, how);
        }
        task.register(&parents);
        Ok(task)
    }

    /// The run cannot be added as a whole: `missing` nodes have no task.
    fn give_up(&self, added: &[Arc<Task>], missing: usize, error: &str) -> Outcome {
        let mut state = self.graph.state.lock();
        state.is_stopping = true;
        state.count_ended(missing, TaskState::Failed);
        drop(state);
        self.graph.changed.notify_all();
        cancel_all(added);
        Outcome::Failure(error.to_owned())
    }
}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Graph")
            .field("id", &self.shape.id)
            .finish_non_exhaustive()
    }
}
