//! Faults of `wheel-runtime`: what becomes of an occurrence that is late, or meets a run, or a pause.

use super::{Fault, Notice};

const OCCUR: &str = "crates/runtime/src/task/occur.rs";
const BACKLOG: &str = "crates/runtime/src/task/backlog.rs";
const RUN: &str = "crates/runtime/src/task/run.rs";
const PAUSE: &str = "crates/runtime/src/task/pause.rs";

/// A test of the scheduler.
const fn test(filter: &'static str) -> Notice {
    Notice::Test("wheel-runtime", "scheduler", filter)
}

pub(super) const FAULTS: &[Fault] = &[
    Fault {
        name: "what is found too late runs although it is to be left out",
        file: OCCUR,
        find: "if latest.late > self.core.misfire_threshold {",
        replace: "if latest.late > self.core.misfire_threshold * 1_000 {",
        notice: test("what_is_found_too_late_does_not_wait"),
    },
    Fault {
        name: "what a full pool has made too late runs although it is to be left out",
        file: RUN,
        find: "(life.state.is_paused() || is_too_late())",
        replace: "(life.state.is_paused() || is_too_late() && false)",
        notice: test("what_a_full_pool_has_made_too_late"),
    },
    Fault {
        name: "a run of a paused task starts when a worker is free",
        file: RUN,
        find: "(life.state.is_paused() || is_too_late())",
        replace: "is_too_late()",
        notice: test("waits_for_the_resume_as_well"),
    },
    Fault {
        name: "the run that follows forgets for how many it stands",
        file: BACKLOG,
        find: "                older.missed += 1 + newer.missed;\n",
        replace: "",
        notice: test("one_run_follows"),
    },
    Fault {
        name: "what waits for a run to end goes on waiting",
        file: "crates/runtime/src/task/conclude.rs",
        find: "                after.follow = self.release(&mut life);\n",
        replace: "",
        notice: test("each_one_follows_up_to_the_limit"),
    },
    Fault {
        name: "a backlog that is full takes one more",
        file: OCCUR,
        find: "if life.backlog_len() < usize::from(max) {",
        replace: "if life.backlog_len() <= usize::from(max) {",
        notice: test("each_one_follows_up_to_the_limit"),
    },
    Fault {
        name: "those that were missed are more than the runs that are wanted",
        file: OCCUR,
        find: "            } else if !self.has_enough(life) {\n",
        replace: "            } else {\n",
        notice: test("a_limit_of_runs_holds_also_for_those"),
    },
    Fault {
        name: "a run that waits for a worker does not give way to a newer one",
        file: RUN,
        find: "            self.make_way_for_newest(&mut life, &mut run.occasion);\n",
        replace: "",
        notice: test("a_run_that_waits_gives_way"),
    },
    Fault {
        name: "a run that gives way between two attempts is not accounted for",
        file: OCCUR,
        find: "                self.abandon_lost_trials(life);\n",
        replace: "",
        notice: test("waits_for_another_attempt_gives_way"),
    },
    Fault {
        name: "a pause leaves what is armed",
        file: PAUSE,
        find: "        self.disarm(&mut life);\n",
        replace: "",
        notice: test("nothing_runs_while_a_task_is_paused"),
    },
    Fault {
        name: "what was missed in a pause is left out without a word",
        file: PAUSE,
        find: "        self.skip(life, missed.missed + 1, SkipReason::Paused);\n",
        replace: "        let _ = missed.missed;\n",
        notice: test("nothing_runs_while_a_task_is_paused"),
    },
    Fault {
        name: "an edit loses what is due and has not come to the driver",
        file: "crates/runtime/src/task/control.rs",
        find: "        let (plan, first) = plan.in_place_of(&life.plan, armed, first, at);\n",
        replace: "        let _ = (armed, at);\n",
        notice: Notice::Unit("wheel-runtime", "an_edit_loses_nothing_that_the_driver"),
    },
];
