//! How anybody asks the driver for the picture of its engine.
//!
//! Levels and slots are plain memory of the driver, so it takes the picture itself, in its next
//! pass, and goes on: some microseconds, whatever is pending. Nobody is stopped, and while nobody
//! asks a pass costs a look at a flag.
//!
//! ```text
//!  who asks                                  the driver
//!  1 lock: leave a request, raise the flag   1 the flag is up? try the lock
//!  2 unlock, ring                            2 take some, with what they ask for let go of the lock
//!  3 park until answered                     3 one picture for all; answer and unpark each
//! ```
//!
//! The driver only tries the lock: whoever has it rings once it is free, so the driver comes back.
//! An answer is written once by whoever has the request; a request that is dropped without one says
//! that the engine is closed. So nobody waits for a driver that is gone.

use std::error::Error;
use std::fmt;
use std::mem;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use wheel_core::Snapshot;
use wheel_sync::Mutex;
use wheel_sync::atomic::{AtomicBool, Ordering};
use wheel_sync::thread::{self, Thread};

use super::Engine;
use crate::clock::Patience;

/// How long a driver is waited for. Its passes take microseconds; what takes longer is a callback or
/// an executor that holds it up.
const WAIT: Duration = Duration::from_secs(1);
/// Requests that one pass answers: each costs a wake-up of a thread.
const PASS: usize = 8;

/// What an engine holds, and where: [`Timers::snapshot`](crate::Timers::snapshot) and
/// [`Scheduler::snapshot`](crate::Scheduler::snapshot) tell.
///
/// The driver has taken all of it in one pass. Other threads go on meanwhile, so what they change is
/// exact when none is in a call: [`wheel`](EngineSnapshot::wheel) says which of its numbers those
/// are, and [`wall`](EngineSnapshot::wall) is read right after them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EngineSnapshot {
    /// The wheel: its levels with what each slot holds, the intake, the overflow.
    pub wheel: Snapshot,
    /// How long a tick of that wheel is.
    pub tick: Duration,
    /// Timers that follow the wall clock, which wait beside the wheel.
    pub wall: usize,
    /// Timers that a driver with a [precise wait](crate::TimersBuilder::precise_wait) has taken out
    /// of the wheel, to fire each at its own instant. They are no longer counted as pending.
    pub at_hand: usize,
}

impl EngineSnapshot {
    /// How many timers are pending, of both kinds: as [`Timers::len`](crate::Timers::len).
    pub fn pending(&self) -> usize {
        self.wheel.live + self.wall
    }
}

/// Why there is no snapshot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum SnapshotError {
    /// The engine was shut down: nothing is pending any more. Trying again does not help.
    Closed,
    /// It was asked for on the driver thread, in a callback or a handler that runs there, which is
    /// in the midst of the pass that would answer. Ask from another thread.
    OnDriverThread,
    /// The driver has not come to it within a second, because a callback or an executor holds it up.
    /// Trying again may help.
    Busy,
}

impl fmt::Display for SnapshotError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SnapshotError::Closed => "no snapshot: the engine was shut down",
            SnapshotError::OnDriverThread => {
                "no snapshot: the driver thread cannot ask itself; ask from another thread"
            }
            SnapshotError::Busy => {
                "no snapshot: the driver thread has not come to it within a second; a callback or \
                 an executor holds it up"
            }
        })
    }
}

impl Error for SnapshotError {}

/// Where requests wait for the driver.
pub(super) struct Requests {
    /// Some may be waiting.
    flag: AtomicBool,
    queue: Mutex<Queue>,
}

#[derive(Default)]
struct Queue {
    waiting: Vec<Request>,
    closed: bool,
}

/// One who asks, as the driver sees it.
struct Request(Arc<Answer>);

struct Answer {
    /// The picture is shared by all whom one pass answers.
    is: OnceLock<Result<Arc<EngineSnapshot>, SnapshotError>>,
    asker: Thread,
}

impl Requests {
    pub(super) fn new() -> Requests {
        Requests {
            flag: AtomicBool::new(false),
            queue: Mutex::default(),
        }
    }

    /// Leaves a request of the calling thread, for a driver that is to be rung afterwards.
    fn leave(&self) -> Result<Arc<Answer>, SnapshotError> {
        let answer = Arc::new(Answer {
            is: OnceLock::new(),
            asker: thread::current(),
        });
        let mut queue = self.queue.lock();
        if queue.closed {
            return Err(SnapshotError::Closed);
        }
        queue.waiting.push(Request(Arc::clone(&answer)));
        // Relaxed: requests travel through the lock. A driver that misses the flag is rung after
        // it, and the bell orders the two. [O96]
        self.flag.store(true, Ordering::Relaxed);
        Ok(answer)
    }

    /// Answers some of those who wait with what `look` sees, on the driver thread. True if others
    /// are left.
    #[inline]
    pub(super) fn answer(&self, look: impl FnOnce() -> EngineSnapshot) -> bool {
        // Relaxed: as above. [O96]
        self.flag.load(Ordering::Relaxed) && self.answer_some(look)
    }

    #[cold]
    fn answer_some(&self, look: impl FnOnce() -> EngineSnapshot) -> bool {
        // Whoever has the lock leaves a request, and rings afterwards.
        let Some(mut queue) = self.queue.try_lock() else {
            return false;
        };
        let some = queue.waiting.len().min(PASS);
        let asked: Vec<Request> = queue.waiting.drain(..some).collect();
        let more = !queue.waiting.is_empty();
        // Relaxed: as above, and under the lock, so that no request is left behind. [O96]
        self.flag.store(more, Ordering::Relaxed);
        drop(queue);
        let seen = Arc::new(look());
        for request in asked {
            request.0.give(Ok(Arc::clone(&seen)));
        }
        more
    }

    /// From here on there is nobody to answer.
    pub(super) fn close(&self) {
        let mut queue = self.queue.lock();
        queue.closed = true;
        let waiting = mem::take(&mut queue.waiting);
        drop(queue);
        drop(waiting);
    }
}

impl Answer {
    /// The first one counts.
    fn give(&self, answer: Result<Arc<EngineSnapshot>, SnapshotError>) {
        if self.is.set(answer).is_ok() {
            self.asker.unpark();
        }
    }

    fn wait(&self, patience: Patience) -> Result<EngineSnapshot, SnapshotError> {
        loop {
            if let Some(answer) = self.is.get() {
                return answer.clone().map(Arc::unwrap_or_clone);
            }
            let left = patience.left().ok_or(SnapshotError::Busy)?;
            thread::park_timeout(left);
        }
    }
}

impl Drop for Request {
    fn drop(&mut self) {
        self.0.give(Err(SnapshotError::Closed));
    }
}

impl<T: Send + 'static> Engine<T> {
    /// Asks the driver what it holds, and waits for its next pass.
    pub(crate) fn snapshot(&self) -> Result<EngineSnapshot, SnapshotError> {
        let shared = &*self.0;
        if self.is_closed() {
            return Err(SnapshotError::Closed);
        }
        if self.is_driver_thread() {
            return Err(SnapshotError::OnDriverThread);
        }
        let answer = shared.requests.leave()?;
        shared.line.ring();
        answer.wait(Patience::new(WAIT))
    }
}
