//! What the engines of futures need: a timer there is a future that is polled once, which is what
//! registers it, and dropped, which is what cancels it.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use crate::Recorder;

/// Polls once; whether it is still pending.
#[inline]
pub(super) fn register<F: Future + ?Sized>(future: Pin<&mut F>, waker: &Waker) -> bool {
    matches!(future.poll(&mut Context::from_waker(waker)), Poll::Pending)
}

/// Counts the timers that wake it.
#[derive(Default)]
pub(super) struct Count(AtomicUsize);

impl Count {
    /// How many since it was asked last.
    pub(super) fn take(&self) -> usize {
        self.0.swap(0, Ordering::Relaxed)
    }
}

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// Takes down when it was woken. The time that a task would take to be run comes on top in use.
struct Told {
    recorder: Arc<Recorder>,
    index: usize,
}

impl Wake for Told {
    fn wake(self: Arc<Self>) {
        self.recorder.fired(self.index);
    }
}

/// A waker that tells `recorder` of the timer `index`.
pub(super) fn telling(recorder: &Arc<Recorder>, index: usize) -> Waker {
    Waker::from(Arc::new(Told {
        recorder: Arc::clone(recorder),
        index,
    }))
}
