//! What happens to callbacks that are due: called here, or handed to an executor.
//!
//! Both sinks live on the driver thread and let no panic through.

use std::sync::Arc;

use crate::driver::{DueTimer, Sink};
use crate::executor::{BatchReporter, Executor, Job, Work};
use crate::panics::{Reporter, discard};

/// What the engine holds: what a job is made of, so that handing it over allocates nothing.
pub(super) type Callback = Box<dyn Work>;

/// Calls each callback on the driver thread.
pub(super) struct Inline(pub(super) Arc<Reporter>);

impl Sink<Callback> for Inline {
    fn fire(&mut self, timer: DueTimer<Callback>) {
        self.0.guard(|| timer.value.run());
    }
}

/// Collects the callbacks of a pass and hands them to an executor as one batch.
pub(super) struct Handover {
    executor: Box<dyn Executor>,
    reporter: Arc<Reporter>,
    jobs: Vec<Job>,
    for_batch: BatchReporter,
}

impl Handover {
    pub(super) fn new(executor: Box<dyn Executor>, reporter: Arc<Reporter>) -> Handover {
        Handover {
            executor,
            for_batch: Arc::new(Arc::clone(&reporter)),
            reporter,
            jobs: Vec::new(),
        }
    }
}

impl Sink<Callback> for Handover {
    fn fire(&mut self, timer: DueTimer<Callback>) {
        let reporter = Some(Arc::clone(&self.for_batch));
        let due_ns = timer.due.as_nanos();
        self.jobs.push(Job::of_box(due_ns, timer.value, reporter));
    }

    fn flush(&mut self) {
        self.for_batch = Arc::new(Arc::clone(&self.reporter));
        self.reporter
            .guard(|| self.executor.execute(&mut self.jobs));
        if !self.jobs.is_empty() {
            self.reporter.count_refused(self.jobs.len());
            discard(self.jobs.drain(..));
        }
    }
}
