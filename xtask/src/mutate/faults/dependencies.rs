//! Faults of `wheel-runtime`: tasks that come after others, and those that have ended.

use super::{Fault, Notice};

pub(super) const FAULTS: &[Fault] = &[
    Fault {
        name: "a parent that has ended does not answer",
        file: "crates/runtime/src/task/upstream.rs",
        find: "        if state.has_ended() {\n            return Err(state);\n        }\n        life.rare().dependents.add(dependent);\n",
        replace: "        life.rare().dependents.add(dependent);\n",
        notice: Notice::Model(
            "dependency_or_cancel",
            "a_child_that_registers_as_its_parent_ends",
        ),
    },
    Fault {
        name: "an id is free before the history knows its task",
        file: "crates/runtime/src/task/end.rs",
        find: "            None => self.core.ended.push(self),\n        }\n        self.take_down(life, way_out.shard)\n",
        replace: "            None => {\n                let leftovers = self.take_down(life, way_out.shard);\n                self.core.ended.push(self);\n                return leftovers;\n            }\n        }\n        self.take_down(life, None)\n",
        notice: Notice::Model(
            "dependency_or_cancel",
            "a_child_that_registers_as_its_parent_ends",
        ),
    },
    Fault {
        name: "a task that waits for others is added to a scheduler that is shut down",
        file: "crates/runtime/src/task/upstream.rs",
        find: "        if self.core.engine.is_closed() {\n            return Err(NotArmed);\n        }\n",
        replace: "",
        notice: Notice::Model(
            "dependency_or_cancel",
            "a_child_that_is_added_in_a_shutdown",
        ),
    },
    Fault {
        name: "those that wait for a task are not told of its cancel",
        file: "crates/runtime/src/task/end.rs",
        find: "            news: life.take_dependents(life.state.name()),\n",
        replace: "            news: None,\n",
        notice: Notice::Model(
            "dependency_or_cancel",
            "a_child_that_registers_as_its_parent_is_cancelled",
        ),
    },
    Fault {
        name: "one condition that holds is enough",
        file: "crates/runtime/src/task/upstream.rs",
        find: "        if upstream.open == 0 {\n",
        replace: "        if upstream.open <= 1 {\n",
        notice: Notice::Test("wheel-runtime", "scheduler", "it_waits_for_all"),
    },
    Fault {
        name: "an attempt that is not the last one is the end of a run",
        file: "crates/runtime/src/task/conclude.rs",
        find: "                let over = after.result.filter(|result| result.has_ended());\n",
        replace: "                let over = after.result;\n",
        notice: Notice::Test("wheel-runtime", "scheduler", "dependents_are_released_once"),
    },
    Fault {
        name: "those that were cancelled stay with their parent",
        file: "crates/runtime/src/task/upstream.rs",
        find: "                Dependent::Task { child, .. } => child.strong_count() > 0,\n",
        replace: "                Dependent::Task { .. } => true,\n",
        notice: Notice::Unit("wheel-runtime", "a_parent_that_recurs_for_long"),
    },
    Fault {
        name: "the history has no bound",
        file: "crates/runtime/src/scheduler/history.rs",
        find: "            let over = ring.tasks.len().saturating_sub(self.tasks_max);\n",
        replace: "            let over = 0;\n",
        notice: Notice::Unit("wheel-runtime", "the_ring_is_bounded"),
    },
    Fault {
        name: "the history keeps its scheduler alive",
        file: "crates/runtime/src/scheduler/shutdown.rs",
        find: "        self.ended.close();\n",
        replace: "",
        notice: Notice::Test("wheel-runtime", "scheduler", "the_history_does_not_keep"),
    },
];
