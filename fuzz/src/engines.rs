//! Every engine against the sorted map: insert, cancel, reset, stale keys, advance by nothing, by
//! one, by a level or by years, budgets of one, close.
//!
//! The bytes are a stream of operations as `wheel_testkit` reads them, and its judge compares the
//! engine with the map after each: nothing early, nothing late beyond what the budget reaches,
//! `next_due` never later than the earliest timer and not in the past with nothing due, `len`
//! equal. The adapters are those that the tests of each engine use.

use wheel_testkit::check_bytes;

#[path = "../../crates/wheel-core/tests/engine/mod.rs"]
mod engine;
#[path = "../../crates/overflow/tests/heap/mod.rs"]
mod heap_alone;
#[path = "../../crates/overflow/tests/wheel/mod.rs"]
mod wheel_and_heap;

/// `Wheel` and its driver, on one thread.
pub fn shared_wheel(bytes: &[u8]) {
    check_bytes(bytes, engine::Shared::build);
}

/// `LocalWheel`.
pub fn local_wheel(bytes: &[u8]) {
    check_bytes(bytes, engine::Local::build);
}

/// `HeapTimers`: the heap alone.
pub fn heap(bytes: &[u8]) {
    check_bytes(bytes, heap_alone::Heap::build);
}

/// `Wheel` with a `FarHeap` for what is due beyond its span.
pub fn far_wheel(bytes: &[u8]) {
    check_bytes(bytes, wheel_and_heap::WithFarHeap::build);
}
