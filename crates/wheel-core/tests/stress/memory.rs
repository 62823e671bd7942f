//! The bytes that this process has allocated, so that a round can be held to give all back.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicIsize, Ordering};

struct Counting;

static BYTES: AtomicIsize = AtomicIsize::new(0);

// SAFETY: passes everything on to the system's allocator as it came, and counts in an atomic.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // Relaxed: a count.
        BYTES.fetch_add(layout.size() as isize, Ordering::Relaxed);
        // SAFETY: the caller's layout.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // Relaxed: a count.
        BYTES.fetch_sub(layout.size() as isize, Ordering::Relaxed);
        // SAFETY: came from `alloc` with this layout.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Bytes that are allocated now.
pub(crate) fn bytes() -> isize {
    // Relaxed: read while no other thread of a round runs.
    BYTES.load(Ordering::Relaxed)
}
