//! What the engine keeps for each thread: free entries, hints, a count.
//!
//! A place belongs to a *number* that one living thread has at a time (`wheel_sync::thread::slot`),
//! and stands in the engine, not in a thread-local: what a thread leaves behind, the next thread of
//! that number takes over; nothing outlives the engine; two engines are not confused. A thread that
//! is being torn down has no number any more and does without a place.

use wheel_sync::atomic::{AtomicI64, AtomicU64, Ordering};
use wheel_sync::{CachePadded, UnsafeCell, thread};

use crate::arena::Chain;
use crate::segments::{Blank, Segments};
use crate::vacant::Hints;

const FIRST_BITS: u32 = 4;

/// The caches of one thread.
#[derive(Default)]
pub(crate) struct Caches {
    /// Free entries, linked by `next`.
    pub(crate) free: Chain,
    /// Indices that were never used: from here, so many.
    pub(crate) unused: (u32, u32),
    pub(crate) hints: Hints,
}

struct Place {
    /// Timers this number's threads have inserted, less those that they took out again.
    live: AtomicI64,
    /// The driver's sleep that this thread is ending: it is inside a call of the waker for it. 0:
    /// none.
    ending: AtomicU64,
    caches: UnsafeCell<Caches>,
}

// SAFETY: natively, zeroes are a count of 0, no sleep to end, empty ranges, an empty chain (its
// length is 0) and no hints; dropping that is a no-op. [U8]
unsafe impl Blank for CachePadded<Place> {
    #[cfg(wheel_model)]
    fn blank() -> CachePadded<Place> {
        CachePadded::new(Place {
            live: AtomicI64::new(0),
            ending: AtomicU64::new(0),
            caches: UnsafeCell::new(Caches::default()),
        })
    }
}

// SAFETY: `caches` is touched only through `Mine`, by the one living thread that has its number.
// [U9]
unsafe impl Sync for Place {}

/// The places of all threads that ever came, and the count of live timers.
pub(crate) struct Places {
    places: Segments<CachePadded<Place>, FIRST_BITS>,
    /// What threads without a place have inserted, less what they took out.
    strays: AtomicI64,
    /// What the driver has taken out.
    driven: CachePadded<AtomicI64>,
}

/// The calling thread's place, if it has one.
pub(crate) struct Mine<'a> {
    /// The thread's number; 0 for a thread without one.
    pub(crate) slot: usize,
    place: Option<&'a Place>,
    strays: &'a AtomicI64,
}

impl Places {
    pub(crate) fn new() -> Places {
        Places {
            places: Segments::new(),
            strays: AtomicI64::new(0),
            driven: CachePadded::new(AtomicI64::new(0)),
        }
    }

    #[inline]
    pub(crate) fn mine(&self) -> Mine<'_> {
        let slot = thread::slot();
        let place = slot.and_then(|slot| {
            let spot = Segments::<CachePadded<Place>, FIRST_BITS>::spot(u32::try_from(slot).ok()?);
            self.places.get_or_grow(spot)
        });
        Mine {
            slot: slot.unwrap_or(0),
            place: place.map(|place| &**place),
            strays: &self.strays,
        }
    }

    /// The driver has taken a timer out.
    pub(crate) fn count_driven(&self) {
        // Relaxed, as every count: exact when quiet. Only the driver writes it. [O27]
        let driven = self.driven.load(Ordering::Relaxed);
        self.driven.store(driven + 1, Ordering::Relaxed);
    }

    /// How many threads there are places for.
    pub(crate) fn count(&self) -> u64 {
        self.places.all().count() as u64
    }

    /// How many free entries all threads have at hand, while none is in a call.
    #[cfg(wheel_model)]
    pub(crate) fn at_hand(&self) -> usize {
        let places = self.places.all();
        places
            .map(|place| {
                place.caches.with(|caches| {
                    // SAFETY: no thread is in a call, so none has them on loan; loom checks it.
                    // [U29]
                    let caches = unsafe { &*caches };
                    caches.free.len() + caches.unused.1 as usize
                })
            })
            .sum()
    }

    /// How many timers are pending: exact when no call is in flight.
    pub(crate) fn live(&self) -> usize {
        // Relaxed: a sum over several counters is a snapshot of nothing anyway. [O27]
        let mut live = self.strays.load(Ordering::Relaxed) - self.driven.load(Ordering::Relaxed);
        for place in self.places.all() {
            live += place.live.load(Ordering::Relaxed);
        }
        usize::try_from(live).unwrap_or(0)
    }
}

impl Mine<'_> {
    /// Lends the caches. `None` for a thread that is being torn down.
    ///
    /// `use_them` must not run code of the engine's user, which could come back here.
    #[inline]
    pub(crate) fn with<R>(&self, use_them: impl FnOnce(&mut Caches) -> R) -> Option<R> {
        let place = self.place?;
        Some(place.caches.with_mut(|caches| {
            // SAFETY: the number of this place is this thread's alone while it lives, its handing
            // on is ordered by a mutex, and `use_them` does not come back here. [U10]
            use_them(unsafe { &mut *caches })
        }))
    }

    /// Calls `wake` in the name of a sleep, unless this thread is in the midst of such a call for
    /// the same sleep: `wake` may come back here.
    ///
    /// Always calls it for a thread that is being torn down, which has nowhere to note it.
    pub(crate) fn end_sleep(&self, sleep: u64, wake: impl FnOnce()) {
        /// Also when the waker panics.
        struct Restore<'a>(&'a AtomicU64, u64);
        impl Drop for Restore<'_> {
            fn drop(&mut self) {
                // Relaxed: only the thread with this number touches it. [O31]
                self.0.store(self.1, Ordering::Relaxed);
            }
        }
        let Some(place) = self.place else {
            return wake();
        };
        // Relaxed, both: as above. [O31]
        let outer = place.ending.load(Ordering::Relaxed);
        if outer != sleep {
            place.ending.store(sleep, Ordering::Relaxed);
            let _restore = Restore(&place.ending, outer);
            wake();
        }
    }

    /// Counts a timer in (1) or out (-1).
    #[inline]
    pub(crate) fn count(&self, change: i64) {
        match self.place {
            Some(place) => {
                // Relaxed, and no read-modify-write: only the thread with this number writes it.
                // [O27]
                let live = place.live.load(Ordering::Relaxed);
                place.live.store(live + change, Ordering::Relaxed);
            }
            None => {
                self.strays.fetch_add(change, Ordering::Relaxed);
            }
        }
    }
}
