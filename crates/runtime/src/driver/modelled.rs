//! For the models in `loom-tests` only: how a driver sleeps, without an engine around it.

use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

use super::wait::{self, Until};
use crate::clock::{Clock, ManualClock, Moment};

/// The line to a driver that sleeps as it does where there are no descriptors.
#[derive(Clone)]
#[expect(missing_debug_implementations, reason = "nobody prints it")]
pub struct Line(Arc<wait::Line>);

/// The driver's end.
#[expect(missing_debug_implementations, reason = "nobody prints it")]
pub struct Waiter(wait::Waiter, Clock);

/// Both ends.
pub fn line() -> (Line, Waiter) {
    let (line, waiter) = wait::open_portable(Duration::ZERO);
    let clock = Clock::from(ManualClock::new());
    (Line(line), Waiter(waiter, clock))
}

impl Line {
    /// Makes the driver look again.
    pub fn ring(&self) {
        self.0.ring();
    }

    /// Tells it to end.
    pub fn stop(&self) {
        self.0.stop();
    }

    /// Whether it was told to end.
    pub fn is_stopped(&self) -> bool {
        self.0.is_stopped()
    }

    /// Rings.
    pub fn waker(&self) -> Waker {
        Arc::clone(&self.0).into()
    }
}

impl Waiter {
    /// Sleeps until somebody rings, or not at all if somebody has.
    pub fn wait(&mut self) {
        let until = Until {
            moment: Moment::NEVER,
            exact: None,
            wall_ms: None,
        };
        self.0.wait(&self.1, until);
    }
}
