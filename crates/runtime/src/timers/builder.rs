//! How a [`Timers`] is set up.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::Timers;
use super::sink::{Handover, Inline};
use crate::clock::Clock;
use crate::driver::{Engine, EngineSettings};
use crate::error::BuildError;
use crate::executor::Executor;
use crate::panics::{PanicHook, Reporter};

/// Sets up a [`Timers`]. Every setting has a default.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use wheel_runtime::Timers;
///
/// let timers = Timers::builder()
///     .tick(Duration::from_micros(100))
///     .max_timers(1_000_000)
///     .thread_name("timeouts")
///     .on_panic(|message| eprintln!("timeout: {message}"))
///     .build()
///     .unwrap();
/// # drop(timers);
/// ```
#[must_use = "a builder does nothing until it is built"]
pub struct TimersBuilder {
    engine: EngineSettings,
    thread_name: String,
    executor: Option<Box<dyn Executor>>,
    on_panic: Option<PanicHook>,
}

impl TimersBuilder {
    pub(super) fn new() -> TimersBuilder {
        TimersBuilder {
            engine: EngineSettings::default(),
            thread_name: "wheel-timers".to_owned(),
            executor: None,
            on_panic: None,
        }
    }

    /// The clock to live by; [`SystemClock::new`](crate::SystemClock::new) unless told otherwise.
    pub fn clock(mut self, clock: impl Into<Clock>) -> TimersBuilder {
        self.engine.clock = Some(clock.into());
        self
    }

    /// The tick that delays are rounded up to: 1 ms by default, 10 us at least, 1 ms at most, and a
    /// divisor of 1 ms.
    pub fn tick(mut self, tick: Duration) -> TimersBuilder {
        self.engine.tick = tick;
        self
    }

    /// How many timers may be pending, from 1; more are refused with a
    /// [`TimerError`](crate::TimerError) that gives the callback back. Without a limit by default.
    pub fn max_timers(mut self, max: usize) -> TimersBuilder {
        self.engine.max_timers = Some(max);
        self
    }

    /// Runs the callbacks there, and not on the driver thread. The executor is only handed work:
    /// shutting it down is up to whoever made it. Give it an `Arc` and keep a clone for that.
    ///
    /// A callback that has been handed over can no longer be cancelled, and callbacks of one tick
    /// may overlap.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::Arc;
    /// use std::time::Duration;
    /// use wheel_runtime::{Pool, Timers};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let pool = Arc::new(Pool::builder().workers(2).build()?);
    /// let timers = Timers::builder().executor(Arc::clone(&pool)).build()?;
    /// timers.after(Duration::from_millis(1), || println!("on a worker"))?;
    ///
    /// // First what hands work over, then what runs it.
    /// timers.shutdown();
    /// pool.shutdown(Duration::from_secs(5))?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn executor(mut self, executor: impl Executor) -> TimersBuilder {
        self.executor = Some(Box::new(executor));
        self
    }

    /// Fires each timer at its own instant instead of at the next tick, in the order of those: the
    /// driver sleeps until `spin` before it, 10 ms at most, and spins through the rest.
    ///
    /// Takes lateness under a microsecond where a thread wakes up within `spin` (30 to 60 us on
    /// Linux, the upper end in a virtual machine), and costs a processor for that long at each
    /// wake-up. What is due within `spin` and a tick is in the driver's hands: it is no longer
    /// counted as pending, and too late to cancel or reset. A timer that was reset, and one of
    /// [`at`](crate::Timers::at), is rounded up and not spun for. Off by default; without meaning on
    /// a manual clock.
    pub fn precise_wait(mut self, spin: Duration) -> TimersBuilder {
        self.engine.spin = spin;
        self
    }

    /// The name of the driver thread, for debuggers and `top`. NUL characters are left out.
    pub fn thread_name(mut self, name: impl Into<String>) -> TimersBuilder {
        self.thread_name = name.into().replace('\0', "");
        self
    }

    /// Called with the message of each panic of a callback, on the thread where it happened. The
    /// default writes one line to standard error. The process's own panic hook
    /// ([`std::panic::set_hook`]) has been called by then.
    pub fn on_panic(mut self, hook: impl Fn(&str) + Send + Sync + 'static) -> TimersBuilder {
        self.on_panic = Some(Box::new(hook));
        self
    }

    /// Starts the driver thread.
    ///
    /// # Errors
    ///
    /// [`BuildError`]: the tick or a number is not possible, or the system refuses a thread.
    pub fn build(self) -> Result<Timers, BuildError> {
        let config = self.engine.checked(self.thread_name)?;
        let reporter = Arc::new(Reporter::new(self.on_panic));
        let engine = match self.executor {
            None => Engine::start(config, Inline(Arc::clone(&reporter))),
            Some(executor) => Engine::start(config, Handover::new(executor, Arc::clone(&reporter))),
        }?;
        Ok(Timers { engine, reporter })
    }
}

impl fmt::Debug for TimersBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TimersBuilder")
            .field("engine", &self.engine)
            .field("thread_name", &self.thread_name)
            .finish_non_exhaustive()
    }
}
