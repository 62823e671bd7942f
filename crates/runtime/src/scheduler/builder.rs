//! How a scheduler is set up.

use std::fmt;
use std::hash::BuildHasher;
use std::sync::Arc;
use std::time::Duration;

use wheel_core::TickLength;
use wheel_sync::atomic::AtomicU64;
use wheel_sync::{Mutex, RandomState};

use super::Scheduler;
use super::activity::Activity;
use super::closing::Closing;
use super::core::{Around, Core};
use super::counters::Counters;
use super::dead_letters::DeadQueue;
use super::history::Ended;
use super::registry::Registry;
use super::sink::{Fire, TaskSink};
use crate::clock::Clock;
use crate::driver::{Engine, EngineSettings};
use crate::error::BuildError;
use crate::executor::{Executor, Pool};
use crate::task::{Context, IntoOutcome, Outcome};

const QUEUE_DEFAULT: usize = 100_000;
const QUEUE_MAX: u128 = 1 << 24;
const DEAD_LETTERS_DEFAULT: usize = 1_000;
const DEAD_LETTERS_MAX: u128 = 1 << 24;
const HISTORY_DEFAULT: usize = 1_000;
const HISTORY_MAX: u128 = 1 << 24;
const MISFIRE_DEFAULT: Duration = Duration::from_secs(60);

/// Sets up a [`Scheduler`]. Every setting has a default.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use wheel_runtime::Scheduler;
///
/// let scheduler = Scheduler::builder()
///     .workers(4)
///     .queue_capacity(10_000)
///     .misfire_threshold(Duration::from_secs(5))
///     .build()?;
/// # drop(scheduler);
/// # Ok::<(), wheel_runtime::BuildError>(())
/// ```
#[must_use = "a builder does nothing until it is built"]
pub struct SchedulerBuilder {
    engine: EngineSettings,
    workers: Option<usize>,
    executor: Option<Arc<dyn Executor>>,
    queue_max: usize,
    tasks_max: Option<usize>,
    misfire_threshold: Duration,
    dead_letters_max: usize,
    history_max: usize,
    around: Vec<Around>,
    seed: Option<u64>,
    thread_name: String,
}

impl SchedulerBuilder {
    pub(super) fn new() -> SchedulerBuilder {
        SchedulerBuilder {
            engine: EngineSettings::default(),
            workers: None,
            executor: None,
            queue_max: QUEUE_DEFAULT,
            tasks_max: None,
            misfire_threshold: MISFIRE_DEFAULT,
            dead_letters_max: DEAD_LETTERS_DEFAULT,
            history_max: HISTORY_DEFAULT,
            around: Vec::new(),
            seed: None,
            thread_name: "wheel".to_owned(),
        }
    }

    /// How many threads run handlers: 1 to 1024; as many as the machine has cores unless told
    /// otherwise.
    pub fn workers(mut self, workers: usize) -> SchedulerBuilder {
        self.workers = Some(workers);
        self
    }

    /// Runs handlers there instead of on workers of the scheduler's own. Shutting it down is up to
    /// whoever made it.
    ///
    /// [`workers`](SchedulerBuilder::workers) has no meaning then. An
    /// [`InlineExecutor`](crate::InlineExecutor) runs them on the driver thread, for tests and
    /// simulations on a [`ManualClock`](crate::ManualClock).
    pub fn executor(mut self, executor: impl Executor) -> SchedulerBuilder {
        self.executor = Some(Arc::new(executor));
        self
    }

    /// How many runs may wait for a worker before the queue counts as full: 1 to 16,777,216;
    /// 100,000 unless told otherwise.
    ///
    /// A full queue stalls nothing: what is due beyond it waits behind it in due order, and is
    /// counted in [`Stats::queue_full`](crate::Stats::queue_full). A task waits there once at most.
    pub fn queue_capacity(mut self, runs: usize) -> SchedulerBuilder {
        self.queue_max = runs;
        self
    }

    /// How many live tasks there may be, from 1; more are refused. Without a limit unless told
    /// otherwise.
    pub fn max_tasks(mut self, tasks: usize) -> SchedulerBuilder {
        self.tasks_max = Some(tasks);
        self
    }

    /// A run that starts later than this is a misfire, to which the task's
    /// [`Misfire`](crate::Misfire) policy applies; 60 s unless told otherwise.
    pub fn misfire_threshold(mut self, late: Duration) -> SchedulerBuilder {
        self.misfire_threshold = late;
        self
    }

    /// How many [dead letters](crate::Scheduler::dead_letters) are kept: 0 to 16,777,216; 1,000
    /// unless told otherwise. Beyond that the oldest one goes, and
    /// [`Stats::dead_letters_dropped`](crate::Stats::dead_letters_dropped) counts it.
    pub fn dead_letters(mut self, letters: usize) -> SchedulerBuilder {
        self.dead_letters_max = letters;
        self
    }

    /// How many tasks that have ended are kept in the [history](crate::Scheduler::history): 0 to
    /// 16,777,216; 1,000 unless told otherwise. Beyond that the one that ended first is forgotten.
    pub fn history(mut self, tasks: usize) -> SchedulerBuilder {
        self.history_max = tasks;
        self
    }

    /// Calls `interceptor` around every attempt of every run, on its worker. It gets the context,
    /// and a function that goes on: to the next interceptor, or to the handler. The first one that
    /// is given is the outermost. A panic of the handler comes to it as a
    /// [`Failure`](Outcome::Failure); one of its own counts as one of the handler.
    ///
    /// An interceptor that does not go on has judged the run itself. Who gives none pays nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::{Duration, Instant};
    /// use wheel_runtime::Scheduler;
    ///
    /// let logging = Scheduler::builder().around(|run, go_on| {
    ///     let start = Instant::now();
    ///     let outcome = go_on();
    ///     println!("{} run {}: {outcome:?} after {:?}", run.id(), run.run(), start.elapsed());
    ///     outcome
    /// });
    /// let scheduler = logging.build()?;
    /// scheduler.task("hello").after(Duration::ZERO).run(|_| ())?.wait();
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn around<F, O>(mut self, interceptor: F) -> SchedulerBuilder
    where
        F: Fn(&Context, &dyn Fn() -> Outcome) -> O + Send + Sync + 'static,
        O: IntoOutcome,
    {
        self.around.push(Box::new(move |context, go_on| {
            interceptor(context, go_on).into_outcome()
        }));
        self
    }

    /// What is drawn at random, such as the [jitter](crate::RetryJitter) of retries, is the same
    /// for the same seed; another one in each scheduler unless told otherwise.
    pub fn seed(mut self, seed: u64) -> SchedulerBuilder {
        self.seed = Some(seed);
        self
    }

    /// The clock to live by; [`SystemClock::new`](crate::SystemClock::new) unless told otherwise,
    /// which stands still while the machine is suspended. Tests give a clone of their
    /// [`ManualClock`](crate::ManualClock).
    pub fn clock(mut self, clock: impl Into<Clock>) -> SchedulerBuilder {
        self.engine.clock = Some(clock.into());
        self
    }

    /// The tick that durations are rounded up to: 1 ms unless told otherwise, 10 us at least, 1 ms
    /// at most, and a divisor of 1 ms.
    pub fn tick(mut self, tick: Duration) -> SchedulerBuilder {
        self.engine.tick = tick;
        self
    }

    /// Starts runs at their own instants instead of at the next tick: the driver sleeps until `spin`
    /// before one, 10 ms at most, and spins through the rest. Less late, at the price of a busy
    /// processor. What recurs within a tick or the stretch comes by ticks, and what follows the wall
    /// clock by milliseconds. Off unless told otherwise; without meaning on a manual clock.
    pub fn precise_wait(mut self, spin: Duration) -> SchedulerBuilder {
        self.engine.spin = spin;
        self
    }

    /// What the threads are called: `NAME-driver`, `NAME-worker-0` and so on; `wheel` unless told
    /// otherwise.
    pub fn thread_name(mut self, name: impl Into<String>) -> SchedulerBuilder {
        self.thread_name = name.into().replace('\0', "");
        self
    }

    /// Starts the driver thread and the workers.
    ///
    /// # Errors
    ///
    /// [`BuildError`] says which number is not possible and what would be, or that the system
    /// refuses a thread. Nothing is left running then.
    pub fn build(mut self) -> Result<Scheduler, BuildError> {
        BuildError::check("queue_capacity", self.queue_max as u128, 1..=QUEUE_MAX)?;
        let letters_max = self.dead_letters_max;
        BuildError::check("dead_letters", letters_max as u128, 0..=DEAD_LETTERS_MAX)?;
        let history_max = self.history_max;
        BuildError::check("history", history_max as u128, 0..=HISTORY_MAX)?;
        let tasks_max = self.tasks_max.unwrap_or(usize::MAX);
        BuildError::check("max_tasks", tasks_max as u128, 1..=usize::MAX as u128)?;
        let engine = std::mem::take(&mut self.engine);
        let config = engine.checked(format!("{}-driver", self.thread_name))?;
        let tick = config.tick();
        let (executor, pool) = match self.executor.take() {
            Some(executor) => (executor, None),
            None => {
                let pool = Pool::builder().thread_name(format!("{}-worker", self.thread_name));
                let pool = match self.workers {
                    Some(workers) => pool.workers(workers),
                    None => pool,
                };
                let pool = Arc::new(pool.build()?);
                (Arc::clone(&pool) as Arc<dyn Executor>, Some(pool))
            }
        };
        let counters = Arc::new(Counters::new());
        let sink = TaskSink::new(executor, Arc::clone(&counters), self.queue_max);
        let engine = Engine::start(config, sink)?;
        Ok(self.assemble(engine, counters, pool, tick))
    }

    /// Not inlined: what it puts together takes kilobytes of stack under a checker, and starting an
    /// engine, which is over by now, takes as much.
    #[inline(never)]
    fn assemble(
        self,
        engine: Engine<Fire>,
        counters: Arc<Counters>,
        pool: Option<Arc<Pool>>,
        tick: TickLength,
    ) -> Scheduler {
        let core = Core {
            engine,
            registry: Registry::new(self.tasks_max),
            activity: Activity::new(),
            counters,
            leaving: Mutex::default(),
            interrupted: Mutex::default(),
            dead: DeadQueue::new(self.dead_letters_max),
            ended: Box::new(Ended::new(self.history_max)),
            around: self.around.into(),
            seed: self.seed.unwrap_or_else(|| RandomState::new().hash_one(0)),
            closing: Closing::new(),
            pool,
            tick,
            misfire_threshold: self.misfire_threshold,
            next_serial: AtomicU64::new(1),
        };
        Scheduler::of(Arc::new(core))
    }
}

impl fmt::Debug for SchedulerBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SchedulerBuilder")
            .field("engine", &self.engine)
            .field("workers", &self.workers)
            .field("queue_capacity", &self.queue_max)
            .field("max_tasks", &self.tasks_max)
            .field("misfire_threshold", &self.misfire_threshold)
            .field("dead_letters", &self.dead_letters_max)
            .field("history", &self.history_max)
            .field("around", &self.around.len())
            .field("seed", &self.seed)
            .field("thread_name", &self.thread_name)
            .finish_non_exhaustive()
    }
}
