//! The seam to what waits beyond the span of the wheel.

use crate::Tick;

/// An entry of the wheel that waits in an [`Overflow`]; it means something to the wheel only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FarEntry(pub(crate) u32);

/// Where timers wait that are due beyond the wheel's span of a day or two.
///
/// The driver owns it and calls it from one thread at a time. An entry is in it at most once, and
/// comes back out by [`pop`](Overflow::pop) when its time is within the span, or by
/// [`sweep`](Overflow::sweep) when it was cancelled. No method may block or call anything else.
///
/// One that does not keep to this makes timers late, or the driver slow, or its calls panic. No
/// timer is early, fires twice or is missing at close for it.
///
/// `wheel-overflow` has the one to use. Without an overflow the wheel works as well; far timers
/// then take another turn through the last hour slot for as long as they are beyond the span.
pub trait Overflow: Send {
    /// Adds an entry that is due at `due`. O(log n).
    fn insert(&mut self, due: Tick, entry: FarEntry);

    /// The due tick of the earliest entry. O(1).
    fn next_due(&self) -> Option<Tick>;

    /// Takes the earliest entry. O(log n).
    fn pop(&mut self) -> Option<(Tick, FarEntry)>;

    /// How many entries it holds.
    fn len(&self) -> usize;

    /// True when it holds none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Shows up to `limit` entries to `keep`, going on where the last call ended, and removes those
    /// that it refuses. Returns how many it has shown: fewer than `limit` end a round.
    ///
    /// O(log n) for each one removed.
    fn sweep(&mut self, limit: usize, keep: &mut dyn FnMut(FarEntry) -> bool) -> usize;
}
