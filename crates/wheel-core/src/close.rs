//! Close: every value that never fired comes back exactly once.
//!
//! The flag is published, then every head of the intake is swapped. An insert that pushed before
//! the swap has published its timer before it, so the walk below finds it; one that pushes after
//! sees the flag and takes its value back. Vacant entries are freed too, or a later re-arm would
//! lose its value in one. Race: close-or-insert.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use wheel_sync::thread::panicking;
use wheel_sync::{Arc, Backoff};

use crate::engine::Engine;
use crate::state::Phase;

/// The values of the timers that had not fired when the wheel was closed, in no order.
///
/// Takes them out one by one. What is left when it is dropped is taken out and dropped then.
pub struct Unfired<T> {
    engine: Arc<Engine<T>>,
    next: u32,
    end: u32,
}

impl<T> Unfired<T> {
    /// Closes, or goes over a closed wheel once more and finds nothing.
    pub(crate) fn of(engine: &Arc<Engine<T>>) -> Unfired<T> {
        engine.set_closed();
        // The chains are not walked: the arena is, entry by entry.
        engine.intake.take_armed().for_each(|_| ());
        Unfired {
            engine: Arc::clone(engine),
            next: 0,
            end: engine.arena.used(),
        }
    }

    fn claim(&self, number: u32) -> Option<T> {
        // A batch whose taker has pushed none of it may lie in a segment that is not to be seen
        // from here yet. Nothing that the close must find is in it.
        let (_, entry) = self.engine.arena.find(number)?;
        let backoff = Backoff::new();
        loop {
            let word = entry.state.look();
            match word.phase() {
                Phase::Free => return None,
                Phase::Vacant if entry.state.reap(word) => return None,
                Phase::Live if entry.state.take_live(word) => {
                    self.engine.places.count_driven();
                    self.engine.limit.release();
                    // SAFETY: taken out of live, so the value is this thread's. [U2]
                    return Some(unsafe { entry.read() });
                }
                Phase::Vacant | Phase::Live => {}
                Phase::Busy => backoff.snooze(),
            }
        }
    }
}

impl<T> Iterator for Unfired<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        while self.next < self.end {
            let number = self.next;
            self.next += 1;
            if let Some(value) = self.claim(number) {
                return Some(value);
            }
        }
        None
    }
}

impl<T> Drop for Unfired<T> {
    fn drop(&mut self) {
        drop_each(self);
    }
}

/// Drops `values` one by one. When that of one panics, the others are dropped all the same, and the
/// first panic goes on afterwards; a second one that unwound beside it would end the process.
pub(crate) fn drop_each<T>(values: impl Iterator<Item = T>) {
    if !std::mem::needs_drop::<T>() {
        return values.for_each(drop);
    }
    let mut first = None;
    for value in values {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(value))) {
            match first {
                None => first = Some(panic),
                // What a panic carries may panic as it is dropped.
                Some(_) => std::mem::forget(panic),
            }
        }
    }
    match first {
        Some(panic) if panicking() => std::mem::forget(panic),
        Some(panic) => resume_unwind(panic),
        None => {}
    }
}

impl<T> fmt::Debug for Unfired<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unfired").finish_non_exhaustive()
    }
}
