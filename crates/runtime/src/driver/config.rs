//! What a user may say about an engine through either door, and the check of it.

use std::time::Duration;

use wheel_core::TickLength;

use crate::clock::Clock;
use crate::error::BuildError;

/// The longest stretch that a driver may spin through.
const SPIN_MAX: Duration = Duration::from_millis(10);

/// What was asked for, not checked yet.
#[derive(Clone, Debug)]
pub(crate) struct EngineSettings {
    /// The system's clock unless another one is given.
    pub(crate) clock: Option<Clock>,
    pub(crate) tick: Duration,
    /// Most timers pending at once, of both kinds together.
    pub(crate) max_timers: Option<usize>,
    /// Spin through this last stretch before something is due; zero: sleep through it.
    pub(crate) spin: Duration,
}

/// What an engine is started with.
#[derive(Debug)]
pub(crate) struct EngineConfig {
    pub(super) clock: Clock,
    pub(super) tick: TickLength,
    pub(super) max_timers: Option<usize>,
    pub(super) spin: Duration,
    /// Of the driver thread.
    pub(super) thread_name: String,
}

impl EngineConfig {
    /// The length of a tick.
    pub(crate) fn tick(&self) -> TickLength {
        self.tick
    }

    /// The clock that the engine will live by.
    pub(crate) fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Whether the clock is moved by hand.
    pub(crate) fn is_by_hand(&self) -> bool {
        self.clock.as_manual().is_some()
    }
}

impl EngineSettings {
    /// Checks every number; the driver thread will be called `thread_name`.
    ///
    /// # Errors
    ///
    /// Which number is not possible.
    pub(crate) fn checked(self, thread_name: String) -> Result<EngineConfig, BuildError> {
        let tick = TickLength::new(self.tick)?;
        if let Some(max) = self.max_timers {
            BuildError::check("max_timers", max as u128, 1..=usize::MAX as u128)?;
        }
        let spin_us = 0..=SPIN_MAX.as_micros();
        BuildError::check(
            "precise_wait in microseconds",
            self.spin.as_micros(),
            spin_us,
        )?;
        Ok(EngineConfig {
            clock: self.clock.unwrap_or_default(),
            tick,
            max_timers: self.max_timers,
            spin: self.spin,
            thread_name,
        })
    }
}

impl Default for EngineSettings {
    fn default() -> EngineSettings {
        EngineSettings {
            clock: None,
            tick: Duration::from_millis(1),
            max_timers: None,
            spin: Duration::ZERO,
        }
    }
}
