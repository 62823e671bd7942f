//! What a wheel's handles and its driver share.

use wheel_sync::CachePadded;
use wheel_sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::arena::{Arena, BATCH, Chain};
use crate::config::Config;
use crate::intake::Intake;
use crate::key::EngineId;
use crate::limit::Limit;
use crate::places::{Mine, Places};
use crate::vacant::{Exchange, HINTS};
use crate::wake::Wake;

/// Entries that a thread may keep at hand: free ones, unused ones, and vacant ones that it
/// remembers: the latest, and a stack.
const AT_HAND: u64 = 2 * BATCH as u64 + HINTS as u64 + 1;

pub(crate) struct Engine<T> {
    pub(crate) id: EngineId,
    pub(crate) arena: Arena<T>,
    pub(crate) intake: Intake,
    pub(crate) wake: Wake,
    pub(crate) places: Places,
    pub(crate) exchange: Exchange,
    pub(crate) limit: Limit,
    closed: AtomicBool,
    /// The tick of the latest advance.
    now: CachePadded<AtomicU64>,
}

impl<T> Engine<T> {
    pub(crate) fn new(config: &Config) -> Engine<T> {
        Engine {
            id: EngineId::unique(),
            arena: Arena::new(),
            intake: Intake::new(),
            wake: Wake::new(config.waker.clone()),
            places: Places::new(),
            exchange: Exchange::new(),
            limit: Limit::new(config.max_timers),
            closed: AtomicBool::new(false),
            now: CachePadded::new(AtomicU64::new(config.start.get())),
        }
    }

    /// A free entry for the thread whose place this is. `None` when memory does not suffice, or
    /// with a limit when too many are in use (see [`Limit::entries_max`]).
    #[inline(never)]
    pub(crate) fn take_free(&self, mine: &Mine<'_>) -> Option<u32> {
        let cached = mine.with(|caches| {
            loop {
                if let Some(index) = caches.free.pop(&self.arena) {
                    return Some(index);
                }
                let (first, count) = caches.unused;
                if count > 0 {
                    caches.unused = (first + 1, count - 1);
                    return Some(first);
                }
                match self.arena.take() {
                    Some(chain) => caches.free = chain,
                    None => caches.unused = self.take_unused()?,
                }
            }
        });
        cached.unwrap_or_else(|| self.take_free_without_place())
    }

    /// A batch of entries that were never used. With a limit it ends, give or take a batch per
    /// thread.
    fn take_unused(&self) -> Option<(u32, u32)> {
        let used = u64::from(self.arena.used());
        let max = self.limit.entries_max();
        // What threads keep at hand is counted only when it matters.
        if used >= max && used >= max + self.places.count() * AT_HAND {
            return None;
        }
        self.arena.take_unused()
    }

    /// For a thread that is being torn down: takes one and leaves the rest of the batch in stock.
    #[cold]
    fn take_free_without_place(&self) -> Option<u32> {
        let mut chain = match self.arena.take() {
            Some(chain) => chain,
            None => {
                let (first, count) = self.take_unused()?;
                let mut chain = Chain::default();
                (first..first + count).for_each(|index| chain.push(index, &self.arena));
                chain
            }
        };
        let index = chain.pop(&self.arena);
        self.arena.give(chain);
        index
    }

    /// Takes back a free entry that was not needed.
    pub(crate) fn put_free(&self, mine: &Mine<'_>, index: u32) {
        let cached = mine.with(|caches| caches.free.push(index, &self.arena));
        if cached.is_none() {
            let mut chain = Chain::default();
            chain.push(index, &self.arena);
            self.arena.give(chain);
        }
    }

    /// Whether the driver has closed the wheel. Certain after a push; before one it only spares
    /// work.
    #[inline]
    pub(crate) fn is_closed(&self) -> bool {
        // Relaxed: a push that the close has missed has acquired the swap that came after it. [O28]
        self.closed.load(Ordering::Relaxed)
    }

    /// From here on no insert stays in. The intake's heads must be swapped next.
    pub(crate) fn set_closed(&self) {
        // Relaxed: the swap of the heads that follows publishes it. [O28]
        self.closed.store(true, Ordering::Relaxed);
    }

    pub(crate) fn now(&self) -> u64 {
        // Relaxed: a reading for people; dues are computed from a clock, not from this. [O29]
        self.now.load(Ordering::Relaxed)
    }

    pub(crate) fn set_now(&self, now: u64) {
        // Relaxed: as above. Only the driver writes it. [O29]
        self.now.store(now, Ordering::Relaxed);
    }
}
