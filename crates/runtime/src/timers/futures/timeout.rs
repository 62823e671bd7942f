//! A future with a time limit.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use pin_project_lite::pin_project;

use super::error::TimeoutError;
use super::instant::Instant;
use super::sleep::Sleep;

pin_project! {
    /// A future with a time limit; see [`Timers::timeout`](crate::Timers::timeout).
    ///
    /// Dropping it drops the future and takes the timer, if there is one, out of the engine. Not to
    /// be polled after it was done, as the future that is in it may not be.
    #[must_use = "futures do nothing unless they are polled"]
    pub struct Timeout<F> {
        #[pin]
        future: F,
        // Until its time runs.
        limit: Option<Duration>,
        sleep: Sleep,
    }
}

impl<F> Timeout<F> {
    pub(super) fn new(future: F, limit: Duration, sleep: Sleep) -> Timeout<F> {
        Timeout {
            future,
            limit: Some(limit),
            sleep,
        }
    }

    /// When its time is over; `None` as long as it does not run.
    pub fn due(&self) -> Option<Instant> {
        self.limit.is_none().then(|| self.sleep.due())
    }

    /// The future that is limited.
    pub fn get_ref(&self) -> &F {
        &self.future
    }

    /// The same.
    pub fn get_mut(&mut self) -> &mut F {
        &mut self.future
    }

    /// The same, without a limit from now on.
    pub fn into_inner(self) -> F {
        self.future
    }
}

impl<F: Future> Future for Timeout<F> {
    type Output = Result<F::Output, TimeoutError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        if let Poll::Ready(output) = this.future.poll(cx) {
            // Whoever keeps this keeps no timer.
            this.sleep.disarm();
            return Poll::Ready(Ok(output));
        }
        if let Some(limit) = this.limit.take() {
            this.sleep.reset(limit);
        }
        if this.sleep.is_due_never() {
            // No limit: it takes no timer, and no place of one.
            return Poll::Pending;
        }
        ready!(this.sleep.poll_due(cx.waker()))?;
        Poll::Ready(Err(TimeoutError::ELAPSED))
    }
}

impl<F> fmt::Debug for Timeout<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Timeout")
            .field("due", &self.due())
            .finish_non_exhaustive()
    }
}
