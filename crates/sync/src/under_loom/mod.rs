//! The half for the model checker: loom's types under the paths of `native`.

pub mod atomic;
mod once;
pub mod thread;
mod turns;
mod weaken;

pub use crate::backoff::Backoff;
pub use crate::lock::{Condvar, Mutex, MutexGuard, RwLock};
pub use crate::modelled_thread_local as thread_local;
pub use loom::cell::UnsafeCell;
pub use loom::sync::Arc;
pub use once::OnceLock;

/// True when sizes shrink for a model.
pub const MODELLED: bool = true;

/// How large to make what can fill up.
pub const SIZES: crate::Sizes = crate::Sizes::Tiny;

/// The most steps of an execution: a whole scheduler takes some hundred only to begin and to end.
const MAX_BRANCHES: usize = 20_000;

/// The most threads of an execution, loom's first one included, which is as many as loom can do.
const MAX_THREADS: usize = 5;

/// Runs a model in every interleaving within loom's bounds and says how many those were.
///
/// `LOOM_MAX_PREEMPTIONS` bounds the search, as in loom itself.
pub fn model(name: &str, run: impl Fn() + Sync + Send + 'static) {
    let run = std::sync::Arc::new(run);
    explore(name, loom::model::Builder::new(), move || {
        // loom's first thread has a stack that is too small for a scheduler that is built and shut
        // down. It only waits.
        let run = std::sync::Arc::clone(&run);
        let roomy = thread::spawn(move || run());
        roomy.join().expect("a panic ends the model");
    });
}

/// As [`model`], with one preemption less than was asked for: for one that has so many steps that it
/// would not end, and what it is about takes no more. It is loom's first thread itself, so it has one
/// thread more than others, and no room for a scheduler.
pub fn long_model(name: &str, run: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = builder.preemption_bound.map(|most| most.saturating_sub(1));
    explore(name, builder, run);
}

fn explore(name: &str, mut builder: loom::model::Builder, run: impl Fn() + Sync + Send + 'static) {
    // std's own: loom's would add interleavings. Relaxed: loom runs everything on this thread.
    let executions = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let count = std::sync::Arc::clone(&executions);
    builder.max_branches = builder.max_branches.max(MAX_BRANCHES);
    builder.max_threads = builder.max_threads.max(MAX_THREADS);
    builder.check(move || {
        // Relaxed: as above.
        count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        run();
    });
    // Relaxed: as above.
    let executions = executions.load(std::sync::atomic::Ordering::Relaxed);
    weaken::report();
    println!("model {name}: {executions} executions");
}

/// Runs `step` in one schedule and not in all of them: what comes before the race that a model is
/// about. Not inside another one.
pub fn unexplored<R>(step: impl FnOnce() -> R) -> R {
    loom::stop_exploring();
    let result = step();
    loom::explore();
    result
}

/// What is left of this execution is run in one schedule: what comes after the race.
pub fn rest_unexplored() {
    loom::skip_branch();
}
