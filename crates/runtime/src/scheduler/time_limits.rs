//! How long a task may take, and what it carries: the part of its builder that is about that.

use std::any::Any;
use std::time::Duration;

use super::submit::TaskBuilder;
use crate::panics::discard;
use crate::policy::PolicyError;
use crate::task::Terms;

impl<'s> TaskBuilder<'s> {
    /// Each attempt of a run has this much time, from the call of its handler; [`Duration::MAX`],
    /// as no call at all, means no limit. Rounded up to the tick: never cut short.
    ///
    /// When its time is over the attempt has failed, with the error `timed out after` and the limit.
    /// Its [token](crate::Context::token) is set, and what the handler still does or returns is of
    /// no interest: a [`retry`](TaskBuilder::retry) policy decides about another attempt, which does
    /// not wait for it, nor does the next run. Without a policy, and without anything else to come,
    /// the task ends as [`TimedOut`](crate::TaskState::TimedOut). Nothing stops a handler by force:
    /// one that ignores its token keeps its thread, and is listed by
    /// [`Scheduler::hung`](crate::Scheduler::hung).
    ///
    /// A handler that returns when its time is over by the clock is over time, also if nobody had
    /// noticed yet. So on an [`InlineExecutor`](crate::InlineExecutor), where it keeps the driver
    /// itself, its token is not set while it runs, but the attempt ends the same.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use wheel_runtime::{Context, Scheduler, TaskState};
    ///
    /// /// Would poll for ever, and stops when it should.
    /// fn poll(run: &Context) -> Result<(), String> {
    ///     while !run.token().wait_timeout(Duration::from_secs(1)) {}
    ///     Err("nobody wants to know any more".to_owned())
    /// }
    ///
    /// let scheduler = Scheduler::builder().build()?;
    /// let poll = scheduler.task("poll").after(Duration::ZERO).timeout(Duration::from_millis(5)).run(poll)?;
    /// assert_eq!(poll.wait(), TaskState::TimedOut);
    /// assert_eq!(poll.info().last_error.as_deref(), Some("timed out after 5ms"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn timeout(mut self, limit: Duration) -> TaskBuilder<'s> {
        self.terms().timeout = Some(limit);
        self
    }

    /// Each run has this much time in all, with every attempt and the waiting between them, from the
    /// instant at which it is due; of several occurrences that it stands for, the latest.
    /// [`Duration::MAX`], as no call at all, means no limit. Rounded up to the tick.
    ///
    /// An attempt that is going then is over, as by a [`timeout`](TaskBuilder::timeout). An attempt
    /// that would be due later is not waited for, and a run that a worker gets to later is not
    /// begun: it counts as a run that failed, its error says that the deadline has passed, and with
    /// a [`retry`](TaskBuilder::retry) policy it is a dead letter, given up as
    /// [`PastDeadline`](crate::GaveUp::PastDeadline). A run that is replayed has all the time again.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use wheel_runtime::{Retry, Scheduler, TaskState};
    ///
    /// let scheduler = Scheduler::builder().build()?;
    /// let quote = scheduler.task("quote").after(Duration::ZERO).deadline(Duration::from_secs(10));
    /// let quote = quote.retry(Retry::fixed(Duration::from_secs(60)));
    /// // Nobody waits for a minute if all is over in ten seconds.
    /// assert_eq!(quote.run(|_| Err("the market is closed"))?.wait(), TaskState::Dead);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn deadline(mut self, limit: Duration) -> TaskBuilder<'s> {
        self.terms().deadline = Some(limit);
        self
    }

    /// Every run carries this value: [`Context::value`](crate::Context::value) finds it by its type.
    /// Of several of one type, the last one counts.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use wheel_runtime::{Context, Scheduler};
    ///
    /// struct Customer(&'static str);
    ///
    /// fn remind(run: &Context) {
    ///     let customer = run.value::<Customer>().expect("it was given");
    ///     println!("dear {}, ...", customer.0);
    /// }
    ///
    /// let scheduler = Scheduler::builder().build()?;
    /// scheduler.task("remind-7").after(Duration::ZERO).value(Customer("Ada")).run(remind)?.wait();
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn value<T: Any + Send + Sync>(mut self, value: T) -> TaskBuilder<'s> {
        discard(self.terms().values.set(value));
        self
    }

    pub(super) fn terms(&mut self) -> &mut Terms {
        self.terms.get_or_insert_default()
    }
}

/// Whether the limits are possible.
pub(super) fn check(terms: &Terms) -> Result<(), PolicyError> {
    check_limit("timeout", terms.timeout)?;
    check_limit("deadline", terms.deadline)
}

pub(super) fn check_limit(field: &'static str, limit: Option<Duration>) -> Result<(), PolicyError> {
    match limit {
        Some(Duration::ZERO) => {
            let wanted = "longer than that, or Duration::MAX for no limit";
            Err(PolicyError::new(field, "0", wanted))
        }
        _ => Ok(()),
    }
}
