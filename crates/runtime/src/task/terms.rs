//! On which terms a task runs, if it was given any: how long its attempts and its runs may take, and
//! the values that they carry. The others pay for a pointer.

use std::fmt;
#[cfg(feature = "async")]
use std::sync::Arc;
use std::time::Duration;

#[cfg(feature = "async")]
use super::away::Away;
use super::values::Values;
use super::waiting::Occasion;
use crate::clock::Moment;
use crate::duration::format;

/// What a task was told about that.
#[derive(Clone, Debug, Default)]
pub(crate) struct Terms {
    /// For each attempt, from its start.
    pub(crate) timeout: Option<Duration>,
    /// For the whole run, from when it is due.
    pub(crate) deadline: Option<Duration>,
    pub(crate) values: Values,
    /// The handler, if it is a future; then the one in the task's code is never called.
    #[cfg(feature = "async")]
    pub(crate) away: Option<Arc<Away>>,
}

/// Until when an attempt may go on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limit {
    /// What comes first; never, if nothing does.
    pub(super) at: Moment,
    pub(super) of: LimitOf,
}

/// What a limit is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LimitOf {
    /// The attempt, which may take so long.
    Attempt(Duration),
    /// The run, which may take so long.
    Run(Duration),
}

impl Terms {
    /// Whether its handler is a future, which holds no worker.
    pub(super) fn is_away(&self) -> bool {
        #[cfg(feature = "async")]
        return self.away.is_some();
        #[cfg(not(feature = "async"))]
        false
    }

    /// When a run for this must be over: counted from the latest occurrence that it stands for.
    pub(super) fn deadline_of(&self, occasion: &Occasion) -> Limit {
        let calendar = occasion.calendar;
        let further = calendar.nominal.duration_since(calendar.due);
        let due = occasion.due.after(further.unwrap_or_default());
        self.deadline.map_or(Limit::NONE, |limit| Limit {
            at: due.after(limit),
            of: LimitOf::Run(limit),
        })
    }

    /// Of an attempt that starts now, of a run that must be over by `deadline`.
    pub(super) fn limit(&self, now: Moment, deadline: Limit) -> Limit {
        let timeout = self.timeout.unwrap_or(Duration::MAX);
        let at = now.after(timeout);
        if deadline.at <= at {
            return deadline;
        }
        let of = LimitOf::Attempt(timeout);
        Limit { at, of }
    }
}

impl Limit {
    pub(super) const NONE: Limit = Limit {
        at: Moment::NEVER,
        of: LimitOf::Run(Duration::MAX),
    };

    /// What has been passed at that moment, if it has.
    pub(super) fn passed(&self, now: Moment) -> Option<LimitOf> {
        (self.at <= now && self.at != Moment::NEVER).then_some(self.of)
    }
}

/// What the attempt failed of.
impl fmt::Display for LimitOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            LimitOf::Attempt(limit) => write!(f, "timed out after {}", format(limit)),
            LimitOf::Run(limit) => write!(f, "the deadline of {} has passed", format(limit)),
        }
    }
}
