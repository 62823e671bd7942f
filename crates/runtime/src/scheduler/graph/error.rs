//! Why a graph was not started.

use std::fmt;

use crate::scheduler::SubmitError;
use crate::scheduler::after_others::write_cycle;

/// Why a graph was not started. None of its nodes has run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GraphError {
    /// It has no nodes.
    Empty,
    /// A node without a name.
    EmptyName,
    /// Two nodes have this name.
    DuplicateNode(String),
    /// An edge names a node that there is not.
    UnknownNode(String),
    /// Each of these nodes comes after the one before, and the last is the first.
    Cycle(Vec<String>),
    /// This node has a schedule, a count or a `depends_on` of its own.
    NodeSchedule(String),
    /// A policy of this node is not possible.
    Node(String, SubmitError),
    /// The graph as a whole could not be added: its id, its schedule, or the scheduler.
    Submit(SubmitError),
}

impl fmt::Display for GraphError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GraphError::Empty => f.write_str("node: the graph has none: add one at least"),
            GraphError::EmptyName => f.write_str("node: one has no name: each needs one"),
            GraphError::DuplicateNode(name) => write!(
                f,
                "node: two are called {name:?}: each needs a name of its own"
            ),
            GraphError::UnknownNode(name) => {
                write!(f, "edge: it names {name:?}: there must be a node called so")
            }
            GraphError::Cycle(names) => {
                f.write_str("edge: the nodes go in a circle: ")?;
                write_cycle(f, names)
            }
            GraphError::NodeSchedule(name) => write!(
                f,
                "node {name:?}: its edges say when it runs: give schedules and counts to the graph"
            ),
            GraphError::Node(name, error) => write!(f, "node {name:?}: {error}"),
            GraphError::Submit(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for GraphError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            GraphError::Node(_, error) | GraphError::Submit(error) => Some(error),
            _ => None,
        }
    }
}
