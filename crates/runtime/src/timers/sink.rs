//! What happens to callbacks that are due: called here, or handed to an executor.
//!
//! Both sinks live on the driver thread and let no panic through. The [`Reporter`] counts, on
//! whatever thread a callback panics. Its counts are Relaxed throughout: for people, they publish
//! nothing. [O64]

use std::sync::Arc;

use wheel_sync::atomic::Ordering;
use wheel_sync::counting::AtomicU64;

use crate::driver::{DueTimer, Sink};
use crate::executor::{Executor, Job};
use crate::panics::{contain, discard, tell_stderr};

pub(super) type Callback = Box<dyn FnOnce() + Send>;
pub(super) type PanicHook = Box<dyn Fn(&str) + Send + Sync>;

/// Counts what went wrong and tells of panics.
pub(super) struct Reporter {
    panics: AtomicU64,
    refused: AtomicU64,
    hook: Option<PanicHook>,
}

impl Reporter {
    pub(super) fn new(hook: Option<PanicHook>) -> Reporter {
        Reporter {
            panics: AtomicU64::new(0),
            refused: AtomicU64::new(0),
            hook,
        }
    }

    pub(super) fn panics(&self) -> u64 {
        self.panics.load(Ordering::Relaxed)
    }

    pub(super) fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    /// Calls user code; a panic ends here.
    fn guard(&self, call: impl FnOnce()) {
        let Err(message) = contain(call) else { return };
        self.panics.fetch_add(1, Ordering::Relaxed);
        // A hook that panics has had its say.
        let _ = contain(|| match &self.hook {
            Some(hook) => hook(&message),
            None => tell_stderr("a timer callback panicked", &message),
        });
    }
}

/// Calls each callback on the driver thread.
pub(super) struct Inline(pub(super) Arc<Reporter>);

impl Sink<Callback> for Inline {
    fn fire(&mut self, timer: DueTimer<Callback>) {
        self.0.guard(timer.value);
    }
}

/// Collects the callbacks of a pass and hands them to an executor as one batch.
pub(super) struct Handover {
    executor: Box<dyn Executor>,
    reporter: Arc<Reporter>,
    jobs: Vec<Job>,
}

impl Handover {
    pub(super) fn new(executor: Box<dyn Executor>, reporter: Arc<Reporter>) -> Handover {
        Handover {
            executor,
            reporter,
            jobs: Vec::new(),
        }
    }
}

impl Sink<Callback> for Handover {
    fn fire(&mut self, timer: DueTimer<Callback>) {
        let reporter = Arc::clone(&self.reporter);
        let callback = timer.value;
        let job = Job::due_at(timer.due.as_nanos(), move || reporter.guard(callback));
        self.jobs.push(job);
    }

    fn flush(&mut self) {
        self.reporter
            .guard(|| self.executor.execute(&mut self.jobs));
        if !self.jobs.is_empty() {
            let count = self.jobs.len() as u64;
            self.reporter.refused.fetch_add(count, Ordering::Relaxed);
            discard(self.jobs.drain(..));
        }
    }
}
