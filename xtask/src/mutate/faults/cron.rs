//! Faults of `wheel-runtime`'s cron: days on which clocks are changed, both day fields, what was
//! missed, and the last occurrence.

use super::{Fault, Notice};

const NEXT: &str = "crates/runtime/src/schedule/cron/next.rs";
const DAYS: &str = "crates/runtime/src/schedule/cron/days.rs";
const COUNT: &str = "crates/runtime/src/schedule/cron/count.rs";

pub(super) const FAULTS: &[Fault] = &[
    Fault {
        name: "a gap that ends at the next second is passed over",
        file: NEXT,
        find: "zone.to_offset(from.checked_sub(SECOND).ok()?);\n        let mut local",
        replace: "zone.to_offset(from);\n        let mut local",
        notice: Notice::Unit("wheel-runtime", "a_fixed_time_in_a_gap"),
    },
    Fault {
        name: "a time in a gap runs as if the clock had not been changed",
        file: NEXT,
        find: "            last_change(behind, zone)\n        }",
        replace: "            Some(behind)\n        }",
        notice: Notice::Unit("wheel-runtime", "a_fixed_time_in_a_gap"),
    },
    Fault {
        name: "a time in a fold runs on its second pass",
        file: NEXT,
        find: "AmbiguousOffset::Fold { before, .. } => before",
        replace: "AmbiguousOffset::Fold { after, .. } => after",
        notice: Notice::Unit("wheel-runtime", "a_fixed_time_in_a_fold"),
    },
    Fault {
        name: "real time does not see that the clocks are changed",
        file: NEXT,
        find: "&& change.is_none_or(|change| at < change)",
        replace: "&& change.is_none_or(|change| at != change)",
        notice: Notice::Unit("wheel-runtime", "what_begins_with_a_star"),
    },
    Fault {
        name: "one day field is enough where both are needed",
        file: DAYS,
        find: "Both::Must => of_month & of_week,",
        replace: "Both::Must => of_month | of_week,",
        notice: Notice::Unit("wheel-runtime", "a_day_field_that_begins"),
    },
    Fault {
        name: "the weekday nearest to the first is in the month before",
        file: DAYS,
        find: "            SATURDAY if day == 1 => day + 2,\n",
        replace: "",
        notice: Notice::Unit("wheel-runtime", "the_nearest_weekday"),
    },
    Fault {
        name: "a time that came twice was missed twice",
        file: COUNT,
        find: "self.count_on_calendar(begin.max(reached), stop)",
        replace: "self.count_on_calendar(begin, stop)",
        notice: Notice::Unit("wheel-runtime", "what_was_missed_is_counted"),
    },
    Fault {
        name: "what was missed comes again after the run that stood for it",
        file: "crates/runtime/src/schedule/plan/look.rs",
        find: "self.rhythm().after(latest)",
        replace: "self.rhythm().after(first)",
        notice: Notice::Test("wheel-runtime", "scheduler", "a_step_forward"),
    },
    Fault {
        name: "a schedule that is over can be filled while its last run goes",
        file: "crates/runtime/src/schedule/plan/look.rs",
        find: "                if self.rhythm().has_grid() {\n",
        replace: "                if false {\n",
        notice: Notice::Test("wheel-runtime", "scheduler", "after_the_last_run"),
    },
];
