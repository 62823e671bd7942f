//! What a scheduler says of itself in numbers, and what its runs are counted under.

#[cfg(any(feature = "metrics", feature = "prometheus"))]
use std::sync::{Arc, Weak};

use super::builder::SchedulerBuilder;
use super::submit::TaskBuilder;
use super::{Core, Scheduler};
use crate::clock::Moment;
use crate::executor::{Executor, Pool};
use crate::observe::{PoolStats, Stats};

/// How many names are counted apart, unless told otherwise.
pub(super) const NAMES_DEFAULT: usize = 200;

impl Scheduler {
    /// What the scheduler holds and has done until now. May be asked at any time, also after the
    /// shutdown. Waits for no run; takes some hundred microseconds, so once a second is fine.
    ///
    /// The [metrics](https://prometheus.io) of the features `metrics` and `prometheus` are these
    /// numbers.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use wheel_runtime::{InlineExecutor, ManualClock, Scheduler};
    ///
    /// let clock = ManualClock::new();
    /// let scheduler = Scheduler::builder().clock(clock.clone()).executor(InlineExecutor).build()?;
    /// for id in ["order-1001", "order-1002"] {
    ///     scheduler.task(id).name("order timeout").after(Duration::from_secs(1)).run(|_| ())?;
    /// }
    /// clock.run_for(Duration::from_secs(1));
    /// let stats = scheduler.stats();
    /// assert_eq!((stats.succeeded, stats.pending_timers), (2, 0));
    /// let orders = stats.by_name.iter().find(|name| name.name == "order timeout");
    /// assert_eq!(orders.unwrap().succeeded, 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn stats(&self) -> Stats {
        self.core.stats()
    }

    /// To be looked at without being kept alive.
    #[cfg(any(feature = "metrics", feature = "prometheus"))]
    pub(crate) fn watch(&self) -> SchedulerWatch {
        SchedulerWatch(Arc::downgrade(&self.core))
    }
}

/// A scheduler that is not kept alive by who looks at it.
#[cfg(any(feature = "metrics", feature = "prometheus"))]
#[derive(Clone)]
pub(crate) struct SchedulerWatch(Weak<Core>);

#[cfg(any(feature = "metrics", feature = "prometheus"))]
impl SchedulerWatch {
    /// `None` if it is gone.
    pub(crate) fn stats(&self) -> Option<Stats> {
        self.0.upgrade().map(|core| core.stats())
    }

    /// Whether it is there and has not been shut down.
    pub(crate) fn is_up(&self) -> bool {
        let core = self.0.upgrade();
        core.is_some_and(|core| !core.closing.has_begun() && !core.engine.is_closed())
    }
}

impl Core {
    fn stats(&self) -> Stats {
        let mut stats = self.counters.read();
        (stats.dead_letters, stats.dead_letters_dropped) = self.dead.counts();
        let engine = self.engine.stats();
        stats.pending_timers = engine.pending;
        stats.fired = engine.fired;
        stats.wakeups = engine.driver.wakeups;
        stats.clock_jumps = engine.driver.jumps.total();
        stats.jumps = engine.driver.jumps;
        stats.driver_lag = engine.driver.lag;
        stats.tick_lag = engine.driver.tick_lag;
        // The first one is the executor of the user's, if that took the place of a pool.
        stats.pools = vec![self.pool_stats(0, self.pool.as_deref())];
        let named = self.named_pools.iter().enumerate();
        let named = named.map(|(index, pool)| self.pool_stats(index + 1, Some(pool)));
        stats.pools.extend(named);
        for pool in &stats.pools {
            stats.workers += pool.workers;
            stats.idle_workers += pool.idle;
            stats.oldest_due = stats.oldest_due.max(pool.oldest_due);
            stats.start_delay.merge(&pool.start_delay);
        }
        for pool in self.pools() {
            stats.displaced += pool.displaced() as u64;
        }
        #[cfg(feature = "serde")]
        {
            stats.unresolved = self.kinds.unresolved_count();
        }
        stats.hung = self.hung.len();
        stats
    }

    fn pool_stats(&self, number: usize, pool: Option<&Pool>) -> PoolStats {
        let mut stats = PoolStats {
            name: self.pool_name(number).map(str::to_owned),
            start_delay: self.counters.start_delay(number),
            ..PoolStats::default()
        };
        if let Some(pool) = pool {
            stats.workers = pool.workers();
            stats.idle = pool.idle_workers().min(stats.workers);
            stats.depth = pool.queued();
            let oldest = pool.oldest_due_ns();
            let now = self.engine.clock().now();
            stats.oldest_due = oldest.map(|due| now.since(Moment::from_nanos(due)));
        }
        stats
    }
}

impl SchedulerBuilder {
    /// How many [names](TaskBuilder::name), and kinds, are counted apart; 200 unless told otherwise.
    /// The first ones that come are; what comes beyond is counted together, as `_other`.
    pub fn max_names(mut self, names: usize) -> SchedulerBuilder {
        self.names_max = names;
        self
    }
}

impl<'s> TaskBuilder<'s> {
    /// What the runs of the task are counted under, in [`Stats::by_name`] and in metrics: a sort of
    /// work, such as `order timeout`, that many tasks share. The id, which no two tasks share, is in
    /// no metric. Tasks without a name are counted together, as `_unnamed`. 1 to 256 bytes, without
    /// control characters.
    ///
    /// There should be few: [`max_names`](SchedulerBuilder::max_names). A task of a kind is counted
    /// under its kind, whatever its name.
    pub fn name(mut self, name: impl Into<String>) -> TaskBuilder<'s> {
        self.counted_as = Some(name.into().into_boxed_str());
        self
    }
}
