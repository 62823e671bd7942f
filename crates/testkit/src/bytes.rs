//! The bytes that a process has allocated, so that a test can hold an engine to give all back.

use std::alloc::{GlobalAlloc, Layout, System};
// tidy: allow sync-only, an allocator counts for all of a process and runs under no model.
use std::sync::atomic::{AtomicIsize, Ordering};

/// The system's allocator, and a count of what is allocated. A test binary makes it its own:
///
/// ```
/// use wheel_testkit::CountedBytes;
///
/// #[global_allocator]
/// static BYTES: CountedBytes = CountedBytes::new();
///
/// let before = BYTES.now();
/// let kept = vec![0_u8; 1000];
/// assert!(BYTES.now() - before >= 1000);
/// # drop(kept);
/// ```
#[derive(Debug)]
pub struct CountedBytes(AtomicIsize);

impl CountedBytes {
    /// Nothing is allocated yet.
    #[allow(clippy::new_without_default, reason = "only a static makes sense")]
    pub const fn new() -> CountedBytes {
        CountedBytes(AtomicIsize::new(0))
    }

    /// Bytes that are allocated now, by any thread.
    pub fn now(&self) -> isize {
        // Relaxed: a count; a test reads it when its threads have ended.
        self.0.load(Ordering::Relaxed)
    }
}

// SAFETY: passes everything on to the system's allocator as it came, and counts in an atomic. [U28]
unsafe impl GlobalAlloc for CountedBytes {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // Relaxed: a count.
        self.0.fetch_add(layout.size() as isize, Ordering::Relaxed);
        // SAFETY: the caller's layout. [U28]
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // Relaxed: a count.
        self.0.fetch_add(layout.size() as isize, Ordering::Relaxed);
        // SAFETY: the caller's layout. [U28]
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // Relaxed: a count.
        self.0.fetch_sub(layout.size() as isize, Ordering::Relaxed);
        // SAFETY: came from `alloc` or `alloc_zeroed` with this layout. [U28]
        unsafe { System.dealloc(pointer, layout) }
    }
}
