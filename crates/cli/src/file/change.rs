//! What differs between a task and the one of the same name in a file that is read again.

use super::{Kind, Task};

/// How much has changed, from nothing to all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Difference {
    Nothing,
    /// What is run: the next run is of the new one.
    Program,
    /// The times of the calendar too: they follow on the old ones.
    Calendar,
    /// What the scheduler was told besides: it is another task.
    Terms,
    /// Also when it is due.
    Due,
}

impl Task {
    /// What `new` has that is not so in this one. Their names are not looked at.
    pub(crate) fn difference(&self, new: &Task) -> Difference {
        // Every field is named, so that none is forgotten.
        let Task {
            id: _,
            schedule,
            upstream,
            program,
            retry,
            misfire,
            overlap,
            jitter,
            priority,
            timeout,
            deadline,
            concurrency,
            rate,
            env,
            inherits,
            input,
            dir,
            output,
        } = self;
        let has_same_terms = (upstream, retry, misfire, overlap)
            == (&new.upstream, &new.retry, &new.misfire, &new.overlap)
            && (jitter, priority, deadline) == (&new.jitter, &new.priority, &new.deadline)
            && (concurrency, rate) == (&new.concurrency, &new.rate);
        let has_same_program = (program, timeout, env, inherits)
            == (&new.program, &new.timeout, &new.env, &new.inherits)
            && (input, dir, output) == (&new.input, &new.dir, &new.output);
        let both = (&schedule.kind, &new.schedule.kind);
        if *schedule == new.schedule {
            match (has_same_terms, has_same_program) {
                (false, _) => Difference::Terms,
                (true, false) => Difference::Program,
                (true, true) => Difference::Nothing,
            }
        } else if matches!(both, (Kind::Cron { .. }, Kind::Cron { .. }))
            && schedule.count == new.schedule.count
            && has_same_terms
        {
            Difference::Calendar
        } else {
            Difference::Due
        }
    }
}
