//! Tasks that belong together: described in one call, checked as a whole, run as a whole.
//!
//! ```text
//!  GraphBuilder --start: check.rs (circles, ids)--> a task called as the graph: when it is due
//!                                                     |  its handler adds a task for each node
//!                                                     v  (run.rs), and returns
//!  GraphHandle <-- how each node ended -- tasks GRAPH/NODE, which wait for each other
//! ```
//!
//! A node is an ordinary task, so whatever a task can do, a node can: be tried again, be cancelled,
//! be found in the history. What is added here is that all of them are checked before anything
//! starts, stand for one nominal instant, and are over together. No worker waits for a graph.

mod check;
mod dot;
mod error;
mod handle;
mod run;

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::submit::TaskBuilder;
use super::submit_error::SubmitError;
use super::{Core, Scheduler};
use crate::policy::When;
use crate::schedule::{Cron, CronError, Schedule, Zone, ZoneError};
use crate::task::{Code, Context, Handler, IntoOutcome, Settings};
use check::{Shape, task_id};
pub use error::GraphError;
pub use handle::{GraphHandle, GraphInfo, NodeInfo};
use run::{Graph, Work};

/// What becomes of the rest of a run of a graph when one of its nodes fails for good.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum WhenNodeFails {
    /// Those that wait for it to succeed are skipped, and those behind them; branches that do not
    /// depend on it go on.
    #[default]
    SkipDependents,
    /// All nodes that have not ended are cancelled; those that run are asked to stop.
    CancelRest,
    /// Those that wait for it run all the same, as if their edges said [`When::Finished`].
    Continue,
}

/// Describes a graph. Nothing happens before [`start`](GraphBuilder::start), and the order of the
/// other calls does not matter; edges may name nodes that come later.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use wheel_runtime::{Retry, Scheduler, TaskState, When};
///
/// let scheduler = Scheduler::builder().build()?;
/// let nightly = scheduler
///     .graph("nightly")
///     .node("extract", |_| println!("reading"))
///     .node_with("load", |task| task.retry(Retry::fixed(Duration::from_secs(1))), |_| Ok::<(), &str>(()))
///     .node("report", |_| println!("all is there"))
///     .node("alarm", |_| println!("it did not work"))
///     .chain(["extract", "load", "report"])
///     .edge("load", "alarm", When::Failed)
///     .start()?;
/// assert_eq!(nightly.wait(), TaskState::Succeeded);
/// assert_eq!(nightly.node("alarm").map(|node| node.state), Some(TaskState::Skipped));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "a graph is added by its `start`"]
pub struct GraphBuilder<'s> {
    scheduler: &'s Scheduler,
    id: String,
    /// The one that starts runs.
    starter: TaskBuilder<'s>,
    nodes: Vec<Node>,
    edges: Vec<(String, String, When)>,
    on_failure: WhenNodeFails,
}

struct Node {
    name: String,
    checked: Result<(Settings, Code), GraphError>,
}

impl Scheduler {
    /// Describes a graph called `id`: tasks that come after each other. Of each run of it, the node
    /// `load` is a task called `ID/load`.
    pub fn graph(&self, id: impl Into<String>) -> GraphBuilder<'_> {
        let id = id.into();
        GraphBuilder {
            scheduler: self,
            starter: self.task(id.clone()),
            id,
            nodes: Vec::new(),
            edges: Vec::new(),
            on_failure: WhenNodeFails::default(),
        }
    }
}

impl<'s> GraphBuilder<'s> {
    /// A node that calls `handler`, which takes and returns what that of a
    /// [task](TaskBuilder::run) does.
    pub fn node<F, O>(self, name: impl Into<String>, handler: F) -> GraphBuilder<'s>
    where
        F: Fn(&Context) -> O + Send + Sync + 'static,
        O: IntoOutcome,
    {
        self.node_with(name, |task| task, handler)
    }

    /// A node with policies: `describe` gets the builder of a task, and calls on it what it wants,
    /// such as [`retry`](TaskBuilder::retry). When it runs is up to the edges, so a schedule, a
    /// count and `depends_on` are refused.
    pub fn node_with<F, O>(
        mut self,
        name: impl Into<String>,
        describe: impl FnOnce(TaskBuilder<'s>) -> TaskBuilder<'s>,
        handler: F,
    ) -> GraphBuilder<'s>
    where
        F: Fn(&Context) -> O + Send + Sync + 'static,
        O: IntoOutcome,
    {
        let name = name.into();
        let handler: Handler = Arc::new(move |context: &Context| handler(context).into_outcome());
        let task = describe(self.scheduler.unnamed());
        let checked = match task.into_node(&task_id(&self.id, &name), handler) {
            Ok(Some(node)) => Ok(node),
            Ok(None) => Err(GraphError::NodeSchedule(name.clone())),
            Err(error) => Err(GraphError::Node(name.clone(), error)),
        };
        self.nodes.push(Node { name, checked });
        self
    }

    /// `to` runs when `from` has ended so. Of several edges to a node, all must hold.
    pub fn edge(
        mut self,
        from: impl Into<String>,
        to: impl Into<String>,
        wanted: When,
    ) -> GraphBuilder<'s> {
        self.edges.push((from.into(), to.into(), wanted));
        self
    }

    /// Each of these nodes runs when the one before it has succeeded.
    pub fn chain<I>(mut self, names: I) -> GraphBuilder<'s>
    where
        I: IntoIterator,
        I::Item: Into<String>,
    {
        let mut before: Option<String> = None;
        for name in names {
            let name = name.into();
            if let Some(before) = before.replace(name.clone()) {
                self.edges.push((before, name, When::Succeeded));
            }
        }
        self
    }

    /// What becomes of the rest when a node fails for good; [`WhenNodeFails::SkipDependents`] unless
    /// told otherwise.
    pub fn on_failure(mut self, on_failure: WhenNodeFails) -> GraphBuilder<'s> {
        self.on_failure = on_failure;
        self
    }

    /// When the graph runs; at once and once unless told otherwise. Of several, the last one counts.
    ///
    /// An occurrence that is due while the last run of the graph goes on is skipped, and counted in
    /// [`GraphInfo::skipped`].
    pub fn schedule(mut self, schedule: Schedule) -> GraphBuilder<'s> {
        self.starter = self.starter.schedule(schedule);
        self
    }

    /// Once, `delay` from now: [`Schedule::after`].
    pub fn after(self, delay: Duration) -> GraphBuilder<'s> {
        self.schedule(Schedule::after(delay))
    }

    /// Once, when the wall clock reads `at`: [`Schedule::at`].
    pub fn at(self, at: SystemTime) -> GraphBuilder<'s> {
        self.schedule(Schedule::at(at))
    }

    /// Again and again, on a grid of `period`: [`Schedule::every`].
    pub fn every(self, period: Duration) -> GraphBuilder<'s> {
        self.schedule(Schedule::every(period))
    }

    /// Again and again, when the wall clock shows what the expression says: [`Schedule::cron`].
    pub fn cron<C>(self, expression: C) -> GraphBuilder<'s>
    where
        C: TryInto<Cron>,
        C::Error: Into<CronError>,
    {
        self.schedule(Schedule::cron(expression))
    }

    /// The time zone of `cron`: [`Schedule::timezone`].
    pub fn timezone<Z>(mut self, zone: Z) -> GraphBuilder<'s>
    where
        Z: TryInto<Zone>,
        Z::Error: Into<ZoneError>,
    {
        self.starter = self.starter.timezone(zone);
        self
    }

    /// Checks the graph and adds it. The task that starts its runs is called as the graph is: it may
    /// be paused, resumed, triggered and given another schedule by that id.
    ///
    /// # Errors
    ///
    /// [`GraphError`] names the node or the circle. Nothing has been started then.
    ///
    /// # Examples
    ///
    /// ```
    /// use wheel_runtime::{GraphError, Scheduler};
    ///
    /// let scheduler = Scheduler::builder().build()?;
    /// let graph = scheduler.graph("g").node("a", |_| ()).node("b", |_| ());
    /// let error = graph.chain(["a", "b", "a"]).start().unwrap_err();
    /// assert_eq!(error.to_string(), "edge: the nodes go in a circle: a -> b -> a");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn start(self) -> Result<GraphHandle, GraphError> {
        let GraphBuilder {
            scheduler,
            id,
            starter,
            nodes,
            edges,
            on_failure,
        } = self;
        let names: Vec<String> = nodes.iter().map(|node| node.name.clone()).collect();
        let shape = Shape::checked(id, names, &edges, on_failure)?;
        let work: Result<Vec<_>, GraphError> = nodes.into_iter().map(|node| node.checked).collect();
        let work = work?;
        let core = &scheduler.core;
        for node in 0..work.len() {
            let task = shape.task_id(node);
            if core.registry.get(&task).is_some() {
                return Err(GraphError::Submit(SubmitError::DuplicateId(task)));
            }
        }
        let graph = Graph::new(shape);
        let work = Work::new(Arc::clone(&graph), Arc::clone(core), work);
        let starter = match starter.schedule {
            Some(_) => starter,
            None => starter.after(Duration::ZERO),
        };
        let added = starter.run(move |run: &Context| work.begin(run.nominal()));
        let handle = added.map_err(GraphError::Submit)?;
        graph.follow(handle.task());
        Ok(GraphHandle::new(graph, handle))
    }
}

impl fmt::Debug for GraphBuilder<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GraphBuilder")
            .field("id", &self.id)
            .field("nodes", &self.nodes.len())
            .field("edges", &self.edges.len())
            .field("on_failure", &self.on_failure)
            .finish_non_exhaustive()
    }
}
