//! A graph as a picture: text for Graphviz.
//!
//! Nodes are called by number, so that no name can be mistaken for the language. Labels are quoted:
//! <https://graphviz.org/doc/info/lang.html>, and <https://graphviz.org/docs/attr-types/escString/>
//! for what a backslash means there.

use super::check::Shape;
use super::handle::NodeInfo;
use crate::policy::When;
use crate::task::TaskState;

pub(super) fn write(shape: &Shape, nodes: &[NodeInfo]) -> String {
    let mut text = format!("digraph \"{}\" {{\n", quoted(&shape.id));
    text.push_str("  node [shape=box, style=filled];\n");
    for (number, node) in nodes.iter().enumerate() {
        let (name, (state, color)) = (quoted(&node.name), shown(node.state));
        let line = format!("  n{number} [label=\"{name}\\n{state}\", fillcolor=\"{color}\"];\n");
        text.push_str(&line);
    }
    for (to, before) in shape.before.iter().enumerate() {
        for &(from, wanted) in before {
            let label = match wanted {
                When::Succeeded => "",
                When::Failed => " [label=\"failed\", style=dashed]",
                When::Finished => " [label=\"finished\"]",
            };
            text.push_str(&format!("  n{from} -> n{to}{label};\n"));
        }
    }
    text.push_str("}\n");
    text
}

fn shown(state: TaskState) -> (&'static str, &'static str) {
    match state {
        TaskState::Scheduled => ("scheduled", "white"),
        TaskState::Queued => ("queued", "lightyellow"),
        TaskState::Running => ("running", "lightblue"),
        TaskState::Retrying => ("retrying", "orange"),
        TaskState::Paused => ("paused", "lightgray"),
        TaskState::Succeeded => ("succeeded", "palegreen"),
        TaskState::Failed => ("failed", "salmon"),
        TaskState::TimedOut => ("timed out", "salmon"),
        TaskState::Cancelled => ("cancelled", "gray"),
        TaskState::Dead => ("dead", "tomato"),
        TaskState::Skipped => ("skipped", "lightgray"),
    }
}

/// As it stands between quotes: nothing in it ends them or means anything else.
fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            // It begins the name of a letter, such as `&lt;`.
            '&' => quoted.push_str("&amp;"),
            letter if letter.is_control() => quoted.push(char::REPLACEMENT_CHARACTER),
            letter => quoted.push(letter),
        }
    }
    quoted
}
