//! What a task may be told about order and limits: who goes first, with how many others, how often,
//! and where.

use super::limits::{AtOnce, Limits, Often};
use super::pools::Routes;
use super::submit::TaskBuilder;
use crate::policy::{Concurrency, Labels, PolicyError, Priority, RateLimit};

/// As it was asked for.
#[derive(Debug, Default, PartialEq)]
pub(super) struct OrderAsked {
    pub(super) priority: Priority,
    pub(super) labels: Labels,
    pub(super) pool: Option<String>,
    pub(super) concurrency: Option<Concurrency>,
    pub(super) rate: Option<RateLimit>,
}

impl<'s> TaskBuilder<'s> {
    /// Of what waits for a worker, a higher class goes first; [`Priority::Normal`] unless told
    /// otherwise.
    pub fn priority(mut self, priority: Priority) -> TaskBuilder<'s> {
        self.order().priority = priority;
        self
    }

    /// Labels the task: what it is for, in words of your own. A task goes to a
    /// [named pool](crate::PoolSpec) if it has all labels of it. Of two labels of one name the later
    /// one counts. Both texts have 1 to 256 bytes, without control characters; 64 labels at most.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use wheel_runtime::Scheduler;
    ///
    /// let scheduler = Scheduler::builder().build()?;
    /// let task = scheduler.task("x").after(Duration::ZERO).label("env", "can\nary");
    /// let error = task.run(|_| ()).unwrap_err();
    /// assert!(error.to_string().starts_with("label: "));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn label(mut self, name: impl Into<String>, value: impl Into<String>) -> TaskBuilder<'s> {
        self.order().labels.set(name.into(), value.into());
        self
    }

    /// Runs in the [named pool](crate::PoolSpec) `name`, whatever the labels.
    pub fn pool(mut self, name: impl Into<String>) -> TaskBuilder<'s> {
        self.order().pool = Some(name.into());
        self
    }

    /// Of the tasks that name one key, one run goes at once; or as many as a [`Concurrency`] says.
    /// The others wait, in the order in which they would go, and take no worker meanwhile.
    ///
    /// A run has its place from before it waits for a worker until its attempt is over; between two
    /// attempts it has none.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use wheel_runtime::{Concurrency, Scheduler};
    ///
    /// let scheduler = Scheduler::builder().build()?;
    /// for id in ["import", "export"] {
    ///     let task = scheduler.task(id).after(Duration::ZERO).concurrency_key("customer-7");
    ///     task.run(|run| println!("{} has customer 7 for itself", run.id()))?;
    /// }
    /// let scan = scheduler.task("scan").after(Duration::ZERO);
    /// scan.concurrency_key(Concurrency::key("disk").at_most(4)).run(|_| ())?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn concurrency_key(mut self, key: impl Into<Concurrency>) -> TaskBuilder<'s> {
        self.order().concurrency = Some(key.into());
        self
    }

    /// Starts no more often than that. A run beyond it waits, and takes no worker meanwhile. Without
    /// a [key](RateLimit::key) the tokens are those of the task; of a task of a kind, those of the
    /// kind.
    ///
    /// A task with a concurrency key as well takes both at once, when both are free; while one is
    /// not, runs behind it that need the other alone may pass.
    pub fn rate_limit(mut self, limit: RateLimit) -> TaskBuilder<'s> {
        self.order().rate = Some(limit);
        self
    }

    fn order(&mut self) -> &mut OrderAsked {
        self.order.get_or_insert_default()
    }
}

impl OrderAsked {
    /// What the task `id` carries of it, which is of this kind if it is of one.
    pub(super) fn checked(
        self,
        routes: &Routes,
        id: &str,
        kind: Option<&str>,
    ) -> Result<Limits, PolicyError> {
        self.labels.check()?;
        let pool = match &self.pool {
            Some(name) => routes.by_name(name)?,
            None => routes.by_labels(&self.labels, id),
        };
        let at_once = |concurrency: Concurrency| {
            let at_most = concurrency.checked()?;
            let key = concurrency.key.into();
            Ok(AtOnce { key, at_most })
        };
        let often = |limit: RateLimit| {
            let rate = limit.checked()?;
            // Those are keys that nobody can name.
            let key = limit.key.unwrap_or_else(|| match kind {
                Some(kind) => format!("\0kind {kind}"),
                None => format!("\0task {id}"),
            });
            let key = key.into();
            Ok(Often { key, rate })
        };
        Ok(Limits {
            priority: self.priority,
            runs_max: None,
            labels: self.labels,
            pool,
            concurrency: self.concurrency.map(at_once).transpose()?,
            rate: self.rate.map(often).transpose()?,
            series: None,
        })
    }
}
