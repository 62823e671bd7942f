//! The bare door: callbacks that run after a delay or at an instant.
//!
//! For services where a timeout is one of a million: no names, no bookkeeping, no allocation beyond
//! the closure. `Timers` turns delays into dues and closures into values of the engine; the sinks
//! below turn what is due back into calls.
//!
//! ```text
//!  any thread                       driver thread                  executor, if one was given
//!  after, reset, cancel --> Engine --> Inline: call, catch panic
//!                                  \-> Handover: one batch a pass --> Job::run
//! ```
//!
//! With the feature `async` there are futures on the same engine, in `futures/`.
//!
//! A cancelled closure is dropped by whoever cancelled it, one that never fired by whoever shut the
//! engine down; never under a lock.

mod builder;
#[cfg(feature = "async")]
mod futures;
mod refused;
mod sink;

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

#[cfg(any(feature = "metrics", feature = "prometheus"))]
use crate::driver::EngineWatch;
use crate::driver::{Engine, EngineSnapshot, SnapshotError, TimerKey};
use crate::observe::{ClockJumps, Histogram, Lateness};
use crate::panics::{Reporter, discard};
pub use builder::TimersBuilder;
#[cfg(feature = "async")]
pub use futures::{
    Instant, Interval, MissedTicks, Sleep, SleepError, Timeout, TimeoutError, ZeroPeriod,
};
pub use refused::TimerError;
use sink::Callback;

/// Timers with callbacks, on one driver thread of their own.
///
/// A clone is the same engine. When the last one is dropped the driver thread stops, without being
/// waited for, and drops the callbacks that never ran; a pending callback that holds a clone keeps
/// the engine alive. Callbacks run on the driver thread and delay each other, so keep them short or
/// give an [executor](TimersBuilder::executor).
///
/// Never fires early, and each callback runs at most once. A panic of a callback is caught and
/// counted; the other timers go on. See [`on_panic`](TimersBuilder::on_panic).
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use wheel_runtime::{ManualClock, Timers};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let clock = ManualClock::new();
/// let timers = Timers::builder().clock(clock.clone()).build()?;
///
/// let idle = timers.after(Duration::from_secs(30), || println!("closing an idle connection"))?;
/// clock.advance(Duration::from_secs(20));
/// let idle = timers.reset(idle, Duration::from_secs(30)).expect("it has not fired yet");
/// assert!(timers.cancel(idle));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Timers {
    engine: Engine<Callback>,
    reporter: Arc<Reporter>,
}

impl Timers {
    /// Timers on the system's monotonic clock with a tick of 1 ms.
    pub fn builder() -> TimersBuilder {
        TimersBuilder::new()
    }

    /// Runs `callback` once, `delay` from now.
    ///
    /// The delay is rounded up to the tick. Zero runs as soon as the driver gets to it, never
    /// inside this call. `Duration::MAX`, and all that is beyond 584 years, is never: pending and
    /// cancellable. A callback that is late because the driver was, or the machine slept, runs as
    /// soon as possible. Does not block.
    ///
    /// What this thread wrote before the call is visible to the callback.
    ///
    /// # Errors
    ///
    /// [`TimerError`] gives the callback back: the limit of pending timers is reached, or the
    /// engine was shut down.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use wheel_runtime::Timers;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let timers = Timers::builder().build()?;
    /// let (done, wait) = std::sync::mpsc::channel();
    /// timers.after(Duration::from_millis(5), move || done.send("late by a hair").unwrap())?;
    /// assert_eq!(wait.recv()?, "late by a hair");
    /// # Ok(())
    /// # }
    /// ```
    pub fn after(
        &self,
        delay: Duration,
        callback: impl FnOnce() + Send + 'static,
    ) -> Result<TimerKey, TimerError> {
        let callback: Callback = Box::new(callback);
        self.engine.after(delay, callback).map_err(TimerError::of)
    }

    /// Runs `callback` once, when the wall clock reads `instant`.
    ///
    /// The instant is rounded up to a millisecond. What is past runs as soon as the driver gets to
    /// it, never inside this call. Follows the wall clock: when that is stepped forward over the
    /// instant the callback runs at once, when it is stepped back the callback waits. On Linux the
    /// driver is told of steps; elsewhere it looks once a second while such timers are pending.
    ///
    /// # Errors
    ///
    /// As [`after`](Timers::after).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::{Duration, SystemTime};
    /// use wheel_runtime::Timers;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let timers = Timers::builder().build()?;
    /// let tomorrow = SystemTime::now() + Duration::from_secs(86_400);
    /// let key = timers.at(tomorrow, || println!("a day has passed"))?;
    /// assert!(timers.cancel(key));
    /// # Ok(())
    /// # }
    /// ```
    pub fn at(
        &self,
        instant: SystemTime,
        callback: impl FnOnce() + Send + 'static,
    ) -> Result<TimerKey, TimerError> {
        let callback: Callback = Box::new(callback);
        self.engine
            .at_wall(instant, callback)
            .map_err(TimerError::of)
    }

    /// Moves a pending timer to `delay` from now, earlier or later than it was, and returns the key
    /// to use from now on. The old key does nothing any more.
    ///
    /// `None` if it is too late: the timer has fired, or was cancelled. Rounds as
    /// [`after`](Timers::after) does. A timer of [`at`](Timers::at) follows the monotonic clock
    /// from then on. Does not block; moving a timer to later wakes nobody.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use wheel_runtime::Timers;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let timers = Timers::builder().build()?;
    /// let first = timers.after(Duration::from_secs(30), || println!("idle"))?;
    /// let second = timers.reset(first, Duration::from_secs(30)).expect("it has not fired yet");
    /// assert_eq!(timers.reset(first, Duration::from_secs(30)), None, "the old key does nothing");
    /// assert!(timers.cancel(second));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use = "the old key does nothing any more; the timer is known by the new one"]
    pub fn reset(&self, key: TimerKey, delay: Duration) -> Option<TimerKey> {
        self.engine.reset(key, delay)
    }

    /// Cancels a pending timer and drops its callback here, before the call returns.
    ///
    /// True: the callback will never run. False: it has run, is running, has been handed to the
    /// executor, or was cancelled or reset before. Does not wait for a callback that is running.
    /// Does not block.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use wheel_runtime::Timers;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let timers = Timers::builder().build()?;
    /// let key = timers.after(Duration::from_secs(30), || println!("idle"))?;
    /// assert!(timers.cancel(key));
    /// assert!(!timers.cancel(key), "only once");
    /// # Ok(())
    /// # }
    /// ```
    pub fn cancel(&self, key: TimerKey) -> bool {
        self.engine.cancel(key).is_some()
    }

    /// How many timers are pending. Exact when no other thread is at it; a few off otherwise.
    pub fn len(&self) -> usize {
        self.engine.len()
    }

    /// True if nothing is pending. As exact as [`len`](Timers::len).
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What the engine has done until now. May be asked at any time; does not disturb the driver.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use wheel_runtime::{ManualClock, Timers};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let clock = ManualClock::new();
    /// let timers = Timers::builder().clock(clock.clone()).build()?;
    /// timers.after(Duration::from_millis(20), || ())?;
    /// timers.after(Duration::from_secs(20), || ())?;
    /// clock.run_for(Duration::from_secs(1));
    ///
    /// let stats = timers.stats();
    /// assert_eq!((stats.fired, stats.pending), (1, 1));
    /// assert_eq!(stats.lateness.max, Duration::ZERO);
    /// # Ok(())
    /// # }
    /// ```
    pub fn stats(&self) -> TimersStats {
        let engine = self.engine.stats();
        TimersStats {
            pending: engine.pending,
            fired: engine.fired,
            panics: self.reporter.panics(),
            refused: self.reporter.refused(),
            wakeups: engine.driver.wakeups,
            clock_jumps: engine.driver.jumps.total(),
            jumps: engine.driver.jumps,
            lateness: engine.lateness,
            driver_lag: engine.driver.lag,
            tick_lag: engine.driver.tick_lag,
        }
    }

    /// To be looked at without being kept alive.
    #[cfg(any(feature = "metrics", feature = "prometheus"))]
    pub(crate) fn watch(&self) -> TimersWatch {
        TimersWatch {
            engine: self.engine.watch(),
            reporter: Arc::clone(&self.reporter),
        }
    }

    /// What the engine holds, and where: how many timers each slot of its wheel has, how many wait in
    /// the intake and in the overflow. For people and their dashboards.
    ///
    /// The driver takes it in its next pass, for which it is woken, in some microseconds, whatever is
    /// pending; timers and callers go on. Waits for that pass: microseconds, but as long as a callback
    /// that runs on the driver thread, and a second at most. Allocates some 10 KB.
    ///
    /// # Errors
    ///
    /// [`SnapshotError`]: the engine was shut down, this is the driver thread, or the driver is held
    /// up.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use wheel_runtime::{ManualClock, Timers};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let timers = Timers::builder().clock(ManualClock::new()).build()?;
    /// timers.after(Duration::from_millis(20), || ())?;
    /// timers.after(Duration::from_secs(90), || ())?;
    ///
    /// let snapshot = timers.snapshot()?;
    /// assert_eq!(snapshot.pending(), 2);
    /// for level in &snapshot.wheel.levels {
    ///     println!("{:>4}: {} timers", level.name, level.entries());
    /// }
    /// assert_eq!(snapshot.wheel.levels[0].this_turn[20], 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn snapshot(&self) -> Result<EngineSnapshot, SnapshotError> {
        self.engine.snapshot()
    }

    /// Stops the engine, and returns how many timers never fired. Their callbacks are dropped.
    ///
    /// Waits for the callback that is running on the driver thread, then nothing more is started
    /// there; what has been handed to an executor may still run. Later calls of
    /// [`after`](Timers::after) are refused. A second call returns 0, and waits for the first.
    ///
    /// From inside a callback on the driver thread it does not wait: nothing is started after that
    /// callback, and what is pending is dropped when the callback has returned.
    ///
    /// An [executor](TimersBuilder::executor) is shut down after it, by whoever made it.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use wheel_runtime::Timers;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let timers = Timers::builder().build()?;
    /// timers.after(Duration::from_secs(30), || println!("idle"))?;
    /// assert_eq!(timers.shutdown(), 1);
    /// assert!(timers.after(Duration::ZERO, || ()).unwrap_err().is_closed());
    /// # Ok(())
    /// # }
    /// ```
    pub fn shutdown(&self) -> usize {
        if self.engine.is_driver_thread() {
            let pending = if self.engine.is_closed() {
                0
            } else {
                self.len()
            };
            // Returns nothing here: the driver itself drops what is left.
            discard(self.engine.close());
            return pending;
        }
        let unfired = self.engine.close();
        let count = unfired.len();
        discard(unfired);
        count
    }
}

impl fmt::Debug for Timers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Timers")
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}

/// Timers that are not kept alive by who looks at them.
#[cfg(any(feature = "metrics", feature = "prometheus"))]
#[derive(Clone)]
pub(crate) struct TimersWatch {
    engine: EngineWatch<Callback>,
    reporter: Arc<Reporter>,
}

#[cfg(any(feature = "metrics", feature = "prometheus"))]
impl TimersWatch {
    fn timers(&self) -> Option<Timers> {
        let reporter = Arc::clone(&self.reporter);
        let engine = self.engine.engine()?;
        Some(Timers { engine, reporter })
    }

    /// `None` if they are gone.
    pub(crate) fn stats(&self) -> Option<TimersStats> {
        self.timers().map(|timers| timers.stats())
    }

    /// Whether they are there and have not been shut down.
    pub(crate) fn is_up(&self) -> bool {
        self.timers()
            .is_some_and(|timers| !timers.engine.is_closed())
    }
}

/// What a [`Timers`] has done until now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TimersStats {
    /// Timers that are pending now.
    pub pending: usize,
    /// Callbacks that were called, or handed to the executor. Neither those cancelled nor those
    /// dropped at the shutdown.
    pub fired: u64,
    /// Callbacks that panicked.
    pub panics: u64,
    /// Callbacks that the executor did not take. They were dropped.
    pub refused: u64,
    /// How often the driver thread woke up.
    pub wakeups: u64,
    /// Jumps of the clocks that the driver has noticed, of whichever kind.
    pub clock_jumps: u64,
    /// Those by kind and direction, and the latest with its size.
    pub jumps: ClockJumps,
    /// How late callbacks were called, or handed to the executor, from the start of their due tick.
    pub lateness: Lateness,
    /// How late the driver itself was: from the start of a tick at which it had something to do to its
    /// look, once for each such tick. A busy or paused machine shows here, and so does a callback on
    /// the driver thread that takes longer than a tick.
    pub driver_lag: Lateness,
    /// The same against fixed bounds, which can be added up over processes.
    pub tick_lag: Histogram,
}
