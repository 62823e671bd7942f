//! One timer's memory.
//!
//! Ground rules: `state` may be read by anybody at any time. `due` and `value` are written only by
//! the owner of a free entry or by the one who has claimed it (see [`state`](crate::state)). `due`
//! may be read by the driver for an entry that has a place, where it never falls. `next` belongs to
//! whoever holds the chain that the entry is on.

use std::mem::MaybeUninit;

use wheel_sync::UnsafeCell;
use wheel_sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::segments::Blank;
use crate::state::State;

/// Ends a chain.
pub(crate) const NIL: u32 = u32::MAX;

/// A place for one timer. 24 bytes and the value.
pub(crate) struct Entry<T> {
    pub(crate) state: State,
    due: AtomicU64,
    next: AtomicU32,
    value: UnsafeCell<MaybeUninit<T>>,
}

// SAFETY: natively every field is valid when all its bytes are zero: the atomics are zero, the state
// word is free in generation 0, and the value is uninitialised. [U4]
unsafe impl<T> Blank for Entry<T> {
    #[cfg(wheel_model)]
    fn blank() -> Entry<T> {
        Entry {
            state: State::free(),
            due: AtomicU64::new(0),
            next: AtomicU32::new(0),
            value: UnsafeCell::new(MaybeUninit::uninit()),
        }
    }
}

// SAFETY: a value is touched only by the thread that owns the entry by the rules of the state word,
// and ownership passes between threads by acquire and release on that word. [U5]
unsafe impl<T: Send> Sync for Entry<T> {}

impl<T> Entry<T> {
    #[inline]
    pub(crate) fn due(&self) -> u64 {
        // Relaxed: ordered by the look or claim of the state word before it. [O10]
        self.due.load(Ordering::Relaxed)
    }

    /// For the owner of the entry only.
    #[inline]
    pub(crate) fn set_due(&self, due: u64) {
        // Relaxed: published by the state word's next step. [O10]
        self.due.store(due, Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn next(&self) -> u32 {
        // Relaxed: the chain was handed over by acquire and release of its head. [O11]
        self.next.load(Ordering::Relaxed)
    }

    #[inline]
    pub(crate) fn set_next(&self, next: u32) {
        // Relaxed: as above, the head's release publishes it. [O11]
        self.next.store(next, Ordering::Relaxed);
    }

    /// Puts a value in.
    ///
    /// # Safety
    ///
    /// The caller owns the entry, and it holds no value.
    #[inline]
    pub(crate) unsafe fn write(&self, value: T) {
        self.value.with_mut(|cell| {
            // SAFETY: the caller owns the entry, so nobody else reads or writes the cell. [U6]
            unsafe { (*cell).write(value) };
        });
    }

    /// Takes the value out.
    ///
    /// # Safety
    ///
    /// The caller owns the entry, and it holds a value, which must not be read again.
    #[inline]
    pub(crate) unsafe fn read(&self) -> T {
        self.value.with_mut(|cell| {
            // SAFETY: the caller owns the entry and vouches for the value. [U7]
            unsafe { (*cell).assume_init_read() }
        })
    }
}
