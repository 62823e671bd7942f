//! What users do to an engine from inside and what they hand to it that fails: one table of acts and
//! places for each door, and one of executors.
//!
//! Each cell runs in an engine of its own, on a thread of its own so that a hang is a failure, and
//! ends with the same questions: does a new timer still run, and has every value been dropped?

mod at_thread_end;
mod executors;
mod failing;
mod scheduler;
mod timers;

use std::any::Any;
use std::cell::RefCell;
use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// Long enough to say "it hangs".
const HANG: Duration = Duration::from_secs(30);

/// Longer than that: nothing here has a reason to wait so long.
const FOR_EVER: Duration = Duration::from_secs(3600);

const fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// Does every act at every place, each in a cell of its own that must end.
fn each_ends<P, A>(places: &[P], acts: &[A], cell: fn(P, A))
where
    P: Copy + Debug + Send + 'static,
    A: Copy + Debug + Send + 'static,
{
    for &place in places {
        for &act in acts {
            ends(&format!("{act:?} at {place:?}"), move || cell(place, act));
        }
    }
}

/// Runs `body` on a thread, and fails when it does not end. `cell` names it.
fn ends(cell: &str, body: impl FnOnce() + Send + 'static) {
    let (done, wait) = channel::<()>();
    let runner = thread::spawn(move || {
        let _done = done;
        body();
    });
    if wait.recv_timeout(HANG) == Err(RecvTimeoutError::Timeout) {
        panic!("{cell}: it hangs");
    }
    if let Err(panic) = runner.join() {
        eprintln!("{cell}:");
        resume_unwind(panic);
    }
}

/// A panic of the test's own ends here.
fn contained(call: impl FnOnce()) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(call)) {
        // It may be a bomb.
        std::mem::forget(panic);
    }
}

/// Counts itself, and calls something as it is dropped.
struct Held {
    alive: Arc<AtomicUsize>,
    at_drop: Option<Box<dyn Fn() + Send + Sync>>,
}

impl Held {
    fn plain(alive: &Arc<AtomicUsize>) -> Held {
        alive.fetch_add(1, Ordering::SeqCst);
        Held {
            alive: Arc::clone(alive),
            at_drop: None,
        }
    }

    fn calling(alive: &Arc<AtomicUsize>, at_drop: impl Fn() + Send + Sync + 'static) -> Held {
        let mut held = Held::plain(alive);
        held.at_drop = Some(Box::new(at_drop));
        held
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        /// Counts it out at last, also when the call panics.
        struct Gone<'a>(&'a AtomicUsize);
        impl Drop for Gone<'_> {
            fn drop(&mut self) {
                self.0.fetch_sub(1, Ordering::SeqCst);
            }
        }
        let _gone = Gone(&self.alive);
        if let Some(call) = self.at_drop.take() {
            call();
        }
    }
}

/// Waits until every value has been dropped: a driver or a worker may be about to do it.
fn assert_all_dropped(alive: &AtomicUsize) {
    let begun = Instant::now();
    while alive.load(Ordering::SeqCst) > 0 {
        let left = alive.load(Ordering::SeqCst);
        assert!(begun.elapsed() < HANG, "{left} values are never dropped");
        thread::yield_now();
    }
}

/// The payload of a panic that panics when it is dropped, and so does what that panic carries.
struct Bomb(u32);

impl Drop for Bomb {
    fn drop(&mut self) {
        if self.0 > 0 {
            panic_any(Bomb(self.0 - 1));
        }
    }
}

fn bomb() -> Box<dyn Any + Send> {
    Box::new(Bomb(3))
}

/// Calls something when its thread ends.
struct AtThreadEnd(RefCell<Vec<Box<dyn FnOnce()>>>);

impl Drop for AtThreadEnd {
    fn drop(&mut self) {
        self.0.take().into_iter().for_each(|call| call());
    }
}

thread_local!(static AT_THREAD_END: AtThreadEnd = const { AtThreadEnd(RefCell::new(Vec::new())) });

/// `call` is called when this thread ends; its thread-locals may have been destroyed by then.
fn at_thread_end(call: impl FnOnce() + 'static) {
    AT_THREAD_END.with(|end| end.0.borrow_mut().push(Box::new(call)));
}
