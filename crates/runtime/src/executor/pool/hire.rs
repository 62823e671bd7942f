//! Workers come and leave.
//!
//! As long as there is room, one worker sleeps for what comes next: whoever takes a job and finds
//! nobody asleep starts another one first. So a pool grows off the driver, which wakes a sleeper as
//! ever. A worker leaves only while another one sleeps, or the pool would be without one:
//!
//! ```text
//!  leaves, having slept for nothing            takes a job, woken
//!  1 its bit is cleared, fence                 1 its bit is cleared, fence
//!  2 another one asleep? else stay             2 another one asleep? else
//!  3 count out, fence                          3 hire, unless there is no room
//!  4 still another one asleep? else come back
//! ```
//!
//! If the other one that was seen asleep in step 2 takes a job, it does not see this one's bit, so
//! it hires. If it found no room for that because this one still counted, this one sees in step 4
//! that nobody sleeps, and comes back. So no job waits while there is room for a worker. Step 2 alone
//! would not do, and step 4 alone would: the former spares most of the coming back.

use std::io;
use std::sync::Arc;

use wheel_sync::atomic::{Ordering, fence};
use wheel_sync::thread;

use super::staff::Numbers;
use super::{Shared, worker};

impl Shared {
    /// The caller has taken a job, and nobody was woken for another one: if nobody sleeps who could
    /// be, one more worker starts.
    pub(super) fn keep_one_asleep(self: &Arc<Self>, seen: Numbers) {
        // What was seen may be old, but not older than the end of this worker's sleep. Who leaves
        // makes room, and looks after that.
        if !seen.has_room() || self.sleepers.is_anyone_asleep() {
            return;
        }
        if self.staff.hire() {
            // Without another thread it goes on as before, and the next job tries again.
            let _ = self.start_worker();
        }
    }

    /// Starts the thread of a worker that has been counted in. Takes no lock.
    pub(super) fn start_worker(self: &Arc<Self>) -> io::Result<()> {
        let started = match self.sleepers.claim() {
            Some(worker) => self.spawn(worker),
            None => Err(io::Error::other("the pool has no place for another thread")),
        };
        match &started {
            Ok(()) => self.staff.hired(),
            Err(_) => self.staff.not_hired(),
        }
        started
    }

    pub(super) fn spawn(self: &Arc<Self>, worker: usize) -> io::Result<()> {
        let shared = Arc::clone(self);
        let thread = thread::Builder::new()
            .name(format!("{}-{worker}", self.name))
            .spawn(move || worker::work(shared, worker));
        let Ok(thread) = thread else {
            self.sleepers.release(worker);
            return thread.map(drop);
        };
        if self.started.send(thread).is_err() {
            unreachable!("the pool holds both ends of its channel");
        }
        Ok(())
    }

    /// A worker that has slept for nothing leaves, if fewer would do. Whether it has.
    pub(super) fn leave_if_idle(&self) -> bool {
        // The fence at the end of `sleep_unless` stands between the clearing of the own bit and this
        // look, and pairs with itself in who was seen asleep. [O82]
        if !self.sleepers.is_anyone_asleep() || !self.staff.leave_if_idle() {
            return false;
        }
        // SeqCst: orders the step out before the look; pairs with the fence at the end of
        // `sleep_unless`, which comes before a look that found no room. [O84]
        fence(Ordering::SeqCst);
        self.sleepers.is_anyone_asleep() || !self.staff.rejoin()
    }

    /// A worker leaves if there are too many. Whether it has.
    pub(super) fn leave_if_over(&self) -> bool {
        if !self.staff.leave_if_over() {
            return false;
        }
        // SeqCst: who woke this worker has brought a job before; pairs with the fence of
        // `wake_one`. The job is another one's now. [O85]
        fence(Ordering::SeqCst);
        if self.queue.has_work() {
            self.sleepers.wake_another();
        }
        true
    }
}
