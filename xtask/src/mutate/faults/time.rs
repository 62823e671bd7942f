//! Faults of `wheel-runtime`: time limits of attempts and runs, and what a handler passes down.

use super::{Fault, Notice};

pub(super) const FAULTS: &[Fault] = &[
    Fault {
        name: "an attempt that is over time is not told",
        file: "crates/runtime/src/task/over_time.rs",
        find: "        match token.try_stop(StopReason::TimedOut) {",
        replace: "        match Woken::All {",
        notice: Notice::Model("timeout_or_completion", "of_a_timeout"),
    },
    Fault {
        name: "a worker decides although the driver has",
        file: "crates/runtime/src/task/conclude.rs",
        find: "        if life.state.check_over(attempt.ticket).is_err() {\n            drop(life);\n",
        replace: "        if false {\n            drop(life);\n",
        notice: Notice::Model("timeout_or_completion", "of_a_timeout"),
    },
    Fault {
        name: "a worker that was too late does not say so",
        file: "crates/runtime/src/task/conclude.rs",
        find: "            token.stop(StopReason::TimedOut);\n",
        replace: "            drop(token);\n",
        notice: Notice::Model("timeout_or_completion", "of_a_timeout"),
    },
    Fault {
        name: "a handler that has returned hangs for ever",
        file: "crates/runtime/src/task/over_time.rs",
        find: "        if let Some(hanging) = core.hung.take(self, attempt.ticket) {",
        replace: "        if let Some(hanging) = core.hung.take(self, attempt.ticket + 1) {",
        notice: Notice::Model("timeout_or_completion", "of_a_timeout"),
    },
    Fault {
        name: "the driver leaves nothing to a worker",
        file: "crates/runtime/src/task/over_time.rs",
        find: "        let is_quiet = failing.as_ref().is_none_or(|failing| failing.is_quiet());",
        replace: "        let is_quiet = true;",
        notice: Notice::Model("timeout_or_completion", "a_hook_hears"),
    },
    Fault {
        name: "nobody looks at the clock when a handler returns",
        file: "crates/runtime/src/task/conclude.rs",
        find: "        let over = attempt.limit().passed(at);\n",
        replace: "        let over = attempt.limit().passed(attempt.started.0);\n",
        notice: Notice::Test("wheel-runtime", "scheduler", "over_by_the_clock"),
    },
    Fault {
        name: "the end of an attempt leaves its timer",
        file: "crates/runtime/src/task/conclude.rs",
        find: "        after.lost.timers.extend(timer);\n",
        replace: "        let _ = timer;\n",
        notice: Notice::Unit("wheel-runtime", "the_end_of_an_attempt_takes"),
    },
    Fault {
        name: "a timeout whose lock is taken is dropped",
        file: "crates/runtime/src/task/over_time.rs",
        find: "            drop(life);\n            return Looked::Busy(Arc::clone(self));\n",
        replace: "            drop(life);\n            return Looked::Nothing;\n",
        notice: Notice::Unit("wheel-runtime", "whoever_holds_a_lock"),
    },
    Fault {
        name: "what an executor refuses of a timeout is lost",
        file: "crates/runtime/src/task/settlement.rs",
        find: "impl Drop for Settlement {\n    fn drop(&mut self) {\n        self.conclude();\n",
        replace: "impl Drop for Settlement {\n    fn drop(&mut self) {\n",
        notice: Notice::Test("wheel-runtime", "scheduler", "does_not_lose_the_end"),
    },
    Fault {
        name: "each attempt has the whole deadline",
        file: "crates/runtime/src/task/run.rs",
        find: "        Some(trial) => trial.deadline,\n",
        replace: "        Some(trial) if trial.failed > 9 => trial.deadline,\n        Some(_) => terms.deadline_of(occasion),\n",
        notice: Notice::Test("wheel-runtime", "scheduler", "due_after_the_deadline"),
    },
    Fault {
        name: "a run is begun after its deadline",
        file: "crates/runtime/src/task/run.rs",
        find: "            .is_some_and(|time| time.deadline.passed(now).is_some());\n",
        replace: "            .is_some_and(|time| time.deadline.passed(Moment::ZERO).is_some());\n",
        notice: Notice::Test(
            "wheel-runtime",
            "scheduler",
            "after_its_deadline_is_not_begun",
        ),
    },
    Fault {
        name: "what a handler has started outlives it",
        file: "crates/runtime/src/task/context/time.rs",
        find: "            self.token.end();\n",
        replace: "",
        notice: Notice::Test("wheel-runtime", "scheduler", "passed_down_ends"),
    },
    Fault {
        name: "a child without a timer does not keep that of the one above",
        file: "crates/runtime/src/task/context/time.rs",
        find: "        let mut clockwork = self.clockwork.clone();\n",
        replace: "        let mut clockwork = None;\n",
        notice: Notice::Unit("wheel-runtime", "the_end_of_an_attempt_takes"),
    },
    Fault {
        name: "values are lost between two attempts",
        file: "crates/runtime/src/task/conclude.rs",
        find: "        trial.values = after.carried.take();\n",
        replace: "        trial.values = None;\n",
        notice: Notice::Test("wheel-runtime", "scheduler", "values_outlive"),
    },
    Fault {
        name: "a shutdown does not wait for handlers that hang",
        file: "crates/runtime/src/scheduler/shutdown.rs",
        find: "            self.hung.are_back() || self.activity.wait_until",
        replace: "            true || self.activity.wait_until",
        notice: Notice::Test(
            "wheel-runtime",
            "scheduler",
            "a_shutdown_waits_for_handlers",
        ),
    },
];
