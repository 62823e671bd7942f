//! How an attempt ends, and what handlers may return.

use std::fmt::Display;
use std::time::Duration;

/// How an attempt of a run ended, and what its handler wants to happen next.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use wheel_runtime::{Context, Outcome, Retry, Scheduler, TaskState};
///
/// /// What some server has answered.
/// fn deliver(status: u16) -> Outcome {
///     match status {
///         200 => Outcome::Success,
///         429 => Outcome::RetryAfter(Duration::from_secs(30), "too many requests".into()),
///         404 => Outcome::Permanent("no such mailbox".into()),
///         _ => Outcome::Failure(format!("status {status}")),
///     }
/// }
///
/// let scheduler = Scheduler::builder().build()?;
/// let retry = Retry::exponential(Duration::from_secs(1));
/// let mail = scheduler.task("mail").after(Duration::ZERO).retry(retry).run(|_| deliver(404))?;
/// assert_eq!(mail.wait(), TaskState::Dead);
/// assert_eq!((mail.info().retried, mail.info().dead), (0, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// It did what it should.
    Success,
    /// It failed, with this message. The task's [`Retry`](crate::Retry) says whether and when it is
    /// tried again; without one the run has failed.
    Failure(String),
    /// It failed, with this message, and would fail again: it is not tried again.
    Permanent(String),
    /// It failed, with this message, and the next attempt is to come after so long, instead of what
    /// the back-off of the task's [`Retry`](crate::Retry) says. The limits of the policy hold; a
    /// task without a policy has one attempt, so the run has failed.
    RetryAfter(Duration, String),
    /// It is too early: the run is to go on after so long. This is no failure and uses up no
    /// attempt, so it needs no policy and has no limit. Rounded up to the tick, 1 ms at least.
    Snooze(Duration),
    /// It did what it should, and there is nothing more to do: the task ends as
    /// [`Cancelled`](crate::TaskState::Cancelled), also if it would recur.
    Cancel,
}

/// What a handler may return: `()`, `Result<(), E>` where `E` can be displayed, or an [`Outcome`].
/// `Result<(), Outcome>` lets a handler use `?` on what it has judged by `map_err`.
///
/// # Examples
///
/// ```
/// use std::fs;
/// use wheel_runtime::{Context, Outcome};
///
/// fn import(_run: &Context) -> Result<(), Outcome> {
///     let gone = |error: std::io::Error| Outcome::Permanent(error.to_string());
///     let table = fs::read_to_string("orders.csv").map_err(gone)?;
///     println!("{} orders", table.lines().count());
///     Ok(())
/// }
/// # let _ = import;
/// ```
pub trait IntoOutcome {
    /// The outcome that it stands for.
    fn into_outcome(self) -> Outcome;
}

impl IntoOutcome for Outcome {
    fn into_outcome(self) -> Outcome {
        self
    }
}

impl IntoOutcome for () {
    fn into_outcome(self) -> Outcome {
        Outcome::Success
    }
}

impl<E: Display> IntoOutcome for Result<(), E> {
    fn into_outcome(self) -> Outcome {
        match self {
            Ok(()) => Outcome::Success,
            Err(error) => Outcome::Failure(error.to_string()),
        }
    }
}

impl IntoOutcome for Result<(), Outcome> {
    fn into_outcome(self) -> Outcome {
        self.err().unwrap_or(Outcome::Success)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handlers_may_return_nothing_a_result_or_an_outcome() {
        assert_eq!(().into_outcome(), Outcome::Success);
        assert_eq!(Ok::<(), &str>(()).into_outcome(), Outcome::Success);
        let failed = Outcome::Failure("no paper".into());
        assert_eq!(Err("no paper").into_outcome(), failed);
        assert_eq!(failed.clone().into_outcome(), failed);
        assert_eq!(Err(failed.clone()).into_outcome(), failed);
        assert_eq!(Ok::<(), Outcome>(()).into_outcome(), Outcome::Success);
    }
}
