//! The half for the model checker: loom's types under the paths of `native`.

pub mod atomic;
mod lock;
pub mod thread;
mod weaken;

pub use lock::{Condvar, Mutex, MutexGuard};
pub use loom::cell::UnsafeCell;
pub use loom::sync::Arc;

/// True when sizes shrink for a model.
pub const MODELLED: bool = true;

/// How large to make what can fill up.
pub const SIZES: crate::Sizes = crate::Sizes::Tiny;

/// Lets another thread run, since nothing changes until one does.
#[derive(Debug, Default)]
pub struct Backoff(());

impl Backoff {
    /// Ready to wait.
    pub fn new() -> Backoff {
        Backoff(())
    }

    /// Yields.
    pub fn snooze(&self) {
        thread::yield_now();
    }
}

/// Runs a model in every interleaving within loom's bounds and says how many those were.
///
/// `LOOM_MAX_PREEMPTIONS` bounds the search, as in loom itself.
pub fn model(name: &str, run: impl Fn() + Sync + Send + 'static) {
    // std's own: loom's would add interleavings. Relaxed: loom runs everything on this thread.
    let executions = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let count = std::sync::Arc::clone(&executions);
    loom::model(move || {
        // Relaxed: as above.
        count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        run();
    });
    // Relaxed: as above.
    let executions = executions.load(std::sync::atomic::Ordering::Relaxed);
    weaken::report();
    println!("model {name}: {executions} executions");
}
