//! For the models in `loom-tests` only: the cheap reading of sources that a model plays.

use std::time::Duration;

use super::Moment;
use super::cheap::{self, Sources};

/// The cheap reading, not calibrated yet.
#[derive(Debug)]
pub struct CheapClock(cheap::CheapClock);

/// What both sources say throughout one reading.
#[derive(Clone, Copy, Debug)]
pub struct Instant {
    /// The cycle counter.
    pub cycles: u64,
    /// The true clock, in nanoseconds.
    pub nanos: u64,
}

impl Sources for Instant {
    fn cycles(&self) -> u64 {
        self.cycles
    }

    fn nanos(&self) -> u64 {
        self.nanos
    }
}

impl CheapClock {
    /// Knows nothing yet.
    #[expect(clippy::new_without_default, reason = "a model names what it makes")]
    pub fn new() -> CheapClock {
        CheapClock(cheap::CheapClock::new())
    }

    /// Never below the true time.
    pub fn now_upper(&self, at: Instant) -> Duration {
        self.0.now_upper(&at).since(Moment::ZERO)
    }
}
