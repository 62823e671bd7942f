//! One thread of the pool: take what goes first, run it, sleep when nothing waits.

use std::cell::Cell;
use std::sync::Arc;

use wheel_sync::atomic::Ordering;
use wheel_sync::{thread, thread_local};

use super::sleepers::Slept;
use super::{Counted, Shared};
use crate::clock::Patience;
use crate::executor::Ran;
use crate::panics::tell_stderr;

thread_local! {
    /// The address of the pool that this thread works for, 0 on other threads; and whether it has
    /// left the floor. Can be asked also while the thread is torn down, for it has no destructor.
    static WORKS_FOR: Cell<(usize, bool)> = const { Cell::new((0, false)) };
}

/// What the calling thread is to a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Elsewhere,
    /// A worker, in one of its jobs.
    AtWork,
    /// A worker that has left the floor, in the destructor of a thread-local.
    Leaving,
}

/// What the calling thread is to this pool.
pub(super) fn place_in(shared: &Arc<Shared>) -> Place {
    let (pool, has_left) = WORKS_FOR.with(Cell::get);
    match (pool == Arc::as_ptr(shared).addr(), has_left) {
        (false, _) => Place::Elsewhere,
        (true, false) => Place::AtWork,
        (true, true) => Place::Leaving,
    }
}

/// The calling worker leaves the floor.
pub(super) fn has_left() {
    WORKS_FOR.with(|works_for| works_for.set((works_for.get().0, true)));
}

/// The life of worker number `worker`.
pub(super) fn work(shared: Arc<Shared>, worker: usize) {
    let pool = Arc::as_ptr(&shared).addr();
    WORKS_FOR.with(|works_for| works_for.set((pool, false)));
    shared.sleepers.introduce(worker);
    // It wanted to leave and had to stay.
    let mut stays = false;
    let counted = loop {
        let numbers = shared.staff.read();
        if numbers.is_over() && shared.leave_if_over() {
            break Counted::Out;
        }
        if let Some(taken) = shared.queue.take() {
            // Each worker wakes the next one, so that handing over a batch costs the driver one
            // wake-up, not one per worker.
            if !taken.more || !shared.sleepers.wake_another() {
                shared.keep_one_asleep(numbers);
            }
            if let Ran::Panicked(message) = taken.job.run() {
                // Relaxed: a count for people. [O64]
                shared.panics.fetch_add(1, Ordering::Relaxed);
                tell_stderr(&format!("a job of {} panicked", shared.name), &message);
            }
        } else if shared.may_leave() {
            break Counted::In;
        } else if shared.entrance.is_closed() {
            // Somebody is between his look at the pool and his push.
            thread::yield_now();
        } else {
            // One that had to stay asks again, unless that would be at once and without end.
            let asks = numbers.may_shrink() && !(stays && shared.keep_alive.is_zero());
            let limit = asks.then(|| Patience::new(shared.keep_alive));
            let slept = shared.sleepers.sleep_unless(worker, limit, || {
                shared.entrance.is_closed() || shared.queue.has_work()
            });
            stays = slept == Slept::ForNothing;
            if stays && shared.leave_if_idle() {
                break Counted::Out;
            }
        }
    };
    shared.leave(worker, counted);
}
