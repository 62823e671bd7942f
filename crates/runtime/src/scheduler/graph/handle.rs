//! What a user keeps of a graph, and what can be said about it at an instant.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::dot;
use super::run::{Graph, State};
use crate::clock::Patience;
use crate::task::{TaskHandle, TaskState};

#[cfg(doc)]
use super::GraphBuilder;

/// A graph that was [started](GraphBuilder::start). Dropping the handle does not cancel it; a clone
/// is the same graph.
#[derive(Clone)]
pub struct GraphHandle {
    graph: Arc<Graph>,
    starter: TaskHandle,
}

/// A graph as it stood when it was looked at. Its nodes are looked at one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GraphInfo {
    /// Its id.
    pub id: String,
    /// Running, while a node of a run has not ended. Else as the task that starts its runs, and when
    /// that has ended, as the last run: succeeded, failed (a node has), or cancelled.
    pub state: TaskState,
    /// The instant that the run is for which is going, or was the last one.
    pub nominal: Option<SystemTime>,
    /// When the next one is due.
    pub next_due: Option<SystemTime>,
    /// Runs started.
    pub runs: u64,
    /// Runs in which no node failed or was cancelled.
    pub succeeded: u64,
    /// Runs in which a node failed for good.
    pub failed: u64,
    /// Runs in which none did, but some were cancelled.
    pub cancelled: u64,
    /// Occurrences left out because a run was going.
    pub skipped: u64,
    /// The nodes, in the order in which they were described.
    pub nodes: Vec<NodeInfo>,
}

/// A node of a graph, as it stood when it was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NodeInfo {
    /// Its name in the graph.
    pub name: String,
    /// The id of its task. What else is known of it,
    /// [`Scheduler::get`](crate::Scheduler::get) and [`history`](crate::Scheduler::history) say.
    pub task: String,
    /// Where it stands in the run that is going, or stood at the end of the last one; scheduled
    /// before the first.
    pub state: TaskState,
}

impl GraphHandle {
    pub(super) fn new(graph: Arc<Graph>, starter: TaskHandle) -> GraphHandle {
        GraphHandle { graph, starter }
    }

    /// The id of the graph, and of the task that starts its runs.
    pub fn id(&self) -> &str {
        &self.graph.shape.id
    }

    /// How the graph stands now.
    pub fn info(&self) -> GraphInfo {
        let starter = self.starter.info();
        let (nominal, counts, left, last) = self.graph.read(|state| {
            let State {
                nominal,
                counts,
                left,
                last,
                ..
            } = state;
            (*nominal, *counts, *left, *last)
        });
        let state = match left {
            0 if !starter.state.has_ended() => starter.state,
            0 => last.unwrap_or(TaskState::Cancelled),
            _ => TaskState::Running,
        };
        GraphInfo {
            id: self.id().to_owned(),
            state,
            nominal,
            next_due: starter.next_due,
            runs: counts.runs,
            succeeded: counts.succeeded,
            failed: counts.failed,
            cancelled: counts.cancelled,
            skipped: counts.skipped + starter.skipped,
            nodes: self.nodes(),
        }
    }

    /// How the node of this name stands now.
    pub fn node(&self, name: &str) -> Option<NodeInfo> {
        let number = self.graph.shape.names.iter().position(|n| n == name)?;
        let task = self.graph.read(|state| state.tasks.get(number).cloned());
        let state = task.map_or(TaskState::Scheduled, |task| task.state());
        Some(self.node_info(number, state))
    }

    fn nodes(&self) -> Vec<NodeInfo> {
        let tasks = self.graph.read(|state| state.tasks.clone());
        let states = tasks.iter().map(|task| task.state());
        let states = states.chain(std::iter::repeat(TaskState::Scheduled));
        let numbers = 0..self.graph.shape.names.len();
        let both = numbers.zip(states);
        both.map(|(number, state)| self.node_info(number, state))
            .collect()
    }

    fn node_info(&self, number: usize, state: TaskState) -> NodeInfo {
        NodeInfo {
            name: self.graph.shape.names[number].clone(),
            task: self.graph.shape.task_id(number),
            state,
        }
    }

    /// No run of the graph starts from now on, and in the one that is going no node; a node that
    /// runs is asked to stop. Does not wait for it.
    pub fn cancel(&self) {
        // Whether it was just starting a run is of no interest.
        let _ = self.starter.cancel();
        self.graph.cancel();
    }

    /// Waits until no run of the graph is going and none will come, and returns how the last one
    /// ended. A graph that recurs ends when it is cancelled, or with its scheduler.
    ///
    /// A node waits for itself if it calls this.
    pub fn wait(&self) -> TaskState {
        loop {
            if let Some(state) = self.wait_timeout(Duration::MAX) {
                return state;
            }
        }
    }

    /// As [`wait`](GraphHandle::wait), for `limit` of real time at most; `None` if it has not ended
    /// by then.
    pub fn wait_timeout(&self, limit: Duration) -> Option<TaskState> {
        self.graph.wait(Patience::new(limit))
    }

    /// The graph in the DOT language, each node with where it stands now: `dot -Tsvg` draws it.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use wheel_runtime::Scheduler;
    ///
    /// let scheduler = Scheduler::builder().build()?;
    /// let graph = scheduler.graph("g").node("a", |_| ()).node("b", |_| ()).chain(["a", "b"]);
    /// let graph = graph.after(Duration::from_secs(3600)).start()?;
    /// assert_eq!(
    ///     graph.to_dot(),
    ///     r#"digraph "g" {
    ///   node [shape=box, style=filled];
    ///   n0 [label="a\nscheduled", fillcolor="white"];
    ///   n1 [label="b\nscheduled", fillcolor="white"];
    ///   n0 -> n1;
    /// }
    /// "#
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn to_dot(&self) -> String {
        dot::write(&self.graph.shape, &self.nodes())
    }
}

impl fmt::Debug for GraphHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GraphHandle")
            .field("id", &self.id())
            .field("state", &self.info().state)
            .finish_non_exhaustive()
    }
}
