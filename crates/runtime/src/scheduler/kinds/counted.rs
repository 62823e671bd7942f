//! A kind at work: its breaker and its counts, around every attempt of its tasks.
//!
//! One lock, taken for some instructions before an attempt and after it. Results come back in any
//! order; which of them count, the breaker says.

use std::sync::Arc;
use std::time::Duration;

use wheel_sync::Mutex;

use super::payload::Call;
use crate::clock::Clock;
use crate::policy::{Admitted, Breaker, BreakerState, Came, Circuit, Pass};
use crate::task::{Context, Outcome};

/// A kind as it stood when it was looked at: [`Scheduler::kinds`](crate::Scheduler::kinds).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KindInfo {
    /// Its name.
    pub name: String,
    /// How its breaker stands; closed if it has none.
    pub state: BreakerState,
    /// How long until it is half-open. `None` if it is not open, or is never half-open.
    pub half_open_in: Option<Duration>,
    /// Attempts that have failed since the last one that succeeded, as the breaker counts them.
    pub failures_in_a_row: u32,
    /// Attempts that were made: calls of a handler, of whichever variant.
    pub attempts: u64,
    /// Attempts that the breaker has put off.
    pub put_off: u64,
}

pub(super) struct Counted {
    name: Arc<str>,
    clock: Clock,
    numbers: Mutex<Numbers>,
}

struct Numbers {
    circuit: Circuit,
    attempts: u64,
    put_off: u64,
}

/// An attempt that is being made. One that unwinds has failed.
struct Going<'k> {
    counted: &'k Counted,
    pass: Option<Pass>,
}

impl Counted {
    pub(super) fn new(name: Arc<str>, breaker: Option<Breaker>, clock: Clock) -> Counted {
        Counted {
            name,
            clock,
            numbers: Mutex::new(Numbers {
                circuit: Circuit::new(breaker),
                attempts: 0,
                put_off: 0,
            }),
        }
    }

    pub(super) fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// Makes the attempt, unless the breaker puts it off.
    pub(super) fn attempt(&self, context: &Context, call: Call<'_>) -> Outcome {
        let pass = match self.admit() {
            Admitted::PutOff(delay) => return Outcome::Snooze(delay),
            Admitted::Call(pass) => Some(pass),
        };
        let counted = self;
        let mut going = Going { counted, pass };
        let outcome = call(context);
        going.settle(match &outcome {
            Outcome::Success | Outcome::Cancel => Came::Succeeded,
            Outcome::Snooze(_) => Came::ToNothing,
            // What was asked to stop and says that it failed is no sign.
            _ if context.is_cancelled() => Came::ToNothing,
            Outcome::Failure(_) | Outcome::RetryAfter(..) | Outcome::Permanent(_) => Came::Failed,
        });
        outcome
    }

    fn admit(&self) -> Admitted {
        let now = self.clock.now();
        let mut numbers = self.numbers.lock();
        let admitted = numbers.circuit.admit(now);
        match &admitted {
            Admitted::Call(_) => numbers.attempts += 1,
            Admitted::PutOff(_) => numbers.put_off += 1,
        }
        admitted
    }

    pub(super) fn info(&self) -> KindInfo {
        let now = self.clock.now();
        let numbers = self.numbers.lock();
        let (state, half_open_in) = numbers.circuit.state(now);
        KindInfo {
            name: self.name.to_string(),
            state,
            half_open_in,
            failures_in_a_row: numbers.circuit.failures_in_a_row(),
            attempts: numbers.attempts,
            put_off: numbers.put_off,
        }
    }
}

impl Going<'_> {
    fn settle(&mut self, came: Came) {
        if let Some(pass) = self.pass.take() {
            let now = self.counted.clock.now();
            self.counted.numbers.lock().circuit.settle(pass, came, now);
        }
    }
}

impl Drop for Going<'_> {
    fn drop(&mut self) {
        self.settle(Came::Failed);
    }
}
