//! A graph is checked before anything starts: names, edges, circles.
//!
//! Kahn, "Topological sorting of large networks" (1962): nodes that wait for nobody are taken away,
//! one after the other; what is left has a circle. No recursion, so a chain may be of any length.

use std::collections::HashMap;

use wheel_sync::RandomState;

use super::{GraphError, WhenNodeFails};
use crate::policy::When;

/// A graph that is right. Nodes go by number, in the order in which they were described.
#[derive(Debug)]
pub(super) struct Shape {
    pub(super) id: String,
    pub(super) names: Vec<String>,
    /// For each node, the nodes before it.
    pub(super) before: Vec<Vec<(usize, When)>>,
    /// Each node stands behind those before it.
    pub(super) order: Vec<usize>,
    pub(super) on_failure: WhenNodeFails,
}

/// What the task of the node `name` of a graph is called.
pub(super) fn task_id(graph: &str, name: &str) -> String {
    format!("{graph}/{name}")
}

impl Shape {
    pub(super) fn checked(
        id: String,
        names: Vec<String>,
        edges: &[(String, String, When)],
        on_failure: WhenNodeFails,
    ) -> Result<Shape, GraphError> {
        if names.is_empty() {
            return Err(GraphError::Empty);
        }
        let mut numbers: HashMap<&str, usize, RandomState> = HashMap::default();
        for (number, name) in names.iter().enumerate() {
            if name.is_empty() {
                return Err(GraphError::EmptyName);
            }
            if numbers.insert(name, number).is_some() {
                return Err(GraphError::DuplicateNode(name.clone()));
            }
        }
        let find = |name: &String| {
            let number = numbers.get(name.as_str()).copied();
            number.ok_or_else(|| GraphError::UnknownNode(name.clone()))
        };
        let mut before = vec![Vec::new(); names.len()];
        for (from, to, wanted) in edges {
            before[find(to)?].push((find(from)?, *wanted));
        }
        match sorted(&before) {
            Ok(order) => Ok(Shape {
                id,
                names,
                before,
                order,
                on_failure,
            }),
            Err(cycle) => {
                let name = |number: usize| names[number].clone();
                Err(GraphError::Cycle(cycle.into_iter().map(name).collect()))
            }
        }
    }

    /// What the task of a node is called.
    pub(super) fn task_id(&self, node: usize) -> String {
        task_id(&self.id, &self.names[node])
    }

    /// What an edge means under the policy of the graph.
    pub(super) fn meaning(&self, wanted: When) -> When {
        match (self.on_failure, wanted) {
            (WhenNodeFails::Continue, When::Succeeded) => When::Finished,
            _ => wanted,
        }
    }
}

/// The nodes, each behind those before it; or a circle, its first node at both ends.
fn sorted(before: &[Vec<(usize, When)>]) -> Result<Vec<usize>, Vec<usize>> {
    let mut after = vec![Vec::new(); before.len()];
    for (node, edges) in before.iter().enumerate() {
        for &(from, _) in edges {
            after[from].push(node);
        }
    }
    let mut open: Vec<usize> = before.iter().map(Vec::len).collect();
    let mut order: Vec<usize> = (0..before.len()).filter(|&node| open[node] == 0).collect();
    let mut next = 0;
    while let Some(&node) = order.get(next) {
        next += 1;
        for &later in &after[node] {
            open[later] -= 1;
            if open[later] == 0 {
                order.push(later);
            }
        }
    }
    match (0..before.len()).find(|&node| open[node] > 0) {
        None => Ok(order),
        Some(start) => Err(circle(before, &open, start)),
    }
}

/// Every node that is left has another one before it that is left, so a walk backwards from `start`
/// comes to one that it has met.
fn circle(before: &[Vec<(usize, When)>], open: &[usize], start: usize) -> Vec<usize> {
    let mut met_at = vec![None; before.len()];
    let (mut walk, mut node) = (Vec::new(), start);
    while met_at[node].is_none() {
        met_at[node] = Some(walk.len());
        walk.push(node);
        let left = before[node].iter().find(|(from, _)| open[*from] > 0);
        node = left.expect("it waits for one that is left").0;
    }
    let mut circle = walk.split_off(met_at[node].unwrap_or(0));
    circle.push(node);
    circle.reverse();
    // The one that was described first in front.
    circle.pop();
    let first = (0..circle.len()).min_by_key(|&place| circle[place]);
    circle.rotate_left(first.unwrap_or(0));
    circle.push(circle[0]);
    circle
}
