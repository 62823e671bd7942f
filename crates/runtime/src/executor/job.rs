//! One piece of due work on its way from the driver to an executor.
//!
//! A job runs at most once, on whatever thread an executor chooses, and never unwinds into it.

use std::fmt;
use std::sync::Arc;

use crate::panics::{Reporter, contain, discard};
use crate::policy::Priority;

/// One piece of due work, to be run once.
///
/// Dropping a job without running it is allowed, and counts as refusing it. Neither unwinds.
pub struct Job {
    /// `None` once it has been taken out to be run.
    work: Option<Box<dyn Work>>,
    /// Who is told of a panic. Else whoever runs the job is.
    reporter: Option<BatchReporter>,
    due_ns: u64,
    /// How long after its due it was found due, in [`FOUND_UNIT`]s.
    found_late: u32,
    priority: Priority,
}

/// About a millisecond, in nanoseconds: 49 days fit into 32 bits.
const FOUND_UNIT: u64 = 1 << 20;

/// The jobs of one batch share a count of references, and not those of one engine: a driver that
/// counts up and workers that count down would wait for each other at each job.
pub(crate) type BatchReporter = Arc<Arc<Reporter>>;

/// What a job does.
pub(crate) trait Work: Send + 'static {
    fn run(self: Box<Self>);

    /// Whether running it would do nothing any more, so that a queue may drop it. Does not block;
    /// in doubt, no.
    fn is_void(&self) -> bool {
        false
    }

    /// Nobody wants it any more: drops it, without what it may do when it is dropped undone.
    #[cfg(feature = "async")]
    fn forget(self: Box<Self>) {}
}

impl<F: FnOnce() + Send + 'static> Work for F {
    fn run(self: Box<Self>) {
        (*self)();
    }
}

/// How [`Job::run`] ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ran {
    /// The work returned.
    Finished,
    /// The work panicked, with this message. The panic stops here.
    Panicked(String),
}

impl Job {
    /// A job without a due instant: it counts as due for ever, so it goes before those that have
    /// one.
    pub fn new(work: impl FnOnce() + Send + 'static) -> Job {
        Job::due_at(0, work)
    }

    /// A job that was due at `due_ns`, in nanoseconds of the clock of its engine.
    pub(crate) fn due_at(due_ns: u64, work: impl Work) -> Job {
        Job::of_box(due_ns, Box::new(work), None)
    }

    /// The same for what has its box already. Panics of it go to the reporter, if there is one.
    pub(crate) fn of_box(due_ns: u64, work: Box<dyn Work>, reporter: Option<BatchReporter>) -> Job {
        Job {
            work: Some(work),
            reporter,
            due_ns,
            found_late: 0,
            priority: Priority::Normal,
        }
    }

    /// Runs the work on this thread. Never unwinds.
    pub fn run(mut self) -> Ran {
        let Some(work) = self.work.take() else {
            unreachable!("a job is consumed by its run");
        };
        match (contain(|| work.run()), &self.reporter) {
            (Ok(()), _) => Ran::Finished,
            (Err(message), None) => Ran::Panicked(message),
            (Err(message), Some(reporter)) => {
                reporter.report(&message);
                Ran::Finished
            }
        }
    }

    /// The class of this job. What waits longer than the pool's
    /// [`ageing`](crate::PoolBuilder::ageing) goes up by a class.
    pub fn priority(&self) -> Priority {
        self.priority
    }

    pub(crate) fn of_class(mut self, priority: Priority) -> Job {
        self.priority = priority;
        self
    }

    /// It was found due at `ns`, and has waited since then.
    pub(crate) fn found_at(mut self, ns: u64) -> Job {
        self.found_late = found_late(self.due_ns, ns);
        self
    }

    /// From when on it has waited, to about a millisecond: when it was found due. Its due, unless
    /// somebody has said when that was.
    pub(crate) fn waits_since_ns(&self) -> u64 {
        since(self.due_ns, self.found_late)
    }

    pub(crate) fn is_void(&self) -> bool {
        self.work.as_ref().is_none_or(|work| work.is_void())
    }

    /// When it was due, in nanoseconds of the clock of its engine.
    pub(crate) fn due_ns(&self) -> u64 {
        self.due_ns
    }
}

/// From when on a job has waited that was due and found due at these instants, to about a
/// millisecond: so what is found at its due keeps the order of dues.
pub(crate) fn waits_since(due_ns: u64, found_ns: u64) -> u64 {
    since(due_ns, found_late(due_ns, found_ns))
}

fn found_late(due_ns: u64, found_ns: u64) -> u32 {
    let late = found_ns.saturating_sub(due_ns) / FOUND_UNIT;
    u32::try_from(late).unwrap_or(u32::MAX)
}

fn since(due_ns: u64, found_late: u32) -> u64 {
    due_ns.saturating_add(u64::from(found_late) * FOUND_UNIT)
}

/// What was captured may panic as it is dropped. A queue that drops many jobs would unwind out of
/// the first and abort at the second.
impl Drop for Job {
    fn drop(&mut self) {
        discard(self.work.take());
    }
}

impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Job")
            .field("due_ns", &self.due_ns)
            .field("priority", &self.priority)
            .finish_non_exhaustive()
    }
}
