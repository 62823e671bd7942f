//! What these tests share: an engine on a clock that is moved by hand, and a task that counts how
//! often it was woken.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use wheel_runtime::{ManualClock, Timers};

pub(crate) const MS: Duration = Duration::from_millis(1);

pub(crate) fn timers() -> (ManualClock, Timers) {
    let clock = ManualClock::new();
    let timers = Timers::builder().clock(clock.clone()).build().unwrap();
    (clock, timers)
}

/// Somebody who waits for futures.
#[derive(Default)]
pub(crate) struct Task(Arc<Woken>);

#[derive(Default)]
struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(self: Arc<Woken>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl Task {
    pub(crate) fn poll<F: Future + Unpin>(&self, future: &mut F) -> Poll<F::Output> {
        let waker = Waker::from(Arc::clone(&self.0));
        pin!(future).poll(&mut Context::from_waker(&waker))
    }

    /// How often it was woken until now.
    pub(crate) fn woken(&self) -> usize {
        self.0.0.load(Ordering::Relaxed)
    }

    /// How many wakers of it there are.
    pub(crate) fn wakers(&self) -> usize {
        Arc::strong_count(&self.0) - 1
    }
}
