//! One thread of the pool: take what goes first, run it, sleep when nothing waits.

use std::cell::Cell;

use wheel_sync::Arc;
use wheel_sync::atomic::Ordering;
use wheel_sync::thread;

use super::Shared;
use crate::executor::Ran;
use crate::panics::tell_stderr;

thread_local! {
    /// The address of the pool that this thread works for; 0 on other threads.
    static WORKS_FOR: Cell<usize> = const { Cell::new(0) };
}

/// Whether the calling thread is a worker of this pool.
pub(super) fn is_worker_of(shared: &Arc<Shared>) -> bool {
    // Not reachable in a thread that is being torn down, which is no longer a worker then.
    WORKS_FOR.try_with(Cell::get) == Ok(Arc::as_ptr(shared).addr())
}

/// The life of worker number `worker`.
pub(super) fn work(shared: Arc<Shared>, worker: usize) {
    WORKS_FOR.set(Arc::as_ptr(&shared).addr());
    shared.sleepers.introduce(worker);
    loop {
        if let Some(taken) = shared.queue.take() {
            // Each worker wakes the next one, so that handing over a batch costs the driver one
            // wake-up, not one per worker.
            if taken.more {
                shared.sleepers.wake_one();
            }
            if let Ran::Panicked(message) = taken.job.run() {
                // Relaxed: a count for people.
                shared.panics.fetch_add(1, Ordering::Relaxed);
                tell_stderr(&format!("a job of {} panicked", shared.name), &message);
            }
        } else if shared.may_leave() {
            break;
        } else if shared.is_closing() {
            // Somebody is between his look at the pool and his push.
            thread::yield_now();
        } else {
            shared
                .sleepers
                .sleep_unless(worker, || shared.is_closing() || shared.queue.has_work());
        }
    }
    shared.leave();
}
