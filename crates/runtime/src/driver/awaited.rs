//! What futures ask of the engine: timers that fire at a tick and not before, whose value may be
//! replaced while they are pending.
//!
//! Unlike callbacks they are rounded up to the tick also where the driver waits precisely: they are
//! not taken out of the wheel before they are due, so whether one is pending says whether it has
//! fired.

use std::time::Duration;

use wheel_core::InsertError;

use super::{Engine, Held, Holder, TimerKey};
use crate::clock::Moment;

impl<T: Send + 'static> Engine<T> {
    /// When it is `delay` from now, or a little later. What is at once is past.
    pub(crate) fn moment_after(&self, delay: Duration) -> Moment {
        if delay.is_zero() {
            return Moment::ZERO;
        }
        self.0.clock.now_for(self.0.placing.tick).after(delay)
    }

    /// Whether that moment has come.
    pub(crate) fn has_come(&self, due: Moment) -> bool {
        // The reading that may be above the true one tells cheaply of most that they are yet to
        // come.
        let clock = &self.0.clock;
        due <= clock.now_for(self.0.placing.tick) && due <= clock.now()
    }

    /// Due at `due`, rounded up to a tick.
    pub(crate) fn at_tick(&self, due: Moment, value: T) -> Result<TimerKey, InsertError<T>> {
        self.insert(due.tick_ceil(self.0.placing.tick), Held { due, value })
    }

    /// Whether it is in the wheel still. Timers of the wall clock are not.
    pub(crate) fn is_pending(&self, key: TimerKey) -> bool {
        match key.0 {
            Holder::Wheel(key) => self.0.wheel.is_pending(key),
            Holder::Wall(_) => false,
        }
    }

    /// Another value for a timer that is due at `due`, under the same key. The old value, or the new
    /// one if it is too late.
    pub(crate) fn replace(&self, key: TimerKey, due: Moment, value: T) -> Result<T, T> {
        match key.0 {
            Holder::Wheel(key) => {
                let replaced = self.0.wheel.replace(key, Held { due, value });
                replaced.map(|old| old.value).map_err(|new| new.value)
            }
            Holder::Wall(_) => Err(value),
        }
    }

    /// Due at `due` instead, rounded up to a tick; the key to use from now on. `None`: too late, or
    /// it stays as it was, as the wheel is being closed or has no memory.
    pub(crate) fn reset_to(&self, key: TimerKey, due: Moment) -> Option<TimerKey> {
        match key.0 {
            Holder::Wheel(key) => {
                let at = due.tick_ceil(self.0.placing.tick);
                let key = self.0.wheel.reset(key, at)?;
                Some(TimerKey(Holder::Wheel(key)))
            }
            Holder::Wall(_) => None,
        }
    }
}
