//! What the driver, the workers and every handle share; and what each step of a task means for the
//! counts.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use wheel_core::TickLength;
use wheel_sync::atomic::{AtomicU64, Ordering};
use wheel_sync::{Mutex, RandomState};

use super::activity::{Activity, Caller};
use super::closing::Closing;
use super::counters::Counters;
use super::dead_letters::DeadQueue;
use super::events::Events;
use super::gate::Watch;
use super::history::Ended;
use super::hung::Hung;
#[cfg(feature = "serde")]
use super::kinds::Kinds;
use super::mark::Mark;
use super::pools::Routes;
use super::registry::Registry;
use super::sink::Fire;
use super::undone::Named;
use crate::clock::{Moment, Patience};
use crate::driver::Engine;
use crate::executor::Pool;
use crate::task::{Context, Occasion, Outcome, Task};

/// What goes on around every attempt: it calls the second one, which is the rest.
pub(crate) type Around = Box<dyn Fn(&Context, &dyn Fn() -> Outcome) -> Outcome + Send + Sync>;

pub(crate) struct Core {
    pub(crate) engine: Engine<Fire>,
    pub(crate) registry: Registry,
    pub(crate) activity: Activity,
    pub(crate) counters: Arc<Counters>,
    pub(crate) events: Arc<Events>,
    /// Tasks that are no longer in the registry while their last run is going.
    pub(crate) leaving: Mutex<HashMap<u64, Arc<Task>, RandomState>>,
    /// Tasks whose run failed while the scheduler shut down, and would have been tried again.
    pub(crate) interrupted: Mutex<Vec<Named>>,
    pub(crate) dead: DeadQueue,
    #[cfg(feature = "serde")]
    pub(super) kinds: Kinds,
    /// Handlers that go on although the time of their attempts is over.
    pub(crate) hung: Hung,
    pub(crate) ended: Box<Ended>,
    /// The first one is the outermost.
    pub(crate) around: Box<[Around]>,
    /// What is drawn at random depends on it.
    pub(crate) seed: u64,
    pub(super) closing: Closing,
    /// `None` if the user brought an executor.
    pub(super) pool: Option<Arc<Pool>>,
    /// Those with a name.
    pub(super) named_pools: Box<[Arc<Pool>]>,
    pub(super) routes: Routes,
    pub(super) gate: Arc<Watch>,
    pub(super) tick: TickLength,
    pub(crate) misfire_threshold: Duration,
    pub(super) next_serial: AtomicU64,
}

impl Core {
    /// A number that no other task of this scheduler has.
    pub(super) fn serial(&self) -> u64 {
        // Relaxed: it need only be different each time. [O71]
        self.next_serial.fetch_add(1, Ordering::Relaxed)
    }

    /// The start of the tick at which something that is due at `due` comes.
    pub(crate) fn tick_start(&self, due: Moment) -> Moment {
        Moment::of_tick(due.tick_ceil(self.tick), self.tick)
    }

    /// The name of a pool; `None` for the one that has none.
    pub(crate) fn pool_name(&self, pool: usize) -> Option<&str> {
        self.routes.name(pool)
    }

    /// All pools that are the scheduler's own.
    pub(super) fn pools(&self) -> impl Iterator<Item = &Arc<Pool>> {
        self.pool.iter().chain(&self.named_pools)
    }

    /// An attempt of a run starts at `now`.
    pub(crate) fn note_started(&self, task: &Task, occasion: &Occasion, now: Moment) {
        let late = now.since(occasion.late_from);
        self.counters.attempt_started(task.pool(), late);
        if now < occasion.due {
            self.counters.run_was_early();
        }
        if late > self.misfire_threshold {
            task.counts().run_misfired();
        }
    }

    /// So many runs that waited for a worker will not start; their jobs are still in the queue. Not
    /// for the driver.
    pub(crate) fn note_withdrawn(&self, queued: usize) {
        for _ in 0..queued {
            self.activity.end();
            self.note_void_job();
        }
        if queued == 0 {
            self.activity.tell();
        }
    }

    /// Waits until no run waits or goes, for `limit` of real time at most. Whether that came about.
    pub(super) fn wait_idle(&self, limit: Duration) -> bool {
        let caller = self.caller();
        // On the driver thread itself nobody can wait for the driver, nor for what it would run
        // after this.
        let is_driver_thread = self.engine.is_driver_thread();
        let limit = if is_driver_thread {
            Duration::ZERO
        } else {
            limit
        };
        let patience = Patience::new(limit);
        if !is_driver_thread {
            // What is due may still be on its way.
            let (mark, wait) = Mark::new();
            // A closed engine hands nothing over any more; the mark comes back and is dropped,
            // which ends the wait.
            let _ = self.engine.after(Duration::ZERO, Fire::Mark(mark));
            wait.wait(patience);
        }
        self.wait_for_runs(caller, patience) == 0
    }

    /// Waits for those that wait or go already. How many are left when patience ends.
    pub(super) fn wait_for_runs(&self, caller: Caller, patience: Patience) -> usize {
        let is_void = |excuse| self.hung.voids(excuse);
        self.activity.wait_idle(caller, patience, is_void)
    }

    /// A task that was added could not be armed: its user is told that it was refused.
    pub(crate) fn note_refused(&self) {
        self.counters.task_refused();
        self.activity.tell();
    }

    fn note_void_job(&self) {
        // Which of them has the job nobody knows here, and counting it too often costs a sweep.
        self.pools().for_each(|pool| pool.note_void());
        if self.gate.note_void() {
            let now = self.engine.clock().now();
            let sweep = Fire::Sweep(self.engine.clone());
            // A closed engine drops all that waits.
            let _ = self.engine.at_moment(now, sweep);
        }
    }
}

impl Drop for Core {
    /// No handle of the scheduler or of a task of it is left.
    fn drop(&mut self) {
        self.events.close();
    }
}
