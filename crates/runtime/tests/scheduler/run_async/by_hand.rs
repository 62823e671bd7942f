//! A runtime that is moved by hand: it holds runs until the test polls or drops them.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context as PollContext, Poll, Wake, Waker};

use wheel_runtime::RunFuture;

use crate::bed::HANG;

/// Holds runs until the test polls or drops them.
#[derive(Clone, Default)]
pub(crate) struct ByHand {
    pub(crate) runs: Arc<Mutex<Vec<RunFuture>>>,
    woken: Arc<Woken>,
}

#[derive(Default)]
struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(self: Arc<Woken>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl ByHand {
    pub(crate) fn spawner(&self) -> impl Fn(RunFuture) + Send + Sync + 'static {
        let runs = Arc::clone(&self.runs);
        move |run| {
            runs.lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(run)
        }
    }

    /// Waits until so many runs are here.
    pub(crate) fn wait_for(&self, count: usize) {
        let start = std::time::Instant::now();
        while self.runs.lock().unwrap().len() < count {
            assert!(start.elapsed() < HANG, "no run comes");
            std::thread::yield_now();
        }
    }

    /// Polls the first one, and keeps it if it is pending.
    pub(crate) fn poll(&self) -> Poll<()> {
        let mut run = self.runs.lock().unwrap().remove(0);
        let waker = Waker::from(Arc::clone(&self.woken));
        let polled = Pin::new(&mut run).poll(&mut PollContext::from_waker(&waker));
        if polled.is_pending() {
            self.runs.lock().unwrap().insert(0, run);
        }
        polled
    }

    pub(crate) fn drop_first(&self) {
        let run = self.runs.lock().unwrap().remove(0);
        drop(run);
    }

    pub(crate) fn woken(&self) -> usize {
        self.woken.0.load(Ordering::Relaxed)
    }
}

/// Pending at so many polls.
pub(crate) async fn polls(count: u32) {
    let mut left = count;
    poll_fn(|_| {
        let is_over = left == 0;
        left = left.saturating_sub(1);
        if is_over {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
}

/// Tells when it is dropped.
pub(crate) struct Guard(pub(crate) Sender<()>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.send(()).unwrap();
    }
}
