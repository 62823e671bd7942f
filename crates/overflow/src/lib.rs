//! Timers beyond the span of the wheel, and a scheduler that is nothing but a heap.
//!
//! The wheel covers a day. What is due later waits in a [`FarHeap`], which
//! [`wheel_core::Config::overflow`] takes, and comes back when it fits. The same heap order carries
//! [`IndexedHeap`], whose entries know their place, so that one can be taken out of the middle in
//! O(log n); and [`HeapTimers`], the heap as a complete scheduler of its own: small, simple,
//! single-owner, and the rival that the wheel is measured against.
//!
//! ```text
//!   FarHeap         HeapTimers<T>
//!      |                 |
//!      |           IndexedHeap<T> ----- slab      values, and the place of each by its key
//!      |                 |
//!      +----- quad ------+                        the heap order: all sifting is here
//! ```
//!
//! Ground rules: everything here has one owner (`&mut self`), knows no clock, starts no thread and
//! uses no atomics. Every operation takes O(log n) steps, those of an [`IndexedHeap`] amortised:
//! its slab is a vector, which now and then moves to a larger place or is tidied up. The heap order
//! itself grows and shrinks without copying, so a [`FarHeap`] never stops the driver of a wheel.
//!
//! Reading order: `quad`, `far`; then `slab`, `heap`, `heap_timers`.

mod quad;

mod far;

mod slab;

mod heap;
mod heap_timers;

pub use far::FarHeap;
pub use heap::{Drain, HeapKey, IndexedHeap};
pub use heap_timers::HeapTimers;

#[cfg(test)]
mod tests;
