//! How often runs may start: a token bucket, as arithmetic.
//!
//! The bucket is kept as one instant, in the way of the generic cell rate algorithm (ITU-T I.371):
//! the instant at which it would be full again. Each token moves it on by the interval between two
//! tokens. In units of a nanosecond divided by the number of tokens per period that interval is a
//! whole number, so nothing is ever rounded and nothing drifts.

#[cfg(feature = "serde")]
mod written;

use std::num::NonZeroU32;
use std::time::Duration;

use super::PolicyError;
use crate::clock::{Moment, duration_of};

const FIELD: &str = "rate_limit";
/// A period longer than this, or one that many tokens share, is a mistake; and the arithmetic fits.
const PERIOD_MAX: Duration = Duration::from_secs(100 * 366 * 24 * 60 * 60);
/// One token per nanosecond.
const PER_SECOND_MAX: f64 = 1e9;

/// At most so many starts in a period, of all tasks that name the same key. Unless a key is named, of
/// all tasks of the same kind that have a rate limit without one; a task that has a handler of its own
/// has its own tokens.
///
/// It is a token bucket: each start takes a token, tokens come at even intervals, and up to
/// [`burst`](RateLimit::burst) of them are saved up. It is full at first. A run for which there is
/// none waits for the next one, before a worker is taken; of several the one goes first that would
/// be first for a worker. Each attempt of a run takes a token.
///
/// A token is there at its exact instant, which does not drift, and nobody is early; a run that
/// waits is released at the tick that follows, together with those whose tokens came within the same
/// tick. What the scheduler itself is late by more than a tick is not made up for. Where tasks say
/// different rates for one key, that of the one that was due last holds.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use wheel_runtime::{InlineExecutor, ManualClock, RateLimit, Scheduler};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let clock = ManualClock::new();
/// let scheduler = Scheduler::builder().clock(clock.clone()).executor(InlineExecutor).build()?;
/// let api = RateLimit::per_second(10.0).burst(2).key("api");
/// for id in ["a", "b", "c", "d"] {
///     let call = scheduler.task(id).after(Duration::ZERO).rate_limit(api.clone());
///     call.run(|_| println!("calling"))?;
/// }
/// clock.run_for(Duration::from_millis(100));
/// assert_eq!(scheduler.stats().runs, 3); // Two at once, one 100 ms later.
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
#[must_use = "it limits the task that it is given to"]
pub struct RateLimit {
    asked: Asked,
    burst: u32,
    pub(crate) key: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Asked {
    Count(u32, Duration),
    PerSecond(f64),
}

/// A rate that is possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rate {
    /// Units per nanosecond: so many tokens in a period.
    units: u64,
    /// From one token to the next, in units: the period in nanoseconds.
    interval: u64,
    burst: NonZeroU32,
}

/// A bucket of tokens.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bucket {
    rate: Rate,
    /// When it will be full again, in units.
    full_at: u128,
}

impl RateLimit {
    /// `count` starts per `period`: each from 1, the period from 1 ns to 100 years.
    pub fn new(count: u32, period: Duration) -> RateLimit {
        RateLimit::of(Asked::Count(count, period))
    }

    /// So many starts per second: more than 0, at most 1,000,000,000. The interval between two tokens
    /// is rounded up to a nanosecond, unless the rate is a whole number: then it is exact.
    pub fn per_second(rate: f64) -> RateLimit {
        RateLimit::of(Asked::PerSecond(rate))
    }

    fn of(asked: Asked) -> RateLimit {
        RateLimit {
            asked,
            burst: 1,
            key: None,
        }
    }

    /// How many tokens are saved up while nobody takes any, from 1; 1 unless told otherwise.
    pub fn burst(mut self, tokens: u32) -> RateLimit {
        self.burst = tokens;
        self
    }

    /// The tasks that name this key share the tokens. 1 to 256 bytes, without control characters.
    pub fn key(mut self, key: impl Into<String>) -> RateLimit {
        self.key = Some(key.into());
        self
    }

    pub(crate) fn checked(&self) -> Result<Rate, PolicyError> {
        if let Some(key) = &self.key {
            PolicyError::check_text(FIELD, key)?;
        }
        let no_burst = || PolicyError::new(FIELD, "a burst of 0", "at least 1");
        let burst = NonZeroU32::new(self.burst).ok_or_else(no_burst)?;
        let (units, period) = match self.asked {
            Asked::Count(count, period) => {
                let is_possible = count > 0 && !period.is_zero() && period <= PERIOD_MAX;
                if !is_possible {
                    let given = format!("{count} per {period:?}");
                    let wanted = "at least 1, per 1 ns to 100 years";
                    return Err(PolicyError::new(FIELD, given, wanted));
                }
                (u64::from(count), period)
            }
            Asked::PerSecond(rate) => {
                let least = 1.0 / PERIOD_MAX.as_secs_f64();
                if !(least..=PER_SECOND_MAX).contains(&rate) {
                    let given = format!("{rate} per second");
                    let wanted = "more than 0 (1 in 100 years), at most 1,000,000,000";
                    return Err(PolicyError::new(FIELD, given, wanted));
                }
                if rate.fract() == 0.0 {
                    (rate as u64, Duration::from_secs(1))
                } else {
                    (1, Duration::from_nanos((1e9 / rate).ceil() as u64))
                }
            }
        };
        Ok(Rate {
            units,
            interval: period.as_nanos() as u64,
            burst,
        })
    }
}

impl Rate {
    fn at(self, moment: Moment) -> u128 {
        u128::from(moment.as_nanos()) * u128::from(self.units)
    }

    /// The first moment that is not before `at`.
    fn moment(self, at: u128) -> Moment {
        let nanos = at.div_ceil(u128::from(self.units));
        Moment::ZERO.after(duration_of(nanos))
    }

    /// From an empty bucket to one that lacks a single token.
    fn saved(self) -> u128 {
        u128::from(self.burst.get() - 1) * u128::from(self.interval)
    }
}

impl Bucket {
    /// A full one.
    pub(crate) fn new(rate: Rate) -> Bucket {
        Bucket { rate, full_at: 0 }
    }

    /// Another rate holds from now on; tokens that were taken stay taken.
    pub(crate) fn set_rate(&mut self, rate: Rate) {
        if rate != self.rate {
            let full_at = self.rate.moment(self.full_at);
            self.full_at = rate.at(full_at);
            self.rate = rate;
        }
    }

    /// When the next token is there.
    pub(crate) fn next(&self) -> Moment {
        let saved = self.rate.saved();
        self.rate.moment(self.full_at.saturating_sub(saved))
    }

    pub(crate) fn has_token(&self, now: Moment) -> bool {
        self.next() <= now
    }

    /// When it is as if nobody had ever taken a token.
    pub(crate) fn full(&self) -> Moment {
        self.rate.moment(self.full_at)
    }

    /// Takes a token that is there, as if that had been up to `slack` earlier: then who has waited for
    /// it takes it at the instant at which it came, and the next one is not late by how late this one
    /// is.
    pub(crate) fn take(&mut self, now: Moment, slack: Duration) {
        // What would have come since it was full is lost.
        let since = self.rate.at(now.before(slack));
        self.full_at = self.full_at.max(since) + u128::from(self.rate.interval);
    }
}

#[cfg(test)]
mod tests;
