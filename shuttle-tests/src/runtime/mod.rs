//! The runtime under several threads: a pool, timers and a scheduler on a clock that the threads
//! move.
//!
//! Jobs, callbacks and handlers run where panics are caught, so they assert nothing: they write
//! into a ledger, and the scenario looks at it in the end. Nobody may hang: shuttle fails a
//! schedule in which no thread can go on.

mod ledger;

mod pool;
mod scheduler;
mod timers;

use wheel_sync::thread;
use wheel_testkit::Random;

pub use pool::play_pool;
pub use scheduler::play_scheduler;
pub use timers::play_timers;

/// When a scenario shuts down what it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shutdown {
    /// When the users have ended.
    Quiet,
    /// While they go on.
    Midway,
}

/// Lets the others go on: for some steps, or until most of what they do is done.
fn wait_a_while(random: &mut Random) {
    let most = 4 << random.below(9);
    for _ in 0..random.below(most) {
        thread::yield_now();
    }
}
