//! Until when a run may go on, and contexts for what a handler starts, which have less time.
//!
//! ```text
//!  attempt:  token T, until 10:00:30           handler returns: T.end(), its children are set
//!     child(5 s):   token below T, until min(now + 5 s, 10:00:30), a timer in the engine
//!        child(1 min): token below that, until the same instant; no timer: those above have one
//! ```

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use super::Context;
use crate::clock::Moment;
use crate::driver::TimerKey;
use crate::scheduler::{Fire, Tidings, Told};
use crate::task::values::RunValues;
use crate::task::{StopReason, Task};

/// The state and the context of the attempt have its token, until it is set as over time. Who else
/// has it is the user: a clone, or a child.
const HOLDERS: usize = 2;

/// The timer of a child, which is cancelled with the last clone of its context.
pub(super) struct Clockwork {
    task: Arc<Task>,
    timer: TimerKey,
}

impl Drop for Clockwork {
    fn drop(&mut self) {
        // What comes back holds this very task, which is held here as well.
        drop(self.task.core.engine.cancel(self.timer));
    }
}

impl Context {
    /// When it must be over, as the wall clock stands now: the [timeout](crate::TaskBuilder::timeout)
    /// of the attempt, the [deadline](crate::TaskBuilder::deadline) of the run or the limit of a
    /// [child](Context::child), whichever comes first. `None` if nothing limits it.
    pub fn deadline(&self) -> Option<SystemTime> {
        let clock = self.task.core.engine.clock();
        let left = self.time_left()?;
        clock.wall().checked_add(left)
    }

    /// How long until then, on the monotonic clock; zero if that has passed, `None` if nothing
    /// limits it. What a handler gives to a socket or a query as its timeout.
    pub fn time_left(&self) -> Option<Duration> {
        let now = self.task.core.engine.clock().now();
        (self.until != Moment::NEVER).then(|| self.until.since(now))
    }

    /// A context for what the handler starts, on this thread or another one: `limit` from now is its
    /// deadline, or that of this context if it comes before. Its token is set when that of this
    /// context is, when its own time is over (rounded up to the tick), and when the handler has
    /// returned: nothing that a handler has started is meant to outlive it. Otherwise it is the same
    /// run, with the same values.
    ///
    /// [`Duration::MAX`] means no limit of its own. Does not wait.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use wheel_runtime::{Context, InlineExecutor, ManualClock, Scheduler, TaskState};
    ///
    /// /// Asks a server, for as long as its caller has time.
    /// fn ask(call: &Context) -> Result<(), String> {
    ///     let limit = call.time_left().unwrap_or(Duration::from_secs(60));
    ///     println!("the socket gets {limit:?}");
    ///     Ok(())
    /// }
    ///
    /// let clock = ManualClock::new();
    /// let scheduler = Scheduler::builder().clock(clock.clone()).executor(InlineExecutor).build()?;
    /// let task = scheduler.task("ask").after(Duration::ZERO).timeout(Duration::from_secs(30));
    /// let task = task.run(|run: &Context| {
    ///     let call = run.child(Duration::from_secs(5));
    ///     assert_eq!(call.time_left(), Some(Duration::from_secs(5)));
    ///     assert_eq!(run.child(Duration::MAX).time_left(), Some(Duration::from_secs(30)));
    ///     ask(&call)
    /// })?;
    /// clock.run_for(Duration::ZERO);
    /// assert_eq!(task.wait(), TaskState::Succeeded);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn child(&self, limit: Duration) -> Context {
        let engine = &self.task.core.engine;
        let token = self.token.child();
        let own = engine.clock().now().after(limit);
        // Or the timer of the one above, which may be dropped before.
        let mut clockwork = self.clockwork.clone();
        if limit.is_zero() {
            token.stop(StopReason::TimedOut);
        } else if own < self.until {
            let (task, token) = (Arc::clone(&self.task), token.clone());
            let what = Tidings::Stop(token, StopReason::TimedOut);
            let told = Fire::Tell(Told::new(task, what));
            // A closed engine is being shut down: the grace is the limit then.
            clockwork = engine.at_moment(own, told).ok().map(|timer| {
                let task = Arc::clone(&self.task);
                Arc::new(Clockwork { task, timer })
            });
        }
        Context {
            token,
            until: own.min(self.until),
            clockwork,
            ..self.clone()
        }
    }

    /// The handler has returned: what it has started is told, if there is anything. What the run
    /// carries comes back.
    pub(in crate::task) fn end(&self) -> Option<RunValues> {
        if self.token.is_shared_beyond(HOLDERS) {
            self.token.end();
        }
        self.values.get().cloned()
    }
}

/// The same context: for another thread. Its token is that of the original, and is not set when the
/// handler returns; a [child](Context::child) is what ends with it.
impl Clone for Context {
    fn clone(&self) -> Context {
        Context {
            task: Arc::clone(&self.task),
            last_error: self.last_error.clone(),
            token: self.token.clone(),
            terms: self.terms.clone(),
            values: OnceLock::from(self.shared_values().clone()),
            clockwork: self.clockwork.clone(),
            ..*self
        }
    }
}

impl fmt::Debug for Clockwork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Clockwork").finish_non_exhaustive()
    }
}
