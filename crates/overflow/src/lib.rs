//! Timers beyond the span of the wheel, and a scheduler that is nothing but a heap.
//!
//! The wheel covers a day. What is due later waits in a [`FarHeap`], which [`wheel_core::Config::overflow`] takes, and
//! comes back when it fits. The same heap order carries [`IndexedHeap`], whose entries know their place, so that one
//! can be taken out of the middle in O(log n); and [`HeapTimers`], the heap as a complete scheduler of its own: small,
//! simple, single-owner, and the rival that the wheel is measured against.
//!
//! ```text
//!   FarHeap            HeapTimers<T>
//!      |                    |
//!      |               IndexedHeap<T> ---- slab    an entry's place by its key
//!      |                    |                |
//!      +------- quad -------+                |     the heap order: all sifting is here
//!                |                           |
//!               page ------------------------+     memory in pieces that never move
//! ```
//!
//! Ground rules: everything here has one owner (`&mut self`), knows no clock, starts no thread and uses no atomics.
//! Every call does bounded work, O(log n) steps, also when it grows or gives memory back: both arrays are made of
//! pages, so nothing is ever copied to a larger place.
//!
//! Reading order: `page`, `quad`, `far`; then `slab`, `heap`, `heap_timers`.

mod page;
mod quad;

mod far;

mod slab;

mod heap;
mod heap_timers;

pub use far::FarHeap;
pub use heap::{Drain, HeapKey, IndexedHeap};
pub use heap_timers::HeapTimers;
