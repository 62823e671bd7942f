//! One scheduler for the whole process.

use std::sync::OnceLock;

use super::Scheduler;

/// A scheduler for the whole process, started on first use with the defaults of
/// [`Scheduler::builder`].
///
/// It is never dropped; once somebody has shut it down it stays so.
///
/// # Panics
///
/// On first use, if the system refuses to start threads.
pub fn global() -> &'static Scheduler {
    static GLOBAL: OnceLock<Scheduler> = OnceLock::new();
    GLOBAL.get_or_init(|| {
        let built = Scheduler::builder().build();
        built.expect("the threads of the process-wide scheduler could not be started")
    })
}
