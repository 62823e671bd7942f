//! A span of the crate `tracing` around every attempt, with the feature of that name.
//!
//! ```text
//!  run.rs: begin --> the interceptors, the handler, the hooks: all inside of the span --> end
//!  conclude.rs: what came of it is recorded in the span, without a lock
//!
//!  away.rs: begin --> the handler makes a future, the spawner gets it: inside --> end
//!           at each poll, and where it is dropped: enter --> inside --> end
//! ```
//!
//! The span of an attempt that is a future is kept with it, and is over when the future is.
//!
//! Who collects spans is the user's code: it is called on the worker, under no lock, and its panics
//! end here, for a run that has begun must come to its end.

#[cfg(feature = "tracing")]
mod spans {
    use std::cell::RefCell;
    use std::fmt::Display;
    use std::sync::Arc;
    use std::time::SystemTime;

    use tracing::span::EnteredSpan;
    use tracing::{Span, field, info_span};
    use wheel_sync::{thread, thread_local};

    use crate::panics::{contain, discard};
    use crate::task::attempt::Attempt;
    use crate::task::waiting::Occasion;
    use crate::task::{Task, TaskState};

    thread_local! {
        /// The span of the attempt that this thread is in. Asked for here and not at the collector,
        /// which need not know.
        static HERE: RefCell<Option<Span>> = const { RefCell::new(None) };
    }

    /// An attempt that the calling thread is in, and the one that it was in before.
    pub(in crate::task) struct Traced {
        span: Option<EnteredSpan>,
        before: Option<Span>,
    }

    impl Traced {
        pub(in crate::task) fn begin(task: &Task, attempt: &Attempt, of: &Occasion) -> Traced {
            let begun = contain(|| {
                let span = info_span!(
                    target: "wheel",
                    parent: None,
                    "run",
                    task = task.name(),
                    name = task.counted_as().map(|name| &**name),
                    run = attempt.run,
                    attempt = attempt.number,
                    nominal = instant(of.calendar.nominal),
                    due = instant(of.calendar.due),
                    worker = thread::current().name(),
                    outcome = field::Empty,
                    error = field::Empty,
                );
                span.entered()
            });
            Traced::inside(begun.ok())
        }

        fn inside(span: Option<EnteredSpan>) -> Traced {
            let here = contain(|| span.as_ref().map(|span| Span::clone(span)));
            let before = replace(here.unwrap_or(None));
            Traced { span, before }
        }

        /// The span, for whoever goes on with the attempt.
        #[cfg(feature = "async")]
        pub(in crate::task) fn keep(&self) -> Kept {
            let span = self.span.as_ref();
            Kept(contain(|| span.map(|span| Span::clone(span))).unwrap_or(None))
        }

        pub(in crate::task) fn end(self) {
            discard(replace(self.before));
            discard(self.span);
        }
    }

    /// The span of an attempt that threads are in by turns.
    #[cfg(feature = "async")]
    pub(in crate::task) struct Kept(Option<Span>);

    #[cfg(feature = "async")]
    impl Kept {
        /// From now on the calling thread is in it.
        pub(in crate::task) fn enter(&self) -> Traced {
            let span = self.0.as_ref();
            let entered = contain(|| span.map(|span| span.clone().entered()));
            Traced::inside(entered.unwrap_or(None))
        }
    }

    /// A panic of who collects ends here.
    #[cfg(feature = "async")]
    impl Drop for Kept {
        fn drop(&mut self) {
            discard(self.0.take());
        }
    }

    /// What came of the attempt that the calling thread is in. Without a lock.
    pub(in crate::task) fn record(outcome: Option<TaskState>, error: Option<&Arc<str>>) {
        let _ = contain(|| {
            let span = HERE.try_with(|here| here.borrow().clone());
            let Ok(Some(span)) = span else {
                return;
            };
            if let Some(outcome) = outcome {
                span.record("outcome", outcome.word());
            }
            if let Some(error) = error {
                span.record("error", &**error);
            }
        });
    }

    fn replace(span: Option<Span>) -> Option<Span> {
        // A run may go in the destructor of another thread-local, when this one is gone.
        HERE.try_with(|here| here.replace(span)).ok().flatten()
    }

    /// As RFC 3339 writes it.
    fn instant(at: SystemTime) -> field::DisplayValue<impl Display> {
        let at = jiff::Timestamp::try_from(at);
        field::display(at.map_or_else(|_| "out of range".to_owned(), |at| at.to_string()))
    }
}

#[cfg(not(feature = "tracing"))]
mod spans {
    use std::sync::Arc;

    use crate::task::attempt::Attempt;
    use crate::task::waiting::Occasion;
    use crate::task::{Task, TaskState};

    /// Nothing.
    pub(in crate::task) struct Traced;

    impl Traced {
        pub(in crate::task) fn begin(_: &Task, _: &Attempt, _: &Occasion) -> Traced {
            Traced
        }

        pub(in crate::task) fn end(self) {}

        #[cfg(feature = "async")]
        pub(in crate::task) fn keep(&self) -> Kept {
            Kept
        }
    }

    /// Nothing.
    #[cfg(feature = "async")]
    pub(in crate::task) struct Kept;

    #[cfg(feature = "async")]
    impl Kept {
        pub(in crate::task) fn enter(&self) -> Traced {
            Traced
        }
    }

    pub(in crate::task) fn record(_: Option<TaskState>, _: Option<&Arc<str>>) {}
}

#[cfg(feature = "async")]
pub(super) use spans::Kept;
pub(super) use spans::{Traced, record};
