//! The name of one timer of one engine, for ever.

use std::fmt;
use std::num::{NonZeroU32, NonZeroU64};

use crate::state::Generation;

/// Names one timer of one engine. 16 bytes, `Copy`, and never another timer's name.
///
/// Keys come from `insert` and `reset` only and cannot be made otherwise. Once the timer has fired,
/// was cancelled or was reset, its old key does nothing, however often the memory behind it has
/// been used again; another engine's key does nothing either.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key {
    /// The engine in the upper half, the index of the entry in the lower. Two words and no more
    /// fields, so that a key travels in two registers: put together in memory from halves and
    /// loaded as a whole, it would cost as much as a CAS.
    place: NonZeroU64,
    generation: Generation,
}

const _: () = assert!(size_of::<Key>() == 16 && size_of::<Option<Key>>() == 16);

impl Key {
    #[inline]
    pub(crate) const fn new(engine: EngineId, index: u32, generation: Generation) -> Key {
        let place = NonZeroU64::new((engine.0.get() as u64) << 32 | index as u64);
        Key {
            place: place.expect("an engine's id is not zero"),
            generation,
        }
    }

    #[inline]
    pub(crate) const fn is_of(self, engine: EngineId) -> bool {
        self.place.get() >> 32 == engine.0.get() as u64
    }

    #[inline]
    pub(crate) const fn index(self) -> u32 {
        self.place.get() as u32
    }

    #[inline]
    pub(crate) const fn generation(self) -> Generation {
        self.generation
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Key")
            .field("engine", &(self.place.get() >> 32))
            .field("index", &self.index())
            .field("generation", &self.generation)
            .finish()
    }
}

/// Tells the keys of one engine from those of another in this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct EngineId(NonZeroU32);

impl EngineId {
    /// An id that no other engine of this process has.
    ///
    /// # Panics
    ///
    /// After 2^32 - 1 engines, rather than give out an id twice.
    pub(crate) fn unique() -> EngineId {
        // tidy: allow sync-only, ids outlive an execution of a model and order nothing
        use std::sync::atomic::{AtomicU32, Ordering};
        static LAST: AtomicU32 = AtomicU32::new(0);
        // Relaxed: it hands out numbers. [O15]
        let relaxed = Ordering::Relaxed;
        let next = LAST.fetch_update(relaxed, relaxed, |last| last.checked_add(1));
        let last =
            next.expect("this process has made 2^32 - 1 timing wheels, the most there are ids for");
        EngineId(NonZeroU32::MIN.saturating_add(last))
    }
}
