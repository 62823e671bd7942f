//! Makes loom try both orders of a load and of what another thread does to the same atomic.
//!
//! loom finds the orders to try by the last access to each atomic, and keeps no others. When thread
//! A loads, and B loads and then stores, the last access before the store is B's own load; loom
//! sees no race and never tries what A would have read after the store. A glance before a
//! compare-and-exchange hides that step from everybody who only looks.
//!
//! So each thread that loads an atomic has a turn there, which no other thread's loads touch. It
//! takes its turn before each load, and whoever writes takes everybody's first. Turns are Relaxed
//! read-modify-writes of their own atomics: a step for the scheduler, and no order for memory.

use std::sync::{Mutex, MutexGuard, PoisonError};

use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread::{self, ThreadId};

/// Threads beyond the last one share its turn, which only adds orders to try. They are made with
/// the atomic: to make one later would itself race with whoever takes it.
const TURNS: usize = 3;

/// The turns at one atomic.
#[derive(Debug, Default)]
pub(super) struct Turns {
    /// Who has which turn, by first load.
    whose: Mutex<Vec<ThreadId>>,
    turns: [AtomicUsize; TURNS],
}

impl Turns {
    /// Before a load.
    pub(super) fn before_load(&self) {
        let me = thread::current().id();
        let mut whose = self.whose();
        let known = whose.iter().position(|thread| *thread == me);
        let mine = known.unwrap_or_else(|| {
            whose.push(me);
            whose.len() - 1
        });
        drop(whose);
        take(&self.turns[mine.min(TURNS - 1)]);
    }

    /// Before a store, also by a read-modify-write.
    pub(super) fn before_store(&self) {
        let me = thread::current().id();
        let whose = self.whose();
        let others = match whose[..] {
            [only] if only == me => 0..0,
            _ => 0..whose.len().min(TURNS),
        };
        drop(whose);
        self.turns[others].iter().for_each(take);
    }

    fn whose(&self) -> MutexGuard<'_, Vec<ThreadId>> {
        self.whose.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn take(turn: &AtomicUsize) {
    // Relaxed: it must add no order between threads.
    turn.fetch_add(0, Ordering::Relaxed);
}
