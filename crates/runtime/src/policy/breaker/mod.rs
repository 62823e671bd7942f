//! Whether work of one sort is called at all, when it keeps failing.
//!
//! ```text
//!             n failures in a row              half_open_after has passed: one probe
//!   closed ---------------------> open -------------------------------------> half-open
//!     ^  ^                         ^                                           |  |  |
//!     |  |                         |  the probe failed                         |  |  |
//!     |  |                         +-------------------------------------------+  |  |
//!     |  |  the probe succeeded                                                   |  |
//!     |  +------------------------------------------------------------------------+  |
//!     |                                                                              |
//!     +-- a success: the count       half-open: a probe that judged nothing, or that |
//!         begins anew                has not answered for half_open_after, gives its |
//!                                    place to another one  <-------------------------+
//! ```
//!
//! Pure: nothing here reads a clock or calls anything. Who is admitted gets a [`Pass`] and brings it
//! back with what came of the call. Every step, and every probe, voids the passes from before it: so
//! what was called while the circuit was closed says nothing to an open one, and of a half-open one
//! only the probe decides, in whatever order they come back.
//!
//! The circuit breaker is that of Nygard, "Release It!", 2007.

use std::time::Duration;

use super::PolicyError;
use crate::clock::Moment;
use crate::duration::format;

const HALF_OPEN_DEFAULT: Duration = Duration::from_secs(30);
const HALF_OPEN_MIN: Duration = Duration::from_millis(1);

/// While a probe is going the others look again so often, or sooner.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// Keeps calls away from what fails again and again: [`Kind::breaker`](crate::Kind::breaker).
///
/// Closed at first. After so many failed attempts in a row, of whichever tasks, it is open: attempts
/// are not made, but put off until it is half-open. Then one attempt is made, the probe: if that
/// succeeds the breaker is closed again, if it fails it is open as long as before. Others are put
/// off meanwhile, for a second at most. A probe that does not return within that time gives its
/// place to another one.
///
/// What is put off uses up no attempt, as by [`Outcome::Snooze`](crate::Outcome::Snooze). An attempt
/// that began before the breaker opened, and ends afterwards, does not count.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use wheel_runtime::Breaker;
///
/// let breaker = Breaker::after(5).half_open_after(Duration::from_secs(60));
/// # drop(breaker);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Breaker {
    failures: u32,
    half_open_after: Duration,
}

/// How a [`Breaker`] stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BreakerState {
    /// Attempts are made. A kind without a breaker is always so.
    Closed,
    /// None is made until it is half-open.
    Open,
    /// One is made, as a probe, or is about to be.
    HalfOpen,
}

/// A breaker at work.
#[derive(Debug)]
pub(crate) struct Circuit {
    policy: Option<Breaker>,
    phase: Phase,
    failures_in_a_row: u32,
    /// The passes of the present one count.
    epoch: u64,
}

#[derive(Clone, Copy, Debug)]
enum Phase {
    Closed,
    Open {
        until: Moment,
    },
    /// Until then the place of the probe is taken.
    HalfOpen {
        probe_until: Moment,
    },
}

/// What an admitted call brings back.
#[derive(Debug)]
#[must_use = "what came of the call decides about the next ones"]
pub(crate) struct Pass {
    epoch: u64,
}

#[derive(Debug)]
pub(crate) enum Admitted {
    Call(Pass),
    /// Not now: ask again after so long.
    PutOff(Duration),
}

/// What came of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Came {
    Succeeded,
    Failed,
    /// It has judged nothing: it was too early, or was cancelled.
    ToNothing,
}

impl Breaker {
    /// Opens after `failures` failed attempts in a row, from 1; half-open 30 s later unless told
    /// otherwise.
    pub fn after(failures: u32) -> Breaker {
        Breaker {
            failures,
            half_open_after: HALF_OPEN_DEFAULT,
        }
    }

    /// How long it is open before a probe is made, from 1 ms, on the monotonic clock and rounded up
    /// to the tick. `Duration::MAX` means never.
    #[must_use]
    pub fn half_open_after(mut self, delay: Duration) -> Breaker {
        self.half_open_after = delay;
        self
    }

    /// Whether it can be kept to.
    pub(crate) fn check(&self) -> Result<(), PolicyError> {
        if self.failures == 0 {
            return Err(PolicyError::new(
                "breaker.after",
                "0 failures",
                "at least 1",
            ));
        }
        if self.half_open_after < HALF_OPEN_MIN {
            let given = format(self.half_open_after);
            return Err(PolicyError::new(
                "breaker.half_open_after",
                given,
                "at least 1ms",
            ));
        }
        Ok(())
    }
}

impl Circuit {
    /// Without a policy it stays closed, and counts.
    pub(crate) fn new(policy: Option<Breaker>) -> Circuit {
        Circuit {
            policy,
            phase: Phase::Closed,
            failures_in_a_row: 0,
            epoch: 0,
        }
    }

    /// Whether a call may be made `now`.
    pub(crate) fn admit(&mut self, now: Moment) -> Admitted {
        let wait = match self.phase {
            Phase::Closed => return Admitted::Call(Pass { epoch: self.epoch }),
            Phase::Open { until } if now < until => until.since(now),
            Phase::HalfOpen { probe_until } if now < probe_until => {
                probe_until.since(now).min(LOOK_AGAIN)
            }
            Phase::Open { .. } | Phase::HalfOpen { .. } => {
                let probe_until = now.after(self.open_for());
                self.step(Phase::HalfOpen { probe_until });
                return Admitted::Call(Pass { epoch: self.epoch });
            }
        };
        Admitted::PutOff(wait)
    }

    /// An admitted call is over.
    pub(crate) fn settle(&mut self, pass: Pass, came: Came, now: Moment) {
        if pass.epoch != self.epoch {
            return;
        }
        match (self.phase, came) {
            (Phase::Closed, Came::ToNothing) | (Phase::Open { .. }, _) => {}
            (Phase::HalfOpen { .. }, Came::ToNothing) => {
                // The next one that asks is the probe.
                self.step(Phase::HalfOpen { probe_until: now });
            }
            (Phase::Closed, Came::Succeeded) => self.failures_in_a_row = 0,
            (Phase::HalfOpen { .. }, Came::Succeeded) => {
                self.failures_in_a_row = 0;
                self.step(Phase::Closed);
            }
            (Phase::Closed, Came::Failed) => {
                self.failures_in_a_row = self.failures_in_a_row.saturating_add(1);
                let in_a_row = self.failures_in_a_row;
                if self
                    .policy
                    .is_some_and(|policy| in_a_row >= policy.failures)
                {
                    self.open(now);
                }
            }
            (Phase::HalfOpen { .. }, Came::Failed) => {
                self.failures_in_a_row = self.failures_in_a_row.saturating_add(1);
                self.open(now);
            }
        }
    }

    pub(crate) fn failures_in_a_row(&self) -> u32 {
        self.failures_in_a_row
    }

    /// How it stands `now`, and how long until it is half-open, if it is open.
    pub(crate) fn state(&self, now: Moment) -> (BreakerState, Option<Duration>) {
        match self.phase {
            Phase::Closed => (BreakerState::Closed, None),
            Phase::Open {
                until: Moment::NEVER,
            } => (BreakerState::Open, None),
            Phase::Open { until } if now < until => (BreakerState::Open, Some(until.since(now))),
            Phase::Open { .. } | Phase::HalfOpen { .. } => (BreakerState::HalfOpen, None),
        }
    }

    fn open(&mut self, now: Moment) {
        let until = now.after(self.open_for());
        self.step(Phase::Open { until });
    }

    fn open_for(&self) -> Duration {
        self.policy
            .map_or(Duration::ZERO, |policy| policy.half_open_after)
    }

    fn step(&mut self, phase: Phase) {
        self.phase = phase;
        self.epoch += 1;
    }
}

#[cfg(test)]
mod tests;
