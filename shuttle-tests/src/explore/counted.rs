//! Counts the schedules that a scheduler has made, and their steps.

use std::sync::Arc;
// tidy: allow sync-only, counts outlive the executions that they count
use std::sync::atomic::{AtomicU64, Ordering};

use shuttle::scheduler::{Schedule, Scheduler, Task, TaskId};

/// Schedules begun and steps taken.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts(Arc<(AtomicU64, AtomicU64)>);

impl Counts {
    pub(super) fn schedules(&self) -> u64 {
        // Relaxed, here and below: shuttle runs everything on this thread.
        self.0.0.load(Ordering::Relaxed)
    }

    pub(super) fn steps(&self) -> u64 {
        self.0.1.load(Ordering::Relaxed)
    }
}

/// A scheduler, and its counts.
pub(super) struct Counted {
    inner: Box<dyn Scheduler + Send>,
    counts: Counts,
}

impl Counted {
    pub(super) fn new(inner: Box<dyn Scheduler + Send>) -> (Counted, Counts) {
        let counts = Counts::default();
        let counted = Counted {
            inner,
            counts: counts.clone(),
        };
        (counted, counts)
    }
}

impl Scheduler for Counted {
    fn new_execution(&mut self) -> Option<Schedule> {
        let schedule = self.inner.new_execution()?;
        self.counts.0.0.fetch_add(1, Ordering::Relaxed);
        Some(schedule)
    }

    fn next_task(
        &mut self,
        runnable: &[&Task],
        current: Option<TaskId>,
        is_yielding: bool,
    ) -> Option<TaskId> {
        self.counts.0.1.fetch_add(1, Ordering::Relaxed);
        self.inner.next_task(runnable, current, is_yielding)
    }

    fn next_u64(&mut self) -> u64 {
        self.inner.next_u64()
    }
}
