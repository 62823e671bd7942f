//! What happens to the tasks of a scheduler, told as it happens to whoever listens.
//!
//! ```text
//!  a step of a task, under its lock --note (task/noted.rs)--> hub.rs: does anybody listen?
//!     one place for each who listens (place.rs): a queue with a bound <--/
//!       \--> receiver.rs: who listens takes one at a time, or sleeps
//! ```
//!
//! Ground rules: who tells waits for nobody. A queue that is full loses the event, and counts it.
//! Events of a task are told under its lock, so whoever listens hears of one task in the order in
//! which things happened to it. While nobody listens, telling is one relaxed load.

mod event;
mod hub;
mod place;
mod receiver;

use std::sync::Arc;

pub use event::{Event, EventKind};
pub(crate) use hub::{Events, Subject};
pub use receiver::{EventReceiver, NoEvent};

use super::Scheduler;

/// How many events wait for a receiver at most, unless told otherwise.
const CAPACITY: usize = 1024;

impl Scheduler {
    /// Listens to what happens to tasks from now on. Each receiver has a queue of its own, for 1024
    /// events: [`events_bounded`](Scheduler::events_bounded) has another number.
    ///
    /// Nobody waits for a receiver. What finds its queue full is lost to it, and it is told how many
    /// were: [`EventKind::Lost`], [`EventReceiver::dropped`].
    ///
    /// The events of one task come in the order in which things happened to it. Those of two tasks
    /// may be swapped against each other, if the two things happened at about the same time on two
    /// threads.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use wheel_runtime::{EventKind, InlineExecutor, ManualClock, Scheduler, TaskState};
    ///
    /// let clock = ManualClock::new();
    /// let scheduler = Scheduler::builder().clock(clock.clone()).executor(InlineExecutor).build()?;
    /// let events = scheduler.events();
    /// scheduler.task("print").after(Duration::from_secs(1)).run(|_| Err("no paper"))?;
    /// clock.run_for(Duration::from_secs(1));
    /// scheduler.shutdown(Duration::from_secs(5))?;
    ///
    /// // It ends when the scheduler has.
    /// for event in events {
    ///     match event.kind {
    ///         EventKind::Started { run, late, .. } => println!("run {run}, {late:?} late"),
    ///         EventKind::Finished { outcome, error, .. } => {
    ///             assert_eq!(outcome, TaskState::Failed);
    ///             assert_eq!(error.as_deref(), Some("no paper"));
    ///         }
    ///         other => println!("{other:?}"),
    ///     }
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn events(&self) -> EventReceiver {
        self.events_bounded(CAPACITY)
    }

    /// As [`events`](Scheduler::events), with room for so many events; 0 counts as 1. Memory is
    /// taken as they come.
    pub fn events_bounded(&self, capacity: usize) -> EventReceiver {
        EventReceiver::new(Arc::clone(&self.core.events), capacity.max(1))
    }
}
