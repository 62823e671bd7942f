//! Faults of `wheel-runtime`'s schedules: grids of the wall clock, windows, jitter, and what is owed
//! when a schedule is edited.

use super::{Fault, Notice};

const ALIGNED: &str = "crates/runtime/src/schedule/plan/aligned.rs";
const FRAME: &str = "crates/runtime/src/schedule/plan/frame.rs";
const LOOK: &str = "crates/runtime/src/schedule/plan/look.rs";
const PLAN: &str = "crates/runtime/src/schedule/plan/mod.rs";

pub(super) const FAULTS: &[Fault] = &[
    Fault {
        name: "a point at the very change of the clocks is passed over",
        file: ALIGNED,
        find: "Some(change) if change <= at => from = change,",
        replace: "Some(change) if change < at => from = change,",
        notice: Notice::Unit("wheel-runtime", "points_of_a_zone"),
    },
    Fault {
        name: "the last point is one that the clock skipped",
        file: ALIGNED,
        find: "Some(change) if at < change => until",
        replace: "Some(change) if at == change => until",
        notice: Notice::Unit("wheel-runtime", "what_was_missed_is_counted_as_a_scan"),
    },
    Fault {
        name: "jitter moves an occurrence up to the next one",
        file: FRAME,
        find: "next.since(point).saturating_sub(DISTANCE)",
        replace: "next.since(point)",
        notice: Notice::Unit("wheel-runtime", "a_spread_longer_than_the_gap"),
    },
    Fault {
        name: "an occurrence that its jitter holds up is found with the one before",
        file: LOOK,
        find: "if frame.due_of(last, self.calendar(last)) <= by_now =>",
        replace: "if last <= by_now =>",
        notice: Notice::Unit("wheel-runtime", "however_late_it_is_looked_at"),
    },
    Fault {
        name: "what is found due after a window is counted with it",
        file: FRAME,
        find: "Some(end) if end < reading => end,",
        replace: "Some(end) if end < reading => reading,",
        notice: Notice::Unit("wheel-runtime", "what_is_found_due_after_the_window"),
    },
    Fault {
        name: "the end of a window is not part of it",
        file: FRAME,
        find: "is_some_and(|end| point > end)",
        replace: "is_some_and(|end| point >= end)",
        notice: Notice::Unit("wheel-runtime", "both_ends_of_a_window"),
    },
    Fault {
        name: "a window keeps to the clock as it stood when the task was added",
        file: PLAN,
        find: "if has_been_set { wall } else { steady }",
        replace: "if has_been_set { steady } else { steady }",
        notice: Notice::Unit("wheel-runtime", "windows_hold_by_the_wall_clock"),
    },
    Fault {
        name: "a jittered run that waits is lost when its schedule is edited",
        file: PLAN,
        find: "        frame.owed = Some(Owed { nominal, then });\n",
        replace: "        let _ = Owed { nominal, then };\n",
        notice: Notice::Test("wheel-runtime", "scheduler", "a_jittered_run_that_waits"),
    },
];
