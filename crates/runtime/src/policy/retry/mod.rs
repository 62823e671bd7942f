//! Whether, and after how long, a run that failed is tried again.
//!
//! Pure arithmetic: nothing here reads a clock, keeps a state or draws a random number of its own.
//! Every number works; what does not fit is the longest delay. No delay is shorter than a
//! millisecond, the longest tick, so that no policy can make a run spin.
//!
//! The back-off and the jitter are those of Brooker, "Exponential Backoff And Jitter", AWS 2015.

#[cfg(feature = "serde")]
mod written;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::PolicyError;
use super::draw::part;
use crate::duration::format;
use crate::panics::discard;

/// No attempt follows another one sooner.
pub(crate) const DELAY_MIN: Duration = Duration::from_millis(1);

const ATTEMPTS_DEFAULT: u32 = 5;
const FACTOR_DEFAULT: f64 = 2.0;

/// Tries a run again that has failed: how often, and after how long.
///
/// A run is one occurrence of a task; each try of it is an attempt, and `max_attempts` counts the
/// first one. Attempts of one run never overlap. While a run waits for its next attempt its task is
/// [`Retrying`](crate::TaskState::Retrying): the run counts as going for the overlap policy, and a
/// recurring task keeps its grid. A run that is not tried again is dead, and is kept in the
/// [dead letters](crate::Scheduler::dead_letters).
///
/// Delays count from the end of the attempt that failed, on the monotonic clock. They round up to
/// the tick, and are never shorter than 1 ms.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use wheel_runtime::{Context, Retry, RetryJitter, Scheduler, TaskState};
///
/// let scheduler = Scheduler::builder().build()?;
/// let retry = Retry::exponential(Duration::from_millis(2))
///     .max_delay(Duration::from_secs(60))
///     .max_attempts(4)
///     .jitter(RetryJitter::Equal);
/// let send = |run: &Context| match run.attempt() {
///     1 | 2 => Err("the server is busy"),
///     _ => Ok(()),
/// };
/// let mail = scheduler.task("mail").after(Duration::ZERO).retry(retry).run(send)?;
/// assert_eq!(mail.wait(), TaskState::Succeeded);
/// assert_eq!(mail.info().retried, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Retry {
    backoff: Backoff,
    jitter: Option<RetryJitter>,
    max_attempts: u32,
    max_delay: Duration,
    max_elapsed: Option<Duration>,
    retry_if: Option<Predicate>,
}

type Predicate = Arc<dyn Fn(&str) -> bool + Send + Sync>;

#[derive(Clone)]
enum Backoff {
    Fixed(Duration),
    Linear(Duration),
    Exponential { base: Duration, factor: f64 },
    Custom(Arc<dyn Fn(u32) -> Duration + Send + Sync>),
}

/// Spreads attempts, so that runs that failed together do not come back together.
///
/// What is drawn depends on the [seed](crate::SchedulerBuilder::seed) of the scheduler, the id of
/// the task, the run and the attempt, and on nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum RetryJitter {
    /// Anywhere between 1 ms and the delay of the back-off: spreads best.
    Full,
    /// Anywhere between half of the delay and all of it: keeps a distance.
    Equal,
}

/// Why a run was not tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum GaveUp {
    /// It had as many attempts as [`Retry::max_attempts`] allows.
    OutOfAttempts,
    /// The next attempt would have come after [`Retry::max_elapsed`].
    OutOfTime,
    /// [`Retry::retry_if`] said no.
    NotRetryable,
    /// The handler said so: [`Outcome::Permanent`](crate::Outcome::Permanent).
    Permanent,
    /// The [deadline](crate::TaskBuilder::deadline) of the run had passed, or the next attempt would
    /// have come after it.
    PastDeadline,
    /// The function of [`Retry::custom`] or [`Retry::retry_if`] panicked.
    PolicyPanicked,
}

/// What a policy says about an attempt that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    /// Another attempt, this long after the end of the last one.
    Again(Duration),
    GiveUp(GaveUp),
}

/// An attempt that failed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Failed<'a> {
    pub(crate) error: &'a str,
    /// Which attempt of its run it was, from 1.
    pub(crate) attempt: u32,
    /// Since the start of the first one.
    pub(crate) elapsed: Duration,
    /// The handler wants the next attempt after this long, whatever the back-off says.
    pub(crate) asked: Option<Duration>,
    /// A random number.
    pub(crate) draw: u64,
}

impl Retry {
    /// The same delay after each attempt.
    pub fn fixed(delay: Duration) -> Retry {
        Retry::of(Backoff::Fixed(delay))
    }

    /// `step` after the first attempt, twice that after the second, three times after the third.
    pub fn linear(step: Duration) -> Retry {
        Retry::of(Backoff::Linear(step))
    }

    /// `base` after the first attempt, and after each further one twice as long; or by another
    /// [`factor`](Retry::factor). Give it a [`max_delay`](Retry::max_delay) where there are many
    /// attempts: ten minutes have become a week after ten.
    pub fn exponential(base: Duration) -> Retry {
        let factor = FACTOR_DEFAULT;
        Retry::of(Backoff::Exponential { base, factor })
    }

    /// What `delay` says about the attempt that failed, the first of which is 1.
    ///
    /// It is called on the worker, at the end of the attempt. If it panics, the run is not tried
    /// again, and [`Stats::hooks_panicked`](crate::Stats::hooks_panicked) counts that.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use wheel_runtime::Retry;
    ///
    /// let fibonacci = Retry::custom(|attempt| {
    ///     let (mut delay, mut next) = (1, 1);
    ///     for _ in 1..attempt.min(40) {
    ///         (delay, next) = (next, delay + next);
    ///     }
    ///     Duration::from_secs(delay)
    /// });
    /// assert_eq!(fibonacci.delay(6), Duration::from_secs(8));
    /// ```
    pub fn custom(delay: impl Fn(u32) -> Duration + Send + Sync + 'static) -> Retry {
        Retry::of(Backoff::Custom(Arc::new(delay)))
    }

    fn of(backoff: Backoff) -> Retry {
        Retry {
            backoff,
            jitter: None,
            max_attempts: ATTEMPTS_DEFAULT,
            max_delay: Duration::MAX,
            max_elapsed: None,
            retry_if: None,
        }
    }

    /// By how much an exponential delay grows from attempt to attempt, from 1; 2 unless told
    /// otherwise. The other back-offs do not look at it.
    #[must_use]
    pub fn factor(mut self, by: f64) -> Retry {
        if let Backoff::Exponential { factor, .. } = &mut self.backoff {
            *factor = by;
        }
        self
    }

    /// Attempts of a run, the first one included: 3 means one try and two more. From 1; 5 unless
    /// told otherwise.
    #[must_use]
    pub fn max_attempts(mut self, attempts: u32) -> Retry {
        self.max_attempts = attempts;
        self
    }

    /// No delay of the back-off is longer than this, from 1 ms; without a limit unless told
    /// otherwise. What a handler asks for is not cut.
    #[must_use]
    pub fn max_delay(mut self, delay: Duration) -> Retry {
        self.max_delay = delay;
        self
    }

    /// No attempt is due later than this after the start of the first one. What the run was
    /// [snoozed](crate::Outcome::Snooze) does not count. Longer than zero; without a limit unless
    /// told otherwise.
    #[must_use]
    pub fn max_elapsed(mut self, limit: Duration) -> Retry {
        self.max_elapsed = Some(limit);
        self
    }

    /// Spreads the delays of the back-off. What a handler asks for is not spread.
    #[must_use]
    pub fn jitter(mut self, jitter: RetryJitter) -> Retry {
        self.jitter = Some(jitter);
        self
    }

    /// Only errors of which this is true are tried again; panics are errors that begin with
    /// `panicked: `. Not asked about what a handler has decided itself, by
    /// [`Outcome::Permanent`](crate::Outcome::Permanent) or
    /// [`Outcome::RetryAfter`](crate::Outcome::RetryAfter).
    ///
    /// It is called on the worker, at the end of the attempt. If it panics, the run is not tried
    /// again, and [`Stats::hooks_panicked`](crate::Stats::hooks_panicked) counts that.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use wheel_runtime::Retry;
    ///
    /// let retry = Retry::fixed(Duration::from_secs(1)).retry_if(|error| !error.contains("404"));
    /// # drop(retry);
    /// ```
    #[must_use]
    pub fn retry_if(mut self, asks: impl Fn(&str) -> bool + Send + Sync + 'static) -> Retry {
        self.retry_if = Some(Arc::new(asks));
        self
    }

    /// How long after attempt number `attempt`, counted from 1, the next one is due, before jitter:
    /// a pure function, for tests and for showing. 1 ms at least, `max_delay` at most, whatever the
    /// number.
    ///
    /// # Panics
    ///
    /// If the function of [`custom`](Retry::custom) does.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use wheel_runtime::Retry;
    ///
    /// let second = Duration::from_secs(1);
    /// let retry = Retry::linear(second * 10).max_delay(second * 25);
    /// let delays = [1, 2, 3, u32::MAX].map(|attempt| retry.delay(attempt));
    /// assert_eq!(delays, [second * 10, second * 20, second * 25, second * 25]);
    /// ```
    pub fn delay(&self, attempt: u32) -> Duration {
        let attempt = attempt.max(1);
        let delay = match &self.backoff {
            Backoff::Fixed(delay) => *delay,
            Backoff::Linear(step) => step.saturating_mul(attempt),
            Backoff::Exponential { base, factor } => {
                // Not nought times infinity, which is no number.
                let power = factor.powf(f64::from(attempt - 1)).min(f64::MAX);
                let grown = base.as_secs_f64() * power;
                // More than a duration can tell is the longest one. Rounding may not shrink it.
                let grown = Duration::try_from_secs_f64(grown).unwrap_or(Duration::MAX);
                grown.max(*base)
            }
            Backoff::Custom(delay) => delay(attempt),
        };
        delay.min(self.max_delay).max(DELAY_MIN)
    }

    /// Whether it has no function of the user's.
    pub(crate) fn is_quiet(&self) -> bool {
        self.retry_if.is_none() && !matches!(self.backoff, Backoff::Custom(_))
    }

    /// Drops it, each of the user's functions by itself, and a panic of its `Drop` ends here.
    pub(crate) fn discard(self) {
        let Retry {
            backoff, retry_if, ..
        } = self;
        discard([backoff]);
        discard(retry_if);
    }

    /// What is to be done about an attempt that failed. Calls the user's functions.
    pub(crate) fn decide(&self, failed: Failed<'_>) -> Decision {
        if failed.attempt >= self.max_attempts {
            return Decision::GiveUp(GaveUp::OutOfAttempts);
        }
        let delay = match (failed.asked, &self.retry_if) {
            (Some(asked), _) => asked.max(DELAY_MIN),
            (None, Some(asks)) if !asks(failed.error) => {
                return Decision::GiveUp(GaveUp::NotRetryable);
            }
            (None, _) => self.spread(self.delay(failed.attempt), failed.draw),
        };
        match self.max_elapsed {
            Some(limit) if failed.elapsed.saturating_add(delay) > limit => {
                Decision::GiveUp(GaveUp::OutOfTime)
            }
            _ => Decision::Again(delay),
        }
    }

    fn spread(&self, delay: Duration, draw: u64) -> Duration {
        let spread = match self.jitter {
            None => delay,
            Some(RetryJitter::Full) => part(delay, draw),
            Some(RetryJitter::Equal) => {
                let kept = delay / 2;
                kept + part(delay - kept, draw)
            }
        };
        spread.max(DELAY_MIN)
    }

    /// Whether it can be kept to.
    pub(crate) fn check(&self) -> Result<(), PolicyError> {
        let refused = |field, given: &dyn fmt::Display, wanted| {
            let given = given.to_string();
            Err(PolicyError::new(field, given, wanted))
        };
        if self.max_attempts == 0 {
            let wanted = "at least 1, as it counts the first try";
            return refused("retry.max_attempts", &0, wanted);
        }
        match self.backoff {
            Backoff::Exponential { factor, .. } if !(factor.is_finite() && factor >= 1.0) => {
                return refused("retry.factor", &factor, "a number from 1");
            }
            _ => {}
        }
        if self.max_delay < DELAY_MIN {
            let given = format(self.max_delay);
            return refused("retry.max_delay", &given, "at least 1ms");
        }
        if self.max_elapsed == Some(Duration::ZERO) {
            let wanted = "longer than that; for a single attempt say max_attempts(1)";
            return refused("retry.max_elapsed", &0, wanted);
        }
        Ok(())
    }
}

impl fmt::Display for GaveUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            GaveUp::OutOfAttempts => "out of attempts",
            GaveUp::OutOfTime => "out of time",
            GaveUp::NotRetryable => "not to be tried again, says retry_if",
            GaveUp::Permanent => "not to be tried again, says the handler",
            GaveUp::PastDeadline => "past the deadline of the run",
            GaveUp::PolicyPanicked => "the policy panicked",
        })
    }
}

impl fmt::Debug for Retry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Retry")
            .field("backoff", &self.backoff)
            .field("jitter", &self.jitter)
            .field("max_attempts", &self.max_attempts)
            .field("max_delay", &self.max_delay)
            .field("max_elapsed", &self.max_elapsed)
            .field("has_retry_if", &self.retry_if.is_some())
            .finish()
    }
}

impl fmt::Debug for Backoff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Backoff::Fixed(delay) => write!(f, "fixed {delay:?}"),
            Backoff::Linear(step) => write!(f, "linear {step:?}"),
            Backoff::Exponential { base, factor } => write!(f, "exponential {base:?} x{factor}"),
            Backoff::Custom(_) => f.write_str("custom"),
        }
    }
}

#[cfg(test)]
mod tests;
