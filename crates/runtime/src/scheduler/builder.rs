//! How a scheduler is set up.

use std::fmt;
use std::hash::BuildHasher;
use std::sync::Arc;
use std::time::Duration;

use wheel_sync::atomic::AtomicU64;
use wheel_sync::{Mutex, RandomState};

use super::Scheduler;
use super::activity::Activity;
use super::closing::Closing;
use super::core::{Around, Core};
use super::counters::Counters;
use super::dead_letters::DeadQueue;
use super::events::Events;
use super::gate::{Gate, Watch};
use super::history::Ended;
use super::hung::Hung;
use super::in_turn::InTurn;
#[cfg(feature = "serde")]
use super::kinds::Kinds;
use super::numbers::NAMES_DEFAULT;
use super::pools::{PoolSpec, Routes};
use super::registry::Registry;
use super::sink::{Line, TaskSink};
use crate::clock::Clock;
use crate::driver::{Engine, EngineSettings};
use crate::error::BuildError;
use crate::executor::{Executor, Pool, PoolBuilder, Workers};
use crate::policy::{AGEING_DEFAULT, OnFull};
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
    workers: Option<Workers>,
    executor: Option<Arc<dyn Executor>>,
    pools: Vec<PoolSpec>,
    ageing: Duration,
    keep_alive: Option<Duration>,
    lent_max: Option<usize>,
    on_full: OnFull,
    queue_max: usize,
    tasks_max: Option<usize>,
    misfire_threshold: Duration,
    dead_letters_max: usize,
    history_max: usize,
    pub(super) names_max: usize,
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
            pools: Vec::new(),
            ageing: AGEING_DEFAULT,
            keep_alive: None,
            lent_max: None,
            on_full: OnFull::Wait,
            queue_max: QUEUE_DEFAULT,
            tasks_max: None,
            misfire_threshold: MISFIRE_DEFAULT,
            dead_letters_max: DEAD_LETTERS_DEFAULT,
            history_max: HISTORY_DEFAULT,
            names_max: NAMES_DEFAULT,
            around: Vec::new(),
            seed: None,
            thread_name: "wheel".to_owned(),
        }
    }

    /// How many threads run handlers, or between how many: 1 to 1024; as many as the machine has cores
    /// unless told otherwise. A pool with a range grows with what waits and shrinks when it is idle:
    /// [`Workers`].
    pub fn workers(mut self, workers: impl Into<Workers>) -> SchedulerBuilder {
        self.workers = Some(workers.into());
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

    /// Adds a pool of workers for tasks that name it, or that have its labels: [`PoolSpec`].
    pub fn pool(mut self, pool: PoolSpec) -> SchedulerBuilder {
        self.pools.push(pool);
        self
    }

    /// How long a run waits for each class of [`Priority`](crate::Priority) that it gains, from 1 ms;
    /// 1 s unless told otherwise, and with [`Duration::MAX`] none is ever gained. Waiting begins when
    /// the driver finds the run due. In pools of the scheduler's own; an executor of yours has its
    /// own order.
    pub fn ageing(mut self, period: Duration) -> SchedulerBuilder {
        self.ageing = period;
        self
    }

    /// How long a worker has nothing to do before it leaves, where there are more than the least; 10 s
    /// unless told otherwise. Real time, whatever the clock.
    pub fn keep_alive(mut self, idle: Duration) -> SchedulerBuilder {
        self.keep_alive = Some(idle);
        self
    }

    /// How many workers whose handlers do not return after their time are replaced at a time, in each
    /// pool: 0 to 1024; as many as the pool has workers unless told otherwise. With 0 the number of
    /// threads is strict.
    pub fn replace_hung(mut self, workers: usize) -> SchedulerBuilder {
        self.lent_max = Some(workers);
        self
    }

    /// What becomes of runs that are due while the queue is full; [`OnFull::Wait`] unless told
    /// otherwise.
    pub fn on_full(mut self, on_full: OnFull) -> SchedulerBuilder {
        self.on_full = on_full;
        self
    }

    /// How many runs may wait for a worker before the queue counts as full: 1 to 16,777,216;
    /// 100,000 unless told otherwise.
    ///
    /// A full queue stalls nothing: unless [`on_full`](SchedulerBuilder::on_full) says otherwise, what
    /// is due beyond it waits behind it in the same order. It is counted in
    /// [`Stats::queue_full`](crate::Stats::queue_full). Each pool has a queue of its own.
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
    pub fn build(self) -> Result<Scheduler, BuildError> {
        BuildError::check("queue_capacity", self.queue_max as u128, 1..=QUEUE_MAX)?;
        let letters_max = self.dead_letters_max;
        BuildError::check("dead_letters", letters_max as u128, 0..=DEAD_LETTERS_MAX)?;
        let history_max = self.history_max;
        BuildError::check("history", history_max as u128, 0..=HISTORY_MAX)?;
        let tasks_max = self.tasks_max.unwrap_or(usize::MAX);
        BuildError::check("max_tasks", tasks_max as u128, 1..=usize::MAX as u128)?;
        let config = self
            .engine
            .checked(format!("{}-driver", self.thread_name))?;
        let tick = config.tick();
        let routes = Routes::new(&self.pools)?;
        let setup = PoolSetup {
            ageing: self.ageing,
            keep_alive: self.keep_alive,
            lent_max: self.lent_max,
            kept_max: (self.on_full == OnFull::DropOldest).then_some(self.queue_max),
        };
        // Checked also where the executor is the user's.
        setup.builder("").check()?;
        let mut lines = Vec::new();
        let pool = match self.executor {
            Some(executor) => {
                // Which of its jobs is the oldest, it knows alone.
                let on_full = match self.on_full {
                    OnFull::DropOldest => OnFull::Reject,
                    other => other,
                };
                lines.push(Line::new(executor, on_full));
                None
            }
            None => {
                let pool = setup.builder(&format!("{}-worker", self.thread_name));
                let pool = match self.workers {
                    Some(workers) => pool.workers(workers),
                    None => pool,
                };
                Some(Arc::new(pool.build()?))
            }
        };
        let mut named_pools = Vec::new();
        for spec in self.pools {
            let pool = setup.builder(&format!("{}-{}", self.thread_name, spec.name));
            named_pools.push(Arc::new(pool.workers(spec.workers).build()?));
        }
        let own_pools = pool.iter().chain(&named_pools);
        lines.extend(own_pools.map(|pool| Line::new(Arc::clone(pool) as _, self.on_full)));
        let gate = Arc::<Watch>::default();
        let slack = tick.duration(1);
        let at_gate = Gate::new(self.ageing, slack, Arc::clone(&gate));
        let counters = Arc::new(Counters::new(1 + named_pools.len(), self.names_max));
        let events = Events::new(config.clock().clone());
        let (counts, hub) = (Arc::clone(&counters), Arc::clone(&events));
        let sink = TaskSink::new(lines, at_gate, counts, hub, self.queue_max);
        let engine = match config.is_by_hand() {
            true => Engine::start(config, InTurn::new(sink))?,
            false => Engine::start(config, sink)?,
        };
        let core = Core {
            engine,
            registry: Registry::new(self.tasks_max),
            activity: Activity::new(),
            counters,
            events,
            leaving: Mutex::default(),
            interrupted: Mutex::default(),
            dead: DeadQueue::new(letters_max),
            #[cfg(feature = "serde")]
            kinds: Kinds::new(self.tasks_max),
            hung: Hung::default(),
            ended: Box::new(Ended::new(history_max)),
            around: self.around.into(),
            seed: self.seed.unwrap_or_else(|| RandomState::new().hash_one(0)),
            closing: Closing::new(),
            pool,
            named_pools: named_pools.into(),
            routes,
            gate,
            tick,
            misfire_threshold: self.misfire_threshold,
            next_serial: AtomicU64::new(1),
        };
        Ok(Scheduler::of(Arc::new(core)))
    }
}

/// What all pools of a scheduler have in common.
struct PoolSetup {
    ageing: Duration,
    keep_alive: Option<Duration>,
    lent_max: Option<usize>,
    kept_max: Option<usize>,
}

impl PoolSetup {
    fn builder(&self, thread_name: &str) -> PoolBuilder {
        let mut pool = Pool::builder().thread_name(thread_name).ageing(self.ageing);
        if let Some(idle) = self.keep_alive {
            pool = pool.keep_alive(idle);
        }
        if let Some(max) = self.lent_max {
            pool = pool.replace_hung(max);
        }
        if let Some(max) = self.kept_max {
            pool = pool.drop_oldest_beyond(max);
        }
        pool
    }
}

impl fmt::Debug for SchedulerBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SchedulerBuilder")
            .field("engine", &self.engine)
            .field("workers", &self.workers)
            .field("pools", &self.pools)
            .field("ageing", &self.ageing)
            .field("keep_alive", &self.keep_alive)
            .field("replace_hung", &self.lent_max)
            .field("on_full", &self.on_full)
            .field("queue_capacity", &self.queue_max)
            .field("max_tasks", &self.tasks_max)
            .field("misfire_threshold", &self.misfire_threshold)
            .field("dead_letters", &self.dead_letters_max)
            .field("history", &self.history_max)
            .field("max_names", &self.names_max)
            .field("around", &self.around.len())
            .field("seed", &self.seed)
            .field("thread_name", &self.thread_name)
            .finish_non_exhaustive()
    }
}
